// Package tensor has immutable n-dimensional arrays and the operations on
// them.
//
// # Words
//
// A [Tensor] has a shape, the lengths of its axes, and elements of one
// [DType]. One of rank 0, without axes, is a scalar; lengths may be 0. The
// zero Tensor is absent.
//
// An axis, or a position along one, counts from the end if it is negative.
// What is out of range is an error; nothing is clamped.
//
// The operand of a method is any, an [Operand]: a Tensor of the same type, or
// a Go number, which takes the tensor's type. Nothing else converts without
// [Tensor.Cast]. Shapes broadcast as in NumPy: they are aligned at the last
// axis, and a missing axis, or one of length 1, is repeated.
//
// Reductions keep the reduced axes with length 1, so that p.Div(p.Sum(1))
// normalises rows; without axes they reduce all and give a scalar. ArgMax and
// ArgMin drop their axis. [Tensor.Squeeze] drops axes of length 1.
//
// Where a function takes trees, it takes any Go value made of tensors: a
// Tensor, or structs, slices, arrays, maps, pointers and interfaces that hold
// some, in exported fields.
//
// # Evaluation
//
// Operations compute nothing. They note what is to be computed, and asking
// for elements, by [Data], [Tensor.Item], [Eval] or printing, computes them
// in one go, in as few kernels as possible. What was asked for is stored;
// what lay between is not, and is computed again if it is needed again. In a
// loop, call Eval on what is carried from turn to turn, or Keep it.
//
// Tensors made from numbers or Go slices are not committed to a device: they
// are computed where they are needed, or on the [Default] device. [Tensor.To]
// commits, and what is computed from a committed tensor is on its device.
// One operation cannot mix two devices.
//
// The last bits of elementary functions and the order of sums are the device's,
// and so are subnormal numbers: a GPU may take one for 0. Log and Pow of it are
// then inexact, and Rem by it may be NaN.
//
// # Errors
//
// Misuse, such as shapes that do not fit, panics with an [*Error] that names
// the caller's line, so that calls can be chained. [Catch] and [Try] make it
// an error. What depends on the machine, or on the values of indices, is
// returned by what computes it, or is a panic with a [*DeviceError] where
// nothing can be returned.
//
// An index in a tensor that is out of range is such a failure. It comes up when
// elements are asked for, and is an [*Error] that names the operation that took
// the index and its line, the index, and its place in the tensor of indices.
//
// A Tensor may be used by any number of goroutines at once.
package tensor
