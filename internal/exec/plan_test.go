package exec

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// compiling is a device that counts programs, and lists their templates.
type compiling struct {
	driver.Device
	compiled  int
	templates []ir.Template
}

func (c *compiling) Limits() driver.Limits {
	return driver.Limits{Types: []ir.DType{ir.Float32}}
}

func (c *compiling) Compile(k *ir.Kernel) (driver.Program, error) {
	c.compiled++
	c.templates = append(c.templates, k.Template)
	return nil, nil
}

// Plans with equal kernels share them and their program.
func TestKernelsAreShared(t *testing.T) {
	drv := &compiling{Device: cpu.New(cpu.Options{})}
	d := New(drv)
	defer d.Close()
	load := func(roots ...*graph.Node) *loadedPlan {
		c := capture.New(nil, roots, nil, capture.Known{})
		defer c.Release()
		p, err := d.loader.load(c)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	neg := func(x *graph.Node) *graph.Node { return graph.Unary(ir.Neg, x) }
	stored := func(n int) *graph.Node {
		return graph.Buffer(ir.Float32, []int{n}, &graph.Value{Store: storage.FromHost(nil), Strides: []int{1}})
	}
	x, y := stored(4), stored(5)
	first := load(neg(x))
	both := load(neg(x), neg(y))
	if first == both || len(both.compiled.Steps) != 2 {
		t.Fatal("the captures have no plans of their own")
	}
	if both.compiled.Steps[0].Kernel != first.compiled.Steps[0].Kernel {
		t.Error("equal kernels of two plans are different objects")
	}
	if both.compiled.Steps[1].Kernel == first.compiled.Steps[0].Kernel || drv.compiled != 2 {
		t.Errorf("other kernels are the same object, or the device has %d programs, want 2", drv.compiled)
	}
}

// The kernels that take a device longest are compiled first, wherever the plan runs them.
func TestLongestCompiledFirst(t *testing.T) {
	drv := &compiling{Device: cpu.New(cpu.Options{})}
	d := New(drv)
	defer d.Close()
	x := graph.Buffer(ir.Float32, []int{64}, &graph.Value{Store: storage.FromHost(nil), Strides: []int{1}})
	sum := graph.Reduce(ir.Sum, graph.Unary(ir.Exp, x), []int{0})
	y := graph.Binary(ir.Mul, x, graph.Expand(sum, []int{64})) // stored, for the product reads each element often
	rows := graph.Expand(graph.Reshape(y, []int{8, 8, 1}), []int{8, 8, 8})
	cols := graph.Expand(graph.Reshape(y, []int{1, 8, 8}), []int{8, 8, 8})
	c := capture.New(nil, []*graph.Node{graph.Reduce(ir.Sum, graph.Binary(ir.Mul, rows, cols), []int{1})}, nil, capture.Known{})
	defer c.Release()
	p, err := d.loader.load(c)
	if err != nil {
		t.Fatal(err)
	}
	steps := p.compiled.Steps
	if len(steps) < 2 || steps[0].Kernel.Template == ir.Contraction || drv.templates[0] != ir.Contraction {
		t.Errorf("of %d steps the first is a %v kernel, and the first one compiled a %v one", len(steps), steps[0].Kernel.Template, drv.templates[0])
	}
}
