// Package device opens devices by name, for a program's flag or the environment variable
// TENSORKEN_DEVICE:
//
//	cpu          the host's processor
//	cuda         the first GPU of NVIDIA
//	cuda:1       the second of those that cuda.GPUs lists
//	webgpu       the fastest adapter that WebGPU finds
//	webgpu:1     the second of those that webgpu.Adapters lists
//	webgpu:NAME  the first of them whose name contains NAME
//
// The empty name stands for the fastest GPU, one of NVIDIA as cuda, or, if none opens, the CPU.
// A software adapter, which computes on the CPU and is slower than the device cpu, is taken only
// where webgpu is named. The list has one GPU of each model: see webgpu.Adapters.
package device

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/cuda"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/webgpu"
)

// variable is the environment variable that names a device where a program
// does not.
const variable = "TENSORKEN_DEVICE"

// Open opens the device of that name (see the package comment). An empty name means the
// environment variable TENSORKEN_DEVICE or, if that is empty too, the fastest GPU, else the
// CPU; then why says in brackets how the device was chosen, to be printed after it: cpu (no
// GPU found: `tensorken gpu` says why).
//
// It fails if there is no such device, or it does not open; the error tells
// what to do.
//
// A GPU is opened anew each time, and Close gives it back. The CPU is one device
// for the whole program, tensor.CPU(): it outlives Close, so that
//
//	defer d.Close()
//
// is right for either.
func Open(name string) (d *tensor.Device, why string, err error) {
	return gpus{cuda.Open, webgpu.Open}.open(name, os.Getenv(variable))
}

// gpus opens GPUs.
type gpus struct {
	cuda   func(*cuda.Options) (*tensor.Device, error)
	webgpu func(*webgpu.Options) (*tensor.Device, error)
}

func (g gpus) open(name, env string) (d *tensor.Device, why string, err error) {
	defer tensor.Catch(&err) // the CPU's, if an environment variable has a bad value
	asked := fmt.Sprintf("device %q", name)
	if name == "" && env != "" {
		name, why = env, fmt.Sprintf("%s is %q", variable, env)
		asked = why
		why = "(" + why + ")"
	}
	kind, which, more := strings.Cut(name, ":")
	switch {
	case name == "":
		d, why = g.fastest()
		return d, why, nil
	case name == "cpu":
		return tensor.CPU(), why, nil
	case kind != "webgpu" && kind != "cuda":
		return nil, "", fmt.Errorf(`%s: there is no such device: use "cpu", "cuda", "webgpu", or one GPU as "cuda:0", "webgpu:0" or "webgpu:NAME"`, asked)
	case more && which == "":
		return nil, "", fmt.Errorf("%s: want a number or a name after the colon", asked)
	case kind == "webgpu":
		d, err = g.webgpu(&webgpu.Options{Adapter: which, Software: true})
	default:
		index := 0
		if more {
			if index, err = strconv.Atoi(which); err != nil {
				return nil, "", fmt.Errorf("%s: want a number after the colon", asked)
			}
		}
		d, err = g.cuda(&cuda.Options{Index: index})
	}
	if err != nil {
		return nil, "", fmt.Errorf("%s: %w", asked, err)
	}
	return d, why, nil
}

// fastest opens a GPU, by the driver of NVIDIA if there is one, else the CPU.
func (g gpus) fastest() (d *tensor.Device, why string) {
	d, driver := g.cuda(nil)
	if driver == nil {
		return d, "(the fastest GPU)"
	}
	d, err := g.webgpu(nil)
	switch {
	case err != nil:
		return tensor.CPU(), noGPU
	case errors.Is(driver, cuda.ErrNoDriver):
		return d, "(the fastest GPU)"
	}
	return d, "(the fastest GPU, by WebGPU: " + line(driver) + ")"
}

// noGPU says why the CPU is taken. The reason is long where the search for a library fails, and
// programs print it at each start.
const noGPU = "(no GPU found: `tensorken gpu` says why)"

// Usage is a text for a program's flag -device.
const Usage = "device to run on: cpu, webgpu, cuda, or one that tensorken gpu lists, as cuda:1, webgpu:1 or webgpu:NAME (default a GPU, if one opens, else the CPU)"

// Use opens the device of that name, as Open does, makes it the default (see
// tensor.SetDefault), and writes a line to w, unless it is nil, that says which it is and why. A small program
// calls it with a flag:
//
//	var name = flag.String("device", "", device.Usage)
//
//	func main() {
//		flag.Parse()
//		if err := device.Use(*name, os.Stderr); err != nil {
//			log.Fatal(err)
//		}
//	}
func Use(name string, w io.Writer) error {
	d, why, err := Open(name)
	if err != nil {
		return err
	}
	tensor.SetDefault(d)
	if w == nil {
		return nil
	}
	_, err = fmt.Fprintln(w, strings.TrimSuffix(fmt.Sprintf("device %v %s", d, why), " "))
	return err
}

// line is the first line of an error.
func line(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}
