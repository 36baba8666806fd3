package interp_test

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
	"github.com/tensorken/tensorken/ir"
)

var (
	graphs = flag.Int("graphs", 1000, "how many random graphs to try")
	seed   = flag.Uint64("seed", 1, "what they depend on")
)

// number is how many graphs to try.
func number() int {
	if testing.Short() {
		return min(*graphs, 200)
	}
	return *graphs
}

func open() (driver.Device, error) {
	r := drivertest.Oracle()
	r.Blocks = driver.AllBlocks
	return r, nil
}

// A GPU lacks the wide types, binds few buffers and runs ahead of its caller.
func openAhead() (driver.Device, error) {
	gpu := drivertest.Oracle()
	gpu.Types = []ir.DType{ir.Bool, ir.Int32, ir.Uint32, ir.Float32}
	gpu.Bindings = 8
	gpu.Async = true
	return gpu, nil
}

func TestRandom(t *testing.T) { drivertest.Random(t, open, number(), *seed) }

func TestRandomAhead(t *testing.T) { drivertest.Random(t, openAhead, number(), *seed) }

func TestOwned(t *testing.T) { drivertest.Owned(t, open, min(*graphs, 300), *seed) }

// Kernels are right, and graphs become right kernels.
func TestDevice(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	drivertest.Test(t, open)
}

func TestDeviceAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	drivertest.Test(t, openAhead)
}
