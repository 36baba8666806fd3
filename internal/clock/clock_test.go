package clock

import (
	"testing"
	"time"
)

// work takes about 10 µs.
func work() (sum uint32) {
	for i := range uint32(20_000) {
		sum = sum*1664525 + i
	}
	return sum
}

var sink uint32

func TestShort(t *testing.T) {
	const times = 100
	var sum time.Duration
	for i := range times {
		start := Now()
		sink += work()
		end := Now()
		took, since := end.Sub(start), Since(start)
		if took <= 0 || since < took {
			t.Fatalf("work %d takes %v, and then %v, want more than 0, and no less", i, took, since)
		}
		sum += took
	}
	if sum > 10*time.Second {
		t.Errorf("%d pieces of work of some µs take %v", times, sum)
	}
}

// Now is about the time, and its wall clock too.
func TestNow(t *testing.T) {
	const pause, slack = 100 * time.Millisecond, 50 * time.Millisecond
	begun, start := time.Now(), Now()
	if off := start.Sub(begun).Abs(); off > slack {
		t.Errorf("Now is %v off", off)
	}
	if off := start.Round(0).Sub(begun.Round(0)).Abs(); off > slack { // without monotonic readings
		t.Errorf("the wall clock of Now is %v off", off)
	}
	time.Sleep(pause)
	passed, took := time.Since(begun), Since(start)
	if (took - passed).Abs() > slack {
		t.Errorf("a pause of %v takes %v, want %v", pause, took, passed)
	}
}

func BenchmarkNow(b *testing.B) {
	for _, c := range []struct {
		name string
		call func() time.Time
	}{{"clock", Now}, {"time", time.Now}} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.call()
			}
		})
	}
}
