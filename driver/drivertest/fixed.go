package drivertest

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// fixed computes graphs that once came out wrong.
func (s *suite) fixed() {
	for _, c := range []struct {
		name string
		make func(s *suite, d ir.DType) []*graph.Node
	}{
		{"a guard that both factors need", func(s *suite, d ir.DType) []*graph.Node {
			a, b := s.tensor(d, 1, 3, 1, 5, 1), s.tensor(d, 1, 3, 3, 1, 2)
			full := []int{1, 3, 3, 5, 2}
			sum := graph.Reduce(ir.Sum, graph.Binary(ir.Mul, graph.Expand(a, full), graph.Expand(b, full)), []int{1})
			return one(graph.Reduce(ir.Sum, graph.Unwindow(sum, 3, 4, 2, 1, 10), []int{4}))
		}},
		{"a sum of a sum that is read elsewhere", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Reshape(graph.Reduce(ir.Sum, s.tensor(d, 5, 4, 2), []int{2}), []int{5, 4})
			return one(graph.Binary(ir.Add, x, graph.Expand(graph.Reduce(ir.Sum, x, []int{0}), x.Shape)))
		}},
		{"a sum of a repeated sum", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Reduce(ir.Sum, s.tensor(d, 1, 3, 6, 2), []int{3})
			return one(graph.Reduce(ir.Sum, graph.Expand(x, []int{1, 3, 6, 2}), []int{1}))
		}},
		{"parts in another order of axes", func(s *suite, d ir.DType) []*graph.Node {
			x := s.tensor(d, 2, 2, 8, 2)
			y := graph.Binary(ir.Mul, s.tensor(d, 2, 2, 8, 1), graph.Reduce(ir.ReduceMax, x, []int{3}))
			return one(graph.Cat(3, []*graph.Node{graph.Permute(y, []int{0, 3, 2, 1}), s.tensor(d, 2, 1, 8, 2)}))
		}},
		{"parts of another rank", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Reshape(graph.Reduce(ir.Sum, s.tensor(d, 3, 3, 4), []int{2}), []int{3, 3})
			return one(graph.Cat(1, []*graph.Node{x, s.tensor(d, 3, 0), x}))
		}},
		{"two shapes of a view that is none of them", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Flip(s.tensor(d, 3, 2, 6), []int{1})
			return []*graph.Node{graph.Reshape(x, []int{2, 3, 6}), graph.Reshape(x, []int{36})}
		}},
		{"two orders of what is not stored", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Unwindow(s.tensor(d, 5, 2, 1), 2, 1, 1, 1, 2)
			return []*graph.Node{graph.Permute(x, []int{1, 0, 2}), graph.Reshape(x, []int{2, 5, 1, 2})}
		}},
		{"what is gathered from and computed", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Permute(graph.Binary(ir.Mul, s.tensor(d, 4, 5), s.tensor(d, 4, 5)), []int{1, 0})
			return []*graph.Node{graph.Reshape(x, []int{20}), graph.Gather(x, s.below(ir.Int32, 5, []int{5, 4}), 0)}
		}},
		{"what is gathered from and stored later", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Flip(graph.Binary(ir.Mul, s.tensor(d, 3), s.tensor(d, 3)), []int{0})
			return []*graph.Node{
				graph.Gather(x, s.below(ir.Int32, 3, []int{1}), 0),
				graph.Scatter(ir.Min, x, s.below(ir.Int32, 3, []int{5}), s.tensor(d, 5), 0),
			}
		}},
		{"a padded gather from a window", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Window(graph.Unary(ir.Neg, s.tensor(d, 2, 3)), 0, 1, 1, 0, 2)
			y := graph.Window(graph.Unary(ir.Floor, s.tensor(d, 3, 2)), 0, 1, 1, 1, 2)
			pad := []graph.Padding{{Before: 1, After: 2, Interior: 2}, {After: 1, Interior: 1}}
			return []*graph.Node{
				graph.Pad(graph.Gather(x, s.below(ir.Int32, 2, []int{2, 3}), 0), 0, pad),
				graph.Pad(graph.Gather(y, s.below(ir.Int32, 2, []int{3, 2}), 0), 0, pad),
			}
		}},
		{"a product with what was scattered", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Scatter(ir.Max, s.tensor(d, 3), s.below(ir.Int32, 3, []int{1}), s.tensor(d, 1), 0)
			y := graph.Expand(graph.Reshape(x, []int{1, 1, 3}), []int{2, 3, 3})
			return one(graph.Binary(ir.Mul, y, s.tensor(d, 2, 3, 3)))
		}},
		{"one update at many points", func(s *suite, d ir.DType) []*graph.Node {
			idx := graph.Expand(s.below(ir.Int32, 1, []int{1}), []int{3})
			return one(graph.Scatter(ir.Add, s.tensor(d, 1), idx, graph.Expand(s.tensor(d, 1), []int{3}), 0))
		}},
		{"a softmax that is picked from", func(s *suite, d ir.DType) []*graph.Node {
			x := graph.Binary(ir.Sub, s.tensor(d, 5, 11), s.tensor(d, 5, 11))
			e := graph.Unary(ir.Exp, x)
			y := graph.Binary(ir.Div, e, graph.Expand(graph.Reduce(ir.Sum, e, []int{1}), e.Shape))
			return one(graph.Gather(y, s.below(ir.Int32, 11, []int{5, 6}), 1))
		}},
	} {
		s.part(c.name, func(s *suite) { s.check(c.name, c.make(s, ir.Float32)...) })
	}
}

func one(n *graph.Node) []*graph.Node { return []*graph.Node{n} }
