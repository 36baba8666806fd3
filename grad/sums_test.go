package grad_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// Sums of integers that no int32 has are exact, in transformations too.
func TestLongIntegerSums(t *testing.T) {
	const n = 70_001
	device := indexDevice(t)
	for _, c := range []struct {
		d tensor.DType
		v float64
	}{
		{tensor.Bool, 1}, {tensor.Uint8, 255}, {tensor.Int8, -128}, {tensor.Uint16, math.MaxUint16}, {tensor.Int16, math.MinInt16},
		{tensor.Int32, math.MaxInt32}, {tensor.Int32, math.MinInt32}, {tensor.Uint32, math.MaxUint32}, {tensor.Int64, 1 << 40},
	} {
		x := tensor.Full(c.v, 2, n).Cast(c.d)
		if c.d == tensor.Int32 || c.d == tensor.Uint32 { // float32 rounds them
			x = tensor.FullOf(c.d, c.v, 2, n)
		}
		x = x.To(device)
		if err := tensor.Eval(x); err != nil { // constants are not summed
			t.Fatal(err)
		}
		sum := func(x tensor.Tensor) tensor.Tensor { return x.Sum() }
		for name, got := range map[string]tensor.Tensor{
			"Sum(1)": x.Sum(1), "Sum": sum(x).Div(2), "Jit": grad.Jit(sum)(x).Div(2), "Vmap": grad.Vmap(sum)(x),
			"CumSum": x.CumSum(1).Slice(1, -1, tensor.End), "Sum of a transpose": x.T().Sum(0),
		} {
			if got.DType() != tensor.Int64 {
				t.Errorf("%s of %v is %v", name, c.d, got.DType())
			}
			list, err := tensor.Data[int64](got)
			if want := int64(c.v) * n; err != nil || list[0] != want {
				t.Errorf("%s of %d times %v of %v: %v, %v, want %d", name, n, c.v, c.d, list, err, want)
			}
		}
	}
	if got, err := tensor.Data[int64](tensor.New([]int32{1 << 20, 1 << 20, 3}).To(device).Prod()); err != nil || got[0] != 3<<40 {
		t.Errorf("Prod: %v, %v, want 3·2^40", got, err)
	}
}
