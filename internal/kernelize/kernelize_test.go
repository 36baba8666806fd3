package kernelize

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

const f32 = ir.Float32

// A maker makes graphs of leaves that are all different.
type maker struct{ leaves int }

func (m *maker) of(d ir.DType, dims ...int) *graph.Node {
	m.leaves++
	return graph.Leaf(d, dims, m.leaves-1, append([]int{1}, shape.RowMajor(dims)...))
}

func (m *maker) leaf(dims ...int) *graph.Node { return m.of(f32, dims...) }

func elementwise(op ir.Op, src ...*graph.Node) *graph.Node { return graph.Elementwise(op, src...) }

func sum(x *graph.Node, axes ...int) *graph.Node { return graph.Reduce(ir.Sum, x, axes) }

// along is x, with axes of length 1, repeated as y is long.
func along(x, y *graph.Node) *graph.Node { return graph.Expand(x, y.Shape) }

// matmul is a [m k] times b [n k].
func matmul(a, b *graph.Node) *graph.Node {
	m, n, k := a.Shape[0], b.Shape[0], a.Shape[1]
	full := []int{m, n, k}
	x := graph.Expand(graph.Reshape(a, []int{m, 1, k}), full)
	y := graph.Expand(graph.Reshape(b, []int{1, n, k}), full)
	return graph.Reshape(sum(elementwise(ir.Mul, x, y), 2), []int{m, n})
}

func list(nodes ...*graph.Node) []*graph.Node { return nodes }

func softmax(x *graph.Node, axis int) *graph.Node {
	most := graph.Reduce(ir.ReduceMax, x, []int{axis})
	e := elementwise(ir.Exp, elementwise(ir.Sub, x, along(most, x)))
	return elementwise(ir.Div, e, along(sum(e, axis), e))
}

func norm(m *maker, x *graph.Node) *graph.Node {
	n := float64(x.Shape[1])
	mean := elementwise(ir.Div, sum(x, 1), graph.Fill(f32, n, []int{x.Shape[0], 1}))
	c := elementwise(ir.Sub, x, along(mean, x))
	v := elementwise(ir.Div, sum(elementwise(ir.Mul, c, c), 1), graph.Fill(f32, n, mean.Shape))
	y := elementwise(ir.Div, c, along(elementwise(ir.Sqrt, v), x))
	return elementwise(ir.Add, elementwise(ir.Mul, y, along(m.leaf(1, x.Shape[1]), x)), along(m.leaf(1, x.Shape[1]), x))
}

// describe writes a group as its template, its axes with the reduced ones behind a bar,
// and the nodes that it computes in order, with a star if they are stored. Inline nodes
// are not named.
func describe(g *group, order map[*graph.Node]int) string {
	var kept, reduced, ops []string
	for _, a := range g.Axes {
		n := fmt.Sprint(g.Lens[a])
		if slices.Contains(g.reduced, a) {
			reduced = append(reduced, n)
		} else {
			kept = append(kept, n)
		}
	}
	nodes := slices.Clone(g.members)
	slices.SortFunc(nodes, func(a, b *node) int { return order[a.Node] - order[b.Node] })
	for _, n := range nodes {
		name := n.Op.String()
		for _, in := range g.body {
			if in.Op == ir.Store && in.Src[0] == n.id || in.Op == ir.Scatter {
				name += "*"
			}
		}
		ops = append(ops, name)
	}
	space := strings.Join(kept, "x")
	if len(reduced) > 0 {
		space += "|" + strings.Join(reduced, "x")
	}
	return fmt.Sprintf("%v %s: %s", g.template, space, strings.Join(ops, " "))
}

// taken is the product of 4 rows of a table, taken by index, and a matrix of n
// columns.
func taken(m *maker, n int) *graph.Node {
	rows := graph.Gather(m.leaf(9, 5), graph.Expand(m.of(ir.Int32, 4, 1), []int{4, 5}), 0)
	x := graph.Expand(graph.Reshape(rows, []int{4, 1, 5}), []int{4, n, 5})
	y := graph.Expand(m.leaf(1, n, 5), []int{4, n, 5})
	return sum(elementwise(ir.Mul, x, y), 2)
}

func groups(roots []*graph.Node, o Options) []string {
	order := map[*graph.Node]int{}
	for i, n := range graph.Sorted(roots) {
		order[n] = i
	}
	var out []string
	for _, g := range placed(roots, o).groups {
		out = append(out, describe(g, order))
	}
	return out
}

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(m *maker) []*graph.Node
		want []string
	}{
		{"a chain", func(m *maker) []*graph.Node {
			x := m.leaf(2, 3)
			return list(elementwise(ir.Exp, elementwise(ir.Add, elementwise(ir.Neg, x), m.leaf(2, 3))))
		}, []string{"pointwise 2x3: Exp*"}},
		{"a view of a leaf", func(m *maker) []*graph.Node {
			return list(graph.Flip(graph.Permute(m.leaf(2, 3), []int{1, 0}), []int{0}))
		}, nil},
		{"a padded leaf", func(m *maker) []*graph.Node {
			return list(graph.Pad(m.leaf(2), 0, []graph.Padding{{Before: 1}}))
		}, []string{"pointwise 3: Pad*"}},
		{"a view of what is computed", func(m *maker) []*graph.Node {
			return list(graph.Crop(elementwise(ir.Exp, m.leaf(6)), []graph.Span{{Start: 1, Step: 2, Len: 2}}))
		}, []string{"pointwise 2: Crop*"}},
		{"a constant", func(m *maker) []*graph.Node {
			return list(graph.Fill(f32, 2, []int{4}))
		}, []string{"pointwise 4: Const*"}},
		{"work after a reduction", func(m *maker) []*graph.Node {
			s := sum(m.leaf(4, 5), 1)
			return list(elementwise(ir.Sqrt, s))
		}, []string{"reduce 4|5: Sum Sqrt*"}},
		{"a softmax", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			return list(softmax(x, 1))
		}, []string{"reduce 4|5: ReduceMax Sub Exp Sum Div*"}},
		{"a softmax of a chain over the first axis", func(m *maker) []*graph.Node {
			x := elementwise(ir.Tanh, m.leaf(4, 5))
			return list(softmax(x, 0))
		}, []string{"reduce 5|4: Tanh ReduceMax Sub Exp Sum Div*"}},
		{"rows added to columns", func(m *maker) []*graph.Node {
			x := softmax(m.leaf(4, 4), 1)
			return list(elementwise(ir.Add, x, graph.Permute(x, []int{1, 0})))
		}, []string{"reduce 4|4: ReduceMax Sub Exp Sum Div*", "pointwise 4x4: Add*"}},
		{"windows of an expensive chain that overlap", func(m *maker) []*graph.Node {
			x := graph.Reshape(elementwise(ir.Tanh, m.leaf(20)), []int{20, 1})
			return list(sum(graph.Window(graph.Expand(x, []int{20, 9}), 0, 1, 1, 1, 12), 1))
		}, []string{"pointwise 20: Tanh*", "reduce 12|9: Sum*"}},
		{"a row and its sum", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			return list(x, sum(x, 1))
		}, []string{"reduce 4|5: Exp* Sum*"}},
		{"reductions over different axes", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			return list(sum(x, 0), sum(x, 1))
		}, []string{"reduce 5|4: Exp Sum*", "reduce 4|5: Sum*"}},
		{"random bits for reductions over different axes", func(m *maker) []*graph.Node {
			w := m.of(ir.Uint32, 4, 5)
			x := graph.Cast(elementwise(ir.Threefry, w, w, w, w), f32)
			return list(sum(x, 0), sum(x, 1))
		}, []string{"reduce 5|4: Cast* Sum*", "reduce 4|5: Sum*"}},
		{"functions of a product for other products", func(m *maker) []*graph.Node {
			x := matmul(m.leaf(4, 5), m.leaf(6, 5))
			y := matmul(elementwise(ir.Sqrt, x), m.leaf(6, 6))
			f, g := elementwise(ir.Exp, elementwise(ir.Neg, x)), elementwise(ir.Mul, x, x)
			return list(elementwise(ir.Add, elementwise(ir.Mul, y, f), elementwise(ir.Div, y, g)))
		}, []string{"contraction 4x6|5: Sum* Sqrt* Neg Exp Mul", "contraction 4x6|6: Sum Mul Div Add*"}},
		{"a factor and a function of it", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, matmul(m.leaf(4, 5), m.leaf(6, 5)))
			y := matmul(x, m.leaf(3, 6))
			return list(y, sum(elementwise(ir.Neg, x), 0))
		}, []string{"contraction 4x6|5: Sum Exp* Neg", "contraction 4x3|6: Sum*", "reduce 6|4: Sum*"}},
		{"functions of a root", func(m *maker) []*graph.Node {
			x := matmul(m.leaf(4, 5), m.leaf(6, 5))
			y := elementwise(ir.Exp, x)
			return list(y, sum(elementwise(ir.Neg, y), 0))
		}, []string{"contraction 4x6|5: Sum Exp* Neg", "reduce 6|4: Sum*"}},
		{"reductions of one leaf over different axes", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			return list(sum(x, 0), sum(x, 1))
		}, []string{"reduce 5|4: Sum*", "reduce 4|5: Sum*"}},
		{"a reduction of another's rows", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			y := elementwise(ir.Sub, x, along(sum(x, 1), x))
			return list(sum(y, 0))
		}, []string{"reduce 4|5: Sum* Sub", "reduce 5|4: Sum*"}},
		{"rows that a group in between reads, and others", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), elementwise(ir.Tanh, m.leaf(4, 5))
			total := elementwise(ir.Sqrt, sum(elementwise(ir.Sqrt, sum(x, 1)), 0))
			return list(total, elementwise(ir.Mul, x, along(sum(y, 1), x)))
		}, []string{"reduce 4|5: Exp Sum Sqrt* Sum Mul*", "reduce |4: Sum Sqrt*"}},
		{"rows that a group in between reads, and others, chosen by its result", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), elementwise(ir.Tanh, m.leaf(4, 5))
			total := elementwise(ir.Sqrt, sum(elementwise(ir.Sqrt, sum(x, 1)), 0))
			few := elementwise(ir.Lt, graph.Expand(graph.Reshape(total, []int{1, 1}), y.Shape), graph.Fill(f32, 1, y.Shape))
			return list(total, elementwise(ir.Where, few, x, elementwise(ir.Mul, y, along(sum(y, 1), x))))
		}, []string{"reduce 4|5: Exp Sum Sqrt*", "reduce |4: Sum Sqrt*", "reduce 4|5: Tanh Sum Mul Where*"}},
		{"rows that a group in between reads, and others for the backward pass", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), elementwise(ir.Tanh, m.leaf(4, 5))
			total := elementwise(ir.Sqrt, sum(elementwise(ir.Sqrt, sum(x, 1)), 0))
			s := sum(y, 1)
			y.RematLevel, s.RematLevel = 1, 1
			return list(total, elementwise(ir.Mul, x, along(s, x)))
		}, []string{"reduce 4|5: Exp Sum Sqrt*", "reduce |4: Sum Sqrt*", "reduce 4|5: Sum Mul*"}},
		{"rows that a group in between reads, and others of its result", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), elementwise(ir.Tanh, m.leaf(4, 5))
			total := elementwise(ir.Sqrt, sum(elementwise(ir.Sqrt, sum(x, 1)), 0))
			y = elementwise(ir.Mul, y, graph.Expand(graph.Reshape(total, []int{1, 1}), y.Shape))
			return list(total, elementwise(ir.Mul, x, along(sum(y, 1), x)))
		}, []string{"reduce 4|5: Exp Sum Sqrt*", "reduce |4: Sum Sqrt*", "reduce 4|5: Sum Mul*"}},
		{"cheap work on what is stored and on rows, for another group", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			y := elementwise(ir.Mul, x, along(sum(x, 1), x))
			return list(x, sum(y, 0))
		}, []string{"reduce 4|5: Exp* Sum* Mul", "reduce 5|4: Sum*"}},
		{"cheap work, repeated, on one that is read by others in its group alone", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			for range 40 { // as many paths as 2⁴⁰
				x = elementwise(ir.Add, x, x)
			}
			return list(sum(x, 0), sum(x, 1))
		}, []string{"reduce 5|4: Exp" + strings.Repeat(" Add", 40) + "* Sum*", "reduce 4|5: Sum*"}},
		{"expensive work on what is stored, for another group", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			y := elementwise(ir.Tanh, elementwise(ir.Mul, x, along(sum(x, 1), x)))
			return list(x, sum(y, 0))
		}, []string{"reduce 4|5: Exp* Sum Mul Tanh*", "reduce 5|4: Sum*"}},
		{"a sum of a sum", func(m *maker) []*graph.Node {
			return list(sum(sum(m.leaf(4, 5), 1), 0))
		}, []string{"reduce |4x5: Sum*"}},
		{"a sum of a sum that is asked for", func(m *maker) []*graph.Node {
			x := sum(m.leaf(4, 5), 1)
			return list(x, sum(x, 0))
		}, []string{"reduce 4|5: Sum*", "reduce |4: Sum*"}},
		{"a sum of a maximum", func(m *maker) []*graph.Node {
			return list(sum(graph.Reduce(ir.ReduceMax, m.leaf(4, 5), []int{1}), 0))
		}, []string{"reduce 4|5: ReduceMax*", "reduce |4: Sum*"}},
		{"a product of matrices", func(m *maker) []*graph.Node {
			return list(matmul(m.leaf(4, 5), m.leaf(6, 5)))
		}, []string{"contraction 4x6|5: Sum*"}},
		{"a product with bias and relu", func(m *maker) []*graph.Node {
			p := matmul(m.leaf(4, 5), m.leaf(6, 5))
			b := graph.Expand(m.leaf(1, 6), p.Shape)
			return list(elementwise(ir.Max, elementwise(ir.Add, p, b), graph.Fill(f32, 0, p.Shape)))
		}, []string{"contraction 4x6|5: Sum Add Max*"}},
		{"a product of a cheap chain", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			return list(matmul(elementwise(ir.Add, x, elementwise(ir.Neg, x)), m.leaf(6, 5)))
		}, []string{"contraction 4x6|5: Sum*"}},
		{"a product of an expensive chain", func(m *maker) []*graph.Node {
			return list(matmul(elementwise(ir.Tanh, m.leaf(4, 5)), m.leaf(6, 5)))
		}, []string{"pointwise 4x5: Tanh*", "contraction 4x6|5: Sum*"}},
		{"a product of a chain that begins with what is expensive", func(m *maker) []*graph.Node {
			x := elementwise(ir.Add, elementwise(ir.Neg, elementwise(ir.Tanh, m.leaf(4, 5))), m.leaf(4, 5))
			return list(matmul(x, m.leaf(6, 5)))
		}, []string{"pointwise 4x5: Add*", "contraction 4x6|5: Sum*"}},
		{"expensive work on rows, repeated in a chain", func(m *maker) []*graph.Node {
			x := elementwise(ir.Neg, elementwise(ir.Exp, m.leaf(4, 1)))
			return list(elementwise(ir.Mul, graph.Expand(x, []int{4, 5}), m.leaf(4, 5)))
		}, []string{"pointwise 4: Neg*", "pointwise 4x5: Mul*"}},
		{"a product of a product", func(m *maker) []*graph.Node {
			return list(matmul(matmul(m.leaf(4, 5), m.leaf(6, 5)), m.leaf(3, 6)))
		}, []string{"contraction 4x6|5: Sum*", "contraction 4x3|6: Sum*"}},
		{"a product of one row", func(m *maker) []*graph.Node {
			return list(matmul(m.leaf(1, 5), m.leaf(6, 5)))
		}, []string{"reduce 6|5: Sum*"}},
		{"a sum of squares", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			return list(sum(elementwise(ir.Mul, x, x), 1))
		}, []string{"reduce 4|5: Sum*"}},
		{"a product of integers", func(m *maker) []*graph.Node {
			return list(matmul(m.of(ir.Int32, 4, 5), m.of(ir.Int32, 6, 5)))
		}, []string{"contraction 4x6|5: Sum*"}},
		{"a product of bytes, added up as int32", func(m *maker) []*graph.Node {
			full := []int{4, 6, 5}
			x := graph.Expand(m.of(ir.Uint8, 4, 1, 5), full)
			y := graph.Expand(m.of(ir.Uint8, 1, 6, 5), full)
			return list(sum(elementwise(ir.Mul, x, y), 2))
		}, []string{"reduce 4x6|5: Sum*"}},
		{"siblings over one space", func(m *maker) []*graph.Node {
			return list(elementwise(ir.Neg, m.leaf(4, 5)), elementwise(ir.Exp, m.leaf(4, 5)))
		}, []string{"pointwise 4x5: Neg* Exp*"}},
		{"siblings over two spaces", func(m *maker) []*graph.Node {
			return list(elementwise(ir.Neg, m.leaf(4, 5)), elementwise(ir.Exp, m.leaf(5, 4)))
		}, []string{"pointwise 4x5: Neg*", "pointwise 5x4: Exp*"}},
		{"rows that read the same", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			return list(sum(x, 1), graph.Reduce(ir.ReduceMax, x, []int{1}))
		}, []string{"reduce 4|5: Sum* ReduceMax*"}},
		{"rows that read other things", func(m *maker) []*graph.Node {
			return list(sum(m.leaf(4, 5), 1), graph.Reduce(ir.ReduceMax, m.leaf(4, 5), []int{1}))
		}, []string{"reduce 4|5: Sum*", "reduce 4|5: ReduceMax*"}},
		{"cheap work that two groups need", func(m *maker) []*graph.Node {
			x := elementwise(ir.Neg, m.leaf(4, 5))
			return list(sum(x, 0), sum(x, 1))
		}, []string{"reduce 5|4: Sum*", "reduce 4|5: Sum*"}},
		{"expensive work that is repeated", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 1))
			return list(elementwise(ir.Mul, graph.Expand(x, []int{4, 5}), m.leaf(4, 5)))
		}, []string{"pointwise 4: Exp*", "pointwise 4x5: Mul*"}},
		{"cheap work that is repeated", func(m *maker) []*graph.Node {
			x := elementwise(ir.Neg, m.leaf(4, 1))
			return list(elementwise(ir.Mul, graph.Expand(x, []int{4, 5}), m.leaf(4, 5)))
		}, []string{"pointwise 4x5: Mul*"}},
		{"a gather from a leaf", func(m *maker) []*graph.Node {
			return list(elementwise(ir.Neg, graph.Gather(m.leaf(7, 5), m.of(ir.Int32, 4, 5), 0)))
		}, []string{"pointwise 4x5: Neg*"}},
		{"a gather from what is computed", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(7, 5))
			return list(graph.Gather(x, m.of(ir.Int32, 4, 5), 0))
		}, []string{"pointwise 7x5: Exp*", "pointwise 4x5: Gather*"}},
		{"a gather by what is computed", func(m *maker) []*graph.Node {
			i := elementwise(ir.Neg, m.of(ir.Int32, 4, 5))
			return list(graph.Gather(m.leaf(7, 5), i, 0))
		}, []string{"pointwise 4x5: Gather*"}},
		{"a gather by what is reduced", func(m *maker) []*graph.Node {
			i := graph.Reduce(ir.ArgMax, m.leaf(4, 5), []int{1})
			return list(graph.Gather(m.leaf(4, 5), i, 1))
		}, []string{"reduce 4|5: ArgMax Gather*"}},
		{"a scatter", func(m *maker) []*graph.Node {
			return list(elementwise(ir.Neg, graph.Scatter(ir.Add, m.leaf(7, 5), m.of(ir.Int32, 4, 5), elementwise(ir.Exp, m.leaf(4, 5)), 0)))
		}, []string{"routine 4x5: Scatter*", "pointwise 7x5: Neg*"}},
		{"a sum and a multiple of it for a scatter that replaces", func(m *maker) []*graph.Node {
			x := graph.Reshape(graph.Permute(sum(m.leaf(1, 4, 6, 5), 3), []int{1, 0, 2, 3}), []int{4, 6})
			y := elementwise(ir.Add, elementwise(ir.Mul, x, m.leaf(4, 6)), graph.Flip(x, []int{0}))
			return list(graph.Scatter(ir.Copy, m.leaf(7, 6), m.of(ir.Int32, 4, 6), y, 0))
		}, []string{"reduce 4x6|5: Sum* Mul", "routine 4x6: Scatter*"}},
		{"a scatter onto a constant that is asked for", func(m *maker) []*graph.Node {
			zeros := graph.Fill(f32, 0, []int{7, 5})
			return list(zeros, graph.Scatter(ir.Add, zeros, m.of(ir.Int32, 4, 5), m.leaf(4, 5), 0))
		}, []string{"pointwise 7x5: Const*", "routine 4x5: Scatter*"}},
		{"a scatter onto a constant", func(m *maker) []*graph.Node {
			return list(graph.Scatter(ir.Add, graph.Fill(f32, 0, []int{7, 5}), m.of(ir.Int32, 4, 5), m.leaf(4, 5), 0))
		}, []string{"routine 4x5: Scatter*"}},
		{"rows taken for a wide product", func(m *maker) []*graph.Node {
			return list(taken(m, 64))
		}, []string{"pointwise 4x5: Gather*", "contraction 4x64|5: Sum*"}},
		{"rows taken for a narrow product", func(m *maker) []*graph.Node {
			return list(taken(m, 3))
		}, []string{"contraction 4x3|5: Sum*"}},
		{"parts", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), elementwise(ir.Neg, m.leaf(4, 5))
			return list(graph.Cat(1, []*graph.Node{x, y}))
		}, []string{"pointwise 4x5: Copy* Copy*"}},
		{"parts of other lengths", func(m *maker) []*graph.Node {
			x, y := elementwise(ir.Exp, m.leaf(4, 5)), m.leaf(4, 2)
			return list(graph.Cat(1, []*graph.Node{x, y}))
		}, []string{"pointwise 4x5: Copy*", "pointwise 4x2: Copy*"}},
		{"work after parts", func(m *maker) []*graph.Node {
			return list(elementwise(ir.Exp, graph.Cat(0, []*graph.Node{m.leaf(4, 5), m.leaf(4, 5)})))
		}, []string{"pointwise 4x5: Copy* Copy*", "pointwise 8x5: Exp*"}},
		{"a split reshape", func(m *maker) []*graph.Node {
			x := sum(m.leaf(6, 5), 1)
			y := graph.Reshape(x, []int{2, 3})
			return list(elementwise(ir.Add, y, m.leaf(2, 3)))
		}, []string{"reduce 2x3|5: Sum Add*"}},
		{"a reshape that no form has", func(m *maker) []*graph.Node {
			x := graph.Permute(elementwise(ir.Exp, m.leaf(4, 6)), []int{1, 0})
			return list(elementwise(ir.Neg, graph.Reshape(x, []int{8, 3})))
		}, []string{"pointwise 6x4: Permute*", "pointwise 8x3: Neg*"}},
		{"a window of a leaf", func(m *maker) []*graph.Node {
			x := graph.Expand(m.leaf(8, 1), []int{8, 3})
			return list(sum(graph.Window(x, 0, 1, 1, 1, 6), 1))
		}, []string{"reduce 6|3: Sum*"}},
		{"a product of rows and an expensive chain that repeats", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, graph.Expand(m.leaf(4, 1, 5), []int{4, 6, 5}))
			return list(sum(elementwise(ir.Mul, m.leaf(4, 6, 5), x), 2))
		}, []string{"pointwise 4x6x5: Exp*", "reduce 4x6|5: Sum*"}},
		{"a layer norm", func(m *maker) []*graph.Node {
			return list(norm(m, m.leaf(4, 5)))
		}, []string{"reduce 4|5: Sum Div Sub Mul Sum Div Sqrt Div Mul Add*"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := groups(c.make(&maker{}), Options{}); !slices.Equal(got, c.want) {
				t.Errorf("groups:\n\t%s\nwant:\n\t%s", strings.Join(got, "\n\t"), strings.Join(c.want, "\n\t"))
			}
			kernels, _ := Graph(c.make(&maker{}), Options{})
			for _, k := range kernels {
				if err := ir.Verify(k.Kernel); err != nil {
					t.Errorf("%v in\n%v", err, k)
				}
			}
		})
	}
}

// A chain of any length is cut into groups of bounded size, in time near
// linear in its nodes.
func TestLongChain(t *testing.T) {
	m := &maker{}
	x := m.leaf(4)
	n := 20_000
	if testing.Short() {
		n = 5000
	}
	for range n {
		x = elementwise(ir.Neg, elementwise(ir.Mul, x, m.leaf(4)))
	}
	got := placed([]*graph.Node{x}, Options{}).groups
	for _, g := range got {
		if len(g.members) > maxSize {
			t.Fatalf("a group of %d nodes, more than %d", len(g.members), maxSize)
		}
	}
	if most := 8 * n / maxSize; len(got) > most {
		t.Errorf("%d groups for a chain of %d nodes, want at most %d", len(got), 2*n, most)
	}
}

// A trial that fails leaves the group as it was.
func TestRollBack(t *testing.T) {
	m := &maker{}
	x := m.leaf(4, 6)
	neg := elementwise(ir.Neg, x)
	turned := graph.Reshape(graph.Permute(graph.Reshape(x, []int{4, 2, 3}), []int{0, 2, 1}), []int{4, 6})
	for _, c := range []struct {
		name string
		node *graph.Node
		want bool
	}{
		{"an operand at the point", elementwise(ir.Add, neg, m.leaf(4, 6)), true},
		{"a leaf in another order", elementwise(ir.Add, neg, turned), true},
		{"a member elsewhere than at the point", elementwise(ir.Add, neg, graph.Flip(neg, []int{0})), false},
	} {
		p := &placer{}
		p.load(list(c.node))
		known := p.known
		g, l := newGroup(ir.Pointwise, neg.Shape)
		id, _ := (&trial{p: p, g: g}).compute(known(neg), g.Coordinates(l), nil, 0)
		g.order = 1
		p.add(g, known(neg), id, l, 0)
		before := g.mark()
		got := p.extend(g, known(c.node), l, func(t *trial) int {
			id, _ := t.compute(known(c.node), g.Coordinates(l), nil, 0)
			return id
		})
		if got != c.want {
			t.Errorf("%s: joined is %v, want %v", c.name, got, c.want)
		}
		if after := g.mark(); !got && (after.body != before.body || after.emitted > before.emitted || len(g.members) != 1) {
			t.Errorf("%s: %+v after a failed trial, before %+v", c.name, after, before)
		}
	}
}

// Groups that read the steps of a chain do not compute it from its start.
func TestRecomputedWorkIsBounded(t *testing.T) {
	m := &maker{}
	x := elementwise(ir.Exp, m.leaf(4, 5))
	roots := list(sum(x, 1))
	for i := range 100 {
		x = elementwise(ir.Add, x, graph.Param(f32, x.Shape, i))
		roots = append(roots, sum(x, 0))
	}
	kernels, _ := Graph(roots, Options{})
	instructions := 0
	for _, k := range kernels {
		instructions += len(k.Body)
		scalars := 0
		for _, a := range k.Kernel.Args {
			if a.Kind == ir.Value {
				scalars++
			}
		}
		if scalars > maxScalars {
			t.Errorf("a kernel has %d scalar arguments, want at most %d", scalars, maxScalars)
		}
	}
	if instructions > 1000 {
		t.Errorf("%d instructions in all, want at most 1000", instructions)
	}
}
