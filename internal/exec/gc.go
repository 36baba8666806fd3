package exec

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A pacer says when to run Go's garbage collector, which does not see how much
// memory of a device a small storage keeps. The threshold doubles, up to a share of the
// device's memory, once collections have taken more than a share of the time and,
// beyond that, as long as the device takes to allocate the bytes that the doubling adds. A
// collection after which the device still has work slowed nothing and does not count, with two exceptions, for
// little work: the device had none when its last work came, or a plan waited for the collection after few
// others, for most of the time.
type pacer struct {
	live         atomic.Int64 // the least number of bytes held since the last collection
	liveCount    atomic.Int64 // the least number of buffers held since then
	threshold    atomic.Int64 // bytes above live at which a plan waits for a collection, see limit
	maxThreshold int64
	own          bool         // the device has memory of its own, and live bytes allow half as many above them
	plans        atomic.Int64 // the most bytes that one of the last plans acquired
	planCount    atomic.Int64 // plans since the start of the last collection
	allocTime    atomic.Int64 // pool.allocTime at the end of the last collection
	ahead        atomic.Int64 // bytes above live at which a quick collection starts in the background
	ended        atomic.Int64 // the end of the last collection, in nanoseconds since begun
	waiting      atomic.Bool  // the host waits for the device
	busy         atomic.Bool  // at the end of the last collection the device had work, or the host waited for it

	mu     sync.Mutex    // held during a collection; guards what follows
	spent  time.Duration // beyond the share of the time, since the threshold doubled
	last   time.Time     // the end of the last collection, or wait for one, that counted
	waited bool          // a plan waited since the last collection
}

const (
	minGCThreshold = 32 << 20
	maxGCMemory    = 16                   // the device's own memory/maxGCMemory holds the threshold, live bytes and those of a plan
	firstGCMemory  = 1024                 // the threshold begins at the device's own memory/firstGCMemory
	maxGCTime      = 16                   // collections may take 1/maxGCTime of the time
	fewPlans       = 6                    // after no more, a wait for a collection may count though the device has work after it
	spareGCTime    = 32                   // the time from a collection until there is time for another, divided by its duration
	busyGCMemory   = 64                   // quick ones of a busy device start at its own memory/busyGCMemory at the latest
	maxAllocTime   = 3                    // the time for new buffers until a collection is due, divided by the last collection's
	maxQuickGC     = 4 * time.Millisecond // collections of less may take half of the time, in the background
	minGCBuffers   = 2048                 // the least countLimit
	maxGCObjects   = 16                   // a countLimit is the heap's objects/maxGCObjects at least
)

var (
	heapObjects atomic.Int64 // in the host's heap after the last collection of any device
	lastGC      atomic.Int64 // nanoseconds of the last collection of any device
	endGC       atomic.Int64 // its end, in nanoseconds since begun; math.MaxInt64 while another runs
	begun       = clock.Now()
)

// limit is the number of bytes above live at which the next plan waits for a collection. What is
// live and what a plan acquires, as a training step of a large model, leave less for garbage.
func (p *pacer) limit() int64 {
	live := p.live.Load()
	highest := max(minGCThreshold, p.maxThreshold-p.plans.Load()-live)
	if p.own {
		live /= 2
	}
	return max(min(p.threshold.Load(), highest), live)
}

// acquires notes that a plan acquires some bytes. The caller holds the device's queue.
func (p *pacer) acquires(bytes int64) {
	before := p.plans.Load()
	p.plans.Store(max(bytes, before-before/16))
}

// countLimit is the number of buffers above liveCount at which the next plan waits for a
// collection: as many as make a collection of the whole heap somewhat slower.
func countLimit() int64 { return max(minGCBuffers, heapObjects.Load()/maxGCObjects) }

// bytesAbove returns the bytes held above live.
func (d *Device) bytesAbove() int64 { return d.pool.held.Load() - d.pacer.live.Load() }

// excess is bytesAbove where a buffer counts as limit/countLimit bytes at least: the host has
// objects for each, which all collections visit.
func (d *Device) excess() int64 {
	p := &d.pacer
	count := d.pool.count.Load() - p.liveCount.Load()
	return max(d.bytesAbove(), int64(float64(count)/float64(countLimit())*float64(p.limit())))
}

// count counts a collection, or a plan's wait for one, where a byte takes some nanoseconds to
// allocate. What several goroutines count of the same time counts once. The caller holds p.mu.
func (p *pacer) count(start, end time.Time, perByte float64) {
	passed := end.Sub(p.last)
	p.spent = max(0, p.spent+min(end.Sub(start), passed)-passed/maxGCTime)
	p.last = end
	if limit := p.limit(); float64(p.spent) > float64(limit)*perByte {
		p.spent = 0
		p.threshold.Store(max(p.threshold.Load(), min(2*limit, p.maxThreshold)))
	}
}

// maybeGC collects garbage if it is due, before a plan. The caller holds no lock.
func (d *Device) maybeGC() {
	p := &d.pacer
	p.planCount.Add(1)
	excess, limit := d.excess(), p.limit()
	if excess > d.due(limit) {
		d.plannedGC()
		return
	}
	if excess > d.early(limit) && d.pool.returned.Load() == nil { // else the plan drains, and the next decides
		d.backgroundGC()
	}
}

// plannedGC collects garbage before a plan, or waits for the collection that runs.
func (d *Device) plannedGC() {
	p := &d.pacer
	start, few, ended := clock.Now(), p.planCount.Load() <= fewPlans, p.ended.Load()
	d.flushHeld() // the device computes meanwhile
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waited = true
	if d.lockedDrain(); d.excess() > d.due(p.limit()) { // or another goroutine has collected
		d.forcedGC()
	}
	end := clock.Now()
	mostly := 2*end.Sub(start) > end.Sub(begun)-time.Duration(ended)
	if few && mostly || d.idle() { // the wait may have slowed the device, or it had little work
		p.count(start, end, d.pool.nanosPerByte())
	}
}

// backgroundGC starts a collection in the background, unless one runs. The collection takes no lock before
// its end, as whoever waits for the device holds d.queue. It counts if it may have slowed the device.
func (d *Device) backgroundGC() {
	p := &d.pacer
	if !p.mu.TryLock() {
		return
	}
	go func() {
		defer p.mu.Unlock()
		start := clock.Now()
		if end := d.forcedGC(); !p.busy.Load() {
			p.count(start, end, d.pool.nanosPerByte())
		}
	}()
}

// due is the number of bytes above live at which the next plan waits for a collection: the limit, and
// less on a GPU once new buffers have taken some times as long as a collection does. So growth to the
// limit takes at most a third more than its allocations, and loops reuse buffers soon where these are slow.
func (d *Device) due(limit int64) int64 {
	p := &d.pacer
	if p.own && d.pool.allocTime.Load()-p.allocTime.Load() > maxAllocTime*lastGC.Load() {
		return min(limit, minGCThreshold)
	}
	return limit
}

// awaits is called before the host waits for the device, and returns a function to be called after that. It
// collects garbage in the background: a quick collection from half of the limit on, so that the device does not
// wait for one once it has no work, and any if the next plan would wait for it. After plans that are small for
// the limit a slow one does not start: a larger limit lets them wait less often. The caller holds d.queue.
func (d *Device) awaits() (done func()) {
	p := &d.pacer
	due := func() bool {
		excess, limit := d.excess(), p.limit()
		return min(excess, p.plans.Load()) > limit || excess > limit/2 && d.quickGC()
	}
	if due() {
		if d.drain(); due() {
			d.backgroundGC()
		}
	}
	p.waiting.Store(true)
	return func() { p.waiting.Store(false) }
}

// quickGC reports whether a GPU may have a collection beside its work, as the last one was quick.
func (d *Device) quickGC() bool { return d.pacer.own && lastGC.Load() < int64(maxQuickGC) }

// early is the number of bytes above live at which a collection starts in the background: three
// quarters of the limit, and on a GPU less where there is time for one, as beside plans that compute for
// long: the next plan then needs no new buffers, which take a GPU's driver milliseconds. A quick one
// starts so far ahead that a loop of fast plans has buffers until its end. If the device was busy after the
// last, a quick one starts with little garbage: an exp of 64 M takes 8 % longer through WebGPU on an H200 if
// its results take turns in 10 GB.
func (d *Device) early(limit int64) int64 {
	late := limit / 4 * 3
	if !d.pacer.own || d.bytesAbove() <= minGCThreshold {
		return late
	}
	start := late
	took, since := lastGC.Load(), int64(clock.Since(begun))-endGC.Load() // negative while one runs
	if since > took && d.quickGC() {
		start = min(start, d.pacer.ahead.Load())
		if d.pacer.busy.Load() {
			start = min(start, int64(d.limits.Memory)/busyGCMemory)
		}
	}
	if since > spareGCTime*took {
		start = minGCThreshold
	}
	return min(max(start, minGCThreshold), late)
}

// idle reports whether the device waits for the host, as far as it knows.
func (d *Device) idle() bool {
	drv, ok := d.drv.(driver.Idler)
	if !ok {
		return true
	}
	d.lockBetween()
	defer d.queue.Unlock()
	return drv.Idle()
}

// forcedGC runs a collection, and notes whether the device was busy at its end, which it returns. The caller
// holds pacer.mu.
func (d *Device) forcedGC() (end time.Time) {
	p := &d.pacer
	bytes, buffers, above := d.pool.kept.Load(), d.pool.keptCount.Load(), d.excess()
	plans := p.planCount.Load()
	forceGC()
	end, waiting := clock.Now(), p.waiting.Load()
	p.ended.Store(int64(end.Sub(begun)))
	p.planCount.Add(-plans)
	p.adapt(above, d.pool.allocTime.Load())
	held := d.lockedDrain() // after the host's wait for the device
	// What came later may be dead already.
	p.live.Store(max(0, held-(d.pool.kept.Load()-bytes)))
	p.liveCount.Store(max(0, d.pool.count.Load()-(d.pool.keptCount.Load()-buffers)))
	p.busy.Store(waiting || !d.idle())
	return end
}

// adapt moves the start of quick collections after one that began at some bytes above live: to three
// quarters of that if plans needed new buffers or waited, as buffers ran out before, else a little up, so
// that loops of slower plans have few collections. The caller holds p.mu.
func (p *pacer) adapt(above, allocTime int64) {
	if p.waited || allocTime-p.allocTime.Load() > lastGC.Load()/8 {
		p.ahead.Store(above / 4 * 3)
	} else {
		p.ahead.Store(min(max(above, p.ahead.Load())/64*65, p.limit()))
	}
	p.waited = false
	p.allocTime.Store(allocTime)
}

func (d *Device) lockedDrain() int64 {
	d.lockBetween()
	defer d.queue.Unlock()
	return d.drain()
}

// forceGC runs a collection and waits, at most 100 ms, for the cleanups that it
// queues.
func forceGC() {
	start := clock.Now()
	endGC.Store(math.MaxInt64) // one at a time, also of several devices
	defer func() {
		lastGC.Store(int64(clock.Since(start)))
		endGC.Store(int64(clock.Since(begun)))
	}()
	runtime.GC()
	samples := []metrics.Sample{
		{Name: "/gc/cleanups/executed:cleanups"},
		{Name: "/gc/cleanups/queued:cleanups"},
		{Name: "/gc/heap/objects:objects"},
	}
	metrics.Read(samples)
	executed, queued := &samples[0].Value, samples[1].Value.Uint64()
	heapObjects.Store(int64(samples[2].Value.Uint64()))
	for start := clock.Now(); executed.Uint64() < queued && clock.Since(start) < 100*time.Millisecond; metrics.Read(samples[:1]) {
		runtime.Gosched()
	}
}

// Go's collector runs when the heap has doubled, at least 4 MiB. A program of small tensors
// holds less and drops some KiB a call, so it would collect hundreds of times a second.
// The ballast makes that tens. It is never touched, so the system gives it no pages.
const (
	ballastSize   = 32 << 20
	ballastMemory = 4 << 30 // machines with less have no ballast
)

var ballast = sync.OnceValue(func() []byte {
	if limit, err := hostmem.Limit(); err != nil || limit < ballastMemory {
		return nil
	}
	return make([]byte, ballastSize)
})

// Allocate returns count·size zeroed bytes of the host's memory. Before it fails it
// frees what dead tensors and pools hold. The caller holds no device's lock.
func Allocate(count, size int) ([]byte, error) {
	data, err := hostmem.Make(count, size)
	if err == nil {
		return data, nil
	}
	forceGC()
	devicesMu.Lock()
	all := slices.Clone(devices)
	devicesMu.Unlock()
	for _, d := range all {
		d.Trim() // readers of the values that failed get the error
	}
	return hostmem.Make(count, size)
}
