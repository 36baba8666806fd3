package exec

import (
	"math"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/clock"
)

// The threshold doubles once collections took more than a sixteenth of the time by as much as the
// bytes of the threshold take to allocate.
func TestPacerThreshold(t *testing.T) {
	const mb, ms = 1 << 20, time.Millisecond
	for _, c := range []struct {
		name                  string
		waits                 int
		every, wait           time.Duration
		earlier               time.Duration // a second goroutine ends its wait so much earlier
		live, slow, threshold int64         // slow: milliseconds to allocate 32 MiB
	}{
		{"no waits", 100, 16 * ms, 0, 0, 0, 0, 32 * mb},
		{"a sixteenth of the time", 100, 16 * ms, ms, 0, 0, 0, 32 * mb},
		{"an eighth, memory is free", 1, 16 * ms, 2 * ms, 0, 0, 0, 64 * mb},
		{"always, less than memory takes", 10, 16 * ms, 16 * ms, 0, 0, 150, 32 * mb},
		{"always, more than memory takes", 11, 16 * ms, 16 * ms, 0, 0, 150, 64 * mb},
		{"always, until memory was allocated twice", 32, 16 * ms, 16 * ms, 0, 0, 150, 128 * mb},
		{"two at a time, less than memory takes", 10, 16 * ms, 16 * ms, ms, 0, 150, 32 * mb},
		{"more live bytes than the threshold", 1, 16 * ms, 16 * ms, 0, 100 * mb, 1, 200 * mb},
		{"up to the highest", 100, 16 * ms, 16 * ms, 0, 0, 1, 1000 * mb},
	} {
		now := clock.Now()
		p := pacer{maxThreshold: 1000 * mb, last: now}
		p.threshold.Store(minGCThreshold)
		p.live.Store(c.live)
		perByte := float64(c.slow*int64(ms)) / minGCThreshold
		for range c.waits {
			now = now.Add(c.every)
			if c.earlier > 0 {
				p.count(now.Add(-c.wait), now.Add(-c.earlier), perByte)
			}
			p.count(now.Add(-c.wait), now, perByte)
		}
		if got := p.threshold.Load(); got != c.threshold {
			t.Errorf("%s: the threshold is %d MiB, want %d", c.name, got/mb, c.threshold/mb)
		}
	}
}

// What is live, and what a plan acquires, is not left for garbage, of which there may be half as much as
// is live in any case.
func TestPacerLimit(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ threshold, live, plan, limit, later int64 }{ // later: after small plans
		{500 * mb, 0, 0, 500 * mb, 500 * mb},
		{500 * mb, 100 * mb, 300 * mb, 500 * mb, 500 * mb},
		{500 * mb, 100 * mb, 700 * mb, 200 * mb, 500 * mb},
		{500 * mb, 400 * mb, 700 * mb, 200 * mb, 500 * mb},
		{500 * mb, 800 * mb, 700 * mb, 400 * mb, 400 * mb},
		{500 * mb, 0, 2000 * mb, minGCThreshold, 500 * mb},
	} {
		p := pacer{maxThreshold: 1000 * mb, own: true}
		p.threshold.Store(c.threshold)
		p.live.Store(c.live)
		p.acquires(c.plan)
		p.acquires(0)
		p.acquires(c.plan)
		if got := p.limit(); got != c.limit {
			t.Errorf("the limit is %d MiB, want %d, of %+v", got/mb, c.limit/mb, c)
		}
		for range 200 {
			p.acquires(mb)
		}
		if got := p.limit(); got != c.later {
			t.Errorf("after small plans the limit is %d MiB, want %d, of %+v", got/mb, c.later/mb, c)
		}
	}
}

// On a GPU a plan waits for a collection before the limit once new buffers have taken three times as long as
// the last collection, since which they count.
func TestDueAfterAllocations(t *testing.T) {
	const mb, ms = 1 << 20, int64(time.Millisecond)
	after(t, 0, 2*time.Millisecond)
	for _, c := range []struct {
		own                          bool
		allocTime, before, threshold int64
		want                         int64
	}{
		{true, 10 * ms, 0, 1000 * mb, minGCThreshold},
		{true, 10 * ms, 5 * ms, 1000 * mb, 1000 * mb},
		{true, 10 * ms, 3 * ms, 1000 * mb, minGCThreshold},
		{true, 10 * ms, 0, 10 * mb, 10 * mb},
		{false, 10 * ms, 0, 1000 * mb, 1000 * mb},
	} {
		d := holding(0, c.threshold)
		d.pacer.own = c.own
		d.pool.allocTime.Store(c.allocTime)
		d.pacer.allocTime.Store(c.before)
		if got := d.due(d.pacer.limit()); got != c.want {
			t.Errorf("%+v: a collection is due at %d bytes", c, got)
		}
	}
	d := holding(0, 1000*mb)
	d.pool.allocTime.Store(10 * ms)
	d.forcedGC()
	lastGC.Store(2 * ms)
	if got := d.due(d.pacer.limit()); got != 1000*mb {
		t.Errorf("after a collection the next is due at %d MiB, want 1000", got/mb)
	}
}

// holding returns a GPU that holds some bytes, with a threshold.
func holding(held, threshold int64) *Device {
	d := &Device{queue: noQueue{}, pool: pool{buckets: map[int]*bucket{}}}
	d.limits.Memory = 1000 << 20 * maxGCMemory
	d.pacer.own, d.pacer.maxThreshold = true, 1000<<20
	d.pacer.threshold.Store(threshold)
	d.pool.held.Store(held)
	return d
}

// after sets the last collection until the test ends: the time since its end and its duration. A
// negative time means that it still runs.
func after(t *testing.T, since, took time.Duration) {
	end, last := endGC.Load(), lastGC.Load()
	t.Cleanup(func() {
		endGC.Store(end)
		lastGC.Store(last)
	})
	lastGC.Store(int64(took))
	if endGC.Store(math.MaxInt64); since >= 0 {
		endGC.Store(int64(clock.Since(begun) - since))
	}
}

// Garbage of a GPU is collected before it reaches the limit if 32 times the duration of the last
// collection has passed since it; if that was quick, soon after it from where the last made room in time.
func TestEarlyCollection(t *testing.T) {
	const mb, ms, late = 1 << 20, time.Millisecond, 750 << 20
	for _, c := range []struct {
		name        string
		own, busy   bool
		since, took time.Duration
		ahead, held int64
		want        int64
	}{
		{"none for long", true, false, 700 * ms, 20 * ms, 0, 40 * mb, minGCThreshold},
		{"a slow one a while ago", true, false, 600 * ms, 20 * ms, 0, 40 * mb, late},
		{"a quick one just now", true, false, 0, 2 * ms, 0, 40 * mb, late},
		{"a quick one a while ago, too late for plans", true, false, 20 * ms, 2 * ms, 0, 40 * mb, minGCThreshold},
		{"a quick one a while ago", true, false, 20 * ms, 2 * ms, 300 * mb, 40 * mb, 300 * mb},
		{"a quick one a while ago, much sooner than plans need", true, false, 20 * ms, 2 * ms, 2000 * mb, 40 * mb, late},
		{"none for long, little garbage", true, false, 700 * ms, 20 * ms, 0, 20 * mb, late},
		{"none for long, memory of the host", false, false, 700 * ms, 20 * ms, 0, 40 * mb, late},
		{"a quick one a while ago, a busy device", true, true, 20 * ms, 2 * ms, 2000 * mb, 300 * mb, 250 * mb},
		{"a quick one a little while ago, a busy device", true, true, 5 * ms, 3 * ms, 2000 * mb, 300 * mb, 250 * mb},
		{"a quick one just now, a busy device", true, true, 0, 2 * ms, 2000 * mb, 300 * mb, late},
		{"a quick one a while ago, a busy device whose plans need buffers sooner", true, true, 20 * ms, 2 * ms, 100 * mb, 300 * mb, 100 * mb},
		{"a slow one a while ago, a busy device", true, true, 100 * ms, 20 * ms, 0, 300 * mb, late},
		{"one that runs", true, false, -1, 0, 0, 40 * mb, late},
	} {
		t.Run(c.name, func(t *testing.T) {
			after(t, c.since, c.took)
			d := holding(c.held, 1000*mb)
			p := &d.pacer
			p.own = c.own
			p.busy.Store(c.busy)
			p.ahead.Store(c.ahead)
			if got := d.early(p.limit()); got != c.want {
				t.Errorf("a collection starts at %d MiB, want %d", got/mb, c.want/mb)
			}
		})
	}
	after(t, time.Hour, time.Minute)
	d := holding(40*mb, 1000*mb)
	start := clock.Now()
	d.maybeGC()
	d.pacer.mu.Lock() // after the collection in the background
	defer d.pacer.mu.Unlock()
	if end := time.Duration(endGC.Load()); end > clock.Since(begun) {
		t.Errorf("the collection in the background ended at %v, in %v from now", end, end-clock.Since(begun))
	}
	if took := time.Duration(lastGC.Load()); took > clock.Since(start) {
		t.Errorf("a collection in the background takes %v, want at most %v", took, clock.Since(start))
	}
}

// Quick collections start sooner once a plan waited or buffers ran out, and later while neither happens.
func TestCollectionsAdapt(t *testing.T) {
	after(t, 0, 8*time.Millisecond)
	p := pacer{maxThreshold: 1 << 30}
	p.threshold.Store(1 << 30)
	for _, c := range []struct {
		waited           bool
		above, allocTime int64
		want             int64
	}{
		{false, 6400, 0, 6500},
		{false, 3200, 0, 6565}, // it started for another reason
		{true, 800, 0, 600},
		{false, 640, 1e6, 650},
		{false, 800, 3e6, 600},
		{false, 1280, 3e6, 1300},
	} {
		p.waited = c.waited
		if p.adapt(c.above, c.allocTime); p.ahead.Load() != c.want || p.waited {
			t.Errorf("after %+v the next starts at %d; a wait is noted: %v", c, p.ahead.Load(), p.waited)
		}
	}
	for range 5000 {
		p.adapt(1<<20, 3e6)
	}
	if p.ahead.Load() != 1<<30 {
		t.Errorf("after many the next starts at %d, want the limit", p.ahead.Load())
	}
}

// While the host waits for a device, garbage is collected that the next plan would wait for, after
// plans that are large, and half as much if collections are quick.
func TestCollectionWhileWaiting(t *testing.T) {
	const mb, ms = 1 << 20, time.Millisecond
	for _, c := range []struct {
		name       string
		own        bool
		took       time.Duration
		held, plan int64
		collects   bool
	}{
		{"more than the limit, a large plan", true, 20 * ms, 60 * mb, 1000 * mb, true},
		{"more than the limit, small plans", true, 20 * ms, 60 * mb, 40 * mb, false},
		{"less than the limit", true, 20 * ms, 30 * mb, 1000 * mb, false},
		{"quick ones, more than half of the limit", true, ms, 40 * mb, mb, true},
		{"quick ones, less than half of the limit", true, ms, 20 * mb, mb, false},
		{"quick ones, memory of the host", false, ms, 40 * mb, mb, false},
		{"slow ones, more than half of the limit", true, 5 * ms, 40 * mb, mb, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := holding(c.held, 50*mb)
			p := &d.pacer
			p.own = c.own
			p.acquires(c.plan)
			after(t, 0, c.took)
			before := endGC.Load()
			d.awaits()()
			p.mu.Lock() // after a collection in the background
			collects := endGC.Load() != before
			p.mu.Unlock()
			if collects != c.collects {
				t.Errorf("a collection: %v", collects)
			}
		})
	}
}

// A collection in the background runs while the host waits for the device, which holds the queue. It counts if
// the device is idle after it and nobody waited for the device, with its own time alone.
func TestCollectionBesideWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // the collection starts once this goroutine waits
	for _, c := range []struct {
		name                  string
		waits, idle, runsPlan bool
		counts                bool
	}{
		{"an idle device", false, true, false, true},
		{"an idle device, a plan holds the queue for longer", false, true, true, true},
		{"a busy device", false, false, false, false},
		{"the host waits until the device is idle", true, true, false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			after(t, time.Hour, time.Minute)
			d := holding(40<<20, 1000<<20)
			d.queue, d.drv = new(sync.Mutex), busy{idle: c.idle}
			d.pool.allocBytes = 1 // memory that takes hours, so that the threshold stays
			d.pool.allocTime.Store(int64(time.Second))
			p := &d.pacer
			p.allocTime.Store(int64(time.Second))
			p.last = clock.Now()
			begin, before := p.last, endGC.Load()
			d.maybeGC()
			done := func() {}
			if c.waits || c.runsPlan {
				d.queue.Lock()
				if c.waits {
					done = d.awaits()
				}
			}
			for start := clock.Now(); ; time.Sleep(time.Millisecond) {
				if end := endGC.Load(); end != before && end != math.MaxInt64 {
					break
				}
				if clock.Since(start) > 10*time.Second {
					t.Error("no collection ended")
					break
				}
			}
			took := clock.Since(begin)
			if c.waits || c.runsPlan {
				time.Sleep(20 * time.Millisecond)
				done()
				d.queue.Unlock()
			}
			p.mu.Lock() // after the collection
			defer p.mu.Unlock()
			if counts := p.last != begin; counts != c.counts || c.counts && (p.spent <= 0 || p.spent > took) {
				t.Errorf("in %v it counts: %v, %v", took, counts, p.spent)
			}
			if busy := p.busy.Load(); busy == c.counts {
				t.Errorf("the device is busy: %v", busy)
			}
		})
	}
}

// Buffers on their way back to the pool count as garbage that is found.
func TestReturnedBuffers(t *testing.T) {
	const mb = 1 << 20
	for _, f := range []func(*Device){(*Device).maybeGC, func(d *Device) { d.awaits()() }} {
		after(t, time.Hour, time.Millisecond)
		d := holding(45*mb, 50*mb)
		(&returned{pool: &d.pool, buffers: []pooled{{Buffer: freed{}, request: request{class: 40 * mb}}}}).push()
		before := endGC.Load()
		f(d)
		d.pacer.mu.Lock() // after a collection in the background
		if endGC.Load() != before {
			t.Error("a collection though most garbage was found")
		}
		d.pacer.mu.Unlock()
	}
}

// freed is a buffer without memory.
type freed struct{}

func (freed) Size() int { return 0 }
func (freed) Free()     {}

// While a collection runs, others can see that.
func TestCollectionIsSeen(t *testing.T) {
	o := new(*int) // with a pointer it has memory of its own
	end := make(chan int64, 1)
	runtime.AddCleanup(o, func(end chan int64) { end <- endGC.Load() }, end)
	runtime.KeepAlive(o)
	o = nil
	forceGC()
	if got := <-end; got != math.MaxInt64 {
		t.Errorf("during a collection the last ended at %d", got)
	}
	if endGC.Load() == math.MaxInt64 {
		t.Error("after a collection it runs still")
	}
}

// busy is a device that has work, or none.
type busy struct {
	driver.Device
	idle bool
}

func (b busy) Idle() bool { return b.idle }

// A plan's wait counts if the device is idle after it, or if it took most of the time of a few plans.
func TestWaitsThatCount(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct {
		name   string
		idle   bool
		plans  int64
		before time.Duration // the last collection
		counts bool
	}{
		{"an idle device, many plans", true, 100, 0, true},
		{"a busy device, many plans", false, 100, 0, false},
		{"a busy device, a few plans that take no time", false, fewPlans, 0, true},
		{"a busy device, more plans that take no time", false, fewPlans + 1, 0, false},
		{"a busy device, a few plans that take longer", false, fewPlans, 50 * time.Millisecond, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			after(t, 0, time.Millisecond)
			d := holding(60*mb, 50*mb)
			d.drv = busy{idle: c.idle}
			p := &d.pacer
			p.planCount.Store(c.plans - 1)
			p.last = clock.Now()
			p.ended.Store(int64(clock.Since(begun) - c.before))
			if d.maybeGC(); p.threshold.Load() > 50*mb != c.counts {
				t.Errorf("the wait counts: %v", !c.counts)
			}
		})
	}
}

// What plans store while a collection runs may be dead at its end; their temporaries are no part of it.
func TestLiveAfterCollection(t *testing.T) {
	const mb = 1 << 20
	after(t, 0, time.Millisecond)
	d := holding(100*mb, 50*mb)
	d.pool.count.Store(100)
	o := new(*int)
	runtime.AddCleanup(o, func(d *Device) { // a plan, which runs before the collection's end
		var plan []pooled
		for range 40 {
			d.pool.mu.Lock()
			d.pool.note(mb)
			d.pool.mu.Unlock()
			plan = append(plan, pooled{Buffer: freed{}, request: request{class: mb}})
		}
		d.setBlock(new(block), plan[0])
		results := newSlab(d, 1)
		results.next(d, &plan[1])
		d.pool.release(plan[2:]...)
	}, d)
	runtime.KeepAlive(o)
	o = nil
	d.forcedGC()
	if live, n := d.pacer.live.Load(), d.pacer.liveCount.Load(); live != 100*mb || n != 100 {
		t.Errorf("%d MB in %d buffers are live, want 100 in 100", live/mb, n)
	}
}
