package kernelize

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// TestLengths says of attention with a mask how many stores omit hidden elements, and how many
// arguments are read up to a length.
func TestLengths(t *testing.T) {
	const columns, width = 64, 8
	lowest := func(s *graph.Node) *graph.Node { return graph.Fill(f32, math.Inf(-1), s.Shape) }
	position := func(s *graph.Node, axis int) *graph.Node { return graph.Iota(s.Shape, axis) }
	number := func(m *maker, s *graph.Node) *graph.Node {
		return graph.Expand(graph.Reshape(m.of(ir.Int32, 1), []int{1, 1}), s.Shape)
	}
	upTo := func(m *maker, s *graph.Node) *graph.Node {
		return graph.Where(elementwise(ir.Lt, position(s, 1), number(m, s)), s, lowest(s))
	}
	attention := func(rows int, mask func(m *maker, s *graph.Node) *graph.Node, more func(p *graph.Node) []*graph.Node) func(m *maker) []*graph.Node {
		return func(m *maker) []*graph.Node {
			p := softmax(mask(m, matmul(m.leaf(rows, width), m.leaf(columns, width))), 1)
			return append(list(matmul(p, m.leaf(width, columns))), more(p)...)
		}
	}
	nothing := func(*graph.Node) []*graph.Node { return nil }
	for _, c := range []struct {
		name string
		make func(m *maker) []*graph.Node
		off  bool
		want string
	}{
		{"a length", attention(4, upTo, nothing), false, "2 2"},
		{"of a device that does not look at conditions", attention(4, upTo, nothing), true, "0 0"},
		{"few rows, each with its length", attention(4, func(m *maker, s *graph.Node) *graph.Node {
			last := elementwise(ir.Add, position(s, 0), number(m, s))
			return graph.Where(elementwise(ir.Lt, position(s, 1), last), s, lowest(s))
		}, nothing), false, "2 2"},
		{"many rows", attention(40, func(m *maker, s *graph.Node) *graph.Node {
			last := elementwise(ir.Add, position(s, 0), number(m, s))
			return graph.Where(elementwise(ir.Lt, position(s, 1), last), s, lowest(s))
		}, nothing), false, "0 0"},
		{"no number", attention(4, func(_ *maker, s *graph.Node) *graph.Node {
			return graph.Where(elementwise(ir.Lt, position(s, 1), position(s, 0)), s, lowest(s))
		}, nothing), false, "0 0"},
		{"a mask in memory", attention(4, func(m *maker, s *graph.Node) *graph.Node {
			return graph.Where(m.of(ir.Bool, s.Shape...), s, lowest(s))
		}, nothing), false, "0 0"},
		{"another constant", attention(4, func(m *maker, s *graph.Node) *graph.Node {
			return graph.Where(elementwise(ir.Lt, position(s, 1), number(m, s)), s, graph.Fill(f32, -1e9, s.Shape))
		}, nothing), false, "0 0"},
		{"weights that are asked for", attention(4, upTo, func(p *graph.Node) []*graph.Node { return list(p) }), false, "1 1"},
		{"a view of them", attention(4, upTo, func(p *graph.Node) []*graph.Node {
			return list(graph.Reshape(p, []int{2, 2, columns}))
		}), false, "1 1"},
		{"a reader at other elements", attention(4, upTo, func(p *graph.Node) []*graph.Node {
			return list(sum(graph.Pad(p, 0, []graph.Padding{{}, {Before: 1}}), 1))
		}), false, "1 1"},
	} {
		if got := countCut(t, c.make(&maker{}), ir.LoopLimits{Lengths: !c.off}); got != c.want {
			t.Errorf("%s: %s stores and loads end at a length, want %s", c.name, got, c.want)
		}
	}
}

// countCut counts the stores that omit hidden elements, and the arguments that kernels read without these.
func countCut(t *testing.T, roots []*graph.Node, limits ir.LoopLimits) string {
	t.Helper()
	kernels, _ := Graph(roots, Options{Loops: limits})
	stores, loads := 0, 0
	for _, k := range kernels {
		if err := ir.Verify(k.Kernel); err != nil {
			t.Errorf("%v in\n%v", err, k.Kernel)
		}
		for _, in := range k.Body {
			if in.Op == ir.Store && len(in.Src) > 1 {
				stores++
			}
		}
		loads += len(slices.DeleteFunc(slices.Clone(k.Kernel.Args), func(a ir.Arg) bool { return !a.Undefined }))
	}
	return fmt.Sprint(stores, loads)
}

// TestBands says of attention with a mask of positions how many stores omit hidden elements, and how many arguments are
// read without them: of a causal one the scores, the weights, and the gradients of the weights and of the scores.
func TestBands(t *testing.T) {
	const rows, columns, width = 40, 64, 8
	fill := func(s *graph.Node, x float64) *graph.Node { return graph.Fill(f32, x, s.Shape) }
	after := func(s *graph.Node, by int) *graph.Node { // columns later than that many after the row
		row := elementwise(ir.Add, graph.Iota(s.Shape, 0), graph.Fill(ir.Int32, float64(by), s.Shape))
		return elementwise(ir.Lt, row, graph.Iota(s.Shape, 1))
	}
	causal := func(s *graph.Node) *graph.Node {
		return graph.Where(graph.Unary(ir.Not, after(s, 0)), s, fill(s, math.Inf(-1)))
	}
	band := func(before int) func(s *graph.Node) *graph.Node {
		return func(s *graph.Node) *graph.Node {
			within := elementwise(ir.And, graph.Unary(ir.Not, after(s, 0)), after(s, -before))
			return graph.Where(within, s, fill(s, math.Inf(-1)))
		}
	}
	// Gradients are of a sum of products with weights that are one value: the softmax's gradient is w·(g - Σ w·g).
	for _, c := range []struct {
		name string
		mask func(s *graph.Node) *graph.Node
		axis int // of the softmax
		kind ir.Op
		want string
	}{
		{"causal", causal, 1, ir.Where, "4 5"},
		{"a window", band(5), 1, ir.Where, "4 5"},
		{"no mask", func(s *graph.Node) *graph.Node { return s }, 1, ir.Where, "0 0"},
		{"rows of which nothing is left", func(s *graph.Node) *graph.Node {
			return graph.Where(graph.Unary(ir.Not, after(s, -1)), s, fill(s, math.Inf(-1)))
		}, 1, ir.Where, "0 0"},
		{"rows of which nothing is left by another condition", func(s *graph.Node) *graph.Node {
			fifth := elementwise(ir.Eq, graph.Iota(s.Shape, 1), graph.Fill(ir.Int32, 5, s.Shape))
			return graph.Where(elementwise(ir.And, graph.Unary(ir.Not, after(s, 0)), fifth), s, fill(s, math.Inf(-1)))
		}, 1, ir.Where, "0 0"},
		{"zeros with another number behind them", func(s *graph.Node) *graph.Node {
			zeros := graph.Fill(f32, 0, []int{rows, columns - 1})
			return graph.Where(graph.Unary(ir.Not, after(s, 0)), s, graph.Pad(zeros, ir.Float(f32, 7), []graph.Padding{{}, {After: 1}}))
		}, 1, ir.Where, "0 0"},
		{"rows and columns that have changed places", causal, 0, ir.Where, "1 1"},
		{"no product by a weight", causal, 1, 0, "2 3"},
	} {
		m := &maker{}
		s := c.mask(matmul(m.leaf(rows, width), m.leaf(columns, width)))
		w := softmax(s, c.axis)
		g := matmul(m.leaf(rows, width), m.leaf(columns, width))
		times := func(x *graph.Node) *graph.Node {
			if c.kind == 0 {
				return elementwise(ir.Mul, w, x)
			}
			return graph.Weigh(w, x)
		}
		total := sum(times(g), 1)
		ds := times(elementwise(ir.Sub, g, graph.Expand(total, s.Shape)))
		roots := list(matmul(w, m.leaf(width, columns)), matmul(ds, m.leaf(width, columns)))
		if got := countCut(t, roots, ir.LoopLimits{Skips: true}); got != c.want {
			t.Errorf("%s: %s stores and loads leave out hidden elements, want %s", c.name, got, c.want)
		}
		if got := countCut(t, roots, ir.LoopLimits{}); got != "0 0" {
			t.Errorf("%s: of a device that skips nothing %s", c.name, got)
		}
	}
}
