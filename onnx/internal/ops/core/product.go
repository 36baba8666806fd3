package core

import (
	"strings"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Products has the matrix products.
var Products = []op.Row{
	op.New("Det", op.One(det)),
	op.New("Einsum", op.One(einsum)),
	op.New("Gemm", op.One(gemm)),
	op.New("MatMul", op.One(func(c *op.Call) T { return c.Tensor(0).MatMul(c.Tensor(1)).Cast(c.Tensor(0).DType()) })),
}

func einsum(c *op.Call) T {
	return tensor.Einsum(strings.ReplaceAll(c.String("equation", ""), " ", ""), c.Tensors()...)
}

func gemm(c *op.Call) T {
	a, b := c.Tensor(0), c.Tensor(1)
	d := a.DType()
	if c.Bool("transA", false) {
		a = a.T()
	}
	if c.Bool("transB", false) {
		b = b.T()
	}
	y := scaled(a.MatMul(b).Cast(d), c.Float("alpha", 1))
	if !c.Has(2) {
		return y
	}
	return y.Add(scaled(c.Tensor(2), c.Float("beta", 1)))
}

// scaled is x·f.
func scaled(x T, f float64) T {
	switch {
	case f == 1:
		return x
	case x.DType().IsFloat():
		return x.Mul(f)
	}
	return x.Cast(tensor.Float64).Mul(f).Cast(x.DType())
}

// det is the determinant, by elimination without pivots of zero: rows are exchanged by their greatest
// element.
func det(c *op.Call) T {
	x := c.Tensor(0)
	n := x.Dim(-1)
	one := tensor.OnesLike(x.Slice(-1, 0, 1).Slice(-2, 0, 1))
	sign := one
	for i := n; i > 1; i-- { // the first column of the remaining i by i matrix
		pivot := x.Slice(-1, 0, 1).Abs().ArgMax(-2).Unsqueeze(-1) // [... 1 1]
		row := x.TakeAlong(-2, pivot)
		at := tensor.Arange(i).Cast(tensor.Int32).Reshape(i, 1)
		first := x.Slice(-2, 0, 1)
		x = tensor.Where(at.Eq(pivot), first, x) // row 0 is then the pivot's, by its own
		x = x.Slice(-2, 1, i)
		sign = sign.Mul(tensor.Where(pivot.Eq(0), one, one.Neg()))
		head := row.Slice(-1, 0, 1)
		sign = sign.Mul(head)
		safe := tensor.Where(head.Eq(0), tensor.OnesLike(head), head)
		x = x.Slice(-1, 1, i).Sub(x.Slice(-1, 0, 1).Div(safe).Mul(row.Slice(-1, 1, i)))
	}
	return sign.Mul(x).Squeeze(-2, -1)
}
