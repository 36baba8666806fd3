package loopnest

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// Split cuts a loop, such as the depth of a product (split-K), into at most most parts that
// run in parallel. It returns the number of parts of least cost and the steps of each; the
// last part may have fewer. It tries powers of two.
func Split(steps, most int, cost func(parts, each int) float64) (parts, each int, least float64) {
	return split(steps, most, 1, func(n int) int { return 2 * n }, cost)
}

// SplitAny is Split that tries all numbers of parts. If the number of steps is even, each part has
// an even number.
func SplitAny(steps, most int, cost func(parts, each int) float64) (parts, each int, least float64) {
	return split(steps, most, 2-steps%2, func(n int) int { return n + 1 }, cost)
}

// split tries the numbers of parts from 1 on that next yields, each part with a multiple of unit steps.
func split(steps, most, unit int, next func(int) int, cost func(parts, each int) float64) (parts, each int, least float64) {
	least = math.Inf(1)
	for n := 1; n <= max(most, 1); n = next(n) {
		size := unit * ir.CeilDiv(steps/unit, n)
		count := ir.CeilDiv(steps, size)
		if c := cost(count, size); c < least {
			parts, each, least = count, size, c
		}
	}
	return parts, each, least
}
