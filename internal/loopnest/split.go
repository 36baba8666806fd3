package loopnest

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// Split cuts a loop, such as the depth of a product (split-K), into at most most
// parts that run in parallel. It returns the number of parts of least cost and the
// steps of each, of which the last part may have fewer. It tries powers of two.
func Split(steps, most int, cost func(parts, each int) float64) (parts, each int, least float64) {
	least = math.Inf(1)
	for n := 1; n <= max(most, 1); n *= 2 {
		size := ir.CeilDiv(steps, n)
		count := ir.CeilDiv(steps, size)
		if c := cost(count, size); c < least {
			parts, each, least = count, size, c
		}
	}
	return parts, each, least
}
