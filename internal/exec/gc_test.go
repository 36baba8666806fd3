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
