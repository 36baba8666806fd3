package exec_test

import (
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// hollow is a GPU without memory, whose work takes no time.
type hollow struct {
	memory    int   // of Limits
	allocated int   // buffers
	bytes     int64 // of buffers that are not freed
}

type hollowBuffer struct {
	device *hollow
	size   int
}

func (b hollowBuffer) Size() int { return b.size }
func (b hollowBuffer) Free()     { b.device.bytes -= int64(b.size) }

func (d *hollow) Name() string { return "hollow" }

func (d *hollow) Limits() driver.Limits {
	return driver.Limits{Types: []ir.DType{ir.Float32, ir.Int32}, Bindings: 16, Memory: d.memory, Async: true}
}

func (d *hollow) Alloc(bytes int) (driver.Buffer, error) {
	d.allocated++
	d.bytes += int64(bytes)
	return hollowBuffer{d, bytes}, nil
}

func (d *hollow) Run([]driver.Call) error                    { return nil }
func (d *hollow) Sync() error                                { return nil }
func (d *hollow) Compile(*ir.Kernel) (driver.Program, error) { return nil, nil }
func (d *hollow) Upload(driver.Buffer, int, []byte) error    { return nil }
func (d *hollow) Download([]byte, driver.Buffer, int) error  { return nil }
func (d *hollow) Close() error                               { return nil }

// stored returns a computed value of some bytes.
func stored(tb testing.TB, dev *exec.Device, bytes int) *graph.Node {
	n := graph.Unary(ir.Neg, scalar(1, []int{bytes / 4}))
	evalAll(tb, dev, n)
	return n
}

func evalAll(tb testing.TB, dev *exec.Device, roots ...*graph.Node) {
	if err := exec.Eval(dev, roots); err != nil {
		tb.Fatal(err)
	}
}

// training computes, of parameters of 32 KB to 1 MB, a gradient each, the next parameters
// and a loss, as a step of training does.
func training(tb testing.TB, dev *exec.Device) func() {
	params := make([]*graph.Node, 6)
	for k := range params {
		params[k] = stored(tb, dev, 1<<20>>k)
	}
	return func() {
		roots := make([]*graph.Node, 0, 2*len(params)+1)
		for k, p := range params {
			g := graph.Unary(ir.Exp, p)
			params[k] = graph.Binary(ir.Add, p, graph.Binary(ir.Mul, g, scalar(0.1, p.Shape)))
			roots = append(roots, params[k], g)
		}
		evalAll(tb, dev, append(roots, graph.Reduce(ir.Sum, params[0], []int{0}))...)
	}
}

// Buffers that a loop drops are reused, although the heap gives Go's collector no reason to run: garbage
// is at most half of the live bytes, or a 64th of the memory.
func TestGarbage(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	const mb = 1 << 20
	for _, c := range []struct {
		name               string
		memory, live, most int
	}{
		{"little memory", 640 * mb, 0, 10 * mb},
		{"much memory", 6400 * mb, 0, 100 * mb},
		{"much that is live", 640 * mb, 100 * mb, 150 * mb},
	} {
		dev := exec.New(&hollow{memory: c.memory})
		before := exec.Info()
		var live *graph.Node
		if c.live > 0 {
			live = stored(t, dev, c.live)
		}
		for range 400 {
			stored(t, dev, mb)
		}
		if held := int(exec.Info().Peak - before.Peak); held > c.most+4*mb || held < c.most/2 {
			t.Errorf("%s: %d MB were held at most, want about %d", c.name, held/mb, c.most/mb)
		}
		runtime.KeepAlive(live)
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A loop with small results takes few buffers, because objects of the host cost more than the memory.
func TestSmallResultsTakeFewBuffers(t *testing.T) {
	drv := &hollow{memory: 141 << 30}
	dev := exec.New(drv)
	defer dev.Close()
	for range 20000 {
		stored(t, dev, 4)
	}
	if drv.allocated > 8192 {
		t.Errorf("20000 results of 4 bytes, each dropped, take %d buffers, want at most 8192", drv.allocated)
	}
}

// Steps of training hold little beside their parameters, whose old values are garbage.
func TestTrainingHoldsLittle(t *testing.T) {
	drv := &hollow{memory: 141 << 30}
	dev := exec.New(drv)
	defer dev.Close()
	step := training(t, dev)
	for range 2000 {
		step()
	}
	if drv.bytes > 3<<30 {
		t.Errorf("2000 steps with parameters of 2 MB hold %d MB, want less than 3072", drv.bytes>>20)
	}
}
