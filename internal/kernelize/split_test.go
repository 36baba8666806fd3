package kernelize

import (
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Siblings merge up to the number of buffers that a kernel may have.
func TestBindings(t *testing.T) {
	for _, c := range []struct{ bindings, most int }{{0, maxMerged}, {8, 8}} {
		m := &maker{}
		var roots []*graph.Node
		for range 40 {
			roots = append(roots, elementwise(ir.Add, m.leaf(4, 5), m.leaf(4, 5)))
		}
		x := placed(roots, Options{Bindings: c.bindings})
		for _, g := range x.groups {
			if n := 3 * len(g.args(ir.Store)); n > c.most {
				t.Errorf("bindings %d: a group of %d buffers", c.bindings, n)
			}
		}
		if most := 40/(c.most/3) + 2; len(x.groups) > most {
			t.Errorf("bindings %d: %d groups, want at most %d", c.bindings, len(x.groups), most)
		}
	}
}

// Graphs that read and write more than a device can bind are split further.
func TestBindingLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(m *maker) []*graph.Node
		want int // groups
	}{
		{"a sum of many", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			for range 20 {
				x = elementwise(ir.Add, x, m.leaf(4, 5))
			}
			return list(x)
		}, 5},
		{"a tree of many", func(m *maker) []*graph.Node {
			var tree func(depth int) *graph.Node
			tree = func(depth int) *graph.Node {
				if depth == 0 {
					return m.leaf(4, 5)
				}
				return elementwise(ir.Mul, tree(depth-1), tree(depth-1))
			}
			return list(tree(4))
		}, 5},
		{"a row of many", func(m *maker) []*graph.Node {
			x := m.leaf(4, 5)
			for range 12 {
				x = elementwise(ir.Add, softmax(x, 1), m.leaf(4, 5))
			}
			return list(x)
		}, 5},
		{"many results of one", func(m *maker) []*graph.Node {
			x := elementwise(ir.Exp, m.leaf(4, 5))
			roots := list(x)
			for range 12 {
				x = elementwise(ir.Sin, x)
				roots = append(roots, x)
			}
			return roots
		}, 8},
		{"a product of many", func(m *maker) []*graph.Node {
			p := matmul(m.leaf(4, 5), m.leaf(6, 5))
			for range 12 {
				p = elementwise(ir.Add, p, m.leaf(4, 6))
			}
			return list(p)
		}, 5},
	} {
		const bindings = 8
		x := placed(c.make(&maker{}), Options{Bindings: bindings})
		for _, g := range x.groups {
			if n := g.buffers(); n > bindings {
				t.Errorf("%s: a group of %d buffers", c.name, n)
			}
		}
		if len(x.groups) > c.want {
			t.Errorf("%s: %d groups, want at most %d", c.name, len(x.groups), c.want)
		}
	}
}

// Groups of more buffers than a device binds are split into consecutive ones, about as
// few as the buffers allow.
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name string
		step func(m *maker, x *graph.Node) (next, result *graph.Node)
		most func(n, bindings int) int // groups for n steps
	}{
		{"a sum", func(m *maker, x *graph.Node) (next, result *graph.Node) {
			return elementwise(ir.Add, x, m.leaf(4, 5)), nil
		}, func(n, bindings int) int { return n/(bindings-4) + 2 }},
		{"a chain of results", func(m *maker, x *graph.Node) (next, result *graph.Node) {
			x = elementwise(ir.Sin, x)
			return x, x
		}, func(n, bindings int) int { return n/(bindings-1) + 2 }},
		{"sums on the way", func(m *maker, x *graph.Node) (next, result *graph.Node) {
			x = elementwise(ir.Add, x, m.leaf(4, 5))
			return x, x
		}, func(n, bindings int) int { return n/((bindings-1)/2) + 2 }},
		{"results of one", func(m *maker, x *graph.Node) (next, result *graph.Node) {
			return x, elementwise(ir.Sin, elementwise(ir.Mul, x, graph.Param(f32, x.Shape, m.leaves)))
		}, func(n, bindings int) int { return n/(bindings-4) + 2 }},
		{"rows", func(m *maker, x *graph.Node) (next, result *graph.Node) {
			x = elementwise(ir.Add, softmax(x, 1), m.leaf(4, 5))
			return x, x
		}, func(n, bindings int) int { return n/((bindings-2)/2) + 6 }},
	} {
		for _, bindings := range []int{8, 14} {
			for _, n := range []int{20, 50, 100, 200, 400} {
				m := &maker{}
				x := elementwise(ir.Exp, m.leaf(4, 5))
				var roots []*graph.Node
				for range n {
					var result *graph.Node
					if x, result = c.step(m, x); result != nil {
						roots = append(roots, result)
					}
				}
				if roots == nil {
					roots = list(x)
				}
				got := placed(roots, Options{Bindings: bindings}).groups
				if most := c.most(n, bindings); len(got) > most {
					t.Errorf("%s of %d with %d bindings: %d groups, want at most %d", c.name, n, bindings, len(got), most)
				}
				for _, g := range got {
					if g.buffers() > bindings {
						t.Errorf("%s of %d with %d bindings: a group of %d buffers", c.name, n, bindings, g.buffers())
					}
				}
			}
		}
	}
}
