package kernelize

import (
	"testing"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// TestNorms: reductions of a vector are in the kernel that reads them, if it is the only one, reduces as many elements, and
// repeats work for less time than a launch takes.
func TestNorms(t *testing.T) {
	const width = 512
	serial := Options{Machine: ir.Machine{Adds: 1e12, Bandwidth: 1e12, Launch: 3e-6}, Loops: ir.LoopLimits{Serial: true}}
	slow, few, enough := serial, serial, serial
	few.Bindings, enough.Bindings = 7, 8
	slow.Machine.Adds = 1e9
	four := func(m *maker, _, y *graph.Node) []*graph.Node {
		x := matmul(y, m.leaf(64, width))
		for range 3 {
			x = elementwise(ir.Mul, x, matmul(y, m.leaf(64, width)))
		}
		return list(x)
	}
	numbers := func(m *maker, y *graph.Node, n int) *graph.Node {
		for i := range n {
			y = elementwise(ir.Add, y, graph.Param(f32, y.Shape, i))
		}
		return y
	}
	for _, c := range []struct {
		name    string
		options Options
		rows    int // of x
		results func(m *maker, x, y *graph.Node) []*graph.Node
		kernels int
	}{
		{"products", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node {
			return list(elementwise(ir.Mul, matmul(y, m.leaf(64, width)), matmul(y, m.leaf(64, width))))
		}, 1},
		{"a product", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node { return list(matmul(y, m.leaf(64, width))) }, 1},
		{"products with a buffer too many", few, 1, four, 2},
		{"products with as many buffers as there may be", enough, 1, four, 1},
		{"a product of a part", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node {
			return list(matmul(graph.Slice(y, 1, 1, width-1), m.leaf(64, width-1)))
		}, 2},
		{"a flipped vector", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node {
			return list(matmul(graph.Flip(y, []int{1}), m.leaf(64, width)))
		}, 2},
		{"products of other columns", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node {
			return list(matmul(y, m.leaf(64, width)), matmul(y, m.leaf(63, width)))
		}, 3},
		{"a result", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node { return list(matmul(y, m.leaf(64, width)), y) }, 2},
		{"two rows", serial, 2, func(m *maker, _, y *graph.Node) []*graph.Node { return list(matmul(y, m.leaf(64, width))) }, 2},
		{"many columns", slow, 1, func(m *maker, _, y *graph.Node) []*graph.Node { return list(matmul(y, m.leaf(64, width))) }, 2},
		{"kernels at once", Options{Machine: serial.Machine}, 1, func(m *maker, _, y *graph.Node) []*graph.Node { return list(matmul(y, m.leaf(64, width))) }, 2},
		{"a report", serial, 1, func(m *maker, _, y *graph.Node) []*graph.Node {
			return list(matmul(elementwise(ir.Where, Failed(y.Shape), elementwise(ir.Neg, y), y), m.leaf(64, width)))
		}, 2},
		{"more numbers than a kernel has", serial, 1, func(m *maker, x, _ *graph.Node) []*graph.Node {
			z := matmul(numbers(m, norm(m, numbers(m, x, 10)), 10), m.leaf(64, width))
			for i := range 40 {
				z = elementwise(ir.Add, z, graph.Param(f32, z.Shape, 100+i))
			}
			return list(z)
		}, 2},
		{"products of two vectors", serial, 1, func(m *maker, x, y *graph.Node) []*graph.Node {
			return list(elementwise(ir.Mul, matmul(y, m.leaf(64, width)), matmul(m.leaf(1, width), m.leaf(64, width))))
		}, 2},
		{"elementwise work", serial, 1, func(m *maker, x, y *graph.Node) []*graph.Node { return list(elementwise(ir.Exp, y)) }, 1},
	} {
		m := &maker{}
		x := m.leaf(c.rows, width)
		kernels, outputs := Graph(c.results(m, x, norm(m, x)), c.options)
		if len(kernels) != c.kernels {
			t.Errorf("%s: %d kernels, want %d", c.name, len(kernels), c.kernels)
		}
		for _, k := range kernels {
			if err := ir.Verify(k.Kernel); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if len(k.Args) != len(k.Kernel.Args) {
				t.Errorf("%s: %d nodes of %d arguments", c.name, len(k.Args), len(k.Kernel.Args))
			}
		}
		for _, o := range outputs {
			stored := false
			for _, k := range kernels {
				for _, a := range k.Args {
					stored = stored || a.Kind == ir.Out && a.Node == o.Node
				}
			}
			if !stored {
				t.Errorf("%s: no kernel stores a result", c.name)
			}
		}
	}
}
