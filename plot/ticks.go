package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks marks multiples of 1, 2 or 5 times a power of ten, with labels. Those of gonum's
// package plot do not end for the greatest numbers.
type ticks struct {
	whole bool // whole numbers only, as indices are
}

// maxTicks is the greatest number of marks.
const maxTicks = 7

// Ticks implements [plot.Ticker].
func (t ticks) Ticks(low, high float64) (marks []plot.Tick) {
	if low == high {
		return []plot.Tick{mark(low)}
	}
	exponent := math.Floor(math.Log10((high/2-low/2)/maxTicks)) - 1
	if t.whole {
		exponent = max(exponent, 0)
	}
	for i := 0; ; i++ {
		step := []float64{1, 2, 5}[i%3]
		e := int(exponent) + i/3
		first, last := math.Ceil(scale(low, -e)/step), math.Floor(scale(high, -e)/step)
		switch {
		case math.Abs(first) > 1<<50 || math.Abs(last) > 1<<50: // the numbers are too close for multiples
			return []plot.Tick{mark(low), mark(high)}
		case last-first >= maxTicks:
			continue
		}
		for k := first; k <= last; k++ {
			marks = append(marks, mark(scale(k*step, e)))
		}
		return marks
	}
}

// scale returns x times a power of ten, rounded once where that power is exact.
func scale(x float64, exponent int) float64 {
	if exponent < 0 {
		return x / math.Pow10(-exponent)
	}
	return x * math.Pow10(exponent)
}

// mark returns the mark of a number.
func mark(x float64) plot.Tick {
	label := strconv.FormatFloat(x, 'g', -1, 64)
	if x == math.Trunc(x) {
		label = number(x + 0) // -0 is 0
	}
	return plot.Tick{Value: x, Label: label}
}
