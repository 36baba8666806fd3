package hostmem

import (
	"runtime"
	"runtime/metrics"
	"time"

	"github.com/tensorken/tensorken/internal/clock"
)

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
