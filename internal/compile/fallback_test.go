package compile

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize"
	"github.com/tensorken/tensorken/internal/simplify"
	"github.com/tensorken/tensorken/ir"
)

// Kernels read the reports of checks before they store, where they can.
func TestFallbacks(t *testing.T) {
	Verify()
	leaf := func(d ir.DType, i int, strides []int, dims ...int) *graph.Node {
		return graph.Leaf(d, dims, i, append([]int{1}, strides...))
	}
	rowMajor := []int{5, 1}
	p := leaf(ir.Float32, 0, rowMajor, 4, 5)
	table := leaf(ir.Float32, 1, rowMajor, 9, 5)
	index := func(i, rows int) *graph.Node { return leaf(ir.Int32, i, []int{1, 0}, rows, 5) }
	taken := graph.Gather(table, index(2, 6), 0)
	spread := func(x *graph.Node) *graph.Node { return graph.Expand(x, p.Shape) }
	total := func(x *graph.Node) *graph.Node { return spread(graph.Reduce(ir.Sum, x, []int{0, 1})) }
	sum := func(rows int) *graph.Node {
		return graph.Expand(graph.Reduce(ir.Sum, taken, []int{0, 1}), []int{rows, 5})
	}
	rows := func(from, n int) *graph.Node {
		return graph.Crop(p, []graph.Span{{Start: from, Step: 1, Len: n}, {Step: 1, Len: 5}})
	}
	sub := func(x, y *graph.Node) *graph.Node { return graph.Binary(ir.Sub, x, y) }
	for _, c := range []struct {
		name     string
		root     *graph.Node
		strides  []int // of the leaf to fall back to
		bindings int
		falls    bool
		kernels  int
	}{
		{"one check", sub(p, total(taken)), rowMajor, 0, true, 2},
		{"two checks", sub(sub(p, total(taken)), total(graph.Gather(table, index(3, 7), 0))), rowMajor, 0, true, 4},
		{"no check", sub(p, total(table)), rowMajor, 0, false, 2},
		{"a kernel that checks", sub(p, graph.Gather(table, index(2, 4), 0)), rowMajor, 0, true, 2},
		{"a scatter", graph.Scatter(ir.Add, p, index(2, 9), table, 0), rowMajor, 0, true, 2},
		{"a transposed leaf", sub(p, total(taken)), []int{1, 4}, 0, true, 2},
		{"few bindings", sub(p, total(taken)), rowMajor, 4, true, 2},
		{"parts", graph.Cat(0, []*graph.Node{graph.Binary(ir.Mul, rows(0, 1), sum(1)), sub(rows(1, 3), sum(3))}), rowMajor, 0, true, 4},
	} {
		plan, err := Graph(simplify.Nodes([]*graph.Node{c.root}), kernelize.Options{Bindings: c.bindings}, []*graph.Node{leaf(ir.Float32, 0, c.strides, 4, 5)})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if plan.FallsBack != c.falls || len(plan.Steps) != c.kernels {
			t.Errorf("%s: it falls back: %v with %d kernels, want %v with %d", c.name, plan.FallsBack, len(plan.Steps), c.falls, c.kernels)
		}
		for _, s := range plan.Steps {
			if !plan.FallsBack || s.Args[0].Index != plan.Outputs[0].Index {
				continue
			}
			// The store is of Where(failed, old, new), and old is the leaf's element.
			body := s.Kernel.Body
			store := body[len(body)-1]
			old := body[body[store.Src[0]].Src[1]]
			want := Arg{Kind: ir.In, Leaf: true, Offset: s.Args[store.Arg].Offset}
			if got := s.Args[old.Arg]; got != want || slices.Equal(old.View.Coef, store.View.Coef) != slices.Equal(c.strides, rowMajor) {
				t.Errorf("%s: the old elements are %+v at %v, want %+v at %v", c.name, got, old.View, want, store.View)
			}
		}
	}
}
