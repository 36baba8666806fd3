package hostmem

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

// GiveBack runs a collection and gives all memory that is free back to the system. Go's runtime keeps most of it, for
// the garbage of the future.
func GiveBack() { debug.FreeOSMemory() }

// Collect runs a collection and waits, at most 100 ms, for the cleanups that it queues.
func Collect() {
	runtime.GC()
	samples := []metrics.Sample{{Name: "/gc/cleanups/executed:cleanups"}, {Name: "/gc/cleanups/queued:cleanups"}}
	metrics.Read(samples)
	executed, queued := &samples[0].Value, samples[1].Value.Uint64()
	for start := clock.Now(); executed.Uint64() < queued && clock.Since(start) < 100*time.Millisecond; metrics.Read(samples[:1]) {
		runtime.Gosched()
	}
}
