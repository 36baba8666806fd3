package exec_test

import (
	"runtime"
	"runtime/debug"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// queued is a GPU without memory: Run adds to the work that Sync waits for, and Alloc takes
// the host time.
type queued struct {
	memory           int                           // of Limits
	allocTime        func(bytes int) time.Duration // nil for none
	allocated, freed int                           // buffers
	bytes            int64                         // of buffers that are not freed
	end              time.Time
}

// asH200 is the time that a new buffer takes on an H200 through WebGPU: 0.14 ms for 4 MB and
// 0.7 ms for 256 MB.
func asH200(bytes int) time.Duration {
	return 131*time.Microsecond + time.Duration(bytes)*2222/1e6
}

type queuedBuffer struct {
	device *queued
	size   int
}

func (b queuedBuffer) Size() int { return b.size }

func (b queuedBuffer) Free() {
	b.device.freed++
	b.device.bytes -= int64(b.size)
}

func (d *queued) Name() string { return "queued" }

func (d *queued) Limits() driver.Limits {
	return driver.Limits{Types: []ir.DType{ir.Float32, ir.Int32}, Bindings: 16, Memory: d.memory, Async: true}
}

func (d *queued) Alloc(bytes int) (driver.Buffer, error) {
	d.allocated++
	d.bytes += int64(bytes)
	if d.allocTime != nil {
		t := d.allocTime(bytes)
		for start := clock.Now(); clock.Since(start) < t; { // a driver does not sleep meanwhile
		}
	}
	return queuedBuffer{d, bytes}, nil
}

// Run gives each call 3 µs and the time in which 4 TB/s move its buffers.
func (d *queued) Run(calls []driver.Call) error {
	if now := clock.Now(); d.end.Before(now) {
		d.end = now
	}
	for _, c := range calls {
		d.end = d.end.Add(3 * time.Microsecond)
		for _, a := range c.Args {
			if a.Buffer != nil {
				d.end = d.end.Add(time.Duration(a.Buffer.Size() / 4000))
			}
		}
	}
	return nil
}

func (d *queued) Sync() error {
	time.Sleep(d.end.Sub(clock.Now()))
	return nil
}

// Idle makes the promise of driver.Idler.
func (d *queued) Idle() bool { return !d.end.After(clock.Now()) }

func (d *queued) Compile(*ir.Kernel) (driver.Program, error) { return nil, nil }
func (d *queued) Upload(driver.Buffer, int, []byte) error    { return nil }
func (d *queued) Download([]byte, driver.Buffer, int) error  { return d.Sync() }
func (d *queued) Close() error                               { return nil }

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

// loops are functions that return an evaluation to be repeated.
var loops = []struct {
	name string
	loop func(testing.TB, *exec.Device) func()
}{
	{"exp/64KB", func(tb testing.TB, dev *exec.Device) func() { return dropped(tb, dev, 64<<10) }},
	{"exp/4MB", func(tb testing.TB, dev *exec.Device) func() { return dropped(tb, dev, 4<<20) }},
	{"exp/256MB", func(tb testing.TB, dev *exec.Device) func() { return dropped(tb, dev, 256<<20) }},
	{"exp/4MB/later", later},
	{"train", training},
}

// later is a loop of small results after one of large results, for which collections leave much memory.
func later(tb testing.TB, dev *exec.Device) func() {
	large := dropped(tb, dev, 256<<20)
	for range 5000 {
		large()
	}
	return dropped(tb, dev, 4<<20)
}

// dropped computes a result that nobody keeps.
func dropped(tb testing.TB, dev *exec.Device, bytes int) func() {
	x := stored(tb, dev, bytes)
	return func() { evalAll(tb, dev, graph.Unary(ir.Exp, x)) }
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

// Collections do not grow the memory of a GPU whose new memory takes longer than they do, and
// the pool frees no buffer that the loop needs again.
func TestSlowAllocation(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	drv := &queued{memory: 8 << 30, allocTime: func(int) time.Duration { return 60 * time.Millisecond }}
	dev := exec.New(drv)
	defer dev.Close()
	eval := dropped(t, dev, 4<<20)
	for range 100 {
		eval()
	}
	if drv.allocated > 11 || drv.freed > 0 { // 32 MiB, the operand, and what passes the limit
		t.Errorf("100 results of 4 MB, each dropped, take %d buffers, of which %d are freed; want at most 11 and 0", drv.allocated, drv.freed)
	}
}

// A loop of small results holds more of them from the start where the GPU has much memory, so that it has few
// collections though they slow no work.
func TestFirstThreshold(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	most := 0 // of several devices: a collection may start in the background if none ran for long
	for range 3 {
		drv := &queued{memory: 141 << 30}
		dev := exec.New(drv)
		eval := dropped(t, dev, 4<<20)
		drv.end = clock.Now().Add(time.Hour)
		for range 20 {
			eval()
		}
		drv.end = time.Time{}
		dev.Close()
		most = max(most, drv.allocated)
	}
	if most < 16 { // 32 MiB are 8
		t.Errorf("20 results of 4 MB take %d buffers with the operand's, want 21", most)
	}
}

// A loop on a busy GPU holds a few results: enough for the GPU to have work during collections.
func TestBusyDeviceHoldsLittle(t *testing.T) {
	drv := &queued{memory: 141 << 30}
	dev := exec.New(drv)
	defer dev.Close()
	eval := dropped(t, dev, 256<<20)
	drv.end = clock.Now().Add(time.Hour)
	for range 100 {
		eval()
	}
	drv.end = time.Time{}
	if drv.bytes > 3<<30 { // a sixteenth of the memory is 8.8 GB
		t.Errorf("100 results of 256 MB hold %d MB, want at most 3072", drv.bytes>>20)
	}
	if drv.allocated < 8 { // the operand, and more than six results
		t.Errorf("100 results of 256 MB take %d buffers, want 8 or more", drv.allocated)
	}
}

// While the host waits for a large plan, a collection starts that the next plan would wait for.
func TestWaitCollects(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var x *graph.Node
	for _, c := range []struct {
		name string
		wait func(*exec.Device) error
	}{
		{"Sync", (*exec.Device).Sync},
		{"a read", func(dev *exec.Device) error { _, err := exec.Read(dev, x); return err }},
	} {
		drv := &queued{memory: 141 << 30}
		dev := exec.New(drv)
		x = stored(t, dev, 4)
		exec.ForceGC()
		stored(t, dev, 256<<20) // and dropped
		count := func() uint32 {
			var s runtime.MemStats
			runtime.ReadMemStats(&s)
			return s.NumForcedGC
		}
		before := count()
		if err := c.wait(dev); err != nil {
			t.Fatal(err)
		}
		for start := clock.Now(); count() == before; time.Sleep(time.Millisecond) {
			if clock.Since(start) > 10*time.Second {
				t.Fatalf("%s: no collection", c.name)
			}
		}
		dev.Close()
	}
}

// A loop with small results takes few buffers, as objects of the host cost more than the memory.
func TestSmallResultsTakeFewBuffers(t *testing.T) {
	drv := &queued{memory: 141 << 30, allocTime: func(int) time.Duration { return 10 * time.Microsecond }}
	dev := exec.New(drv)
	defer dev.Close()
	for range 2 { // what the cleanups of other tests drop goes with the second
		exec.ForceGC()
	}
	eval := dropped(t, dev, 4)
	for range 20000 {
		eval()
	}
	if drv.allocated > 3000 {
		t.Errorf("20000 results of 4 bytes, each dropped, take %d buffers, want at most 3000", drv.allocated)
	}
}

// Small results are collected less often where many are live, as a collection visits all of those.
func TestManyLiveBuffers(t *testing.T) {
	drv := &queued{memory: 141 << 30}
	dev := exec.New(drv)
	defer dev.Close()
	const n = 20000
	live := make([]*graph.Node, n)
	for i := range live {
		live[i] = stored(t, dev, 4)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	eval := dropped(t, dev, 4)
	for range n {
		eval()
	}
	runtime.ReadMemStats(&after)
	if count := after.NumForcedGC - before.NumForcedGC; count > 5 { // with one for each 2,048 buffers it would be 12
		t.Errorf("%d results of 4 bytes, each dropped, take %d collections with as many live, want at most 5", n, count)
	}
	runtime.KeepAlive(live)
}

// A training loop holds little of a GPU's memory, although the host is done with a step long
// before a collection of Go's garbage would be.
func TestTrainingHoldsLittle(t *testing.T) {
	drv := &queued{memory: 141 << 30, allocTime: asH200}
	dev := exec.New(drv)
	defer dev.Close()
	step := training(t, dev)
	for range 2000 {
		step()
	}
	if drv.bytes > 1<<30 {
		t.Errorf("2000 steps with parameters of 2 MB hold %d MB, want less than 1024", drv.bytes>>20)
	}
}

// BenchmarkQueued evaluates loops on a GPU. It reports the buffers allocated and the memory held.
func BenchmarkQueued(b *testing.B) {
	for _, c := range loops {
		b.Run(c.name, func(b *testing.B) {
			drv := &queued{memory: 141 << 30, allocTime: asH200}
			dev := exec.New(drv)
			defer dev.Close()
			eval := c.loop(b, dev)
			for b.Loop() {
				eval()
			}
			if err := dev.Sync(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(drv.allocated), "buffers")
			b.ReportMetric(float64(drv.bytes)/1e6, "MB")
		})
	}
}
