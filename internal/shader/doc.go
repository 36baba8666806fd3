// Package shader is a small imperative language in which GPU kernels are
// scheduled: Go values for types, expressions, statements, functions and
// programs. It has no syntax. Package schedule builds programs, printers such
// as package wgsl turn them into text, and package simt runs them on the host.
//
// # Values
//
// A register holds a [Type]: a bool, an integer or a float, or a vector of two
// or four. Expressions have no side effects. A [Var] made by Let is set once;
// one made by Var is assigned again.
//
// # Memory
//
// A [Buffer] is an array of elements of an ir.DType, which may be narrower than registers: Load and Store
// convert between an element and its register type. They access one element, or four neighbours from a
// multiple of four on, of 64 bits from a multiple of two on. No access is out of range. A [Shared] array is
// the workgroup's own: another thread sees a thread's writes after a Barrier, which all threads of the
// workgroup execute together.
//
// # Numbers
//
// Integers wrap, and so do conversions among them. Division by zero, shifts by the width or
// more and conversions of floats out of range are undefined: the functions of this package
// that ops call (see [Function]) avoid them. Floats of 32 bits follow IEEE 754 without
// promises about NaN, infinities, the sign of zeros and subnormal numbers, because
// compilers of shaders reason as if floats were real numbers. A [Launder] hides a value
// from such reasoning. No such compiler has floats of 64 bits: they follow IEEE 754, but
// for Min and Max of NaN.
package shader
