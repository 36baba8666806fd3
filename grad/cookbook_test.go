package grad_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// TestCookbook has the numbers of JAX's autodiff cookbook as the original
// Tensorken computes them, in float32.
func TestCookbook(t *testing.T) {
	expect := func(call string, got tensor.Tensor, shape []int, want ...float32) {
		t.Helper()
		g, err := tensor.Data[float32](got)
		if err != nil {
			t.Fatal(err)
		}
		ok := slices.Equal(got.Shape(), shape) && len(g) >= len(want)
		for i := range want {
			ok = ok && math.Abs(float64(g[i]-want[i])) <= 1e-6+1e-5*math.Abs(float64(want[i]))
		}
		if !ok {
			t.Errorf("%s = %v %v, want %v %v", call, got.Shape(), g, shape, want)
		}
	}

	two := tensor.Scalar(2)
	for mode, derivative := range map[string]func(function) function{"reverse": grad.Of[tensor.Tensor], "forward": grad.Diff[tensor.Tensor]} {
		d := derivative(tensor.Tensor.Tanh)
		dd := derivative(d)
		expect("tanh' at 2, "+mode, d(two), []int{}, 0.07065082)
		expect("tanh'' at 2, "+mode, dd(two), []int{}, -0.13621868)
		expect("tanh''' at 2, "+mode, derivative(dd)(two), []int{}, 0.25265408)
	}

	inputs := tensor.New([]float32{.52, 1.12, .77, .88, -1.08, .15, .52, .06, -1.30, .74, -2.49, 1.39}, 4, 3)
	targets := tensor.New([]float32{1, 1, 0, 1})
	type parameters struct{ W, B tensor.Tensor }
	predict := func(p parameters) tensor.Tensor { return inputs.MatMul(p.W).Add(p.B).Sigmoid() }
	loss := func(p parameters) tensor.Tensor {
		y := predict(p)
		right := y.Mul(targets).Add(y.Neg().Add(1).Mul(targets.Neg().Add(1)))
		return right.Log().Sum().Neg()
	}
	p := parameters{tensor.New([]float32{0.712813, 0.85833144, -2.4362438}), tensor.New([]float32{0.16334426})}
	expect("prediction", predict(p), []int{4}, 0.4059896, 0.37711427, 0.9770815, 0.007901279)
	value, g := grad.ValueAndGrad(loss)(p)
	expect("loss", value, []int{}, 10.4931755)
	expect("gradient by w", g.W, []int{3}, -1.0830948, 2.5363755, -3.2000453)
	expect("gradient by b", g.B, []int{1}, -1.2319121)
	next := parameters{p.W.Sub(g.W), p.B.Sub(g.B)}
	expect("prediction after a step", predict(next), []int{4}, 0.7384342, 0.99262685, 0.7747804, 0.9996524)
	expect("loss after a step", loss(next), []int{}, 1.8016509)

	f := func(w tensor.Tensor) tensor.Tensor { return predict(parameters{w, p.B}) }
	jacobian := []float32{
		.12540427, .27010152, .18569478, .20671119, -.25369102, .03523486,
		.01164451, .0013435973, -.029111274, .005800748, -.019518731, .010895998,
	}
	hessian := []float32{ // its first block, but for the last row
		.012260871, .026408032, .01815552, .026408046, .056878872, .039104223,
	}
	jacobians := map[string]func(function) function{"JacFwd": grad.JacFwd[tensor.Tensor], "JacRev": grad.JacRev[tensor.Tensor]}
	for name, jac := range jacobians {
		expect(name, jac(f)(p.W), []int{4, 3}, jacobian...)
		for over, again := range jacobians {
			expect(over+" of "+name, again(jac(f))(p.W), []int{4, 3, 3}, hessian...)
		}
	}
	expect("sums of the Jacobian's columns", pullOnes(f)(p.W), []int{3}, .34956074, -.0017646346, .20271438)

	v := tensor.New([]float32{-1.2750102, 1.287171, -1.4814075})
	change := []float32{-.08731453, -.6422997, .030008234, -.048661374}
	y, d := grad.JVP(f, p.W, v)
	expect("value of JVP", y, []int{4}, 0.4059896, 0.37711427, 0.9770815, 0.007901279)
	expect("JVP", d, []int{4}, change...)
	_, push := grad.Linearize(f, p.W)
	expect("Linearize", push(v), []int{4}, change...)
	_, pull := grad.VJP(f, p.W)
	u := tensor.New([]float32{.61259484, .6178097, 1.7388334, 1.5375168})
	expect("VJP", pull(u), []int{3}, .23369679, -.01894408, .10165723)
}
