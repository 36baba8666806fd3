package tune

import (
	"cmp"
	"slices"
)

const (
	maxRounds        = 7     // times of a candidate; the median counts
	minRounds        = 3     // for candidates that take long
	longSearch       = 1.0   // seconds of all times from which minRounds are enough
	minDuration      = 10e-3 // seconds of a time, if maxRuns take as many
	maxRuns          = 64    // in one time
	maxFirstSlowdown = 4     // maxSlowdown for times of single runs
	maxSlowdown      = 1.5   // candidates slower than maxSlowdown times the best are dropped
	minGain          = 1.03  // a candidate must be minGain times as fast as the first
)

// A comparison finds the fastest of some candidates.
type comparison struct {
	// run runs a candidate some times in a row, and returns the seconds that all of that took.
	run   func(candidate, times int) (float64, error)
	left  []int       // candidates that are neither slow nor have failed
	times [][]float64 // by candidate
	sum   float64
}

// fastest returns the number of the fastest of n candidates: the first unless another is clearly
// faster. It fails if the first candidate does; others that fail are given up.
//
// Candidates take turns, so that all have their share of changes of the GPU's clock. The shorter of
// two single runs, of which the first may wait for a compiler, tells how many runs in a row take
// long enough to be timed well, and which candidates are too slow for as many.
func fastest(n int, run func(candidate, times int) (seconds float64, err error)) (int, error) {
	c := comparison{run: run, times: make([][]float64, n)}
	for candidate := range n {
		c.left = append(c.left, candidate)
	}
	for range 2 {
		if err := c.round(1); err != nil {
			return 0, err
		}
	}
	c.dropSlow(maxFirstSlowdown)
	runs := int(min(max(minDuration/max(c.median(c.best()), 1e-9), 1), maxRuns))
	clear(c.times)
	c.sum = 0
	for i := 0; i < minRounds || i < maxRounds && c.sum < longSearch; i++ {
		if err := c.round(runs); err != nil {
			return 0, err
		}
		c.dropSlow(maxSlowdown)
	}
	best := c.best()
	if slices.Contains(c.left, 0) && c.median(0) <= minGain*c.median(best) {
		return 0, nil
	}
	return best, nil
}

// round times each candidate that is left.
func (c *comparison) round(runs int) error {
	errs := make([]error, len(c.times))
	for _, candidate := range c.left {
		seconds, err := c.run(candidate, runs)
		if errs[candidate] = err; err != nil {
			continue
		}
		c.times[candidate] = append(c.times[candidate], seconds)
		c.sum += seconds
	}
	c.left = slices.DeleteFunc(c.left, func(candidate int) bool { return errs[candidate] != nil })
	return errs[0]
}

// dropSlow drops candidates that take more than a multiple of the best one's time.
func (c *comparison) dropSlow(slowdown float64) {
	limit := slowdown * c.median(c.best())
	c.left = slices.DeleteFunc(c.left, func(candidate int) bool { return c.median(candidate) > limit })
}

// best is the candidate that is left with the least median.
func (c *comparison) best() int {
	return slices.MinFunc(c.left, func(a, b int) int { return cmp.Compare(c.median(a), c.median(b)) })
}

// median is the median of a candidate's times, the lesser of two.
func (c *comparison) median(candidate int) float64 {
	list := slices.Sorted(slices.Values(c.times[candidate]))
	return list[(len(list)-1)/2]
}
