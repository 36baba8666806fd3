package schedule

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// A gradient in float64 through elementary functions, products, scans and indices of int64 has
// the digits of float64.
func TestGradientFloat64(t *testing.T) {
	type model struct{ X, W, Table tensor.Tensor }
	loss := func(m model) tensor.Tensor {
		h := m.X.MatMul(m.W)
		y := h.Tanh().Add(h.Sin().Mul(h.Cos())).Add(h.Erf()).Add(h.Expm1()).Add(h.Square().Log1p()).Add(h.Square().Add(0.1).Sqrt())
		y = y.Add(h.Atan2(y)).Add(h.Square().Add(1).Pow(h)).Add(h.Softmax(1).Log()).Add(h.CumSum(1)).Add(h.Max(1))
		rows := m.Table.Take(0, tensor.New([]int64{2, 0, 2, 1}).To(h.Device()))
		return y.Mul(rows.Prod(1)).Sum().Add(y.Cast(tensor.Int64).Cast(tensor.Float64).Sum())
	}
	run := func(d *tensor.Device) (all []float64) {
		wave := func(step float64, rows, columns int) tensor.Tensor {
			x := make([]float64, rows*columns)
			for i := range x {
				x[i] = math.Sin(step * float64(i+1))
			}
			return tensor.New(x, rows, columns).To(d)
		}
		value, g := grad.ValueAndGrad(loss)(model{wave(0.7, 4, 30), wave(1.3, 30, 6), wave(2.1, 3, 5)})
		for _, x := range []tensor.Tensor{value, g.X, g.W, g.Table} {
			list, err := tensor.Data[float64](x)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, list...)
		}
		return all
	}
	target := hopper
	target.Wide = true
	drv := open(target)
	dev := tensor.NewDevice(drv)
	defer dev.Close()
	got, want := run(dev), run(tensor.CPU())
	worst := 0.0
	for i, w := range want {
		if worst = max(worst, math.Abs(got[i]-w)/(1+math.Abs(w))); !(worst < 1e-13) {
			t.Fatalf("element %d is %v, want %v", i, got[i], w)
		}
	}
	t.Logf("%d elements are off by %.2g", len(want), worst)
}
