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
		{"the times of the steps", func() { RK4(f, y, ts, 1<<50) }},
		{"solve.Solution.At: there is no solution", func() { new(Solution[T]).At(0) }},
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

// Constants without a type have the type of the numbers that they meet, and the steps of RK4 are a scan of them.
func TestUntyped(t *testing.T) {
	type T = tensor.Tensor
	type state struct{ A, B T }
	typed := func(x float64) T { return tensor.New([]float64{x}).Squeeze(0) }
	ts := make([]float64, 40)
	for i := range ts {
		ts[i] = float64(i) / 20
	}
	decay := func(p, _ T, y state) state { return state{y.A.Mul(p), y.A.Sub(y.B)} } // B has a type after A has one
	for _, c := range []struct {
		name string
		p    T
		y    state
		want tensor.DType
	}{
		{"parameter", typed(-1), state{tensor.Scalar(1), tensor.Scalar(0)}, tensor.Float64},
		{"state", tensor.Scalar(-1), state{typed(1), tensor.Scalar(0)}, tensor.Float64},
		{"none", tensor.Scalar(-1), state{tensor.Scalar(1), tensor.Scalar(0)}, tensor.Float32},
	} {
		for name, ys := range map[string][]state{
			"RK4": RK4(func(t T, y state) state { return decay(c.p, t, y) }, c.y, ts, 8),
			"ODE": ODE(decay, c.p, c.y, ts, nil),
		} {
			last := ys[len(ts)-1]
			if a, b := last.A.Item(), last.B.Item(); math.Abs(a-math.Exp(-1.95)) > 1e-5 || math.Abs(b-1.95*math.Exp(-1.95)) > 1e-5 || last.A.DType() != c.want || last.B.DType() != c.want {
				t.Errorf("%s, %s typed: %v, %v", name, c.name, a, b)
			}
		}
		if plan := tensor.Explain(RK4(func(t T, y state) state { return decay(c.p, t, y) }, c.y, ts, 8)); strings.Count(plan, "\n") > 60 {
			t.Errorf("the plan of 312 steps has %d lines, want one of a step", strings.Count(plan, "\n"))
		}
		p, _, err := LevenbergMarquardt(func(p T) T {
			return RK4(func(t T, y state) state { return decay(p, t, y) }, c.y, ts, 1)[39].A.Sub(0.25)
		}, c.p, nil)
		if want := math.Log(0.25) / 1.95; err != nil || math.Abs(p.Item()-want) > 1e-4 {
			t.Errorf("%s typed: the fit gives %v, %v; want %v", c.name, p, err, want)
		}
	}
}
