// Package shader is a small imperative language in which GPU kernels are scheduled: Go values
// for types, expressions, statements, functions and programs. It has no syntax. Package schedule
// builds programs, printers such as package wgsl turn them into text, and package simt runs them
// on the host. Read program.go first, then stmt.go and expr.go.
//
// A register holds a [Type]. Expressions have no side effects. A [Var] made by Let is set once;
// one made by Var is assigned again. A [Buffer] is memory of all threads, a [Shared] array of a
// workgroup; no access is out of range.
//
// Integers wrap, and so do conversions among them. Division by zero, shifts by the width or more
// and conversions of floats out of range are undefined: the functions that ops call (see
// [Function]) avoid them. Floats of 32 bits follow IEEE 754 without promises about NaN,
// infinities, the sign of zeros and subnormal numbers; a [Launder] hides a value from compilers,
// which reason about reals. Floats of 64 bits follow IEEE 754, but for Min and Max of NaN.
package shader
