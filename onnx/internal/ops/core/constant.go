package core

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Constants has the operators that make tensors, and those that change types.
var Constants = []op.Row{
	op.New("BitCast", op.BitCast),
	op.New("Cast", op.Cast),
	op.New("CastLike", op.CastLike),
	op.New("Constant", constant),
	op.New("ConstantOfShape", constantOfShape),
	op.New("EyeLike", op.One(eyeLike)),
	op.New("Range", op.One(ranges)),
}

func constant(c *op.Call) []op.Value {
	if a := c.Attr("value"); a != nil {
		return []op.Value{c.Decode(a.T)}
	}
	if a := c.Attr("value_float"); a != nil {
		return []op.Value{op.Of(tensor.New([]float32{a.F}).Reshape())}
	}
	if a := c.Attr("value_floats"); a != nil {
		return []op.Value{op.Of(tensor.New(a.Floats, len(a.Floats)))}
	}
	if a := c.Attr("value_int"); a != nil {
		return []op.Value{op.Of(tensor.New([]int64{a.I}).Reshape())}
	}
	if a := c.Attr("value_ints"); a != nil {
		return []op.Value{op.Of(tensor.New(a.Ints, len(a.Ints)))}
	}
	if a := c.Attr("value_string"); a != nil {
		return []op.Value{op.Texts([]string{a.S})}
	}
	if a := c.Attr("value_strings"); a != nil {
		return []op.Value{op.Texts(a.Strings, len(a.Strings))}
	}
	if a := c.Attr("sparse_value"); a != nil && a.Sparse != nil {
		v, err := op.DecodeSparse(a.Sparse, nil)
		if err != nil {
			c.Fail("%v", err)
		}
		return []op.Value{v}
	}
	c.Fail("it has no value")
	return nil
}

func constantOfShape(c *op.Call) []op.Value {
	v := op.Of(tensor.ZerosOf(tensor.Float32, 1))
	if a := c.Attr("value"); a != nil {
		v = c.Decode(a.T)
	}
	s := c.Ints(0)
	if v.Kind != op.TensorKind || v.Tensor.Len() != 1 {
		c.Fail("its value is %v, want one element", v)
	}
	return []op.Value{op.As(v.Elem, v.Tensor.Reshape().Expand(s...))}
}

func eyeLike(c *op.Call) T {
	x := c.Tensor(0)
	if x.Rank() != 2 {
		c.Fail("the input has shape %v, want a matrix", x.Shape())
	}
	d := c.DType(c.Elem("dtype", c.In[0].Elem))
	row := tensor.Arange(x.Dim(0)).Cast(tensor.Int64).Reshape(-1, 1).Add(c.Int("k", 0))
	return row.Eq(tensor.Arange(x.Dim(1)).Cast(tensor.Int64)).Cast(d)
}

// ranges is start + i·delta up to limit.
func ranges(c *op.Call) T {
	d := c.Tensor(0).DType()
	start, limit, delta := c.Scalar(0), c.Scalar(1), c.Scalar(2)
	if delta == 0 {
		c.Fail("delta is 0")
	}
	n := math.Max(math.Ceil((limit-start)/delta), 0)
	if !d.IsFloat() {
		n = float64(steps(c.ScalarInt(0), c.ScalarInt(1), c.ScalarInt(2)))
	}
	if !(n <= 1<<40) {
		c.Fail("a range from %g to %g by %g", start, limit, delta)
	}
	at := tensor.Arange(int(n)).Cast(tensor.Int64).Cast(d)
	return at.Mul(c.Tensor(2).Reshape()).Add(c.Tensor(0).Reshape())
}

// steps is the number of integers from start on that are delta apart, before limit.
func steps(start, limit, delta int) uint64 {
	step := uint64(delta)
	if delta < 0 {
		start, limit, step = limit, start, -step
	}
	if start >= limit {
		return 0
	}
	return (uint64(limit)-uint64(start)-1)/step + 1
}
