package tensor_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// TestElementTypes fails for an element type that no Go value makes a tensor of.
func TestElementTypes(t *testing.T) {
	made := map[tensor.DType]bool{}
	for _, c := range []struct {
		d    tensor.DType
		x    tensor.Tensor
		from any
	}{
		{tensor.Bool, tensor.New([]bool{true}), true},
		{tensor.Uint8, tensor.New([]uint8{255}), uint8(255)},
		{tensor.Int8, tensor.New([]int8{-128}), int8(-128)},
		{tensor.Uint16, tensor.New([]uint16{65535}), uint16(65535)},
		{tensor.Int16, tensor.New([]int16{-32768}), int16(-32768)},
		{tensor.Int32, tensor.New([]int32{-1 << 31}), int32(-1 << 31)},
		{tensor.Uint32, tensor.New([]uint32{1<<32 - 1}), uint32(1<<32 - 1)},
		{tensor.Int64, tensor.New([]int64{-1 << 63}), int64(-1 << 63)},
		{tensor.Uint64, tensor.New([]uint64{1<<64 - 1<<11}), uint64(1<<64 - 1<<11)},
		{tensor.Float16, tensor.New([]tensor.F16{tensor.ToF16(0.1)}), tensor.ToF16(0.1)},
		{tensor.BFloat16, tensor.New([]tensor.BF16{tensor.ToBF16(0.1)}), tensor.ToBF16(0.1)},
		{tensor.Float32, tensor.New([]float32{0.1}), float32(0.1)},
		{tensor.Float64, tensor.New([]float64{0.1}), 0.1},
	} {
		made[c.d] = true
		x := c.x.Reshape()
		if x.DType() != c.d {
			t.Errorf("New makes %v, want %v", x.DType(), c.d)
		}
		y := tensor.From(c.from)
		if y.DType() != c.d || y.Item() != x.Item() {
			t.Errorf("From(%T(%v)) = %v, want %v", c.from, c.from, y, x)
		}
		b, err := json.Marshal(x)
		if err != nil {
			t.Fatal(err)
		}
		z := tensor.ZerosLike(x)
		if err := json.Unmarshal(b, &z); err != nil || z.DType() != c.d || z.Item() != x.Item() {
			t.Errorf("%v from the JSON %s is %v, %v", x, b, z, err)
		}
		if got := reflect.ValueOf(c.from); got.CanFloat() && x.Item() != got.Float() || got.CanInt() && x.Item() != float64(got.Int()) {
			t.Errorf("Item of %v = %v", c.from, x.Item())
		}
	}
	for _, d := range ir.DTypes {
		if !made[d] {
			t.Errorf("%v: add its constant and its Go type to tensor/element.go, and a row to this test", d)
		}
	}
}
