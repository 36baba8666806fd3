package capture

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

var errBad = errors.New("bad")

// TestKey says which graphs have one plan.
func TestKey(t *testing.T) {
	x, y := stored(4, 4), stored(4, 4)
	span := func(start, n int) graph.Span { return graph.Span{Start: start, Step: 1, Len: n} }
	crop := func(x *graph.Node, start int) *graph.Node {
		return graph.Crop(x, []graph.Span{span(start, 2), span(0, 4)})
	}
	number := func(v float64) *graph.Node { return graph.Scalar(ir.Float32, ir.Float(ir.Float32, v), x.Shape) }
	add := func(a, b *graph.Node) *graph.Node { return graph.Binary(ir.Add, a, b) }
	for _, c := range []struct {
		name string
		a, b *graph.Node
		same bool
	}{
		{"other data", neg(x), neg(y), true},
		{"another number", add(x, number(1)), add(x, number(2)), true},
		{"another constant", add(x, graph.Fill(ir.Float32, 1, x.Shape)), add(x, graph.Fill(ir.Float32, 2, x.Shape)), false},
		{"another offset", neg(crop(x, 0)), neg(crop(x, 2)), true},
		{"an offset that is not aligned", neg(graph.Crop(x, []graph.Span{span(0, 4), span(0, 2)})), neg(graph.Crop(x, []graph.Span{span(0, 4), span(1, 2)})), false},
		{"other strides", neg(x), neg(graph.Permute(x, []int{1, 0})), false},
		{"another shape", neg(x), neg(stored(4, 5)), false},
		{"another op", neg(x), graph.Unary(ir.Exp, x), false},
		{"another name", neg(x), neg(graph.StopGradient(x)), true},
		{"one tensor twice", add(x, y), add(x, x), false},
		{"a view twice", add(crop(x, 0), crop(x, 0)), add(crop(y, 2), crop(y, 2)), true},
		{"a kept operand", neg(neg(x)), neg(kept(neg(x))), false},
	} {
		a, b := New(nil, []*graph.Node{c.a}, nil, Known{}), New(nil, []*graph.Node{c.b}, nil, Known{})
		if same := bytes.Equal(a.Key, b.Key); same != c.same {
			t.Errorf("%s: the keys are equal: %v, want %v", c.name, same, c.same)
		}
		a.Release()
		b.Release()
	}
}

// TestCaptureChangesNothing captures a graph with a Cast that the host computes, an
// empty root and a name for the root. No node has a value before the plan has run.
func TestCaptureChangesNothing(t *testing.T) {
	d := new(storage.Device)
	d.Limits.Types = []ir.DType{ir.Float32}
	x := graph.Buffer(ir.Float64, []int{2}, &graph.Value{Store: storage.FromHost(make([]byte, 16)), Strides: []int{1}})
	cast, empty := graph.Cast(x, ir.Float32), neg(stored(0))
	root := neg(cast)
	name := graph.StopGradient(root)
	c := New(d, []*graph.Node{name, empty}, nil, Known{})
	defer c.Release()
	if len(c.Calls) != 1 || c.Calls[0].Node != cast || len(c.Empty) != 1 || c.Empty[0] != empty {
		t.Errorf("got the calls %v and the empty roots %v, want one each", c.Calls, c.Empty)
	}
	for _, n := range []*graph.Node{cast, empty, root, name} {
		if n.Value() != nil {
			t.Errorf("%v of %v has a value", n.Op, n.Shape)
		}
	}
	if want := []Named{{name, 0}, {root, 0}}; len(c.Outputs) != 1 || !slices.Equal(c.Named, want) {
		t.Errorf("got the outputs %v of nodes %v, want one for the root and its name", c.Outputs, c.Named)
	}
}

// A key has the number of axes in full, after three bytes: 300 are not 300-256.
func TestKeyOfManyAxes(t *testing.T) {
	const rank = 300
	shape := slices.Repeat([]int{1}, rank)
	for _, c := range []struct {
		name string
		root *graph.Node
	}{
		{"a leaf", neg(stored(shape...))},
		{"a constant", neg(graph.Fill(ir.Float32, 1, shape))},
	} {
		g := New(nil, []*graph.Node{c.root}, nil, Known{})
		if got, _ := binary.Uvarint(g.Key[3:]); got != rank {
			t.Errorf("%s: its key says %d axes, want %d", c.name, got, rank)
		}
		g.Release()
	}
}

// Leaves that equal one before have its number, however many there are of other elements.
func TestEqualLeaves(t *testing.T) {
	var leaves []*graph.Node
	for range maxSearch + 1 {
		leaves = append(leaves, stored(4))
	}
	again := func(n *graph.Node) *graph.Node { return graph.Buffer(n.DType, n.Shape, n.Value()) }
	for _, c := range []struct {
		of    int
		fresh int // leaves
	}{{0, 0}, {maxSearch, 0}} {
		roots := append(slices.Clone(leaves), again(leaves[c.of]))
		for i, n := range roots {
			roots[i] = neg(n)
		}
		g := New(nil, roots, nil, Known{})
		if got := len(g.Leaves) - len(leaves); got != c.fresh {
			t.Errorf("a leaf equal to number %d adds %d leaves, want %d", c.of, got, c.fresh)
		}
		g.Release()
	}
}

// A view has the number of an equal one before of its storage, if that is among the last of it, and no other's.
func TestEqualViews(t *testing.T) {
	x, y := stored(2*maxSearch, 2), stored(2*maxSearch, 2)
	row := func(x *graph.Node, i int) *graph.Node {
		return neg(graph.Buffer(x.DType, []int{2}, &graph.Value{Store: x.Value().Store, Offset: 2 * i, Strides: []int{1}}))
	}
	for _, c := range []struct{ views, of, fresh int }{{1, 0, 0}, {3, 0, 0}, {3, 1, 0}, {3, 2, 0}, {3, 3, 1}, {maxSearch, 0, 0}, {maxSearch + 1, 0, 1}, {maxSearch + 1, 1, 0}} {
		var roots []*graph.Node
		for i := range c.views {
			roots = append(roots, row(x, i), row(y, i))
		}
		g := New(nil, append(roots, row(x, c.of)), nil, Known{})
		if got := len(g.Leaves) - 2*c.views; got != c.fresh {
			t.Errorf("after %d views, number %d adds %d leaves, want %d", c.views, c.of, got, c.fresh)
		}
		g.Release()
	}
}
