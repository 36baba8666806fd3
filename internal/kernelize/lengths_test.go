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
		kernels, _ := Graph(c.make(&maker{}), Options{Loops: ir.LoopLimits{Lengths: !c.off}})
		stores, loads := 0, 0
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%s: %v in\n%v", c.name, err, k.Kernel)
			}
			for _, in := range k.Body {
				if in.Op == ir.Store && len(in.Src) > 1 {
					stores++
				}
			}
			loads += len(slices.DeleteFunc(slices.Clone(k.Kernel.Args), func(a ir.Arg) bool { return !a.Undefined }))
		}
		if got := fmt.Sprint(stores, loads); got != c.want {
			t.Errorf("%s: %s stores and loads end at a length, want %s", c.name, got, c.want)
		}
	}
}
