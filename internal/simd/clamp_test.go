package simd

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// TestClamps: a clamp chooses as Where does by a comparison, with the bits of the operand that it chooses.
func TestClamps(t *testing.T) {
	for _, d := range []ir.DType{ir.Float32, ir.Float64} {
		c := Clamps[d]
		if c.Low == nil {
			t.Skip("this level has no clamps")
		}
		numbers := []float64{0, math.Copysign(0, -1), 1, -1, 6, math.Inf(1), math.Inf(-1), math.NaN(), 1e-45, -1e-45}
		for _, limit := range numbers {
			for _, n := range []int{1, 3, len(numbers), 61} {
				x, y, z := newVector(d, n), newVector(d, 1), newVector(d, 1)
				y.set(0, ir.Float(d, limit))
				z.set(0, ir.Float(d, 0.5))
				for i := range n {
					x.set(i, ir.Float(d, numbers[i%len(numbers)]))
				}
				for _, high := range []bool{false, true} {
					got, f, from, to := newVector(d, n), c.Low, x, y
					if high {
						f, from, to = c.High, y, x
					}
					f(got.p(), x.p(), y.p(), z.p(), n)
					for i := range n {
						want := x.get(i)
						if define(ir.Lt, d, from.get(i*b2i(!high)), to.get(i*b2i(high))) != 0 {
							want = z.get(0)
						}
						if got.get(i) != want {
							t.Errorf("%v, high %v: clamp of %v by %v is %v, want %v", d, high, x.get(i), limit, got.get(i), want)
						}
					}
					if !got.intact() {
						t.Errorf("%v: a clamp of %d elements stores others", d, n)
					}
				}
			}
		}
	}
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
