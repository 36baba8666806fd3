package tune

import (
	"cmp"
	"slices"
)

const (
	mostRounds = 7     // times of a candidate, of which the median counts
	fewRounds  = 3     // those of candidates that take long
	long       = 1.0   // seconds of all times from which fewRounds are enough
	shortest   = 10e-3 // seconds of a time, if mostRuns take as many
	mostRuns   = 64    // in one time
	slow       = 1.5   // a candidate that takes as many times the least is given up
	gain       = 1.03  // a candidate replaces the first if it is as many times as fast
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
// Candidates take turns, so that all have their share of changes of the GPU's clock. The first
// run of each waits for compilers and does not count. The second one tells how many runs in a row
// take long enough to be timed well.
func fastest(n int, run func(candidate, times int) (seconds float64, err error)) (int, error) {
	c := comparison{run: run, times: make([][]float64, n)}
	for candidate := range n {
		c.left = append(c.left, candidate)
	}
	if err := c.round(1); err != nil {
		return 0, err
	}
	c.forget()
	if err := c.round(1); err != nil {
		return 0, err
	}
	runs := int(min(max(shortest/max(c.median(c.best()), 1e-9), 1), mostRuns))
	c.forget()
	for i := 0; i < fewRounds || i < mostRounds && c.sum < long; i++ {
		if err := c.round(runs); err != nil {
			return 0, err
		}
		least := c.median(c.best())
		c.left = slices.DeleteFunc(c.left, func(candidate int) bool { return candidate > 0 && c.median(candidate) > slow*least })
	}
	if best := c.best(); gain*c.median(best) < c.median(0) {
		return best, nil
	}
	return 0, nil
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

// forget drops all times.
func (c *comparison) forget() {
	clear(c.times)
	c.sum = 0
}

// best is the candidate that is left with the least median.
func (c *comparison) best() int {
	return slices.MinFunc(c.left, func(a, b int) int { return cmp.Compare(c.median(a), c.median(b)) })
}

// median is that of a candidate's times.
func (c *comparison) median(candidate int) float64 {
	list := slices.Sorted(slices.Values(c.times[candidate]))
	return list[len(list)/2]
}
