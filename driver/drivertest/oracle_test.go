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

func open() (driver.Device, error) { return Oracle(), nil }

func TestRandom(t *testing.T) { Random(t, open, *graphs, *seed) }

// A GPU lacks the wide types.
func TestRandomFewTypes(t *testing.T) {
	Random(t, func() (driver.Device, error) {
		r := Oracle()
		r.Types = []ir.DType{ir.Bool, ir.Int32, ir.Uint32, ir.Float32}
		return r, nil
	}, *graphs, *seed)
}

func TestOracle(t *testing.T) { Test(t, open) }
