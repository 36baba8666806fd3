package loopnest

import "math"

// Split cuts a loop of so many steps, as the depth of a product (split-K), into
// at most so many parts, which are done side by side: the number of parts and
// the steps of each that cost least. Costs are tried for powers of two, the
// last part being the shortest.
func Split(steps, most int, cost func(parts, each int) float64) (parts, each int, least float64) {
	least = math.Inf(1)
	for n := 1; n <= max(most, 1); n *= 2 {
		size := CeilDiv(steps, n)
		count := CeilDiv(steps, size)
		if c := cost(count, size); c < least {
			parts, each, least = count, size, c
		}
	}
	return parts, each, least
}
