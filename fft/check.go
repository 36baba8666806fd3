package fft

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

func fail(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "fft."+op, fmt.Sprintf(format, args...))
}

// checkReal panics unless x has floating-point elements.
func checkReal(op string, x tensor.Tensor) {
	if !x.IsValid() {
		fail(op, "the tensor is absent")
	}
	if !x.DType().IsFloat() {
		fail(op, "%v %v are no floating-point numbers: use Cast", x.DType(), x.Shape())
	}
}

// checkComplex panics unless the parts of z are floating-point numbers of the same shape and
// type. It returns their type, or the type of the other part if one is an untyped constant.
func checkComplex(op string, z Complex) tensor.DType {
	if !z.Re.IsValid() || !z.Im.IsValid() {
		fail(op, "a part is absent: fft.Real makes complex numbers of real ones")
	}
	checkReal(op, z.Re)
	checkReal(op, z.Im)
	if !slices.Equal(z.Re.Shape(), z.Im.Shape()) {
		fail(op, "Re has shape %v and Im %v, want one shape", z.Re.Shape(), z.Im.Shape())
	}
	if !sameType(z.Re, z.Im) {
		fail(op, "Re has type %v and Im %v: use Cast", z.Re.DType(), z.Im.DType())
	}
	if takesType(z.Re, z.Im) {
		return z.Im.DType()
	}
	return z.Re.DType()
}

// sameType reports whether two tensors have the same type, or one is an untyped constant.
func sameType(x, y tensor.Tensor) bool { return takesType(x, y) || takesType(y, x) }

// takesType reports whether x has the type of y, or takes it because x is an untyped constant.
func takesType(x, y tensor.Tensor) bool {
	return tensor.Internal.TakesType(graph.Token{}, x, y.DType())
}

// axisOf returns an axis of a shape, counted from its start.
func axisOf(op string, shape []int, axis int) int {
	if axis < -len(shape) || axis >= len(shape) {
		fail(op, "shape %v has no axis %d", shape, axis)
	}
	if axis < 0 {
		axis += len(shape)
	}
	return axis
}
