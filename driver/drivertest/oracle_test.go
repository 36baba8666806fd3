package drivertest

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/driver"
)

var (
	graphs = flag.Int("graphs", 500, "how many random graphs to try")
	seed   = flag.Uint64("seed", 1, "what they depend on")
)

func open() (driver.Device, error) { return Oracle(), nil }

func TestRandom(t *testing.T) { Random(t, open, *graphs, *seed) }
