package main

import (
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A kernel has the text of a kernel and of its shaders.
type kernel struct {
	Text    string
	Shaders []string // one for each pass
}

// target is a GPU with the limits that WebGPU guarantees.
var target = schedule.Target{Family: schedule.Integrated, MaxThreads: 256, SharedBytes: 16 << 10, MaxGroups: 65535}

// A recorder is a device that compiles kernels as for target, and runs none.
type recorder struct {
	driver.Device // the CPU, for memory
	kernels       []kernel
}

func (*recorder) Name() string { return "a GPU" }

func (*recorder) Limits() driver.Limits { return driver.Limits{Types: shader.DTypes, Bindings: 8} }

func (r *recorder) Compile(k *ir.Kernel) (driver.Program, error) {
	p, err := schedule.Compile(k, target)
	if err != nil {
		return nil, err
	}
	text := kernel{Text: k.String()}
	for _, pass := range p.Passes {
		text.Shaders = append(text.Shaders, wgsl.Print(pass))
	}
	r.kernels = append(r.kernels, text)
	return nil, nil
}

func (*recorder) Run([]driver.Call) error { return nil }

// kernels returns the plan of the outputs, and its kernels.
func (s *source) kernels(gradient bool) (plan string, list []kernel, err error) {
	r := &recorder{Device: cpu.New(cpu.Options{})}
	dev := tensor.NewDevice(r)
	defer dev.Close()
	outputs, err := s.outputs(dev, gradient)
	if err != nil {
		return "", nil, err
	}
	var trees []any
	for _, o := range outputs {
		trees = append(trees, o.Tensor)
	}
	r.kernels = nil // drop the kernels of inputs
	plan = tensor.Explain(trees...)
	return plan, r.kernels, tensor.Eval(trees...)
}
