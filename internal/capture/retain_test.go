package capture

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// stored returns a tensor of a shape that has a value, without elements.
func stored(shape ...int) *graph.Node {
	strides := make([]int, len(shape))
	for i, n := len(shape)-1, 1; i >= 0; i-- {
		strides[i] = n
		n *= shape[i]
	}
	return graph.Buffer(ir.Float32, shape, &graph.Value{Store: storage.FromHost(nil), Strides: strides})
}

func neg(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) }

func recomputed(x *graph.Node) *graph.Node {
	x.MarkComputed()
	return x
}

func kept(x *graph.Node) *graph.Node {
	x.Keep()
	return x
}

// TestRetained lists the nodes that a plan stores besides its root, readers before the
// nodes that they read.
func TestRetained(t *testing.T) {
	x := stored(4)
	flip := func(x *graph.Node) *graph.Node { return graph.Flip(x, []int{0}) }
	for _, c := range []struct {
		name string
		make func() (root *graph.Node, want []*graph.Node)
	}{
		{"nothing marked", func() (*graph.Node, []*graph.Node) { return neg(neg(x)), nil }},
		{"Keep", func() (*graph.Node, []*graph.Node) {
			a := kept(neg(x))
			return neg(a), []*graph.Node{a}
		}},
		{"a recomputed node that a new node reads", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			return neg(a), []*graph.Node{a}
		}},
		{"the end of a recomputed chain", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			b := recomputed(neg(a))
			return neg(b), []*graph.Node{b}
		}},
		{"a recomputed root", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			return recomputed(neg(a)), nil
		}},
		{"two new readers, one of the chain's middle", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			b := recomputed(neg(a))
			return graph.Binary(ir.Add, a, neg(b)), []*graph.Node{b, a}
		}},
		{"a movement that a new node reads is new", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			return neg(flip(a)), []*graph.Node{a}
		}},
		{"a movement that nothing new reads is not", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			return recomputed(neg(flip(a))), nil
		}},
		{"behind a name", func() (*graph.Node, []*graph.Node) {
			a := recomputed(neg(x))
			return neg(graph.StopGradient(a)), []*graph.Node{a}
		}},
		{"a stored tensor", func() (*graph.Node, []*graph.Node) { return neg(recomputed(stored(4))), nil }},
		{"a view of a stored tensor", func() (*graph.Node, []*graph.Node) {
			v := kept(flip(x))
			return neg(v), []*graph.Node{v}
		}},
	} {
		root, want := c.make()
		g := New(nil, []*graph.Node{root}, nil, Known{})
		var got []*graph.Node
		for i, u := range slices.Backward(g.uses) {
			if g.isRetained(&g.nodes[i], u) {
				got = append(got, g.nodes[i].Node)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: retained %d nodes, want %d:\ngot  %v\nwant %v", c.name, len(got), len(want), got, want)
		}
		g.Release()
	}
}

// TestWorth says when a node of a graph is stored that a plan computed without
// storing it.
func TestWorth(t *testing.T) {
	const n = 8
	wide := func(x *graph.Node) *graph.Node { return graph.Expand(x, []int{n, n}) }
	row, column, matrix := stored(1, n), stored(n, 1), stored(n, n)
	sum := func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{0}) }
	indices := graph.Buffer(ir.Int32, []int{n, n}, &graph.Value{Store: storage.FromHost(nil), Strides: []int{n, 1}})
	one := graph.Fill(ir.Float32, 1, []int{n, n})
	for _, c := range []struct {
		name string
		node *graph.Node
		root func(x *graph.Node) *graph.Node // that reads it
		want worth
	}{
		{"elementwise", neg(matrix), neg, second},
		{"elementwise of constants", neg(one), neg, second},
		{"elementwise, read by a reduction only", neg(matrix), sum, never},
		{"elementwise, read by a reduction and another", neg(matrix), func(x *graph.Node) *graph.Node { return graph.Binary(ir.Add, x, wide(sum(x))) }, second},
		{"twice as large as its operands", graph.Binary(ir.Add, graph.Expand(stored(n, n/2, 1), []int{n, n / 2, 2}), graph.Expand(stored(1, 1, 1), []int{n, n / 2, 2})), neg, second},
		{"more than twice as large", graph.Binary(ir.Add, wide(row), wide(column)), neg, third},
		{"more than twice as large as a view", neg(graph.Expand(graph.Crop(matrix, []graph.Span{{Len: 1, Step: 1}, {Len: n, Step: 1}}), []int{n, n})), neg, third},
		{"of a reduction's result", neg(wide(sum(matrix))), neg, third},
		{"a product inside a MatMul", graph.Binary(ir.Mul, wide(row), wide(column)), sum, never},
		{"a reduction", sum(matrix), neg, second},
		{"a reduction, read by another only", sum(matrix), func(x *graph.Node) *graph.Node { return graph.Reduce(ir.Sum, x, []int{1}) }, second},
		{"Gather", graph.Gather(matrix, indices, 0), neg, second},
		{"movement", graph.Pad(matrix, 0, []graph.Padding{{Before: 1}, {}}), neg, never},
		{"constant", one, neg, never},
		{"stored", matrix, neg, never},
	} {
		g := New(nil, []*graph.Node{c.root(c.node)}, nil, Known{})
		i, _ := g.number.Get(c.node)
		if got := g.uses[i].worth(&g.nodes[i]); got != c.want {
			t.Errorf("%s: worth %d, want %d", c.name, got, c.want)
		}
		g.Release()
	}
}

// TestCoOutputs captures a node with CoOutputs: those without a value become roots.
func TestCoOutputs(t *testing.T) {
	x := stored(4)
	a, b, done := neg(x), graph.Unary(ir.Exp, x), stored(4)
	set := &graph.CoOutputs{Nodes: []*graph.Node{a, b, done}}
	inner := graph.Unary(ir.Sin, x) // no member: it fails with the members
	for _, n := range []*graph.Node{a, b, inner} {
		n.SetCoOutputs(set)
	}
	root := neg(inner)
	c := New(nil, []*graph.Node{root}, nil, Known{})
	defer c.Release()
	if want := []*graph.Node{root, a, b}; !slices.Equal(c.roots, want) {
		t.Errorf("the roots are %v, want the one asked for and the two members without a value", c.roots)
	}
	sets := make([]compile.Set, len(c.nodes))
	sets[c.Outputs[1].number], sets[c.Outputs[2].number] = compile.SetOf(1), compile.SetOf(70)
	c.spread(sets)
	if got, want := sets[c.Outputs[0].number], compile.SetOf(1, 70); !reflect.DeepEqual(got, want) {
		t.Errorf("the first output depends on %v, want %v: on what the others do", got, want)
	}
	failed := graph.Buffer(ir.Float32, []int{4}, &graph.Value{Err: errBad})
	set.Nodes = append(set.Nodes, failed)
	d := New(nil, []*graph.Node{root}, nil, Known{})
	defer d.Release()
	if d.Failed != errBad {
		t.Errorf("with a failed member: failed = %v, want %v", d.Failed, errBad)
	}
}
