package drivertest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// A result is the right value of a node: its elements, and how far each of them may be off
// on a right device. An element that may be off by infinity may be anything.
type result struct {
	*interp.Array
	off []float64
}

var anything = math.Inf(1)

// known is the fraction of elements that may not be anything.
func (r *result) known() float64 {
	if len(r.off) == 0 {
		return 1
	}
	n := 0
	for _, e := range r.off {
		if !math.IsInf(e, 1) {
			n++
		}
	}
	return float64(n) / float64(len(r.off))
}

// results has the right values of nodes, each computed once from its operands.
type results map[*graph.Node]*result

// leaf gives a stored node its elements.
func (rs results) leaf(n *graph.Node, elems []ir.Number) {
	rs[n] = &result{&interp.Array{DType: n.DType, Shape: n.Shape, Elems: elems}, make([]float64, len(elems))}
}

// of returns the right value of n.
func (rs results) of(n *graph.Node) (*result, error) {
	if r := rs[n]; r != nil {
		return r, nil
	}
	for _, s := range n.Src().All() {
		if _, err := rs.of(s); err != nil {
			return nil, err
		}
	}
	r, err := rs.compute(n)
	if err == nil {
		rs[n] = r
	}
	return r, err
}

// compute evaluates a node whose operands are known.
func (rs results) compute(n *graph.Node) (*result, error) {
	if n.Op == ir.Buffer {
		return nil, errors.New("drivertest: a Buffer of unknown elements")
	}
	var src []*result
	var arrays []*interp.Array
	for _, s := range n.Src().All() {
		src = append(src, rs[s].inside(s))
		arrays = append(arrays, rs[s].Array)
	}
	a, err := apply(n, arrays...)
	if bad := (*interp.IndexError)(nil); err != nil && !errors.As(err, &bad) {
		return nil, err
	}
	off, err := offBy(n, src, a)
	return &result{a, off}, err
}

// inside is r, the result of n, as a kernel may hold it: not yet rounded to 16 bits, so
// that it may be finite where r is infinite.
func (r *result) inside(n *graph.Node) *result {
	if !r.DType.IsHalf() || n.Op.Class() == ir.Source {
		return r
	}
	off := slices.Clone(r.off)
	for i, x := range r.Elems {
		if math.IsInf(x.Float64(r.DType), 0) {
			off[i] = anything
		}
	}
	return &result{r.Array, off}
}

// apply evaluates n's op on arrays.
func apply(n *graph.Node, src ...*interp.Array) (*interp.Array, error) {
	known := map[*graph.Node]*interp.Array{}
	var operands []*graph.Node
	for _, s := range src {
		leaf := graph.Buffer(s.DType, s.Shape, &graph.Value{})
		known[leaf] = s
		operands = append(operands, leaf)
	}
	m := n
	if len(src) > 0 {
		m = graph.WithOperands(n, operands...)
	}
	out, err := interp.Eval([]*graph.Node{m}, func(n *graph.Node) (*interp.Array, error) { return known[n], nil })
	if out == nil {
		return nil, err
	}
	return out[0], err
}

// mismatch returns an error for the first element that is not right.
func mismatch(want *result, got []ir.Number, signs bool) error {
	if len(got) != len(want.Elems) {
		return fmt.Errorf("%d elements, want %d", len(got), len(want.Elems))
	}
	d := want.DType
	for i, w := range want.Elems {
		if g := got[i]; !within(d, g, w, want.off[i], signs) {
			return fmt.Errorf("element %d is %s, want %s, off by at most %.3g", i, g.Text(d), w.Text(d), want.off[i])
		}
	}
	return nil
}

// within reports whether got is want, of type d, or off by at most off. Signs
// says that the sign of an exact zero counts.
func within(d ir.DType, got, want ir.Number, off float64, signs bool) bool {
	switch {
	case math.IsInf(off, 1):
		return true
	case !d.IsFloat():
		return got == want
	}
	g, w := got.Float64(d), want.Float64(d)
	switch {
	case math.IsNaN(g) || math.IsNaN(w):
		return math.IsNaN(g) && math.IsNaN(w)
	case g == w:
		return !signs || off > 0 || g != 0 || math.Signbit(g) == math.Signbit(w)
	}
	return math.Abs(g-w) <= off
}
