// Package webgpu opens GPUs, through WebGPU: any that Vulkan, Metal or
// Direct3D 12 reaches. It needs neither cgo nor a toolkit, but a library that
// implements WebGPU, which "tensorken gpu install" fetches.
//
//	dev, err := webgpu.Open(nil)
//	if err != nil {
//		log.Fatal(err) // says what was tried and what to do
//	}
//	y := x.To(dev).MatMul(w)
//
// The library is looked for in this order: Options.Library, the environment
// variable TENSORKEN_WEBGPU_LIB, beside the executable, in the user's cache
// folder (tensorken/webgpu), and under the names that Dawn and wgpu-native have
// on the system.
//
// A GPU has the types bool, uint8, int32, uint32, float16, bfloat16 and
// float32; bool and uint8 take a byte each, the halves two. It has neither
// int64 nor float64: to compute with a tensor of these on it is an error. Cast it,
// or keep it on tensor.CPU().
//
// A program that imports this package needs glibc on Linux, the usual C library,
// even if it is built without cgo and opens no GPU: it does not start on Alpine
// or in an image from scratch.
//
// Package device opens a GPU by name, or the CPU where there is none.
package webgpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/gpu"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

// Options say which GPU to open, and how. Zero fields are the defaults.
type Options struct {
	// Adapter is an index in the list of Adapters, or a part of a name there
	// in any case; a number that is no index is a whole number in a name. By
	// default it is the fastest GPU. Of equal GPUs only one can be opened: see
	// Adapters.
	Adapter string
	// Library is the path of a library that implements WebGPU.
	Library string
	// LowPower prefers the GPU that takes the least power.
	LowPower bool
	// Software allows an adapter that computes on the CPU, where there is no
	// GPU. One that Adapter names is opened anyway.
	Software bool
	// Validate keeps WebGPU's checks on: of each call, and that shaders stay
	// within their buffers. Without it they are off, which is faster: the
	// shaders of this library check what has to be checked by themselves.
	Validate bool
}

// An Adapter is a kind of GPU that can be opened, or a software one.
type Adapter struct {
	Name, Vendor string
	Backend      string // "Vulkan", "Metal" or "D3D12"
	Software     bool   // it computes on the CPU
}

// Open opens a GPU. Its error tells what was tried and what to do.
func Open(o *Options) (*tensor.Device, error) {
	if o == nil {
		o = new(Options)
	}
	lib, err := wgpu.Load(o.Library)
	if err != nil {
		return nil, err
	}
	return open(lib, o)
}

func open(lib wgpu.Library, o *Options) (*tensor.Device, error) {
	pick := func(list []wgpu.Adapter) (int, error) { return choose(list, o) }
	d, err := lib.Open(pick, wgpu.Options{Validate: o.Validate})
	if err != nil {
		return nil, with(lib, err)
	}
	return tensor.NewDevice(gpu.New(d, fmt.Sprintf("webgpu (%s)", d.Adapter().Name))), nil
}

// with adds to an error the library that it came from, unless that works and
// only finds nothing.
func with(lib wgpu.Library, err error) error {
	if errors.Is(err, wgpu.ErrNoAdapter) {
		return err
	}
	return fmt.Errorf("%v: %w", lib, err)
}

// Adapters lists what can be opened, the fastest kind first. Its error tells
// what was tried and what to do; that there is nothing to open is one.
//
// WebGPU has no list of adapters: it is asked for the fastest, the one of least
// power and the one in software of each of the system's interfaces to GPUs. So
// of several GPUs of a model there is one here, and not each of more than two
// models.
func Adapters() ([]Adapter, error) {
	lib, err := wgpu.Load("")
	if err != nil {
		return nil, err
	}
	list, err := lib.Adapters()
	if err != nil {
		return nil, with(lib, err)
	}
	var as []Adapter
	for _, a := range list {
		as = append(as, public(a))
	}
	return as, nil
}

func public(a wgpu.Adapter) Adapter {
	return Adapter{Name: a.Name, Vendor: a.Vendor, Backend: a.Backend, Software: a.Kind == wgpu.Software}
}

// choose returns the index of the adapter to open. The list has the fastest
// kind first, and is not empty.
func choose(list []wgpu.Adapter, o *Options) (int, error) {
	if o.Adapter != "" {
		return named(list, o.Adapter)
	}
	best := -1
	for i, a := range list {
		switch {
		case a.Kind == wgpu.Software && !o.Software:
		case best < 0, list[best].Kind == wgpu.Software:
			best = i
		case o.LowPower && a.Kind == wgpu.Integrated && list[best].Kind != wgpu.Integrated:
			best = i
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("%w but in software, which has to be asked for: %s; if there is a GPU, it lacks a driver", wgpu.ErrNoAdapter, listed(list))
	}
	return best, nil
}

// named returns the index of the adapter that an index or a name means. A
// number that is no index means a whole number in a name: 4090, but not 4.
func named(list []wgpu.Adapter, name string) (int, error) {
	index, err := strconv.Atoi(name)
	if err == nil && index >= 0 && index < len(list) {
		return index, nil
	}
	for i, a := range list {
		if err == nil && slices.Contains(strings.FieldsFunc(a.Name, notDigit), name) {
			return i, nil
		}
		if err != nil && strings.Contains(strings.ToLower(a.Name), strings.ToLower(name)) {
			return i, nil
		}
	}
	return 0, fmt.Errorf("%w %q: %s", wgpu.ErrNoAdapter, name, listed(list))
}

func notDigit(r rune) bool { return r < '0' || r > '9' }

// listed tells what there is.
func listed(list []wgpu.Adapter) string {
	var s []string
	for i, a := range list {
		s = append(s, fmt.Sprintf("%d is %s (%s)", i, a.Name, a.Kind))
	}
	return strings.Join(s, ", ")
}
