package kernelize

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// leaf is the i-th stored tensor.
func leaf(d ir.DType, i int, dims ...int) *graph.Node {
	return graph.Leaf(d, dims, i, append([]int{1}, shape.RowMajor(dims)...))
}

// TestKernels holds the kernels that graphs become.
func TestKernels(t *testing.T) {
	a, b := leaf(f32, 0, 4, 6), leaf(f32, 1, 4, 6)
	neg := func(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) }
	pad := func(x *graph.Node, fill float64, p ...graph.Padding) *graph.Node {
		return graph.Pad(x, ir.Float(x.DType, fill), p)
	}
	sum := func(x *graph.Node, axes ...int) *graph.Node { return graph.Reduce(ir.Sum, x, axes) }
	full := []int{4, 5, 6}
	product := func(x, y *graph.Node) *graph.Node {
		x = graph.Expand(graph.Reshape(x, []int{4, 1, 6}), full)
		y = graph.Expand(graph.Reshape(y, []int{1, 5, 6}), full)
		return sum(graph.Binary(ir.Mul, x, y), 2)
	}
	var out strings.Builder
	for _, c := range []struct {
		name string
		node *graph.Node
	}{
		{"rows are one axis", graph.Binary(ir.Add, a, b)},
		{"another order is two", graph.Binary(ir.Add, a, graph.Permute(leaf(f32, 1, 6, 4), []int{1, 0}))},
		{"a number", graph.Binary(ir.Mul, a, graph.Param(f32, a.Shape, 0))},
		{"a flip and a step", neg(graph.Crop(graph.Flip(a, []int{1}), []graph.Span{{Step: 1, Len: 4}, {Start: 1, Step: 2, Len: 3}}))},
		{"a repeated axis", graph.Binary(ir.Add, a, graph.Expand(leaf(f32, 1, 4, 1), a.Shape))},
		{"a position", graph.Binary(ir.Add, leaf(ir.Int32, 0, 4, 6), graph.Iota(a.Shape, 1))},
		{"a position backwards", neg(graph.Flip(graph.Iota(a.Shape, 1), []int{1}))},
		{"a padded leaf", neg(pad(a, 0, graph.Padding{}, graph.Padding{Before: 1, After: 2}))},
		{"a padded leaf by infinity", neg(pad(a, math.Inf(-1), graph.Padding{Before: 1}, graph.Padding{Interior: 1}))},
		{"a padded sum", pad(graph.Binary(ir.Add, a, b), 0, graph.Padding{}, graph.Padding{Before: 1})},
		{"padded twice", pad(pad(a, 1, graph.Padding{}, graph.Padding{Before: 1}), 2, graph.Padding{After: 1}, graph.Padding{})},
		{"a window", sum(graph.Window(graph.Expand(leaf(f32, 0, 9, 1), []int{9, 3}), 0, 1, 2, 1, 4), 1)},
		{"a window's transpose", sum(graph.Unwindow(leaf(f32, 0, 4, 3), 0, 1, 2, 1, 9), 1)},
		{"a sum of bytes", sum(leaf(ir.Uint8, 0, 4, 6), 1)},
		{"halves are float32 inside", graph.Unary(ir.Exp, sum(graph.Cast(leaf(ir.Float16, 0, 4, 6), ir.BFloat16), 1))},
		{"a softmax", func() *graph.Node {
			e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, a, graph.Expand(graph.Reduce(ir.ReduceMax, a, []int{1}), a.Shape)))
			return graph.Binary(ir.Div, e, graph.Expand(sum(e, 1), e.Shape))
		}()},
		{"a product", product(a, leaf(f32, 1, 5, 6))},
		{"a product of padded rows", product(pad(leaf(f32, 0, 2, 6), 0, graph.Padding{Before: 1, After: 1}, graph.Padding{}), leaf(f32, 1, 5, 6))},
		{"a gather", graph.Gather(a, leaf(ir.Int64, 1, 4, 2), 1)},
		{"a gather of rows, padded", pad(graph.Gather(a, graph.Expand(leaf(ir.Int32, 1, 3, 1), []int{3, 6}), 0), 0, graph.Padding{After: 1}, graph.Padding{})},
		{"a scatter", graph.Scatter(ir.Add, a, leaf(ir.Int32, 1, 9, 6), neg(leaf(f32, 2, 9, 6)), 0)},
		{"parts", graph.Cat(1, []*graph.Node{neg(a), graph.Unary(ir.Exp, leaf(f32, 1, 4, 3))})},
	} {
		kernels, _ := Graph([]*graph.Node{c.node}, Options{})
		out.WriteString("# " + c.name + "\n")
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%s: %v in\n%v", c.name, err, k)
			}
			if len(k.Args) != len(k.Kernel.Args) {
				t.Errorf("%s: %d arguments are named, the kernel has %d", c.name, len(k.Args), len(k.Kernel.Args))
			}
			out.WriteString(k.String() + "\n")
		}
	}
	goldentext.Check(t, "testdata/kernels.txt", out.String())
}
