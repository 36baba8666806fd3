// Package sorts sorts lists of structs in little code: a type of element adds a kilobyte to a program for browsers,
// and eight by package slices.
package sorts

import "slices"

// Stable is slices.SortStableFunc.
func Stable[T any](list []T, compare func(a, b T) int) {
	before, order := append([]T(nil), list...), make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(before[a], before[b]) })
	for i, from := range order {
		list[i] = before[from]
	}
}
