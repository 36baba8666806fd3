package gputest

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
	"github.com/tensorken/tensorken/internal/gpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
)

// open makes a device of an adapter of this machine.
func open() (driver.Device, error) {
	d, err := wgputest.Open()
	if err != nil {
		return nil, err
	}
	return gpu.New(d, gpu.Options{Name: "webgpu"}), nil
}

func TestDevice(t *testing.T) {
	wgputest.NeedForMinutes(t)
	drivertest.Test(t, open)
}

func TestRandom(t *testing.T) {
	wgputest.NeedForMinutes(t)
	n := 300
	if testing.Short() {
		n = 30
	}
	drivertest.Random(t, open, n, 1)
}

// TestOwned is the random graphs with donations and regions.
func TestOwned(t *testing.T) {
	wgputest.NeedForMinutes(t)
	drivertest.Owned(t, open, 100, 1)
}
