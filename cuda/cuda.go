// Package cuda opens NVIDIA's GPUs. It needs their driver and nothing else: no CUDA toolkit, no
// cgo, no library to install.
//
//	dev, err := cuda.Open(nil)
//	if err != nil {
//		log.Fatal(err) // the error says what to do
//	}
//	y := x.To(dev).MatMul(w)
//
// It has all element types. Kernels are compiled by the driver when they are first used, and
// kept in the user's cache folder (tensorken/cuda). Package device opens a GPU by name, or the
// CPU if there is no GPU.
//
// # Several GPUs
//
// Each GPU is a device of its own: set Options.Index. Tensor.To copies from GPU to GPU, not
// through the host's memory if the GPUs can access each other's. Two GPUs that learn from a
// half of each batch (grad is a gradient of type Model, opt an optim.Optimizer):
//
//	half := func(d *tensor.Device, x, y tensor.Tensor) Model {
//		return grad(tree.To(model, d), x.To(d), y.To(d))
//	}
//	a, b := half(gpu0, x0, y0), half(gpu1, x1, y1)
//	if err := tensor.Eval(a, b); err != nil { // both GPUs compute at the same time
//		return err
//	}
//	mean := tree.Zip(a, tree.To(b, gpu0), func(_ string, x, y tensor.Tensor) tensor.Tensor {
//		return x.Add(y).Div(2)
//	})
//	err := opt.Step(&model, mean) // on gpu0
package cuda

import (
	"errors"
	"fmt"

	"github.com/tensorken/tensorken/internal/cuda"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/tensor"
)

// Options say which GPU to open, and how. Zero fields are the defaults.
type Options struct {
	// Index is the position of the GPU in the list that [GPUs] returns.
	Index int
	// Memory is the greatest number of bytes that tensors take on the GPU: by default there is
	// no limit.
	Memory int64
	// TF32 computes products of float32 in TF32, which has the 10 bits of float16's fraction
	// and the exponents of float32: they are several times as fast. It has no effect before
	// compute capability 8.0.
	TF32 bool
	// NoGraphs launches all kernels one by one. By default plans that run again, such as training
	// steps of optim.Jit, are launched as CUDA graphs, if the driver has CUDA 12 or later: it gets
	// a few calls for all their kernels. Then small operations are launched together too, 16 at a
	// time and at the latest when a value is read.
	NoGraphs bool
	// Tune searches for the fastest tiles of large products, of 2²⁸ multiplications or more, when
	// they are compiled for the first time. That takes some tenths of a second for each, more for
	// products that take long, and memory for operands of its own. The result is kept in the
	// user's cache folder (tensorken/tune) for this GPU and driver, and all later programs take it
	// from there. Tiles decide the order in which a product is summed, so a search may change the
	// last bits of later results. The environment variable TENSORKEN_TUNE=1 asks for the search
	// too; TENSORKEN_TUNE=0 prevents it, and ignores kept results.
	Tune bool
}

// A GPU is one of this machine.
type GPU struct {
	Name       string
	Memory     int64 // in bytes
	Capability int   // 90 is compute capability 9.0
}

var (
	// ErrNoDriver says that this machine has no driver of NVIDIA.
	ErrNoDriver = cuda.ErrNoDriver
	// ErrNoGPU says that the driver finds no GPU.
	ErrNoGPU = errors.New("cuda: the driver finds no GPU: see CUDA_VISIBLE_DEVICES and what nvidia-smi lists")
)

// GPUs lists the GPUs of this machine, in the driver's order. Its error says what is missing.
func GPUs() ([]GPU, error) {
	list, err := cuda.List()
	if err == nil && len(list) == 0 {
		err = ErrNoGPU
	}
	var gpus []GPU
	for _, g := range list {
		gpus = append(gpus, GPU{g.Name, g.Memory, g.Capability})
	}
	return gpus, err
}

// Open opens a GPU. Its error says what to do.
func Open(o *Options) (*tensor.Device, error) {
	if o == nil {
		o = new(Options)
	}
	switch {
	case o.Memory < 0:
		return nil, fmt.Errorf("cuda: Options.Memory is %d: want a number of bytes, or 0 for no limit", o.Memory)
	case o.Index < 0:
		return nil, fmt.Errorf("cuda: Options.Index is %d: want the position of a GPU, from 0", o.Index)
	}
	mode, err := tune.ModeOf(o.Tune)
	if err != nil {
		return nil, err
	}
	list, err := cuda.List()
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, ErrNoGPU
	case o.Index >= len(list):
		return nil, fmt.Errorf("cuda: there is no GPU %d: this machine has %d", o.Index, len(list))
	}
	d, err := cuda.Open(list[o.Index], cuda.Options{Memory: o.Memory, TF32: o.TF32, Graphs: !o.NoGraphs, Tune: mode})
	if err != nil {
		return nil, err
	}
	return tensor.NewDevice(d), nil
}
