package gpu

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/tensor"
)

// The greater of 0 and -0 is 0, the lesser -0, in both orders: so |0| is 0.
func TestZeros(t *testing.T) {
	dev := deviceOf(t, real(t, wgpu.Options{Validate: true}))
	zero, minus := float32(0), float32(math.Copysign(0, -1))
	x, y := tensor.New([]float32{zero, minus}).To(dev), tensor.New([]float32{minus, zero})
	for _, c := range []struct {
		name  string
		of    tensor.Tensor
		minus bool
	}{
		{"Maximum", x.Maximum(y), false},
		{"Minimum", x.Minimum(y), true},
		{"Abs", x.Abs(), false},
		{"Abs of bfloat16", x.Cast(tensor.BFloat16).Abs().Cast(tensor.Float32), false},
		{"Abs of products", x.Mul(3).Abs(), false},
	} {
		got, err := tensor.Data[float32](c.of)
		if err != nil {
			t.Fatal(err)
		}
		for i, v := range got {
			if v != 0 || math.Signbit(float64(v)) != c.minus {
				t.Errorf("%s: element %d is %v", c.name, i, v)
			}
		}
	}
}
