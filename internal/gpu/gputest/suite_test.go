package gputest

import (
	"fmt"
	"os"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
	"github.com/tensorken/tensorken/internal/gpu"
	_ "github.com/tensorken/tensorken/internal/schedule/packed"
	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
)

// proofs are kept in the file that TENSORKEN_PROOFS names.
var proofs *drivertest.Proofs

func TestMain(m *testing.M) {
	os.Exit(scheduletest.WithProofs(m, &proofs, "internal/gpu", "internal/wgpu/wgputest", "internal/gpu/gputest"))
}

// open makes a device of an adapter of this machine.
func open() (driver.Device, error) {
	d, err := wgputest.Open()
	if err != nil {
		return nil, err
	}
	return proving(on(d), d.Adapter()), nil
}

func on(d wgpu.Device) drivertest.GPU {
	return gpu.New(d, gpu.Options{Name: "webgpu"}).(drivertest.GPU)
}

// proving returns a device with proofs, if there are some, for its adapter.
func proving(d drivertest.GPU, a *wgpu.Adapter) driver.Device {
	if proofs == nil {
		return d
	}
	return drivertest.Proving(d, proofs, fmt.Sprintf("%+v", *a))
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
