package exec_test

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// idle is a device that compiles and runs nothing.
type idle struct{ driver.Device }

func (idle) Compile(*ir.Kernel) (driver.Program, error) { return nil, nil }
func (idle) Run([]driver.Call) error                    { return nil }

// layers is the graph of 20 layers: a matrix product, a bias, a Tanh and a softmax.
func layers(x *graph.Node, weights []*graph.Node) *graph.Node {
	rows, width := x.Shape[0], x.Shape[1]
	for _, w := range weights {
		dims := []int{rows, width, width}
		left := graph.Expand(graph.Reshape(x, []int{rows, 1, width}), dims)
		right := graph.Expand(graph.Reshape(w, []int{1, width, width}), dims)
		x = graph.Reshape(graph.Reduce(ir.Sum, graph.Binary(ir.Mul, left, right), []int{2}), []int{rows, width})
		x = graph.Unary(ir.Tanh, graph.Binary(ir.Add, x, scalar(0.5, x.Shape)))
		spread := func(n *graph.Node) *graph.Node { return graph.Expand(n, []int{rows, width}) }
		e := graph.Unary(ir.Exp, graph.Binary(ir.Sub, x, spread(graph.Reduce(ir.ReduceMax, x, []int{1}))))
		x = graph.Binary(ir.Div, e, spread(graph.Reduce(ir.Sum, e, []int{1})))
	}
	return x
}

// BenchmarkEval builds and evaluates a graph whose plan is known (hit) or not (miss).
func BenchmarkEval(b *testing.B) {
	const width = 8
	var weights []*graph.Node
	for range 20 {
		weights = append(weights, graph.Reshape(floats(make([]float32, width*width)...), []int{width, width}))
	}
	for _, c := range []struct {
		name string
		step int // in rows from one graph to the next
	}{{"hit", 0}, {"miss", 1}} {
		b.Run(c.name, func(b *testing.B) {
			d := exec.New(idle{cpu.New(cpu.Options{})})
			defer d.Close()
			rows := 4
			b.ReportAllocs()
			for b.Loop() {
				x := graph.Fill(ir.Float32, 1, []int{rows, width})
				if err := exec.Eval(d, []*graph.Node{layers(x, weights)}); err != nil {
					b.Fatal(err)
				}
				rows += c.step
			}
		})
	}
}
