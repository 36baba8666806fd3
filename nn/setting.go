package nn

import (
	"cmp"
	"math"
)

// A limits says which numbers a setting may have.
type limits struct {
	least, most float64
	want        string
}

var (
	positive    = limits{math.SmallestNonzeroFloat64, math.MaxFloat64, "a positive number"}
	notNegative = limits{0, math.MaxFloat64, "a number of at least 0"}
	finite      = limits{-math.MaxFloat64, math.MaxFloat64, "a finite number"}
	share       = limits{math.SmallestNonzeroFloat64, 1, "a number above 0, and at most 1"}
	exponent    = limits{1, math.MaxFloat64, "a number of at least 1"}
	probability = limits{0, 1, "a probability from 0 to 1"}
)

// setting returns v, and panics on behalf of a layer or loss unless it is within the limits.
func setting(op, name string, v float64, l limits) float64 {
	if !(v >= l.least && v <= l.most) {
		fail(op, "%s is %v, want %s", name, v, l.want)
	}
	return v
}

// epsilon returns a layer's setting Eps, or what stands for 0.
func epsilon(layer string, v, zero float64) float64 {
	return setting(layer, "Eps", cmp.Or(v, zero), positive)
}
