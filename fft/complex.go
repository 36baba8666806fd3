package fft

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Complex is a tensor of complex numbers: two tensors of the same shape and floating-point type.
// It is a tree, so it may be the argument and the result of every transformation in package
// grad. Its gradient has the derivatives by the real and by the imaginary parts, as for any two
// tensors.
type Complex struct{ Re, Im tensor.Tensor }

// Real returns real numbers as complex ones.
func Real(x tensor.Tensor) Complex {
	zeros := func(ts []tensor.Tensor) []tensor.Tensor { return []tensor.Tensor{tensor.ZerosLike(ts[0])} }
	return Complex{x, tensor.Internal.ByType(graph.Token{}, zeros, x)[0]}
}

// Polar returns the numbers of absolute value r and angle a in radians.
func Polar(r, a tensor.Tensor) Complex { return Complex{r.Mul(a.Cos()), r.Mul(a.Sin())} }

// Shape returns the lengths of the axes of z.
func (z Complex) Shape() []int { return z.Re.Shape() }

// Add returns z + w. Shapes broadcast, as in the other methods of two numbers.
func (z Complex) Add(w Complex) Complex { return Complex{z.Re.Add(w.Re), z.Im.Add(w.Im)} }

// Sub returns z - w.
func (z Complex) Sub(w Complex) Complex { return Complex{z.Re.Sub(w.Re), z.Im.Sub(w.Im)} }

// Mul returns z·w.
func (z Complex) Mul(w Complex) Complex {
	return Complex{
		z.Re.Mul(w.Re).Sub(z.Im.Mul(w.Im)),
		z.Re.Mul(w.Im).Add(z.Im.Mul(w.Re)),
	}
}

// Div returns z/w. It is NaN where w is 0.
func (z Complex) Div(w Complex) Complex {
	size := w.Abs() // the parts of w/|w| are at most 1, so that their squares do not overflow
	direction := Complex{w.Re.Div(size), w.Im.Div(size)}
	q := z.Mul(direction.Conj())
	return Complex{q.Re.Div(size), q.Im.Div(size)}
}

// Scale returns z times real numbers.
func (z Complex) Scale(s tensor.Operand) Complex { return Complex{z.Re.Mul(s), z.Im.Mul(s)} }

// Neg returns -z.
func (z Complex) Neg() Complex { return Complex{z.Re.Neg(), z.Im.Neg()} }

// Conj returns the conjugate Re - i·Im.
func (z Complex) Conj() Complex { return Complex{z.Re, z.Im.Neg()} }

// Abs returns |z|, without overflow of the squares. Its derivatives of all orders are 0 at
// 0; derivatives of AbsSquare are right there.
func (z Complex) Abs() tensor.Tensor { return z.Re.Hypot(z.Im) }

// AbsSquare returns |z|².
func (z Complex) AbsSquare() tensor.Tensor { return z.Re.Square().Add(z.Im.Square()) }

// Angle returns the angle of z from -π to π, 0 for 0.
func (z Complex) Angle() tensor.Tensor { return z.Im.Atan2(z.Re) }

// Exp returns e to the power of z.
func (z Complex) Exp() Complex { return Polar(z.Re.Exp(), z.Im) }

// cat joins parts along an axis.
func cat(axis int, a, b Complex) Complex {
	return Complex{tensor.Cat(axis, a.Re, b.Re), tensor.Cat(axis, a.Im, b.Im)}
}

// each returns f of both parts.
func (z Complex) each(f func(tensor.Tensor) tensor.Tensor) Complex {
	return Complex{f(z.Re), f(z.Im)}
}
