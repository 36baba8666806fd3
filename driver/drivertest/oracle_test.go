package drivertest

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

var (
	graphs = flag.Int("graphs", 1000, "how many random graphs to try")
	seed   = flag.Uint64("seed", 1, "what they depend on")
)

func open() (driver.Device, error) {
	r := Oracle()
	r.Blocks = driver.AllBlocks
	return r, nil
}

// number is how many graphs to try.
func number() int {
	if testing.Short() {
		return min(*graphs, 200)
	}
	return *graphs
}

func TestRandom(t *testing.T) { Random(t, open, number(), *seed) }

// A GPU lacks the wide types, binds few buffers and runs ahead of its caller.
func openAhead() (driver.Device, error) {
	gpu := Oracle()
	gpu.Types = []ir.DType{ir.Bool, ir.Int32, ir.Uint32, ir.Float32}
	gpu.Bindings = 8
	gpu.Async = true
	return gpu, nil
}

func TestRandomAhead(t *testing.T) { Random(t, openAhead, number(), *seed) }

func TestOracle(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	Test(t, open)
}

func TestOracleAhead(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	Test(t, openAhead)
}
