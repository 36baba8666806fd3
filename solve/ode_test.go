package solve_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

func f64(x ...float64) tensor.Tensor { return tensor.New(x) }

// A spring is a state of two tensors, the equation x” = -k·x, whose solution from (1, 0)
// is (cos √k·t, -√k·sin √k·t).
type spring struct{ X, V tensor.Tensor }

func (s spring) change(k tensor.Tensor) spring { return spring{s.V, s.X.Mul(k).Neg()} }

func startSpring() spring { return spring{f64(1), f64(0)} }

func springAt(k, t float64) (x, v float64) {
	w := math.Sqrt(k)
	return math.Cos(w * t), -w * math.Sin(w*t)
}

func TestFixedSteps(t *testing.T) {
	for name, c := range map[string]struct {
		solve func(func(tensor.Tensor, spring) spring, spring, []float64, int) []spring
		order float64
	}{"Euler": {solve.Euler[spring], 1}, "RK4": {solve.RK4[spring], 4}} {
		off := func(steps int) float64 {
			out := c.solve(func(_ tensor.Tensor, s spring) spring { return s.change(tensor.Scalar(4)) }, startSpring(), []float64{0, 0.5, 1}, steps)
			x, v := springAt(4, 1)
			return math.Hypot(out[2].X.Item()-x, out[2].V.Item()-v)
		}
		if order := math.Log2(off(8) / off(16)); math.Abs(order-c.order) > 0.2 {
			t.Errorf("the error of %s falls with the steps to the power %v, want %v", name, order, c.order)
		}
	}
}

// Slopes may be many times the tolerance.
func TestODEAtAllScales(t *testing.T) {
	for _, scale := range []float64{1e-20, 1, 1e10, 1e15, 1e20} {
		f := func(_ struct{}, t, y tensor.Tensor) tensor.Tensor { return y.Neg().Add(scale) }
		y := solve.ODE(f, struct{}{}, tensor.New([]float32{0}), []float64{0, 1}, nil)[1]
		if got, want := y.Item()/scale, 1-math.Exp(-1); !(math.Abs(got-want) < 1e-3) {
			t.Errorf("at scale %v ODE gave %v, want %v", scale, got, want)
		}
	}
}

// The right-hand side gets the time, and times may descend.
func TestTime(t *testing.T) {
	f := func(t, y tensor.Tensor) tensor.Tensor { return t.Cos().Mul(y) } // y = e^sin t
	for _, ts := range [][]float64{{0, 1, 2}, {2, 1, 0.5}, {-1, 3}, {1}} {
		y0 := f64(math.Exp(math.Sin(ts[0])))
		adaptive := solve.ODE(func(_ struct{}, t, y tensor.Tensor) tensor.Tensor { return f(t, y) }, struct{}{}, y0, ts, &solve.Options{RTol: 1e-9, ATol: 1e-9})
		for name, out := range map[string][]tensor.Tensor{"RK4": solve.RK4(f, y0, ts, 100), "ODE": adaptive} {
			if len(out) != len(ts) {
				t.Fatalf("%s at %v gave %d results", name, ts, len(out))
			}
			for i, at := range ts {
				if got, want := out[i].Item(), math.Exp(math.Sin(at)); math.Abs(got-want) > 1e-7 {
					t.Errorf("%s at %v of %v = %v, want %v", name, at, ts, got, want)
				}
			}
		}
	}
}

// RK4 is a composition: it has all derivatives, and batches.
func TestRK4Transforms(t *testing.T) {
	end := func(k tensor.Tensor) tensor.Tensor {
		out := solve.RK4(func(_ tensor.Tensor, s spring) spring { return s.change(k) }, startSpring(), []float64{0, 1}, 20)
		return out[1].X.Sum()
	}
	gradtest.Check(t, end, f64(2), 2)
	got, err := tensor.Data[float64](grad.Vmap(end)(f64(1, 4)))
	if err != nil {
		t.Fatal(err)
	}
	for i, k := range []float64{1, 4} {
		if want, _ := springAt(k, 1); math.Abs(got[i]-want) > 1e-5 {
			t.Errorf("the batch's solution for k = %v is %v, want %v", k, got[i], want)
		}
	}
}

func springODE(k tensor.Tensor, s spring, ts []float64, tol float64) []spring {
	return solve.ODE(func(k, _ tensor.Tensor, s spring) spring { return s.change(k) }, k, s, ts, &solve.Options{RTol: tol, ATol: tol})
}

// The error of the adaptive method and of its interpolation is about the tolerance.
func TestODETolerance(t *testing.T) {
	var ts []float64
	for i := range 41 {
		ts = append(ts, float64(i)/4)
	}
	for _, tol := range []float64{1e-4, 1e-7, 1e-10} {
		for i, s := range springODE(f64(3), startSpring(), ts, tol) {
			x, v := springAt(3, ts[i])
			if off := math.Hypot(s.X.Item()-x, s.V.Item()-v); off > 50*tol {
				t.Errorf("tolerance %v: at %v the error is %v", tol, ts[i], off)
			}
		}
	}
}

func TestDense(t *testing.T) {
	for _, ends := range [][2]float64{{0, 10}, {10, 0}} {
		x, v := springAt(2, ends[0])
		s := solve.Dense(func(k, _ tensor.Tensor, s spring) spring { return s.change(k) }, f64(2), spring{f64(x), f64(v)}, ends[0], ends[1], &solve.Options{RTol: 1e-8, ATol: 1e-8})
		for i := range 101 {
			at := float64(i) / 10
			got := s.At(at)
			if want, _ := springAt(2, at); math.Abs(got.X.Item()-want) > 1e-6 {
				t.Errorf("from %v to %v: at %v the solution is %v, want %v", ends[0], ends[1], at, got.X, want)
			}
		}
		if steps := s.Steps(); len(steps) < 10 || len(steps) > 200 || steps[0] != ends[0] || steps[len(steps)-1] != ends[1] {
			t.Errorf("the steps are at %v, want some between %v", steps, ends)
		}
		if err := tensor.Try(func() { s.At(10.1) }); err == nil || !strings.HasSuffix(err.Error(), "solve.Solution.At: the time 10.1 is not between "+text(ends)) {
			t.Errorf("At(10.1) gave error %v", err)
		}
	}
}

func text(ends [2]float64) string {
	if ends[0] == 0 {
		return "0 and 10"
	}
	return "10 and 0"
}

// Gradients by the adjoint equation equal the closed form's, for losses of several times
// too; so is the second derivative.
func TestODEAdjoint(t *testing.T) {
	type args struct{ K, X tensor.Tensor }
	ts := []float64{0, 0.7, 1.5}
	loss := func(a args) tensor.Tensor {
		out := springODE(a.K, spring{a.X, tensor.ZerosLike(a.X)}, ts, 1e-10)
		return out[1].X.Add(out[2].X.Square()).Add(out[0].X.Mul(3)).Sum()
	}
	const k, x = 2, 1.5
	g := grad.Of(loss)(args{f64(k), f64(x)})
	w := math.Sqrt(k)
	wantK, wantX := 0., 3.
	for i, at := range ts[1:] {
		y, dy := x*math.Cos(w*at), -x*at*math.Sin(w*at)/(2*w) // and its derivative by k
		outer := 1.
		if i == 1 {
			outer = 2 * y
		}
		wantK += outer * dy
		wantX += outer * y / x
	}
	if got := g.K.Item(); math.Abs(got-wantK) > 1e-7 {
		t.Errorf("the derivative by k is %v, want %v", got, wantK)
	}
	if got := g.X.Item(); math.Abs(got-wantX) > 1e-7 {
		t.Errorf("the derivative by the start is %v, want %v", got, wantX)
	}

	decay := func(k tensor.Tensor) tensor.Tensor { // y = e^-k at 1
		return solve.ODE(func(k, _, y tensor.Tensor) tensor.Tensor { return y.Mul(k).Neg() }, k, f64(1), []float64{0, 1}, &solve.Options{RTol: 1e-9, ATol: 1e-9})[1].Sum()
	}
	if got, want := grad.Of(grad.Of(decay))(f64(0.5)).Item(), math.Exp(-0.5); math.Abs(got-want) > 1e-6 {
		t.Errorf("the second derivative of e^-k is %v, want %v", got, want)
	}
}

// All steps run one plan; so do all steps of the adjoint.
func TestODEPlans(t *testing.T) {
	count := func(end float64) int {
		before := tensor.Info().Plans
		y := func(k tensor.Tensor) tensor.Tensor {
			return springODE(k, startSpring(), []float64{0, end}, 1e-6)[1].X.Sum()
		}
		if g := grad.Of(y)(f64(2)).Item(); math.IsNaN(g) {
			t.Errorf("the derivative is %v", g)
		}
		return tensor.Info().Plans - before
	}
	if first, later := count(1), count(20); later > 2 {
		t.Errorf("the first solution took %d plans, one of more steps %d, want none", first, later)
	}
}

func TestODEMisuse(t *testing.T) {
	type none struct{}
	ode := func(f func(y tensor.Tensor) tensor.Tensor, y0 tensor.Tensor, ts []float64, o *solve.Options) func() {
		return func() {
			solve.ODE(func(_ none, _, y tensor.Tensor) tensor.Tensor { return f(y) }, none{}, y0, ts, o)
		}
	}
	same := func(y tensor.Tensor) tensor.Tensor { return y }
	one, ts := f64(1), []float64{0, 1}
	for _, c := range []struct {
		f    func()
		want string
	}{
		{ode(same, one, nil, nil), "solve.ODE: there are no times: want that of the start, and those of the results"},
		{ode(same, one, []float64{0, 2, 1}, nil), "solve.ODE: the times [0 2 1] do not all ascend or all descend"},
		{ode(same, one, []float64{0, math.NaN()}, nil), "solve.ODE: time 1 is NaN"},
		{ode(same, tensor.New([]int32{1}), ts, nil), "solve.ODE: the state has no floating-point tensor"},
		{ode(same, one, ts, &solve.Options{RTol: -1}), "solve.ODE: RTol -1, ATol 1e-07 and MaxSteps 100000: want positive ones, or 0 for the default"},
		{ode(func(y tensor.Tensor) tensor.Tensor { return y.Sum() }, one, ts, nil), "the derivative of a tensor of float64 [1] is float64 []: want the same type and shape"},
		{ode(func(y tensor.Tensor) tensor.Tensor { return tensor.Tensor{} }, one, ts, nil), "the derivative has 0 floating-point tensors, the state 1: want one for each"},
		{ode(same, one, ts, &solve.Options{MaxSteps: 2}), "the equation may be stiff, or its solution have a pole; MaxSteps allows more"},
		{ode(func(y tensor.Tensor) tensor.Tensor { return y.Square() }, one, []float64{0, 2}, nil), "the solution has a pole there, or its values are not finite"},
		{ode(func(y tensor.Tensor) tensor.Tensor { return y.Mul(math.NaN()) }, one, ts, nil), "the solution has a pole there, or its values are not finite"},
		{func() { solve.RK4(func(_, y tensor.Tensor) tensor.Tensor { return y }, one, ts, 0) }, "solve.RK4: 0 steps between two times, want at least 1"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.HasPrefix(err.Error(), "ode_test.go:") || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("error %v, want ode_test.go:N: …%s", err, c.want)
		}
	}
}
