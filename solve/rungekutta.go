package solve

import (
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

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

// stages returns the stages of a step; the first ones are given.
func (m *tableau) stages(f field, t, h float64, y []tensor.Tensor, first ...[]tensor.Tensor) [][]tensor.Tensor {
	return m.stagesAt(func(i int, y []tensor.Tensor) []tensor.Tensor { return f(t+m.c[i]*h, y) }, h, y, first...)
}

// stagesAt is stages where f knows the times. h is a number or a tensor.
func (m *tableau) stagesAt(f func(i int, y []tensor.Tensor) []tensor.Tensor, h any, y []tensor.Tensor, first ...[]tensor.Tensor) [][]tensor.Tensor {
	k := first
	for i := len(k); i < len(m.a); i++ {
		k = append(k, f(i, combine(y, h, m.a[i], k)))
	}
	return k
}

// combine returns y + h·Σ w[j]·k[j]. h is a number or a tensor.
func combine(y []tensor.Tensor, h any, w []float64, k [][]tensor.Tensor) []tensor.Tensor {
	out := make([]tensor.Tensor, len(y))
	for i, x := range y {
		for j, weight := range w {
			if weight != 0 {
				x = x.Add(k[j][i].Mul(scaled(h, weight)))
			}
		}
		out[i] = x
	}
	return out
}

func scaled(h any, by float64) any {
	if t, ok := h.(tensor.Tensor); ok {
		return t.Mul(by)
	}
	return h.(float64) * by
}

// Euler is [RK4] by Euler's method, whose error falls as the length of a step.
func Euler[Y any](f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	return fixed("Euler", &euler, f, y0, ts, steps)
}

// RK4 returns the solution of dy/dt = f(t, y) at the times ts, where y(ts[0]) = y0, by the
// classical Runge–Kutta method in the given number of equal steps between two times. Its
// error falls as the fourth power of the length of a step. The times ascend or descend; t
// has shape []; f returns a tree like y; integers, bools and numbers of y stay as in y0.
//
// The steps are a [grad.Scan], so f runs for one step, on a t and a y that have no value: it
// cannot branch on them, use [tensor.Where]. t has the type of y. The results of all steps are
// held, where there are more than two times. Where y has tensors of several types, all steps are in
// one plan instead, which takes longer to compile the more there are. A step has four calls of f.
// Constants of y0 without a type, such as tensor.Scalar(1), have the types of their derivatives, and
// their own where these have no type either.
//
// Source: Hairer, Nørsett, Wanner, "Solving Ordinary Differential Equations I", 1993,
// section II.1.
func RK4[Y any](f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	return fixed("RK4", &rk4, f, y0, ts, steps)
}

func fixed[Y any](op string, m *tableau, f func(t tensor.Tensor, y Y) Y, y0 Y, ts []float64, steps int) []Y {
	checkFunc(op, f == nil)
	checkTimes(op, ts)
	if steps < 1 {
		misuse(op, "%d steps between two times, want at least 1", steps)
	}
	y, back := stateOf(op, y0)
	y = typed(y, func(y []tensor.Tensor) []tensor.Tensor { return slopes(op, f(tensor.Scalar(ts[0]), back(y)), y) })
	for i, x := range y {
		y[i] = x.Cast(x.DType()) // has a type from here on, so that the steps can be a scan
	}
	at := func(t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor { return derivatives(op, f(t, back(y)), y) }
	out := []Y{back(y)}
	if len(ts) == 1 {
		return out
	}
	if d := y[0].DType(); !slices.ContainsFunc(y, func(t tensor.Tensor) bool { return t.DType() != d }) {
		last, all := m.scan(at, y, ts, steps)
		for i := 1; i < len(ts)-1; i++ {
			for k, s := range all {
				y[k] = s.At(i*steps - 1)
			}
			out = append(out, back(slices.Clone(y)))
		}
		return append(out, back(last))
	}
	g := func(t float64, y []tensor.Tensor) []tensor.Tensor { return at(tensor.Scalar(t), y) }
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

// scan makes all steps by one plan, for a state of one type. It returns y at the last time and,
// if there are more than two, after each step, along axis 0.
func (m *tableau) scan(f func(t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor, y []tensor.Tensor, ts []float64, steps int) (last, all []tensor.Tensor) {
	if err := hostmem.Check(steps, (len(ts)-1)*(1+len(m.c))*8); err != nil {
		panic(&tensor.DeviceError{Device: "host", Op: "the times of the steps", Err: err})
	}
	var stages, lengths []float64 // the times of the stages, the lengths of the steps
	for i := 1; i < len(ts); i++ {
		h := (ts[i] - ts[i-1]) / float64(steps)
		for k := range steps {
			for _, c := range m.c {
				stages = append(stages, ts[i-1]+float64(k)*h+c*h)
			}
			lengths = append(lengths, h)
		}
	}
	type step struct{ Times, Length tensor.Tensor }
	d := y[0].DType()
	xs := step{tensor.New(stages, len(lengths), len(m.c)).Cast(d), tensor.New(lengths).Cast(d)}
	return grad.Scan(func(y []tensor.Tensor, s step) (next, out []tensor.Tensor) {
		g := func(i int, y []tensor.Tensor) []tensor.Tensor { return f(s.Times.At(i), y) }
		next = combine(y, s.Length, m.b, m.stagesAt(g, s.Length, y))
		if len(ts) > 2 {
			out = next
		}
		return next, out
	}, y, xs, nil)
}
