package models_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// An inOut has the inputs and outputs of a model that transformers computed.
type inOut struct{ In, Out map[string]tensor.Tensor }

func readIO(t *testing.T, name string) (io inOut) {
	t.Helper()
	if err := safetensors.Load(filepath.Join("testdata", name, "io.safetensors"), &io); err != nil {
		t.Fatal(err)
	}
	for k, x := range io.In {
		if x.DType() == tensor.Int64 { // GPUs have no int64
			io.In[k] = x.Cast(tensor.Int32)
		}
	}
	return io
}

// openDevice opens the device that TENSORKEN_DEVICE names, the CPU without it.
func openDevice(t testing.TB) *tensor.Device {
	t.Helper()
	name := os.Getenv("TENSORKEN_DEVICE")
	if name == "" || name == "cpu" {
		return tensor.CPU()
	}
	d, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func load[M any](t *testing.T, name string, d *tensor.Device) M {
	t.Helper()
	m, err := models.Load(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return tree.To(m.(M), d)
}

// closeTo fails unless got is want to 1e-4.
func closeTo(t *testing.T, call string, got, want tensor.Tensor) {
	t.Helper()
	ok, err := tensor.AllClose(got.To(tensor.CPU()), want, 1e-4, 1e-4)
	if err != nil {
		t.Fatal(err)
	}
	if !ok {
		t.Errorf("%s =\n%.4f\nwant\n%.4f", call, got, want)
	}
}
