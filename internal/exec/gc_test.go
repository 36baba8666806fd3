package exec

import (
	"testing"
	"time"
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
		now := time.Now()
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

// A GPU's garbage is collected before it reaches the limit if the last collection is long ago, of
// which the time that it took decides.
func TestEarlyCollection(t *testing.T) {
	const mb = 1 << 20
	d := &Device{queue: noLock{}, pool: pool{buckets: map[int]*bucket{}}}
	d.pacer.made = time.Now().Add(-time.Hour)
	check := func(what string, own bool, held, want int64) {
		t.Helper()
		d.pacer.own = own
		d.pool.held.Store(held)
		if got := d.early(1000 * mb); got != want {
			t.Errorf("%s: a collection starts at %d MiB, want %d", what, got/mb, want/mb)
		}
	}
	check("none for long", true, 40*mb, minGCThreshold)
	check("memory of the host", false, 40*mb, 750*mb)
	check("little garbage", true, 20*mb, 750*mb)
	before := time.Now()
	d.forcedGC()
	passed := time.Since(before)
	d.pacer.live.Store(0)
	next := time.Duration(d.pacer.next.Load()) - time.Since(d.pacer.made)
	if next <= 0 || next > (spareGCTime+1)*passed {
		t.Errorf("the next collection is due in %v after one of %v", next, passed)
	}
	check("one just now", true, 40*mb, 750*mb)
	d.pacer.next.Store(0)
	check("one long ago", true, 40*mb, minGCThreshold)
}
