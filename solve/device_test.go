package solve_test

import (
	"math"
	"os"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

// In float32, on the device that TENSORKEN_DEVICE names, the CPU if none.
func TestDevice(t *testing.T) {
	d := tensor.CPU()
	if name := os.Getenv("TENSORKEN_DEVICE"); name != "" && name != "cpu" {
		var err error
		if d, _, err = device.Open(name); err != nil {
			t.Fatal(err)
		}
		defer d.Close()
	}
	one := func(x float32) tensor.Tensor { return tensor.New([]float32{x}).To(d) }
	end := func(k tensor.Tensor) tensor.Tensor {
		out := solve.ODE(func(k, _ tensor.Tensor, s spring) spring { return s.change(k) }, k, spring{one(1), one(0)}, []float64{0, 1}, nil)
		return out[1].X.Sum()
	}
	w := math.Sqrt(2)
	value, slope := grad.ValueAndGrad(end)(one(2))
	if got, want := value.Item(), math.Cos(w); math.Abs(got-want) > 1e-4 {
		t.Errorf("ODE = %v, want %v", got, want)
	}
	if got, want := slope.Item(), -math.Sin(w)/(2*w); math.Abs(got-want) > 1e-4 {
		t.Errorf("the derivative of ODE = %v, want %v", got, want)
	}
	steps := solve.RK4(func(_ tensor.Tensor, s spring) spring { return s.change(one(2)) }, spring{one(1), one(0)}, []float64{0, 1}, 10)
	if got, want := steps[1].X.Item(), math.Cos(w); math.Abs(got-want) > 1e-4 {
		t.Errorf("RK4 = %v, want %v", got, want)
	}
	x := tensor.Linspace(0, 4, 31).Cast(tensor.Float32).To(d)
	y := newCurve(tensor.Float32, 2, 0.8, -0.5).at(x)
	got, report, err := solve.LevenbergMarquardt(func(c curve) tensor.Tensor { return c.at(x).Sub(y) }, newCurve(tensor.Float32, 1, 0.3, 0), nil)
	if err != nil || math.Abs(got.B.Item()-0.8) > 1e-3 {
		t.Errorf("LevenbergMarquardt fitted a rate of %v (%+v, %v), want 0.8", got.B, report, err)
	}
}
