package shape

import "iter"

// Positions yields the positions of a shape in row-major order, numbered from 0. It
// reuses the slice.
func Positions(shape []int) iter.Seq2[int, []int] {
	return func(yield func(int, []int) bool) {
		for _, n := range shape {
			if n == 0 {
				return
			}
		}
		pos := make([]int, len(shape))
		for i := 0; ; i++ {
			if !yield(i, pos) {
				return
			}
			a := len(pos) - 1
			for ; a >= 0; a-- {
				if pos[a]++; pos[a] < shape[a] {
					break
				}
				pos[a] = 0
			}
			if a < 0 {
				return
			}
		}
	}
}

// Rank returns the row-major number of a position of a shape.
func Rank(shape, pos []int) int {
	i := 0
	for a, n := range shape {
		i = i*n + pos[a]
	}
	return i
}
