package clock

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	const year = 365 * 24 * 3600
	for _, c := range []struct {
		ticks, frequency int64
		want             time.Duration
	}{
		{0, 10_000_000, 0},
		{1, 10_000_000, 100},
		{-1, 10_000_000, -100},
		{3_579_545*year + 1, 3_579_545, year*time.Second + 279},
		{4_000_000_000*year + 1, 4_000_000_000, year * time.Second}, // cycles of a processor
	} {
		if got := duration(c.ticks, c.frequency); got != c.want {
			t.Errorf("%d ticks of %d Hz take %v, want %v", c.ticks, c.frequency, got, c.want)
		}
	}
}
