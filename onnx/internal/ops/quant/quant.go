// Package quant has the operators of quantised numbers. An integer q stands for (q - zero)·scale.
package quant

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/onnx/internal/ops/neural"
	"github.com/tensorken/tensorken/tensor"
)

// T is a tensor.
type T = tensor.Tensor

// Rows has the operators.
var Rows = []op.Row{
	op.New("ConvInteger", op.One(convInteger)),
	op.New("DequantizeLinear", dequantize),
	op.New("DynamicQuantizeLinear", op.Many(dynamic)),
	op.New("MatMulInteger", op.One(matMulInteger)),
	op.New("QLinearConv", qLinearConv),
	op.New("QLinearMatMul", qLinearMatMul),
	op.New("QuantizeLinear", quantize),
}

// ranges has the least and the greatest integer of types.
var ranges = map[op.Elem][2]float64{
	op.Uint8: {0, math.MaxUint8}, op.Int8: {math.MinInt8, math.MaxInt8}, op.Uint16: {0, math.MaxUint16}, op.Int16: {math.MinInt16, math.MaxInt16},
	op.Int32: {math.MinInt32, math.MaxInt32}, op.Uint4: {0, 15}, op.Int4: {-8, 7}, op.Uint2: {0, 3}, op.Int2: {-2, 1},
}

// spread shapes scales or zeros so that they broadcast with x: one for all, one for each element of an
// axis, or one for each block of an axis.
func spread(c *op.Call, v, x T) T {
	if v.Len() == 1 && v.Rank() < 2 {
		return v.Reshape()
	}
	axis := c.Axis(c.Int("axis", 1), x.Rank())
	if block := c.Int("block_size", 0); block > 0 {
		return v.Repeat(axis, block).Slice(axis, 0, x.Dim(axis))
	}
	if v.Rank() != 1 || v.Len() != x.Dim(axis) {
		c.Fail("scales or zeros of shape %v, for axis %d of %v", v.Shape(), axis, x.Shape())
	}
	shape := make([]int, x.Rank())
	for a := range shape {
		shape[a] = 1
	}
	shape[axis] = v.Len()
	return v.Reshape(shape...)
}

// quantize has the type of its zeros, of output_dtype, or uint8.
func quantize(c *op.Call) []op.Value {
	x := c.Tensor(0)
	to := op.Uint8
	if c.Has(2) {
		to = c.In[2].Elem
	}
	if c.Int("output_dtype", 0) != 0 {
		e := c.Elem("output_dtype", to)
		if c.Has(2) && e != to {
			c.Fail("its zeros are of type %v, and output_dtype is %v", to, e)
		}
		to = e
	}
	scale := spread(c, c.Tensor(1), x)
	d := tensor.Float32
	if e := c.Int("precision", 0); e != 0 {
		d = c.DType(op.Elem(e))
	} else if x.DType() == scale.DType() && x.DType().IsFloat() {
		d = x.DType()
	}
	y := x.Cast(d).Div(scale.Cast(d)).Cast(tensor.Float32)
	limits, integer := ranges[to]
	if !integer {
		return []op.Value{op.Narrow(c, op.Of(y), to, c.Bool("saturate", true))}
	}
	y = y.Round()
	if c.Has(2) {
		y = y.Add(spread(c, c.Tensor(2), x).Cast(tensor.Float32))
	}
	return []op.Value{op.As(to, y.Clamp(limits[0], limits[1]).Cast(to.DType()))}
}

func dequantize(c *op.Call) []op.Value {
	x := c.Tensor(0)
	y := x.Cast(tensor.Float32)
	if x.DType() == tensor.Int32 { // exact up to the product
		y = x
	}
	if c.Has(2) {
		y = y.Sub(spread(c, c.Tensor(2), x).Cast(y.DType()))
	}
	scale := spread(c, c.Tensor(1), x)
	to := scale.DType()
	if e := c.Int("output_dtype", 0); e != 0 {
		to = c.DType(op.Elem(e))
	}
	return []op.Value{op.Of(y.Cast(tensor.Float32).Mul(scale.Cast(tensor.Float32)).Cast(to))}
}

// dynamic chooses scale and zero so that uint8 has the range of x, and 0.
func dynamic(c *op.Call) []T {
	x := c.Tensor(0)
	most, least := x.Max().Reshape().Maximum(0), x.Min().Reshape().Minimum(0)
	scale := most.Sub(least).Div(255)
	scale = tensor.Where(scale.Eq(0), tensor.OnesLike(scale), scale)
	zero := least.Neg().Div(scale).Clamp(0, 255).Round()
	y := x.Div(scale).Round().Add(zero).Clamp(0, 255)
	return []T{y.Cast(tensor.Uint8), scale, zero.Cast(tensor.Uint8)}
}

// centered is input i less the zeros of input zero, in int32. The zeros are one number, or one for each
// element of an axis.
func centered(c *op.Call, i, zero, axis int) T {
	x := c.Tensor(i).Cast(tensor.Int32)
	if !c.Has(zero) {
		return x
	}
	z := c.Tensor(zero).Cast(tensor.Int32)
	switch {
	case z.Len() == 1:
		return x.Sub(z.Reshape())
	case z.Rank() > 1:
		return x.Sub(z)
	}
	return x.Sub(along(c, z, x, axis))
}

// along shapes a vector so that its elements are along an axis of x.
func along(c *op.Call, v, x T, axis int) T {
	shape := make([]int, x.Rank())
	for a := range shape {
		shape[a] = 1
	}
	shape[c.Axis(axis, x.Rank())] = v.Len()
	return v.Reshape(shape...)
}

func matMulInteger(c *op.Call) T {
	return centered(c, 0, 2, -2).MatMul(centered(c, 1, 3, -1)).Cast(tensor.Int32)
}

func convInteger(c *op.Call) T {
	return neural.Convolve(c, centered(c, 0, 2, 1), centered(c, 1, 3, 0)).Cast(tensor.Int32)
}

// requantized is a sum of products of integers, times the scales of both factors, in the type and scale
// of the result: inputs scale and zero.
func requantized(c *op.Call, sum, factor T, scale, zero int, otherwise op.Elem) []op.Value {
	to := otherwise
	y := sum.Cast(tensor.Float64).Mul(factor.Cast(tensor.Float64).Div(c.Tensor(scale).Cast(tensor.Float64).Reshape()))
	if c.Has(zero) {
		to = c.In[zero].Elem
		y = y.Add(c.Tensor(zero).Cast(tensor.Float64).Reshape())
	}
	limits, ok := ranges[to]
	if !ok {
		c.Fail("a result of type %v", to)
	}
	return []op.Value{op.As(to, y.Round().Clamp(limits[0], limits[1]).Cast(to.DType()))}
}

func qLinearMatMul(c *op.Call) []op.Value {
	sum := centered(c, 0, 2, -2).MatMul(centered(c, 3, 5, -1))
	a, b := c.Tensor(1), c.Tensor(4)
	if a.Len() > 1 && a.Rank() == 1 {
		a = along(c, a, sum, -2)
	}
	if b.Len() > 1 && b.Rank() == 1 {
		b = along(c, b, sum, -1)
	}
	return requantized(c, sum, product(a, b), 6, 7, c.In[0].Elem)
}

func product(a, b T) T {
	if a.Len() == 1 {
		a = a.Reshape()
	}
	if b.Len() == 1 {
		b = b.Reshape()
	}
	return a.Mul(b)
}

func qLinearConv(c *op.Call) []op.Value {
	sum := neural.Convolve(c, centered(c, 0, 2, 1), centered(c, 3, 5, 0))
	if c.Has(8) {
		sum = sum.Add(along(c, c.Tensor(8), sum, 1))
	}
	w := c.Tensor(4)
	if w.Len() > 1 {
		w = along(c, w, sum, 1)
	}
	return requantized(c, sum, product(c.Tensor(1), w), 6, 7, c.In[0].Elem)
}
