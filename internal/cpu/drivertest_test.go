package cpu

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
)

var (
	graphs = flag.Int("drivertest.graphs", 10000, "how many random graphs to try")
	seed   = flag.Uint64("drivertest.seed", 1, "what they depend on")
)

func open() (driver.Device, error) { return New(Options{}), nil }

func TestGraphs(t *testing.T) {
	n := *graphs
	if testing.Short() {
		n = min(n, 500)
	}
	drivertest.Random(t, open, n, *seed)
}

func TestDevice(t *testing.T) { drivertest.Test(t, open) }

// TestOwned is the random graphs with donations and regions.
func TestOwned(t *testing.T) {
	n := *graphs
	if testing.Short() {
		n = min(n, 200)
	}
	drivertest.Owned(t, open, n, *seed)
}
