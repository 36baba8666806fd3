package tune

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// The fastest candidate is found by noisy times, if it is clearly faster than the first.
func TestFastest(t *testing.T) {
	failed := errors.New("failed")
	for _, c := range []struct {
		name    string
		seconds []float64 // of a run of each candidate; 0: it fails
		noise   float64
		want    int
		err     error
		most    float64 // seconds of all
	}{
		{"one candidate", []float64{1e-3}, 0, 0, nil, 0.1},
		{"the first", []float64{1e-3, 2e-3, 3e-3}, 0.1, 0, nil, 0.2},
		{"another", []float64{2e-3, 3e-3, 1.8e-3, 2.1e-3}, 0.02, 2, nil, 0.4},
		{"a little faster", []float64{1e-3, 0.98e-3}, 0, 0, nil, 0.2},
		{"short runs", []float64{20e-6, 16e-6}, 0.1, 1, nil, 0.1},
		{"immeasurable runs", []float64{1e-12, 1e-12}, 0, 0, nil, 0.1},
		{"long runs", []float64{0.5, 0.45, 2}, 0, 1, nil, 9},
		{"slow candidates", []float64{20e-3, 1, 1, 1}, 0, 0, nil, 3.5},
		{"a candidate too slow for many runs", []float64{0.2e-3, 100e-3}, 0.1, 0, nil, 0.3},
		{"a first candidate too slow for many runs", []float64{100e-3, 0.2e-3}, 0.1, 1, nil, 0.3},
		{"slow first candidate", []float64{30e-3, 10e-3, 11e-3}, 0.02, 1, nil, 0.5},
		{"candidates that fail", []float64{2e-3, 0, 1e-3, 0}, 0.1, 2, nil, 0.3},
		{"a first candidate that fails", []float64{0, 1e-3}, 0, 0, failed, 0.1},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		sum, last, runs := 0.0, 0.0, make([]int, len(c.seconds))
		got, err := fastest(len(c.seconds), func(candidate, times int) (float64, error) {
			if c.seconds[candidate] == 0 {
				return 0, failed
			}
			seconds := c.seconds[candidate] * (1 + c.noise*r.Float64()) * float64(times)
			if runs[candidate]++; runs[candidate] == 1 { // compiles
				return 1 + seconds, nil
			}
			if runs[candidate] == 4 { // something else runs
				return 3 * seconds, nil
			}
			sum, last = sum+seconds, seconds
			return seconds, nil
		})
		if least := slices.Min(c.seconds); err == nil && least > 1e-6 && last < min(minDuration, maxRuns*least)/2 {
			t.Errorf("%s: a time is %g s", c.name, last)
		}
		if got != c.want || err != c.err || sum > c.most {
			t.Errorf("%s: candidate %d, %v, after %.3g s, want %d, %v, after at most %g", c.name, got, err, sum, c.want, c.err, c.most)
		}
	}
}

// Candidates take turns, so that a clock that slows down is the same to all.
func TestFastestTurns(t *testing.T) {
	now := 0.0
	got, err := fastest(3, func(candidate, times int) (float64, error) {
		seconds := []float64{1e-3, 1.05e-3, 0.9e-3}[candidate] * float64(times) * (1 + now)
		now += seconds
		return seconds, nil
	})
	if got != 2 || err != nil {
		t.Errorf("candidate %d, %v, want 2", got, err)
	}
}

// A single run that something else disturbs drops no candidate.
func TestFastestDisturbed(t *testing.T) {
	for disturbed := range 2 {
		ran := 0
		got, err := fastest(2, func(candidate, times int) (float64, error) {
			seconds := []float64{1e-3, 1.2e-3}[candidate] * float64(times)
			if candidate == 0 {
				if ran++; ran == 1+disturbed {
					seconds *= 10
				}
			}
			return seconds, nil
		})
		if got != 0 || err != nil {
			t.Errorf("run %d is disturbed: candidate %d, %v, want 0", disturbed, got, err)
		}
	}
}
