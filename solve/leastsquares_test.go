package solve_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/solve"
	"github.com/tensorken/tensorken/tensor"
)

type fitter[P any] func(func(P) tensor.Tensor, P, *solve.FitOptions) (P, solve.Fit, error)

// A curve is a·e^(-b·t) + c.
type curve struct{ A, B, C tensor.Tensor }

func (c curve) at(t tensor.Tensor) tensor.Tensor { return t.Mul(c.B.Neg()).Exp().Mul(c.A).Add(c.C) }

func newCurve(d tensor.DType, a, b, c float64) curve {
	get := func(x float64) tensor.Tensor { return tensor.Scalar(x).Cast(d) }
	return curve{get(a), get(b), get(c)}
}

// Data without noise is fitted exactly, in both types.
func TestFitCurve(t *testing.T) {
	for name, method := range map[string]fitter[curve]{"LM": solve.LevenbergMarquardt[curve], "GN": solve.GaussNewton[curve]} {
		for d, tol := range map[tensor.DType]float64{tensor.Float64: 1e-9, tensor.Float32: 1e-4} {
			x := tensor.Linspace(0, 4, 31).Cast(d)
			y := newCurve(d, 2, 0.8, -0.5).at(x)
			got, report, err := method(func(c curve) tensor.Tensor { return c.at(x).Sub(y) }, newCurve(d, 1, 0.3, 0), nil)
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range []tensor.Tensor{got.A, got.B, got.C} {
				if want := []float64{2, 0.8, -0.5}[i]; math.Abs(c.Item()-want) > tol || c.DType() != d {
					t.Errorf("%s in %v: parameter %d is %v %v, want %v", name, d, i, c.DType(), c, want)
				}
			}
			if !report.Converged || report.Iterations > 15 {
				t.Errorf("%s in %v ended with %+v", name, d, report)
			}
		}
	}
}

// A fit does not depend on the scale of residuals or parameters.
func TestFitAtAllScales(t *testing.T) {
	x := tensor.Linspace(0, 4, 31)
	for name, method := range map[string]fitter[tensor.Tensor]{"LM": solve.LevenbergMarquardt[tensor.Tensor], "GN": solve.GaussNewton[tensor.Tensor]} {
		for _, scale := range []float64{1e-30, 1e-20, 1, 1e15, 1e25} {
			for _, unit := range []float64{1e-20, 1, 1e15} {
				if slope := scale / unit; slope < 1e-35 || slope > 1e35 {
					continue // no float32 has the Jacobian
				}
				residuals := func(p tensor.Tensor) tensor.Tensor {
					p = p.Div(unit)
					return x.Mul(p.At(1)).Exp().Mul(p.At(0)).Sub(x.Mul(0.3).Exp().Mul(2)).Mul(scale)
				}
				got, report, err := method(residuals, tensor.New([]float64{1, 0.1}).Mul(unit).Cast(tensor.Float32), nil)
				if err != nil {
					t.Fatalf("%s at scale %v: %v", name, scale, err)
				}
				if a, b := got.At(0).Item()/unit, got.At(1).Item()/unit; !(math.Abs(a-2) < 1e-3) || !(math.Abs(b-0.3) < 1e-3) {
					t.Errorf("%s at scale %v: %v and %v after %+v, want 2 and 0.3", name, scale, a, b, report)
				}
			}
		}
	}
}

// A linear problem takes one step, and has the solution of the normal equations.
func TestFitLinear(t *testing.T) {
	x := f64(0, 1, 2, 3)
	y := f64(1, 3, 2, 5)
	residuals := func(p tensor.Tensor) tensor.Tensor { return x.Mul(p.At(1)).Add(p.At(0)).Sub(y) }
	got, report, err := solve.GaussNewton(residuals, f64(0, 0), nil)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got.At(0).Item(), got.At(1).Item(); math.Abs(a-1.1) > 1e-12 || math.Abs(b-1.1) > 1e-12 {
		t.Errorf("the line is %v + %v·x, want 1.1 + 1.1·x", a, b)
	}
	if report.Iterations != 2 || math.Abs(report.SumSquares-2.7) > 1e-12 {
		t.Errorf("it ended with %+v, want 2 iterations, of which the second finds the first was the last, and 2.7", report)
	}
}

// Rosenbrock's valley needs damping, or halved steps; Powell's singular function has a
// Jacobian without full rank at its solution; a parameter may be of no influence; there
// may be more parameters than residuals.
func TestFitHard(t *testing.T) {
	for _, c := range []struct {
		name      string
		residuals func(tensor.Tensor) tensor.Tensor
		start     tensor.Tensor
		want      []float64
		tol       float64
	}{
		{"Rosenbrock", func(p tensor.Tensor) tensor.Tensor {
			x, y := p.At(0), p.At(1)
			return tensor.Stack(0, y.Sub(x.Square()).Mul(10), x.Neg().Add(1))
		}, f64(-1.2, 1), []float64{1, 1}, 1e-8},
		{"Powell", func(p tensor.Tensor) tensor.Tensor {
			x := []tensor.Tensor{p.At(0), p.At(1), p.At(2), p.At(3)}
			return tensor.Stack(0, x[0].Add(x[1].Mul(10)), x[2].Sub(x[3]).Mul(math.Sqrt(5)),
				x[1].Sub(x[2].Mul(2)).Square(), x[0].Sub(x[3]).Square().Mul(math.Sqrt(10)))
		}, f64(3, -1, 0, 1), []float64{0, 0, 0, 0}, 1e-2},
		{"no influence", func(p tensor.Tensor) tensor.Tensor { return p.Mul(f64(1, 0)).Sub(f64(3, 0)) },
			f64(0, 7), []float64{3, 7}, 1e-8},
		{"more parameters", func(p tensor.Tensor) tensor.Tensor { return p.Sum().Sub(6).Reshape(1) },
			f64(0, 0, 0), []float64{2, 2, 2}, 1e-6},
	} {
		for name, method := range map[string]fitter[tensor.Tensor]{"LM": solve.LevenbergMarquardt[tensor.Tensor], "GN": solve.GaussNewton[tensor.Tensor]} {
			got, report, err := method(c.residuals, c.start, nil)
			if err != nil {
				t.Errorf("%s by %s: %v", c.name, name, err)
				continue
			}
			if off := got.Sub(tensor.New(c.want)).Abs().Max().Item(); !(off <= c.tol) || !report.Converged {
				t.Errorf("%s by %s is least at %v, want %v: %+v", c.name, name, got, c.want, report)
			}
		}
	}
}

// Where the residuals are not numbers, the step is shorter.
func TestFitOutside(t *testing.T) {
	for name, method := range map[string]fitter[tensor.Tensor]{"LM": solve.LevenbergMarquardt[tensor.Tensor], "GN": solve.GaussNewton[tensor.Tensor]} {
		got, _, err := method(func(x tensor.Tensor) tensor.Tensor { return x.Log() }, f64(20), nil)
		if err != nil || math.Abs(got.Item()-1) > 1e-9 {
			t.Errorf("%s: log x is 0 at %v (%v), want 1", name, got, err)
		}
	}
}

func TestFitMisuse(t *testing.T) {
	for _, c := range []struct {
		start     tensor.Tensor
		residuals func(tensor.Tensor) tensor.Tensor
		want      string
	}{
		{tensor.New([]int32{1}), tensor.Tensor.Neg, "solve.LevenbergMarquardt: the parameters have no floating-point tensor"},
		{f64(-1), tensor.Tensor.Log, "solve.LevenbergMarquardt: the sum of the squares of the residuals is NaN at the start"},
		{f64(1, 2), func(x tensor.Tensor) tensor.Tensor { return x.MatMul(x.Reshape(1, 2)) }, "MatMul of"},
	} {
		_, _, err := solve.LevenbergMarquardt(c.residuals, c.start, nil)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want …%s…", err, c.want)
		}
	}
	_, report, err := solve.LevenbergMarquardt(func(p tensor.Tensor) tensor.Tensor { return p.Square() }, f64(1), &solve.FitOptions{MaxIter: 3})
	if err != nil || report.Converged || report.Iterations != 3 {
		t.Errorf("a fit of at most 3 iterations ended with %+v, %v", report, err)
	}
}
