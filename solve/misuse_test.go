package solve

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// TestMisuse gives nil functions and settings that mean nothing.
func TestMisuse(t *testing.T) {
	type T = tensor.Tensor
	y, ts := tensor.New([]float64{1}), []float64{0, 1}
	f := func(_, y T) T { return y }
	g := func(_, _, y T) T { return y }
	residuals := func(p T) T { return p.Sub(2) }
	fit := func(f func(T) T, o *FitOptions) {
		if p, _, err := LevenbergMarquardt(f, y, o); err != nil {
			if p.String() != y.String() {
				t.Errorf("a failed fit returns %v, want the start %v", p, y)
			}
			panic(err)
		}
	}
	gauss := func(f func(T) T, o *FitOptions) {
		if _, _, err := GaussNewton(f, y, o); err != nil {
			panic(err)
		}
	}
	for _, c := range []struct {
		want string
		call func()
	}{
		{"solve.RK4: the function is nil", func() { RK4[T](nil, y, ts, 1) }},
		{"solve.Euler: the function is nil", func() { Euler[T](nil, y, ts, 1) }},
		{"solve.ODE: the function is nil", func() { ODE[T, T](nil, y, y, ts, nil) }},
		{"solve.Dense: the function is nil", func() { Dense[T, T](nil, y, y, 0, 1, nil) }},
		{"solve.LevenbergMarquardt: the function is nil", func() { fit(nil, nil) }},
		{"solve.GaussNewton: the function is nil", func() { gauss(nil, nil) }},
		{"Tol is NaN", func() { fit(residuals, &FitOptions{Tol: math.NaN()}) }},
		{"Tol is +Inf", func() { fit(residuals, &FitOptions{Tol: math.Inf(1)}) }},
		{"Tol is -1", func() { gauss(residuals, &FitOptions{Tol: -1}) }},
		{"MaxIter is -1", func() { fit(residuals, &FitOptions{MaxIter: -1}) }},
		{"is NaN at the start", func() { fit(func(p T) T { return p.Mul(math.NaN()) }, nil) }},
		{"0 steps", func() { RK4(f, y, ts, 0) }},
		{"-1 steps", func() { Euler(f, y, ts, -1) }},
		{"time 1 is NaN", func() { RK4(f, y, []float64{0, math.NaN()}, 1) }},
		{"RTol NaN", func() { ODE(g, y, y, ts, &Options{RTol: math.NaN()}) }},
		{"RTol +Inf", func() { ODE(g, y, y, ts, &Options{RTol: math.Inf(1)}) }},
		{"ATol -1", func() { Dense(g, y, y, 0, 1, &Options{ATol: -1}) }},
		{"MaxSteps -1", func() { ODE(g, y, y, ts, &Options{MaxSteps: -1}) }},
		{"solve.ODE: it has no derivative in forward mode", func() { grad.JVP(func(y T) T { return ODE(g, y, y, ts, nil)[1] }, y, y) }},
		{"solve.ODE: it decides by numbers, which tensors inside of grad.Jit do not have: use solve.RK4 there", func() { grad.Jit(func(y T) T { return ODE(g, y, y, ts, nil)[1] })(y) }},
		{"solve.ODE: it decides by numbers, which tensors inside of grad.Vmap", func() { grad.Vmap(func(y T) T { return ODE(g, y, y, ts, nil)[1] })(y.Unsqueeze(0)) }},
		{"solve.Dense: it decides by numbers, which tensors inside of grad.Jit", func() { grad.Jit(func(y T) T { return Dense(g, y, y, 0, 1, nil).At(1) })(y) }},
		{"solve.LevenbergMarquardt: it decides by numbers, which tensors inside of grad.Jit do not have: fit outside of it", func() {
			grad.Jit(func(y T) T {
				_, _, err := LevenbergMarquardt(func(p T) T { return p.Sub(y) }, y, nil)
				if err != nil {
					panic(err)
				}
				return y
			})(y)
		}},
	} {
		if err := tensor.Try(c.call); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestFailedFit has residuals that cannot be computed after the first step.
func TestFailedFit(t *testing.T) {
	n := 0
	p, report, err := LevenbergMarquardt(func(p tensor.Tensor) tensor.Tensor {
		if n++; n > 8 {
			p = p.Reshape(2, 2)
		}
		return p.Square().Sub(2)
	}, tensor.New([]float64{1}), nil)
	if err == nil || !p.IsValid() || report.SumSquares > 1 || report.SumSquares != p.Square().Sub(2).Square().Sum().Item() {
		t.Errorf("a failed fit returns %v, %+v, %v: want the best parameters and an error", p, report, err)
	}
}

// TestFitOfScan fits two equations in many steps, which share the plan of one.
func TestFitOfScan(t *testing.T) {
	ts := make([]float64, 60)
	for i := range ts {
		ts[i] = float64(i) / 10
	}
	at := func(p tensor.Tensor) tensor.Tensor {
		y := RK4(func(_ tensor.Tensor, y []tensor.Tensor) []tensor.Tensor {
			return []tensor.Tensor{y[1].Mul(p.At(0)), y[0].Mul(p.At(1)).Neg()}
		}, []tensor.Tensor{tensor.New([]float64{1}), tensor.New([]float64{0})}, ts, 8)
		rows := make([]tensor.Tensor, len(y))
		for i, s := range y {
			rows[i] = tensor.Cat(0, s...)
		}
		return tensor.Cat(0, rows...)
	}
	want := tensor.New([]float64{1.5, 0.7})
	data := at(want).Keep()
	p, _, err := LevenbergMarquardt(func(p tensor.Tensor) tensor.Tensor { return at(p).Sub(data) }, tensor.New([]float64{1, 1}), nil)
	if err != nil || p.Sub(want).Abs().Max().Item() > 1e-8 {
		t.Errorf("the fit is %v, %v, want %v", p, err, want)
	}
}
