// Package cpu runs kernels on the host. It cuts a kernel's iteration space into blocks that
// fit the caches, runs each instruction as one routine of package simd over a block, and
// shares blocks among the cores. Shapes alone decide how the space is cut, so the bits of a
// result depend neither on the number of cores nor on timing. Read device.go first, then
// compile.go, and package vector.
package cpu

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// Options limit the resources of a device. Zero fields stand for the defaults.
type Options struct {
	// Threads is the greatest number of goroutines that compute at once: by
	// default runtime.GOMAXPROCS(0).
	Threads int
	// Memory is the greatest number of bytes in buffers: by default
	// hostmem.Limit().
	Memory int
}

type device struct {
	vector.Pool
	limit int          // bytes
	held  atomic.Int64 // bytes
}

// maxThreads bounds the goroutines of a device, more than any machine has cores.
const maxThreads = 1 << 12

// New returns a device that runs kernels on the host.
func New(o Options) driver.Device {
	d := &device{limit: o.Memory}
	d.Tune = vector.DefaultTuning
	d.Tune.Panel = simd.Cache() / 4
	if d.limit <= 0 {
		d.limit, _ = hostmem.Limit() // 0 on failure, which refuses all buffers
	}
	if o.Threads <= 0 {
		o.Threads = runtime.GOMAXPROCS(0)
	}
	d.Tune.Threads = min(o.Threads, maxThreads)
	d.Start(d.Tune.Threads)
	return d
}

func (d *device) Name() string { return "cpu" }

func (d *device) Limits() driver.Limits {
	l := driver.Limits{Types: ir.DTypes, Bindings: math.MaxInt32, Shares: true, Concurrent: true, Blocks: driver.AllBlocks}
	if simd.Filters[ir.Float32].Across != nil { // depthwise convolutions take both orders of images
		l.Machine.Columns = simd.Products[ir.Float32].Cols
	}
	return l
}

func (d *device) Upload(dst driver.Buffer, offset int, src []byte) error {
	to, err := d.span(dst, offset, len(src))
	copy(to, src)
	return err
}

func (d *device) Download(dst []byte, src driver.Buffer, offset int) error {
	from, err := d.span(src, offset, len(dst))
	copy(dst, from)
	return err
}

func (d *device) Sync() error {
	if d.Closed.Load() {
		return vector.ErrClosed
	}
	return nil
}

// Close makes later calls fail. Runs under way end as usual.
func (d *device) Close() error {
	d.Pool.Close()
	return nil
}

func (d *device) Compile(k *ir.Kernel) (p driver.Program, err error) {
	if d.Closed.Load() {
		return nil, vector.ErrClosed
	}
	defer vector.RecoverTo(&err)
	return d.compile(k), nil
}

func (d *device) Run(calls []driver.Call) error { return d.run(calls, func(int) {}) }

// RunTimed implements driver.Profiler.
func (d *device) RunTimed(calls []driver.Call) (driver.Timing, error) {
	spans := make(driver.Timed, len(calls))
	var start time.Time
	err := d.run(calls, func(i int) {
		now := clock.Now()
		if i >= 0 {
			spans[i] = driver.Span{Start: start, Duration: now.Sub(start)}
		}
		start = now
	})
	return spans, err
}

// run runs calls. It calls done(-1) before the first one, and done(i) after call i.
func (d *device) run(calls []driver.Call, done func(i int)) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true)) // see package mapped
	defer vector.RecoverTo(&err)
	x, err := d.Acquire()
	if err != nil {
		return err
	}
	defer d.Release(x)
	done(-1)
	for i := range calls {
		p, ok := calls[i].Program.(*executable)
		if !ok {
			return fmt.Errorf("cpu: call %d: a program of another device", i)
		}
		if err := d.call(x, p, calls[i].Args); err != nil {
			return err
		}
		done(i)
	}
	return nil
}
