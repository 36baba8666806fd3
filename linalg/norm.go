package linalg

import (
	"github.com/tensorken/tensorken/tensor"
)

// An Order is a norm of matrices.
type Order uint8

// The orders of [Norm].
const (
	Frobenius Order = iota // the square root of the sum of squares
	Nuclear                // the sum of the singular values
	Two                    // the greatest singular value
	MinusTwo               // the least
	One                    // the greatest sum of the absolute values of a column
	MinusOne               // the least
	Inf                    // the greatest sum of the absolute values of a row
	MinusInf               // the least
)

// norms has the formula of each order, for matrices with elements.
var norms = [...]func(op string, a tensor.Tensor) tensor.Tensor{
	Frobenius: func(_ string, a tensor.Tensor) tensor.Tensor { return a.NormP(2, -2, -1) },
	Nuclear:   func(op string, a tensor.Tensor) tensor.Tensor { return singularValues(op, a).Sum(-1).Unsqueeze(-1) },
	Two:       func(op string, a tensor.Tensor) tensor.Tensor { return singularValues(op, a).Max(-1).Unsqueeze(-1) },
	MinusTwo:  func(op string, a tensor.Tensor) tensor.Tensor { return singularValues(op, a).Min(-1).Unsqueeze(-1) },
	One:       func(_ string, a tensor.Tensor) tensor.Tensor { return a.Abs().Sum(-2).Max(-1) },
	MinusOne:  func(_ string, a tensor.Tensor) tensor.Tensor { return a.Abs().Sum(-2).Min(-1) },
	Inf:       func(_ string, a tensor.Tensor) tensor.Tensor { return a.Abs().Sum(-1).Max(-2) },
	MinusInf:  func(_ string, a tensor.Tensor) tensor.Tensor { return a.Abs().Sum(-1).Min(-2) },
}

// Norm returns a norm of matrices, without their last two axes. For norms of vectors see
// [tensor.Tensor.Norm] and [tensor.Tensor.NormP]. A matrix without elements has the norms
// Frobenius and Nuclear, 0, and no other.
func Norm(a tensor.Tensor, order Order) tensor.Tensor {
	const op = "linalg.Norm"
	m, n := dims(op, a)
	switch {
	case int(order) >= len(norms):
		fail(op, "there is no such order: see linalg.Order", a)
	case m*n == 0 && order > Nuclear:
		fail(op, "there is no element", a)
	}
	return norms[order](op, a).Squeeze(-2, -1)
}
