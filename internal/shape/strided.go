package shape

import "slices"

// The functions of this file compute with strides: a view of stored elements
// that has no guards.

// RowMajor are the strides of elements in row-major order.
func RowMajor(dims []int) []int {
	strides := make([]int, len(dims))
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = step
		step *= dims[i]
	}
	return strides
}

// IsRowMajor reports whether strides are those of row-major order, along the
// axes where that matters.
func IsRowMajor(dims, strides []int) bool {
	step := 1
	for i := len(dims) - 1; i >= 0; i-- {
		if dims[i] != 1 && strides[i] != step {
			return false
		}
		step *= dims[i]
	}
	return true
}

// ReshapeStrides are the strides of a reshaped view, if it is one. No axis is
// empty.
func ReshapeStrides(strides, from, to []int) ([]int, bool) {
	out := make([]int, len(to))
	for _, g := range Groups(from, to) {
		// The axes of the group must be one run: each a multiple of the next.
		step, last := 0, -1
		for i := g.From[1] - 1; i >= g.From[0]; i-- {
			if from[i] == 1 {
				continue
			}
			if last >= 0 && strides[i] != strides[last]*from[last] {
				return nil, false
			}
			if last < 0 {
				step = strides[i]
			}
			last = i
		}
		for j := g.To[1] - 1; j >= g.To[0]; j-- {
			out[j] = step
			step *= to[j]
		}
	}
	return out, true
}

// PermuteStrides are the strides of a permuted view.
func PermuteStrides(strides, order []int) []int {
	out := make([]int, len(order))
	for i, a := range order {
		out[i] = strides[a]
	}
	return out
}

// ExpandStrides are the strides of a view repeated from one shape to another.
func ExpandStrides(strides, from, to []int) []int {
	out := slices.Clone(strides)
	for i := range out {
		if from[i] == 1 && to[i] != 1 {
			out[i] = 0
		}
	}
	return out
}
