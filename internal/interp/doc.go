// Package interp evaluates graphs and kernels element by element, from the definition of
// each operation. It is slow and simple: the oracle for tests of the compiler, by [Eval],
// and of devices, by [Run]. Read number.go first, then kernel.go.
//
// It computes elementwise functions of floats in float64 and rounds to the type of the
// result; it accumulates sums and products in float64. It fixes the cases that section
// "Numbers" of the design leaves open: the remainder of an integer division by zero is
// 0, a negative shift count counts as one of the width or more, and the ArgMax of no
// elements is 0.
package interp
