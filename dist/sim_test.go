package dist_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/bench"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

type hollow struct {
	target     build.Target
	held, peak int
}
type hollowBuffer struct {
	d    *hollow
	size int
}

func (b hollowBuffer) Size() int { return b.size }
func (b hollowBuffer) Free()     { b.d.held -= b.size }
func (d *hollow) Name() string   { return "hollow" }
func (d *hollow) Limits() driver.Limits {
	return driver.Limits{Types: d.target.Types(), Bindings: 64, Memory: 140 << 30, Async: true, Machine: d.target.Machine, Blocks: driver.GroupedBlocks}
}
func (d *hollow) Alloc(bytes int) (driver.Buffer, error) {
	d.held += bytes
	d.peak = max(d.peak, d.held)
	return hollowBuffer{d, bytes}, nil
}
func (d *hollow) LoopLimits() ir.LoopLimits                       { return d.target.LoopLimits() }
func (d *hollow) CompileLoop(l *ir.Loop) (driver.Program, error)  { return nil, nil }
func (d *hollow) Run([]driver.Call) error                         { return nil }
func (d *hollow) Sync() error                                     { return nil }
func (d *hollow) Compile(*ir.Kernel) (driver.Program, error)      { return nil, nil }
func (d *hollow) Upload(driver.Buffer, int, []byte) error         { return nil }
func (d *hollow) Download(b []byte, _ driver.Buffer, _ int) error { clear(b); return nil }
func (d *hollow) Close() error                                    { return nil }
func (d *hollow) Collectives() (string, string, error)            { return "h", "h", nil }
func (d *hollow) CommunicatorID() ([]byte, error)                 { return []byte("x"), nil }
func (d *hollow) Join(context.Context, []byte, int, int) (driver.Communicator, error) {
	return hollowComm{}, nil
}

type hollowComm struct{}

func (hollowComm) Run([]driver.CollectiveCall) error { return nil }
func (hollowComm) Err() error                        { return nil }
func (hollowComm) Abort(error)                       {}
func (hollowComm) Close() error                      { return nil }

func TestSim(t *testing.T) {
	h := &hollow{target: build.Target{}}
	h.target = simTarget()
	d := tensor.NewDevice(h)
	defer d.Close()
	g, err := dist.Alone(h)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	for _, w := range bench.RankWorks(g) {
		if !strings.HasPrefix(w.Name, os.Getenv("SIM")) {
			continue
		}
		start := time.Now()
		run := w.Start(d)
		for i := range 5 {
			h.peak = h.held
			run()
			fmt.Println(w.Name, i, "peak", h.peak>>20, "held", h.held>>20, tensor.Info().Held>>20, time.Since(start))
		}
	}
}

func simTarget() build.Target {
	return build.Target{Family: build.Discrete, Units: 132, Memory: 140 << 30, Matrices: true, TileBytes: 200 << 10, SharedBytes: 48 << 10, MaxThreads: 1024, Wide: true, SharedMatrices: true, SubgroupMin: 32, SubgroupMax: 32,
		Machine: ir.Machine{Adds: 132 * 128 * 1.9e9, Halves: 132 * 2048 * 1.9e9, Bandwidth: 4.8e12}}.WithDefaults()
}
