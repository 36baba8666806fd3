package solve

import "github.com/tensorken/tensorken/tensor"

// A tableau is an explicit Runge–Kutta method: stage i is f at t + c[i]·h and
// y + h·Σ a[i][j]·stage j, and the step is y + h·Σ b[j]·stage j.
type tableau struct {
	a    [][]float64
	b, c []float64
}

var (
	euler = tableau{a: [][]float64{{}}, b: []float64{1}, c: []float64{0}}
	rk4   = tableau{
		a: [][]float64{{}, {1. / 2}, {0, 1. / 2}, {0, 0, 1}},
		b: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
		c: []float64{0, 1. / 2, 1. / 2, 1},
	}
)

// A field is the right-hand side of dy/dt = f(t, y), of the tensors of a tree.
type field func(t float64, y []tensor.Tensor) []tensor.Tensor

// stages returns the stages of a step, of which the first are given.
func (m *tableau) stages(f field, t, h float64, y []tensor.Tensor, first ...[]tensor.Tensor) [][]tensor.Tensor {
	k := first
	for i := len(k); i < len(m.a); i++ {
		k = append(k, f(t+m.c[i]*h, combine(y, h, m.a[i], k)))
	}
	return k
}

// combine returns y + h·Σ w[j]·k[j].
func combine(y []tensor.Tensor, h float64, w []float64, k [][]tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(y))
	for i, x := range y {
		for j, weight := range w {
			if weight != 0 {
				x = x.Add(k[j][i].Mul(h * weight))
			}
		}
		out[i] = x
	}
	return out
}

// Euler is [RK4] by Euler's method, whose error falls as the length of a step.
func Euler[Y any](f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	return fixed("Euler", &euler, f, y0, ts, steps)
}

// RK4 returns the solution of dy/dt = f(t, y) at the times ts, of which the first is that
// of y0, by the classical Runge–Kutta method in the given number of equal steps between
// two times. Its error falls as the fourth power of the length of a step. The times ascend
// or descend; t has shape []; f returns a tree like y, whose other tensors and numbers are
// those of y0.
//
// All steps are in one plan, which takes longer to compile the more there are; [ODE]
// compiles one step. A step has four calls of f.
//
// Source: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", 1993,
// section II.1.
func RK4[Y any](f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	return fixed("RK4", &rk4, f, y0, ts, steps)
}

func fixed[Y any](op string, m *tableau, f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	checkTimes(op, ts)
	if steps < 1 {
		misuse(op, "%d steps between two times, want at least 1", steps)
	}
	y, back := stateOf(op, y0)
	g := func(t float64, y []tensor.Tensor) []tensor.Tensor {
		return derivatives(op, f(tensor.Scalar(t), back(y)), y)
	}
	out := []Y{back(y)}
	for i := 1; i < len(ts); i++ {
		h := (ts[i] - ts[i-1]) / float64(steps)
		for k := range steps {
			t := ts[i-1] + float64(k)*h
			y = combine(y, h, m.b, m.stages(g, t, h, y))
		}
		out = append(out, back(y))
	}
	return out
}
