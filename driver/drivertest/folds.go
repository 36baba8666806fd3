package drivertest

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// reduced is how far a reduction may be off.
func reduced(n *graph.Node, x *result, want *interp.Array) ([]float64, error) {
	off := make([]float64, len(want.Elems))
	for i, g := range groups(n, x) {
		off[i] = fold(n.Op, want.DType, want.DType.ComputeType(), want.Elems[i], x.DType, g)
	}
	return off, nil
}

// A group has the elements from which an element of a reduction or a Scatter is computed.
type group struct {
	elems []ir.Number
	off   []float64 // the greatest errors of elems
}

// groups returns the group of each element of n, a reduction of x.
func groups(n *graph.Node, x *result) []group {
	out := make([]group, graph.Len(n.Shape))
	for i := range out {
		size := len(x.Elems) / len(out)
		out[i] = group{make([]ir.Number, 0, size), make([]float64, 0, size)}
	}
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

// unbounded is how far a result that is no finite number may be off: not at all where the
// operands are exact and one of them is not finite either.
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

// multiples reports whether numbers of type d are whole multiples of unit, and type acc has all
// their sums, in any order, exactly. sum is the sum of their absolute values.
func multiples(d, acc ir.DType, unit float64, elems []ir.Number, sum float64) bool {
	for _, x := range elems {
		if v := x.Float64(d) / unit; v != math.Floor(v) {
			return false
		}
	}
	return sum/unit < 1/epsilon[acc].eps
}

// chosen is the greatest error of an ArgMax: 0 if want is certainly the position of the greatest
// element.
func chosen(d ir.DType, want ir.Number, g group) float64 {
	if !d.IsFloat() || len(g.elems) == 0 {
		return 0
	}
	best := int(want)
	bestValue, doubt := g.elems[best].Float64(d), g.off[best]
	for i, x := range g.elems {
		v := x.Float64(d)
		if g.off[i]+doubt == 0 || i == best {
			continue
		}
		if math.IsNaN(v) || math.IsNaN(bestValue) || v+g.off[i] >= bestValue-doubt {
			return anything
		}
	}
	return 0
}

// scattered is how far a Scatter may be off.
func scattered(n *graph.Node, src []*result, want *interp.Array) ([]float64, error) {
	base, idx, upd := src[0], src[1], src[2]
	indexError := 0.0 // if indices may be wrong, so may all elements
	for _, e := range idx.off {
		indexError = max(indexError, e)
	}
	off := make([]float64, len(want.Elems))
	parts, err := targets(n, base, idx, upd)
	if err != nil {
		return nil, err
	}
	for i := range off {
		if off[i] = indexError; indexError > 0 {
			continue
		}
		if last := len(parts[i].off) - 1; last == 0 || n.Kind == ir.Copy {
			off[i] = parts[i].off[last]
			continue
		}
		off[i] = fold(scatterFold[n.Kind], n.DType, n.DType, want.Elems[i], n.DType, parts[i])
	}
	return off, nil
}

// scatterFold has, by kind of Scatter, the reduction that computes an element.
var scatterFold = map[ir.Op]ir.Op{ir.Add: ir.Sum, ir.Mul: ir.Prod, ir.Max: ir.ReduceMax, ir.Min: ir.ReduceMax}

// targets returns the group of each element of a Scatter: the base's element, then its updates.
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
