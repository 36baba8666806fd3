package nn

import (
	"cmp"
	"github.com/tensorken/tensorken/internal/limits"
)

// setting returns v, and panics on behalf of a layer or loss unless it is within the limits.
func setting(op, name string, v float64, l limits.Limits) float64 {
	if err := l.Check(name, v); err != nil {
		fail(op, "%v", err)
	}
	return v
}

// epsilon returns a layer's setting Eps, or its default for 0.
func epsilon(layer string, v, zero float64) float64 {
	return setting(layer, "Eps", cmp.Or(v, zero), limits.Positive)
}
