//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"flag"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	_ "github.com/tensorken/tensorken/internal/blocks" // for drivertest
	_ "github.com/tensorken/tensorken/internal/schedule/packed"
)

var (
	graphs = flag.Int("graphs", 100, "number of random graphs")
	seed   = flag.Uint64("seed", 1, "seed of random graphs")
	replay = flag.Bool("replay", false, "launch plans that run again as CUDA graphs")
)

// open opens the first GPU.
func open() (driver.Device, error) {
	list, err := List()
	if err != nil {
		return nil, err
	}
	return Open(list[0], Options{Graphs: *replay})
}

// need skips a test where there is no GPU of NVIDIA.
func need(t testing.TB) {
	t.Helper()
	if list, err := List(); err != nil || len(list) == 0 {
		t.Skip("no GPU of NVIDIA: ", err)
	}
}

func TestDevice(t *testing.T) {
	need(t)
	drivertest.Test(t, open)
}

// TestPeers opens all GPUs in turns.
func TestPeers(t *testing.T) {
	need(t)
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	drivertest.Test(t, func() (driver.Device, error) {
		opened++
		return Open(list[opened%len(list)], Options{Graphs: *replay})
	}, "Peers")
}

func TestRandom(t *testing.T) {
	need(t)
	drivertest.Random(t, open, *graphs, *seed)
}

// TestOwned is the random graphs with donations and regions.
func TestOwned(t *testing.T) {
	need(t)
	drivertest.Owned(t, open, *graphs, *seed)
}

// TestCollectives opens all GPUs in turns.
func TestCollectives(t *testing.T) {
	need(t)
	list, err := List()
	if err != nil {
		t.Fatal(err)
	}
	opened := 0
	drivertest.Test(t, func() (driver.Device, error) {
		opened++
		return Open(list[opened%len(list)], Options{Graphs: *replay})
	}, "Collectives")
}
