package compile

import (
	"reflect"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

const f32 = ir.Float32

// leaf is the i-th stored tensor.
func leaf(i int, dims ...int) *graph.Node {
	return graph.Leaf(f32, dims, i, append([]int{1}, shape.RowMajor(dims)...))
}

// TestOutputs says where roots lie, and how many kernels that takes.
func TestOutputs(t *testing.T) {
	Verify()
	a := leaf(0, 4, 6)
	neg := graph.Unary(ir.Neg, a)
	crop := func(x *graph.Node) *graph.Node {
		return graph.Crop(x, []graph.Span{{Start: 1, Step: 2, Len: 2}, {Step: 1, Len: 6}})
	}
	wide := graph.Expand(graph.Reduce(ir.Sum, a, []int{1}), a.Shape)
	for _, c := range []struct {
		name    string
		roots   []*graph.Node
		kernels int
		want    []Output
	}{
		{"a leaf", []*graph.Node{a}, 0, []Output{{Leaf: true, Strides: []int{6, 1}}}},
		{"views of a leaf", []*graph.Node{graph.Flip(a, []int{1}), graph.Permute(a, []int{1, 0}), crop(a)}, 0, []Output{
			{Leaf: true, Offset: 5, Strides: []int{6, -1}},
			{Leaf: true, Strides: []int{1, 6}},
			{Leaf: true, Offset: 6, Strides: []int{12, 1}},
		}},
		{"what is computed", []*graph.Node{neg}, 1, []Output{{Strides: []int{6, 1}}}},
		{"a view beside what it is of", []*graph.Node{neg, graph.Permute(neg, []int{1, 0})}, 1, []Output{
			{Strides: []int{6, 1}}, {Strides: []int{1, 6}},
		}},
		{"a repeated sum", []*graph.Node{wide}, 1, []Output{{Strides: []int{1, 0}}}},
		{"a reshape of a view is a copy", []*graph.Node{graph.Reshape(graph.Permute(a, []int{1, 0}), []int{24})}, 1, []Output{{Strides: []int{1}}}},
		{"a padded leaf", []*graph.Node{graph.Pad(a, 0, []graph.Padding{{Before: 1}, {}})}, 1, []Output{{Strides: []int{6, 1}}}},
		{"a window", []*graph.Node{graph.Window(a, 1, 0, 1, 1, 3)}, 0, []Output{{Leaf: true, Strides: []int{7, 1}}}},
		{"the same twice", []*graph.Node{neg, graph.StopGradient(neg)}, 1, []Output{{Strides: []int{6, 1}}, {Strides: []int{6, 1}}}},
		{"parts", []*graph.Node{graph.Cat(0, []*graph.Node{neg, a})}, 1, []Output{{Strides: []int{6, 1}}}},
		{"one of the parts", []*graph.Node{graph.Cat(0, []*graph.Node{neg, a}), neg}, 1, []Output{{Index: 1, Strides: []int{6, 1}}, {Strides: []int{6, 1}}}},
	} {
		p, err := Graph(simplify.Nodes(c.roots), kernelize.Options{}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(p.Steps) != c.kernels {
			t.Errorf("%s: %d kernels, want %d\n%v", c.name, len(p.Steps), c.kernels, p)
		}
		if !reflect.DeepEqual(p.Outputs, c.want) {
			t.Errorf("%s: outputs %+v, want %+v\n%v", c.name, p.Outputs, c.want, p)
		}
	}
}

// TestChecks says how many steps of a plan may note a bad index.
func TestChecks(t *testing.T) {
	Verify()
	a := leaf(0, 4, 6)
	idx := graph.Leaf(ir.Int32, []int{4, 2}, 1, []int{1, 2, 1})
	for _, c := range []struct {
		name string
		root *graph.Node
		want int
	}{
		{"no index", graph.Unary(ir.Neg, a), 0},
		{"Gather", graph.Gather(a, idx, 1), 1},
		{"Scatter", graph.Scatter(ir.Add, a, idx, leaf(2, 4, 2), 1), 1},
		{"the gradient of picking one", graph.GatherTranspose(leaf(2, 4, 1), graph.Leaf(ir.Int32, []int{4, 1}, 1, []int{1, 1, 1}), 1, 6), 0},
	} {
		p, err := Graph(simplify.Nodes([]*graph.Node{c.root}), kernelize.Options{}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
		} else if p.Checks != c.want {
			t.Errorf("%s: Checks is %d, want %d", c.name, p.Checks, c.want)
		}
	}
}

// A Scatter that is the transpose of a Gather checks nothing that the Gather does not,
// unless it takes its updates by another index.
func TestRedundant(t *testing.T) {
	Verify()
	index := func(i int) *graph.Node { return graph.Leaf(ir.Int32, []int{4, 6}, i, []int{1, 6, 1}) }
	table, ct := leaf(0, 9, 6), leaf(3, 4, 6)
	taken := graph.Gather(table, index(1), 0)
	for _, c := range []struct {
		name  string
		roots []*graph.Node
		want  bool
	}{
		{"beside its Gather", []*graph.Node{taken, graph.GatherTranspose(ct, index(1), 0, 9)}, true},
		{"alone", []*graph.Node{graph.GatherTranspose(ct, index(1), 0, 9)}, false},
		{"of another axis length", []*graph.Node{taken, graph.GatherTranspose(ct, index(1), 0, 8)}, false},
		{"of what an index takes", []*graph.Node{taken, graph.GatherTranspose(graph.Gather(table, index(2), 0), index(1), 0, 9)}, false},
		{"of what the same index takes", []*graph.Node{graph.GatherTranspose(taken, index(1), 0, 9)}, false},
	} {
		p, err := Graph(simplify.Nodes(c.roots), kernelize.Options{}, nil)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		for _, s := range p.Steps {
			if s.Kernel.Template == ir.Routine && s.Redundant != c.want {
				t.Errorf("%s: the Scatter is redundant: %v, want %v\n%v", c.name, s.Redundant, c.want, p)
			}
		}
	}
}

// Of Gathers by one tensor of indices, as a backward pass computes again, the first checks it.
func TestRedundantGather(t *testing.T) {
	again := graph.Gather(leaf(0, 9, 6), graph.Leaf(ir.Int32, []int{4, 6}, 1, []int{1, 6, 1}), 0)
	again.RematLevel = 1
	first := graph.WithOperands(again, again.Operand(0), again.Operand(1))
	first.RematLevel = 0
	p, err := Graph(simplify.Nodes([]*graph.Node{first, graph.Reduce(ir.Sum, again, []int{1})}), kernelize.Options{}, nil)
	if err != nil || len(p.Steps) != 2 || p.Steps[0].Redundant == p.Steps[1].Redundant {
		t.Errorf("want one of two steps that checks (%v)\n%v", err, p)
	}
}

// A plan that lacks a step is refused, also if the step stores only a part of a
// buffer.
func TestVerify(t *testing.T) {
	Verify()
	a, b := leaf(0, 4, 6), leaf(1, 4, 6)
	unary := graph.Unary
	root := func(axis int) *graph.Node {
		cat := graph.Cat(axis, []*graph.Node{unary(ir.Exp, a), unary(ir.Exp, graph.Reduce(ir.Sum, b, []int{axis}))})
		return graph.Reduce(ir.Sum, unary(ir.Sin, cat), []int{0, 1})
	}
	for axis := range 2 {
		p, err := Graph(simplify.Nodes([]*graph.Node{root(axis)}), kernelize.Options{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		steps := p.Steps
		for i := range steps {
			p.Steps = slices.Delete(slices.Clone(steps), i, i+1)
			if err := p.verify(); err == nil {
				t.Errorf("axis %d: a plan without step %d is accepted:\n%v", axis, i, p)
			}
		}
	}
}
