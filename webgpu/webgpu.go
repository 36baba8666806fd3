// Package webgpu opens GPUs through WebGPU: any GPU with a driver for Vulkan, Metal or
// Direct3D 12. It needs no cgo and no toolkit, but a library that implements WebGPU,
// which "tensorken gpu install" fetches.
//
//	dev, err := webgpu.Open(nil)
//	if err != nil {
//		log.Fatal(err) // the error lists the attempts and a remedy
//	}
//	y := x.To(dev).MatMul(w)
//
// Package device opens a GPU by name, or the CPU if there is no GPU.
//
// # The library
//
// Open searches for the library in this order: Options.Library, the environment
// variable TENSORKEN_WEBGPU_LIB, the user's cache folder (tensorken/webgpu), the
// executable's folder, and under the names of Dawn and wgpu-native the system's: on
// Linux all that its loader knows, on macOS /usr/local/lib and /opt/homebrew/lib.
//
// A library is code, so one that others could have put there is not loaded. The current
// folder is not searched, and the variable names an absolute path or, on Linux, the file
// name of a library of the system. A library in the cache folder or beside the executable
// must belong to the user or root, as must all folders above, and no other user may write
// them; Windows' rights are not checked. An executable in a folder of downloads loads a
// library that lies beside it, if the cache folder has none.
//
// # Browsers
//
// In a browser, as GOOS=js GOARCH=wasm, GPUs come from navigator.gpu, in a page or in a
// worker, and under Node from npm's webgpu:
//
//	globalThis.navigator = { gpu: create([]) }
//
// Reading a value waits while the event loop runs, so it must not be done in a callback of
// JavaScript: start a goroutine. A page whose Content-Security-Policy forbids eval has no GPU.
//
// # Limits
//
// A GPU has all types but float64: computing with it there is an error. Cast such a tensor,
// or keep it on tensor.CPU(). Integers of 64 bits are computed as pairs of 32, in several
// instructions each.
//
// On Linux a program that imports this package needs glibc, even if it is built without
// cgo and opens no GPU: it does not start on Alpine or in an image from scratch.
package webgpu

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/gpu"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

// Options say which GPU to open, and how. Zero fields are the defaults.
type Options struct {
	// Adapter is an index in the list of Adapters, or part of a name there, in any
	// case. A number that is not an index must be a whole number in a name: 4090,
	// not 4. The default is the fastest GPU. If several GPUs are equal, only one of
	// them can be opened: see Adapters.
	Adapter string
	// Library is the path of a library that implements WebGPU, or on Linux the file name of one
	// of the system: a file of the current folder is ./NAME. Browsers ignore it.
	Library string
	// Memory is the greatest number of bytes that tensors and work under way take
	// on the GPU: by default there is no limit.
	Memory int64
	// LowPower prefers the GPU with the lowest power.
	LowPower bool
	// Software allows an adapter that computes on the CPU if there is no GPU. An
	// adapter that Adapter names is opened in any case.
	Software bool
	// Validate enables WebGPU's checks of each call and of bounds in shaders. They are off
	// by default, for speed: this library's shaders check indices themselves. Without them
	// memory is not cleared either. A server that runs strangers' computations may want
	// both guards.
	Validate bool
	// Tune searches for the fastest tiles of large products, of 2²⁸ multiplications or more,
	// when they are compiled for the first time. That takes some tenths of a second for each,
	// more for products that take long, and memory for operands of its own. The result is kept
	// in the user's cache folder (tensorken/tune) for this GPU and driver, and all later
	// programs take it from there. Tiles decide the order in which a product is summed, so a
	// search may change the last bits of later results. Where there is no such folder, as in
	// browsers, each process searches anew. The environment variable TENSORKEN_TUNE=1 asks for
	// the search too; TENSORKEN_TUNE=0 prevents it, and ignores kept results.
	Tune bool
}

// An Adapter is a kind of GPU that can be opened, or a software one.
type Adapter struct {
	Name, Vendor string
	Backend      string // "Vulkan", "Metal", "D3D12" or "browser"
	Software     bool   // computes on the CPU
}

// Open opens a GPU. Its error lists the attempts and a remedy.
func Open(o *Options) (*tensor.Device, error) {
	if o == nil {
		o = new(Options)
	}
	if o.Memory < 0 {
		return nil, fmt.Errorf("webgpu: Options.Memory is %d: want a number of bytes, or 0 for no limit", o.Memory)
	}
	if _, err := hostmem.Limit(); err != nil {
		return nil, err
	}
	mode, err := tune.ModeOf(o.Tune)
	if err != nil {
		return nil, err
	}
	lib, err := wgpu.Load(o.Library)
	if err != nil {
		return nil, err
	}
	return open(lib, o, mode)
}

func open(lib wgpu.Library, o *Options, mode tune.Mode) (*tensor.Device, error) {
	pick := func(list []wgpu.Adapter) (int, error) { return choose(list, o) }
	d, err := lib.Open(pick, wgpu.Options{Validate: o.Validate})
	if err != nil {
		return nil, with(lib, err)
	}
	return tensor.NewDevice(gpu.New(d, gpu.Options{Name: fmt.Sprintf("webgpu (%s)", d.Adapter().Name), Memory: o.Memory, Tune: mode})), nil
}

// with adds the library's name to an error, except for ErrNoAdapter, which is not the
// library's fault.
func with(lib wgpu.Library, err error) error {
	if errors.Is(err, wgpu.ErrNoAdapter) {
		return err
	}
	return fmt.Errorf("%v: %w", lib, err)
}

// Adapters lists the adapters that can be opened, the fastest kind first. Its error lists
// the attempts and a remedy; finding no adapter is an error.
//
// WebGPU cannot list adapters. Adapters requests the fastest, the one with the lowest
// power and the software one from each of the system's GPU interfaces. So it lists only
// one GPU of each model, and not all models if there are more than two.
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

// choose returns the index of the adapter to open in a list that is not empty and has
// the fastest kind first.
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
		return 0, fmt.Errorf("%w except in software, which must be requested: %s; if there is a GPU, its driver is missing", wgpu.ErrNoAdapter, listed(list))
	}
	return best, nil
}

// named returns the index of the adapter for Options.Adapter.
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

// listed formats the adapters for an error.
func listed(list []wgpu.Adapter) string {
	var s []string
	for i, a := range list {
		s = append(s, fmt.Sprintf("%d is %s (%s)", i, a.Name, a.Kind))
	}
	return strings.Join(s, ", ")
}
