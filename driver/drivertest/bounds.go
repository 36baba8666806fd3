package drivertest

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// offBy returns how far each element of n may be off, where its operands are
// off as they say and the definition gives want.
func offBy(n *graph.Node, src []*result, want *interp.Array) ([]float64, error) {
	switch n.Op.Class() {
	case ir.Source:
		return make([]float64, len(want.Elems)), nil
	case ir.Movement:
		return moved(n, src)
	case ir.Reduction:
		return reduced(n, src[0], want)
	case ir.Indexed:
		if n.Op == ir.Gather {
			return gathered(n, src)
		}
		return scattered(n, src, want)
	case ir.Ordered:
		return inOrder(n, src[0], want), nil
	}
	off := make([]float64, len(want.Elems))
	for i := range off {
		off[i] = elementwise(n, src, want, i)
	}
	return off, nil
}

// epsilon is the distance from 1 to the next number, and the least positive
// number that is not subnormal.
var epsilon = map[ir.DType]struct{ eps, least float64 }{
	ir.Float16:  {0x1p-10, 0x1p-14},
	ir.BFloat16: {0x1p-7, 0x1p-126},
	ir.Float32:  {0x1p-23, 0x1p-126},
	ir.Float64:  {0x1p-52, 0x1p-1022},
}

// rounding is how far an op on numbers x of type from, not rounded v and at
// most arg great, is off because elements of type d have few bits.
func rounding(op ir.Op, d, from ir.DType, x []ir.Number, v, arg float64) float64 {
	e, ok := epsilon[d]
	if !ok || !isFinite(v) {
		return 0
	}
	u := &ir.Table[op]
	elementary := u.Ulps > 0
	if !elementary && ir.Float(d, v).Float64(d) == v && !inexact(op, from, x, v) {
		if v != 0 && math.Abs(v) < e.least {
			return e.least // subnormals may be flushed
		}
		return 0
	}
	off := e.eps*math.Abs(v) + e.least
	if elementary {
		relative := u.Ulps + 2*math.Abs(math.Log(math.Abs(v)+e.least)) // as exp of a rounded argument
		off += epsilon[d.ComputeType()].eps * relative * math.Abs(v)
		if u.UlpsAtOne > 0 {
			off += epsilon[d.ComputeType()].eps * u.UlpsAtOne * max(1, math.Abs(arg))
		}
	}
	return off
}

// elementwise is how far element i of n may be off.
func elementwise(n *graph.Node, src []*result, want *interp.Array, i int) float64 {
	if n.Op == ir.Where {
		return where(src, i)
	}
	exact, worst := true, 0.0
	x, off := make([]ir.Number, len(src)), make([]float64, len(src))
	from := src[len(src)-1].DType
	for k, s := range src {
		x[k], off[k] = s.Elems[i], s.off[i]
		exact = exact && off[k] == 0
		if math.IsInf(off[k], 1) {
			return anything
		}
		if from.IsFloat() {
			worst = max(worst, math.Abs(x[k].Float64(from)))
		}
	}
	wide := want.DType
	if wide.IsFloat() {
		wide = ir.Float64
	}
	center := interp.Apply(n.Op, wide, from, x...)
	value := func(v ir.Number) float64 { return v.Float64(wide) }
	round := rounding(n.Op, want.DType, from, x, value(center), worst)
	if isFinite(value(center)) && want.DType.IsFloat() && !isFinite(want.Elems[i].Float64(want.DType)) && !exact {
		return anything // too large, or nearly so
	}
	for k, s := range n.Src().All() {
		if ir.Table[n.Op].SignedZero>>k&1 == 1 && from.IsFloat() && x[k].Float64(from) == 0 && s.Op.Class() != ir.Source {
			return anything // the sign of a computed zero is not known
		}
	}
	if exact {
		return round
	}
	if !isFinite(value(center)) || doubtful(n.Op, want.DType, x, off) {
		return anything
	}
	spread := 0.0
	for corner := range 1 << len(src) {
		y := make([]ir.Number, len(src))
		for k := range src {
			step := off[k]
			if corner>>k&1 == 1 {
				step = -step
			}
			y[k] = x[k]
			if step != 0 {
				y[k] = ir.Float(ir.Float64, x[k].Float64(from)+step)
			}
		}
		d := math.Abs(value(interp.Apply(n.Op, wide, from, y...)) - value(center))
		if !isFinite(d) || d > 0 && !want.DType.IsFloat() {
			return anything
		}
		spread = max(spread, d)
	}
	return 1.25*spread + round
}

func isFinite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

// inexact reports whether a sum or product, v in float64, was rounded to it,
// or the cast of an integer was.
func inexact(op ir.Op, from ir.DType, x []ir.Number, v float64) bool {
	if op == ir.Cast {
		return !from.IsFloat() && ir.Float(from, v) != x[0]
	}
	if len(x) != 2 {
		return false
	}
	a, b := x[0].Float64(from), x[1].Float64(from)
	switch op {
	case ir.Sub:
		b = -b
		fallthrough
	case ir.Add:
		t := v - a
		return (a-(v-t))+(b-t) != 0
	case ir.Mul:
		return math.FMA(a, b, -v) != 0
	}
	return false
}

// doubtful reports whether corners do not tell that a result may be another.
func doubtful(op ir.Op, d ir.DType, x []ir.Number, off []float64) bool {
	f := ir.Float64
	switch {
	case op == ir.Bitcast:
		return true
	case op == ir.Eq:
		return math.Abs(x[0].Float64(f)-x[1].Float64(f)) <= off[0]+off[1]
	case op == ir.Cast && d == ir.Bool:
		return math.Abs(x[0].Float64(f)) <= off[0]
	case op == ir.Rem:
		return math.Abs(x[0].Float64(f)) <= off[0] || math.Abs(x[1].Float64(f)) <= off[1]
	}
	for k := range x {
		if ir.Table[op].SignedZero>>k&1 == 1 && math.Abs(x[k].Float64(f)) <= off[k] {
			return true
		}
	}
	return false
}

// where is how far an element of Where may be off.
func where(src []*result, i int) float64 {
	cond, a, b := src[0], src[1], src[2]
	switch {
	case cond.off[i] == 0 && cond.Elems[i] != 0:
		return a.off[i]
	case cond.off[i] == 0:
		return b.off[i]
	case !a.DType.IsFloat():
		if a.Elems[i] == b.Elems[i] {
			return a.off[i] + b.off[i]
		}
		return anything
	}
	d := math.Abs(a.Elems[i].Float64(a.DType) - b.Elems[i].Float64(b.DType))
	if math.IsNaN(d) {
		return anything
	}
	return d + max(a.off[i], b.off[i])
}

// wide is an array of float64.
func wide(dims []int, x []float64) *interp.Array {
	a := &interp.Array{DType: ir.Float64, Shape: dims, Elems: make([]ir.Number, len(x))}
	for i, v := range x {
		a.Elems[i] = ir.Float(ir.Float64, v)
	}
	return a
}

func floats(a *interp.Array) []float64 {
	x := make([]float64, len(a.Elems))
	for i, v := range a.Elems {
		x[i] = v.Float64(a.DType)
	}
	return x
}

// moved takes what operands are off by through a movement.
func moved(n *graph.Node, src []*result) ([]float64, error) {
	var off []*interp.Array
	for _, s := range src {
		off = append(off, wide(s.Shape, s.off))
	}
	m := graph.WithOperands(n, n.Src().Append(nil)...)
	m.DType, m.Num = ir.Float64, 0
	a, err := apply(m, off...)
	if err != nil {
		return nil, err
	}
	return floats(a), nil
}

// gathered takes what x is off by along; an index that may be anything gives
// anything.
func gathered(n *graph.Node, src []*result) ([]float64, error) {
	m := graph.WithOperands(n, n.Src().Append(nil)...)
	m.DType = ir.Float64
	a, err := apply(m, wide(src[0].Shape, src[0].off), src[1].Array)
	if a == nil {
		return nil, err
	}
	off := floats(a)
	for i, e := range src[1].off {
		if e > 0 {
			off[i] = anything
		}
	}
	return off, nil
}

// reduced is how far a reduction may be off.
func reduced(n *graph.Node, x *result, want *interp.Array) ([]float64, error) {
	off := make([]float64, len(want.Elems))
	for i, g := range groups(n, x) {
		off[i] = fold(n.Op, want.DType, want.DType.ComputeType(), want.Elems[i], x.DType, g)
	}
	return off, nil
}

// A group is the elements that one of a reduction or Scatter is made from.
type group struct {
	elems []ir.Number
	off   []float64
}

func groups(n *graph.Node, x *result) []group {
	out := make([]group, graph.Len(n.Shape))
	strides := make([]int, len(x.Shape))
	step := 1
	for a := len(n.Shape) - 1; a >= 0; a-- {
		if n.Shape[a] == x.Shape[a] {
			strides[a] = step
		}
		step *= n.Shape[a]
	}
	for i, pos := range shape.Positions(x.Shape) {
		at := 0
		for a, p := range pos {
			at += p * strides[a]
		}
		out[at].elems = append(out[at].elems, x.Elems[i])
		out[at].off = append(out[at].off, x.off[i])
	}
	return out
}

// sumUlps is how many units in the last place of the sum of the absolute
// values a sum may be off.
const sumUlps = 16

// fold is how far a reduction of a group of elements of type from may be off:
// it gives want, of type to, and adds up in type acc.
func fold(op ir.Op, to, acc ir.DType, want ir.Number, from ir.DType, g group) float64 {
	worst, total := 0.0, 0.0
	for _, e := range g.off {
		worst = max(worst, e)
		total += e
	}
	w := want.Float64(to)
	switch {
	case math.IsInf(worst, 1):
		return anything
	case op == ir.ArgMax:
		return chosen(from, want, g)
	case !from.IsFloat():
		return 0
	case !isFinite(w):
		return unbounded(from, g, worst)
	case op == ir.ReduceMax:
		return worst
	}
	signed, sum, product, widened := 0.0, 0.0, 1.0, 1.0
	for i, x := range g.elems {
		v := x.Float64(from)
		signed += v
		sum += math.Abs(v)
		product *= math.Abs(v)
		widened *= math.Abs(v) + g.off[i]
	}
	off := epsilon[to].eps*math.Abs(w) + epsilon[to].least
	switch op {
	case ir.Sum:
		if worst == 0 && multiples(from, acc, 1./256, g.elems, sum) && signed == w {
			return 0
		}
		return off + total + epsilon[acc].eps*sumUlps*sum
	default: // Prod
		if worst == 0 && multiples(from, acc, 1, g.elems, product) && product == math.Abs(w) {
			return 0
		}
		return off + 1.25*(widened-product) + epsilon[acc].eps*float64(1+len(g.elems))*product
	}
}

// unbounded is how far a result that is no finite number may be off: not at
// all where the operands are exact and at least one of them is none either.
func unbounded(d ir.DType, g group, worst float64) float64 {
	if len(g.elems) == 0 {
		return 0
	}
	for _, x := range g.elems {
		if !isFinite(x.Float64(d)) && worst == 0 {
			return 0
		}
	}
	return anything
}

// multiples reports whether numbers of type d are whole multiples of unit, and
// add up to no more than elements of type acc tell apart, in whatever order.
func multiples(d, acc ir.DType, unit float64, elems []ir.Number, sum float64) bool {
	for _, x := range elems {
		if v := x.Float64(d) / unit; v != math.Floor(v) {
			return false
		}
	}
	return sum/unit < 1/epsilon[acc].eps
}

// chosen is 0 where want is surely the position of the greatest element.
func chosen(d ir.DType, want ir.Number, g group) float64 {
	if !d.IsFloat() || len(g.elems) == 0 {
		return 0
	}
	best := int(want)
	b, doubt := g.elems[best].Float64(d), g.off[best]
	for i, x := range g.elems {
		v := x.Float64(d)
		if g.off[i]+doubt == 0 || i == best {
			continue
		}
		if math.IsNaN(v) || math.IsNaN(b) || v+g.off[i] >= b-doubt {
			return anything
		}
	}
	return 0
}

// scattered is how far a Scatter may be off.
func scattered(n *graph.Node, src []*result, want *interp.Array) ([]float64, error) {
	base, idx, upd := src[0], src[1], src[2]
	everything := 0.0
	for _, e := range idx.off {
		everything = max(everything, e)
	}
	off := make([]float64, len(want.Elems))
	parts, err := targets(n, base, idx, upd)
	if err != nil {
		return nil, err
	}
	for i := range off {
		if off[i] = everything; everything > 0 {
			continue
		}
		off[i] = fold(scatterFold[n.Kind], n.DType, n.DType, want.Elems[i], n.DType, parts[i])
		if len(parts[i].elems) == 1 {
			off[i] = parts[i].off[0]
		}
	}
	return off, nil
}

// scatterFold is the reduction that a Scatter of a kind is like.
var scatterFold = map[ir.Op]ir.Op{ir.Add: ir.Sum, ir.Mul: ir.Prod, ir.Max: ir.ReduceMax, ir.Min: ir.ReduceMax}

// targets lists what each element of a Scatter is made from.
func targets(n *graph.Node, base, idx, upd *result) ([]group, error) {
	out := make([]group, len(base.Elems))
	for i := range out {
		out[i] = group{[]ir.Number{base.Elems[i]}, []float64{base.off[i]}}
	}
	axis := n.Ints[0]
	inner := 1
	for _, d := range base.Shape[axis+1:] {
		inner *= d
	}
	from, to := idx.Shape[axis], base.Shape[axis]
	for i := range upd.Elems {
		v := idx.Elems[i].Int64(idx.DType)
		if v < 0 || v >= int64(to) {
			continue
		}
		outer := i / (from * inner)
		at := (outer*to+int(v))*inner + i%inner
		if at >= len(out) {
			return nil, fmt.Errorf("drivertest: Scatter of %v by %v", base.Shape, idx.Shape)
		}
		out[at].elems = append(out[at].elems, upd.Elems[i])
		out[at].off = append(out[at].off, upd.off[i])
	}
	return out, nil
}
