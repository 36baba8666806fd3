package drivertest

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
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
	at := newOperands(len(src))
	for i := range off {
		off[i] = at.elementwise(n, src, want, i)
	}
	return off, nil
}

// operands are numbers that an op is applied to, and how far each may be off.
type operands struct {
	x, corner []ir.Number
	off       []float64
}

func newOperands(n int) *operands {
	return &operands{make([]ir.Number, n), make([]ir.Number, n), make([]float64, n)}
}

// epsilon is the distance from 1 to the next number, and the least positive
// number that is not subnormal.
var epsilon = [...]struct{ eps, least float64 }{
	ir.Float16:  {0x1p-10, 0x1p-14},
	ir.BFloat16: {0x1p-7, 0x1p-126},
	ir.Float32:  {0x1p-23, 0x1p-126},
	ir.Float64:  {0x1p-52, 0x1p-1022},
}

// rounding is how far an op on numbers x of type from, not rounded v and at
// most arg great, is off because elements of type d have few bits.
func rounding(op ir.Op, d, from ir.DType, x []ir.Number, v, arg float64) float64 {
	if !d.IsFloat() || !isFinite(v) {
		return 0
	}
	e := epsilon[d]
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
func (at *operands) elementwise(n *graph.Node, src []*result, want *interp.Array, i int) float64 {
	if n.Op == ir.Where {
		return where(src, i)
	}
	exact, worst := true, 0.0
	x, off := at.x, at.off
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
		y := at.corner
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

// exact reports whether no element is off.
func exact(src []*result) bool {
	for _, s := range src {
		for _, e := range s.off {
			if e != 0 {
				return false
			}
		}
	}
	return true
}

// moved moves the error bounds of operands as their elements.
func moved(n *graph.Node, src []*result) ([]float64, error) {
	if exact(src) {
		return make([]float64, graph.Len(n.Shape)), nil
	}
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

// gathered takes the error bounds of x along; an index that may be anything gives an
// unbounded element.
func gathered(n *graph.Node, src []*result) ([]float64, error) {
	if exact(src) {
		return make([]float64, graph.Len(n.Shape)), nil
	}
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
