package pagetest

import (
	"errors"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/tensor"
)

// GPU returns a device that stands for a GPU, and a function after which it fails. No other GPU
// can be opened until the test ends.
func GPU(t *testing.T) (dev *tensor.Device, lose func()) {
	t.Setenv("TENSORKEN_WEBGPU_LIB", "/none")
	d := &gpu{Device: cpu.New(cpu.Options{})}
	return tensor.NewDevice(d), func() { d.lost = errors.New("lost\nin detail") }
}

type gpu struct {
	driver.Device
	lost error
}

func (*gpu) Name() string { return "a GPU" }

func (d *gpu) Run(calls []driver.Call) error {
	if d.lost != nil {
		return d.lost
	}
	return d.Device.Run(calls)
}

func (d *gpu) Download(dst []byte, src driver.Buffer, offset int) error {
	if d.lost != nil {
		return d.lost
	}
	return d.Device.Download(dst, src, offset)
}
