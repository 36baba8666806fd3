// Package tensor provides immutable n-dimensional arrays and operations on them.
//
// # Terms
//
// A [Tensor] has a shape, the lengths of its axes, and elements of one [DType]. A tensor
// of rank 0, without axes, is a scalar; lengths may be 0. The zero Tensor is absent.
//
// Negative axes and positions count from the end. An axis or position out of range is an
// error and is never clamped.
//
// An [Operand] of a method is a Tensor of the same type or a Go number, which takes the
// tensor's type. Other conversions need [Tensor.Cast]. Shapes broadcast as in NumPy: they
// are aligned at the last axis, and a missing axis, or one of length 1, is repeated.
//
// Zeros, Ones, Full, Scalar, Eye, Arange, Linspace and what is computed from them alone are
// untyped constants, as 1.5 is in Go: they are float32 (Arange int32) by themselves, and take
// the type of the first typed tensor that they are combined with, so that a mask or a table
// of positions works in a model of any precision. Positions become floats or integers of at
// least 32 bits, others floats. In float64 they have the digits of float64, unless their
// elements were read before. Cast fixes a type; New, From, files and random draws have one.
//
// Reductions keep the reduced axes with length 1, so that p.Div(p.Sum(1)) normalizes
// rows; without axes they reduce all axes to a scalar. ArgMax and ArgMin drop their axis.
// [Tensor.Squeeze] drops axes of length 1.
//
// A tree is any Go value made of tensors: a Tensor, or structs, slices, arrays, maps,
// pointers and interfaces that hold tensors, in exported fields.
//
// # Evaluation
//
// Operations are lazy: they record a graph. Reading elements, by [Data], [Tensor.Item],
// [Eval] or printing, computes the graph in as few kernels as possible. The tensors that
// were read are stored; intermediate ones are not, and are computed again if they are
// needed again. In a loop, call Eval on the tensors that the next iteration uses, or
// Keep them.
//
// Tensors made from numbers or Go slices are not committed to a device: they are
// computed where they are needed, or on the [Default] device. [Tensor.To] commits a
// tensor, and results of a committed tensor are on its device. One operation cannot mix
// two devices.
//
// The last bits of elementary functions, the order of sums and subnormal numbers depend
// on the device. A GPU may treat a subnormal number as 0; Log and Pow of it are then
// inexact, and Rem by it may be NaN.
//
// # Errors
//
// Misuse, such as shapes that do not fit, panics with an [*Error] that names the caller's
// line, so that calls can be chained. [Catch] and [Try] turn the panic into an error.
// Failures that depend on the machine or on the values of indices are returned by the
// function that computes, or panic with a [*DeviceError] if it returns no error.
//
// An index out of range in a tensor of indices is found when elements are read. The
// [*Error] names the operation that uses the index, its line, the index, and its position
// in the tensor of indices.
//
// A Tensor may be used by any number of goroutines at once.
package tensor
