package gpu

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/gpudevice"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/tune"
	"github.com/tensorken/tensorken/internal/wgpu"
)

const (
	// batch is the number of dispatches after which commands are submitted, so
	// that the GPU works while more are recorded. Fewer are held until more come, as a
	// submission takes as long as recording some of them.
	batch = 128
	// firstBatch is the same for the first submission, and for that after a wait, as the GPU idles.
	// Each later one has twice as many as the one before, up to batch.
	firstBatch = 16
	// slowBatch is the same for GPUs that may take seconds for a batch: a watchdog
	// limits the time of a submission.
	slowBatch = 16
	// maxFlights is the most submissions that are under way at once.
	maxFlights = 8
	// typicalMemory is a guess of a GPU's memory.
	typicalMemory = 32 << 30
	// slot is the size in bytes of most dispatches' parameters, and the greatest
	// alignment of dynamic offsets that WebGPU may require. A dispatch has up to maxSlots.
	slot     = 256
	maxSlots = (4*build.MaxParams + slot - 1) / slot
	// maxBindings is the most buffers of one pass.
	maxBindings = 16
	// spareBindings are reserved: one for the scratch of a pass, one for the reports
	// that a kernel with fallbacks reads.
	spareBindings = 2
)

type device struct {
	gpudevice.Device
	dev      wgpu.Device
	batch    int // dispatches that are submitted at a time
	bindings int // of one pass

	layouts   map[string]wgpu.Layout
	pipelines lru.Cache[string, *pipeline] // by source
	groups    lru.Cache[groupKey, wgpu.Group]
	staging   staging
	snapshot  *reading // the last, nil once it was read
	uniforms  uniforms
	patcher   *program // writes a part of a word
	lastID    uint32   // of buffers
	last      uint64   // submission
	written   int64    // bytes since the last submission
	uploads   []upload // under way

	// Of the commands that are recorded and not submitted.
	recording uint64 // its number
	commands  []wgpu.Command
	nextBatch int         // dispatches after which they are submitted
	params    []byte      // their parameters
	timed     *timedBatch // nil if they are not timed

	// Of calls that are timed.
	clock        gpuClock
	pendingTimed []*timedBatch // submitted and not read, in order
	freeTimed    []*timedBatch // whose queries and buffers may be used again
}

// Options are the name and the limits of a device.
type Options struct {
	Name   string
	Memory int64 // the greatest number of bytes in buffers; 0 for all there is
	Tune   tune.Mode
}

// New returns a device that computes on d, and closes d when it is closed.
func New(d wgpu.Device, o Options) driver.Device { return newDevice(d, o).machine() }

// machine returns the device with the abilities that its adapter has.
func (d *device) machine() gpudevice.Driver {
	if d.dev.Adapter().Has(wgpu.TimestampQuery) {
		return profiler{d}
	}
	return d
}

func newDevice(d wgpu.Device, o Options) *device {
	a := d.Adapter()
	g := &device{
		dev: d, batch: slowBatch, recording: 1,
		bindings: min(a.Limits.StorageBuffers, maxBindings),
		layouts:  map[string]wgpu.Layout{}, groups: lru.Cache[groupKey, wgpu.Group]{Block: groupBlock},
		Device: gpudevice.Device{
			Limit: min(a.Limits.StorageBinding, a.Limits.Buffer, math.MaxInt64) &^ 15, Advice: schedule.WebGPUAdvice, Budget: math.MaxInt64,
			Tuner: tune.New(o.Tune, fmt.Sprintf("%s, %s %s %s, %s", a.Name, a.Vendor, a.Architecture, a.Backend, a.Driver)),
			Target: schedule.Target{
				Family: families[a.Kind], MaxThreads: a.Limits.WorkgroupSize, SharedBytes: a.Limits.WorkgroupStorage, MaxGroups: a.Limits.Workgroups,
			},
		},
	}
	g.Target.BufferBytes = int(g.Limit)
	g.Target.Units, g.Target.Machine = schedule.MachineOf(a.Name)
	g.Init(o.Name, g.machine())
	switch a.Kind {
	case wgpu.Discrete:
		g.batch = batch
	case wgpu.Software: // shares the process's memory, which must not run out: the rest of it needs some
		limit, _ := hostmem.Limit() // 0 on failure, which refuses all buffers
		g.Budget = int64(limit / 8 * 7)
	}
	g.startBatches()
	if o.Memory > 0 {
		g.Budget = min(g.Budget, o.Memory)
	}
	if a.Kind == wgpu.Discrete {
		g.Target.Memory = g.memory()
	}
	if a.Has(wgpu.Subgroups) {
		g.Target.SubgroupMin, g.Target.SubgroupMax = a.SubgroupMin, a.SubgroupMax
	}
	return g
}

// families has the family of each kind of adapter. WebGPU tells no more about the
// speed of an adapter than its kind and its name.
var families = [...]schedule.Family{
	wgpu.Unknown: schedule.Integrated, wgpu.Discrete: schedule.Discrete,
	wgpu.Integrated: schedule.Integrated, wgpu.Software: schedule.Software,
}

func (d *device) Limits() driver.Limits {
	l := driver.Limits{
		Types: shader.DTypes, Bindings: d.bindings - spareBindings,
		Bytes: int(min(d.Limit, math.MaxInt)), Async: true, Machine: d.Target.Machine, Blocks: driver.GroupedBlocks,
	}
	if d.dev.Adapter().Kind == wgpu.Discrete {
		l.Memory = d.memory()
	}
	return l
}

// memory is the number of bytes of a discrete GPU's own memory that buffers may take.
func (d *device) memory() int {
	n := d.dev.Adapter().Memory
	if n == 0 { // as in a browser
		n = typicalMemory
	}
	return int(min(n, d.Budget))
}

// check returns the error of a device that is gone.
func (d *device) check() error {
	d.poll()
	return d.Closed
}

// poll notes the failures of submitted work.
func (d *device) poll() {
	if d.Closed != nil {
		return
	}
	if err := d.dev.Poll(); err != nil {
		d.fail(err)
	}
}

// fail notes a failure, which is permanent if the device is lost, and returns it
// with the device's name.
func (d *device) fail(err error) error {
	var e *wgpu.Error
	if !errors.As(err, &e) {
		return err
	}
	d.uniforms.forget()
	switch e.Kind {
	case wgpu.Lost, wgpu.Timeout:
		if d.Closed == nil {
			d.Closed = fmt.Errorf("%s: %w", d.Name(), err)
		}
		return d.Closed
	case wgpu.OutOfMemory:
		err = fmt.Errorf("%s: %w: %d bytes held: %w", d.Name(), driver.ErrMemory, d.Held, err)
	default:
		err = fmt.Errorf("%s: %w", d.Name(), err)
	}
	if d.Failed == nil {
		d.Failed = err
	}
	return err
}

// submit submits commands, and waits if too many submissions are under way.
func (d *device) submit(commands []wgpu.Command) error {
	if err := d.check(); err != nil {
		return err
	}
	n, err := d.dev.Submit(commands)
	if err != nil {
		return d.fail(err)
	}
	d.last = n
	done := d.dev.Done()
	d.uploads = slices.DeleteFunc(d.uploads, func(u upload) bool { return u.submission <= done })
	if d.written > 0 {
		d.uploads = append(d.uploads, upload{n, d.written})
		d.written = 0
	}
	if n > maxFlights && n-maxFlights > d.dev.Done() {
		if err := d.dev.Wait(n - maxFlights); err != nil {
			return d.fail(err)
		}
	}
	return nil
}

// Wait waits for all work. Its failures stay for Sync.
func (d *device) Wait() error {
	if d.Closed != nil {
		return d.Closed
	}
	if err := d.flush(); err != nil {
		return err
	}
	if d.written > 0 {
		if err := d.submit(nil); err != nil {
			return err
		}
	}
	if d.last > d.dev.Done() {
		if err := d.dev.Wait(d.last); err != nil {
			return d.fail(err)
		}
	}
	d.startBatches()
	return d.check()
}

// Enter implements gpudevice.Driver.
func (d *device) Enter() (leave func(), err error) { return func() {}, d.Closed }

// startBatches makes the next submission small, when the GPU idles.
func (d *device) startBatches() { d.nextBatch = min(firstBatch, d.batch) }

func (d *device) Close() error {
	if d.dev == nil {
		return nil
	}
	d.commands = nil
	d.groups.Trim(0, d.dev.FreeGroup)
	d.freeTimes()
	d.uniforms.free(d)
	if d.snapshot != nil {
		d.dev.FreeBuffer(d.snapshot.from)
		d.snapshot = nil
	}
	d.staging.free(d)
	d.FreeBuffers() // a handle that stays open keeps the native device alive
	d.pipelines.Trim(0, d.freePipeline)
	d.dev.Close()
	d.dev, d.Closed = nil, fmt.Errorf("%s: the device is closed", d.Name())
	return nil
}
