package exec

import (
	"runtime"
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A pacer says when to run Go's garbage collector, which does not see how much
// memory of a device a small storage keeps. The threshold doubles, up to a share of the
// device's memory, once collections have taken more than a share of the time and,
// beyond that, as long as the device takes to allocate the bytes that the doubling adds. A
// collection after which the device still has work does not count: it slowed nothing.
type pacer struct {
	live         atomic.Int64 // the least number of bytes held since the last collection
	threshold    atomic.Int64 // bytes above live at which a plan waits for a collection; live if that is more
	maxThreshold int64

	mu    sync.Mutex    // held during a collection; guards what follows
	spent time.Duration // beyond the share of the time, since the threshold doubled
	last  time.Time     // the end of the last collection
}

const (
	minGCThreshold = 32 << 20
	maxGCMemory    = 16 // the highest threshold is the device's own memory/maxGCMemory
	maxGCTime      = 16 // collections may take 1/maxGCTime of the time
)

// limit is the number of bytes above live at which the next plan waits for a collection. One
// starts in the background at three quarters of it.
func (p *pacer) limit() int64 { return max(p.threshold.Load(), p.live.Load()) }

// excess returns the bytes above live when a number of bytes is held.
func (p *pacer) excess(held int64) int64 { return held - p.live.Load() }

// count counts a collection, or a plan's wait for one, where a byte takes some nanoseconds to
// allocate. What several goroutines count of the same time counts once. The caller holds p.mu.
func (p *pacer) count(start, end time.Time, perByte float64) {
	passed := end.Sub(p.last)
	p.spent = max(0, p.spent+min(end.Sub(start), passed)-passed/maxGCTime)
	p.last = end
	if limit := p.limit(); float64(p.spent) > float64(limit)*perByte {
		p.spent = 0
		p.threshold.Store(min(2*limit, p.maxThreshold))
	}
}

// maybeGC collects garbage if it is due. The caller holds no lock.
func (d *Device) maybeGC() {
	p := &d.pacer
	excess, limit := p.excess(d.pool.held.Load()), p.limit()
	switch {
	case excess > limit:
		start := time.Now()
		d.flushHeld() // the device computes meanwhile
		p.mu.Lock()
		defer p.mu.Unlock()
		d.collect(start, p.limit()) // or another goroutine has collected
	case excess > limit/4*3 && p.mu.TryLock():
		go func() {
			defer p.mu.Unlock()
			d.collect(time.Now(), limit/4*3)
		}()
	}
}

// collect runs a collection if more bytes are held than some above live, and counts the time since
// start. The caller holds pacer.mu.
func (d *Device) collect(start time.Time, above int64) {
	p := &d.pacer
	if p.excess(d.lockedDrain()) > above {
		d.forcedGC()
	}
	end := time.Now()
	if !d.idle() {
		start = end
	}
	p.count(start, end, d.pool.nanosPerByte())
}

// idle reports whether the device's work is done, as far as it knows.
func (d *Device) idle() bool {
	drv, ok := d.drv.(driver.Idler)
	if !ok {
		return true
	}
	d.queue.Lock()
	defer d.queue.Unlock()
	return drv.Idle()
}

// forcedGC runs a collection. The caller holds pacer.mu.
func (d *Device) forcedGC() {
	p := &d.pacer
	acquired := d.pool.total.Load()
	forceGC()
	held := d.lockedDrain()
	p.live.Store(max(0, held-(d.pool.total.Load()-acquired))) // what came later may be dead already
}

func (d *Device) lockedDrain() int64 {
	d.queue.Lock()
	defer d.queue.Unlock()
	return d.drain()
}

// forceGC runs a collection and waits, at most 100 ms, for the cleanups that it
// queues.
func forceGC() {
	runtime.GC()
	cleanups := []metrics.Sample{{Name: "/gc/cleanups/queued:cleanups"}, {Name: "/gc/cleanups/executed:cleanups"}}
	metrics.Read(cleanups)
	queued := cleanups[0].Value.Uint64()
	for start := time.Now(); cleanups[1].Value.Uint64() < queued && time.Since(start) < 100*time.Millisecond; metrics.Read(cleanups[1:]) {
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
