package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticks marks multiples of 1, 2 or 5 times a power of ten, with labels. The loop of gonum's
// package plot does not end for the greatest numbers.
type ticks struct {
	whole bool // whole numbers only, as indices are
}

// slop is the share of a step by which an end that is a multiple may be rounded.
const slop = 1e-9

// maxTicks is the greatest number of marks.
const maxTicks = 7

// Ticks implements [plot.Ticker].
func (t ticks) Ticks(low, high float64) (marks []plot.Tick) {
	if low == high {
		return []plot.Tick{tick(low)}
	}
	exponent := math.Floor(math.Log10((high/2-low/2)/maxTicks)) - 1
	if exponent < -300 { // its power of ten is not exact, or 0
		return []plot.Tick{tick(low), tick(high)}
	}
	if t.whole {
		exponent = max(exponent, 0)
	}
	for i := 0; ; i++ {
		step := []float64{1, 2, 5}[i%3]
		e := int(exponent) + i/3
		first, last := math.Ceil(scale(low, -e)/step-slop), math.Floor(scale(high, -e)/step+slop)
		switch {
		case math.Abs(first) > 1<<50 || math.Abs(last) > 1<<50: // the numbers are too close for multiples
			return []plot.Tick{tick(low), tick(high)}
		case last-first >= maxTicks:
			continue
		}
		for k := first; k <= last; k++ {
			marks = append(marks, tick(decimal(k*step, e)))
		}
		return marks
	}
}

// logTicks marks the multiples of powers of ten, with labels at the powers and, of fewer
// than three, also at 2 and 5 times these.
type logTicks struct{}

// Ticks implements [plot.Ticker]. Both ends are above 0.
func (logTicks) Ticks(low, high float64) (marks []plot.Tick) {
	first, last := math.Floor(math.Log10(low)), math.Ceil(math.Log10(high))
	each := math.Ceil((last - first) / maxTicks)
	labels := 0
	for e := first; e <= last; e++ {
		for digit := 1.0; digit < 10; digit++ {
			m := tick(decimal(digit, int(e)))
			switch within := m.Value >= low*(1-slop) && m.Value <= high*(1+slop); {
			case !within || digit > 1 && each > 1:
				continue
			case math.Mod(e-first, each) != 0, digit > 1 && (last-first > 2 || digit != 2 && digit != 5):
				m.Label = "" // a minor mark
			default:
				labels++
			}
			marks = append(marks, m)
		}
	}
	if labels < 2 {
		return ticks{}.Ticks(low, high)
	}
	return marks
}

// scale returns x times a power of ten.
func scale(x float64, exponent int) float64 {
	if exponent < 0 {
		return x / math.Pow10(-exponent)
	}
	return x * math.Pow10(exponent)
}

// decimal returns a whole number times a power of ten, rounded once, so that its shortest
// decimal is that product.
func decimal(whole float64, exponent int) float64 {
	x, _ := strconv.ParseFloat(strconv.FormatFloat(whole, 'f', 0, 64)+"e"+strconv.Itoa(exponent), 64)
	return x
}

// tick returns the mark of a number.
func tick(x float64) plot.Tick {
	label := strconv.FormatFloat(x, 'g', -1, 64)
	if x == math.Trunc(x) {
		label = number(x + 0) // -0 is 0
	}
	return plot.Tick{Value: x, Label: label}
}
