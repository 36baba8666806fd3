// Package interp evaluates graphs and kernels from the definition of each
// operation, one element at a time. It is slow and plain: the judge of the
// compiler, by [Eval], and of devices, by [Run].
//
// Elementwise functions of floating-point numbers are computed in float64 and
// rounded to the type of the result; sums and products are accumulated in
// float64. What section "Numbers" of the design leaves open is settled here:
// the remainder of an integer division by zero is 0, a negative shift count
// counts as one of the width or more, and the ArgMax of nothing is 0.
package interp
