package solve

import (
	"slices"
	"sort"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// ODE returns the solution of dy/dt = f(p, t, y) at the times ts, where y(ts[0]) = y0. It
// takes steps as long as the tolerances in o allow, by the method of Dormand and Prince,
// and interpolates between them. The times ascend or descend, and t has shape []. f returns
// a tree like y; integers, bools and numbers of y stay as in y0. A nil o is the defaults.
//
// Reverse mode differentiates the solution by p and y0, to any order: it solves the adjoint
// equation backwards, in memory that does not grow with the steps, as exactly as the
// tolerances say. A tensor that f captures is a constant, so parameters belong in p.
//
// ODE computes at once, reads the error of each step, and so is not for [grad.Vmap],
// [grad.Jit] or forward mode: there use [RK4]. It panics with a *tensor.Error if the
// solution has a pole or needs more than MaxSteps.
//
// Source: Chen et al., "Neural Ordinary Differential Equations", 2018.
func ODE[P, Y any](f func(p P, t tensor.Tensor, y Y) Y, p P, y0 Y, ts []float64, o *Options) []Y {
	const op = "ODE"
	checkFunc(op, f == nil)
	checkTimes(op, ts)
	params, backP := leavesOf(op, p)
	y, backY := stateOf(op, y0)
	g := func(p []tensor.Tensor, t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor {
		return derivatives(op, f(backP(p), t, backY(y)), y)
	}
	var out []Y
	for _, y := range adjoint(g, ts, o)(problem{params, y}) {
		out = append(out, backY(y))
	}
	return out
}

// A problem is the parameters and the first value of an equation.
type problem struct{ P, Y []tensor.Tensor }

// A system is the right-hand side of an equation with parameters.
type system func(p []tensor.Tensor, t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor

// adjoint returns the solution at the times as a function of a problem, with its
// derivative. Let a(t) be the cotangent of y(t). It solves da/dt = -a·∂f/∂y backwards from
// a(T); the cotangent of the parameters is the integral of a·∂f/∂p. Both are solved along
// with y, from each time to the one before.
func adjoint(f system, ts []float64, o *Options) func(problem) [][]tensor.Tensor {
	// The arguments are a problem's tensors, y first; the results are y at each time.
	problemOf := func(args []tensor.Tensor, n int) problem { return problem{args[n:], args[:n]} }
	return func(at problem) [][]tensor.Tensor {
		n := len(at.Y)
		solution := func(args []tensor.Tensor) []tensor.Tensor {
			at := problemOf(args, n)
			g := func(t float64, y []tensor.Tensor) []tensor.Tensor { return f(at.P, tensor.Scalar(t), y) }
			return slices.Concat(between("ODE", g, at.Y, ts, o, nil)...)
		}
		forward := func(_, _, _ []tensor.Tensor) []tensor.Tensor {
			misuse("ODE", "it has no derivative in forward mode, which Hessian, JacFwd and fits of many residuals use: use solve.RK4, or reverse mode")
			return nil
		}
		reverse := func(args, outs, cts []tensor.Tensor) []tensor.Tensor {
			return pullBack(f, problemOf(args, n), slices.Collect(slices.Chunk(outs, n)), slices.Collect(slices.Chunk(cts, n)), ts, o)
		}
		outs := grad.Internal.Custom(graph.Token{}, "solve.ODE", solution, forward, reverse, slices.Concat(at.Y, at.P)...)
		return slices.Collect(slices.Chunk(outs, n))
	}
}

// pullBack returns the cotangents of y and then of the parameters of a problem, given the
// cotangents of the solution. Absent ones are zero.
func pullBack(f system, at problem, ys, cts [][]tensor.Tensor, ts []float64, o *Options) []tensor.Tensor {
	n := len(at.Y)
	back := func(p []tensor.Tensor, t tensor.Tensor, s []tensor.Tensor) []tensor.Tensor {
		y, pull := grad.VJP(func(at problem) []tensor.Tensor { return f(at.P, t, at.Y) }, problem{p, s[:n]})
		d := pull(s[n : 2*n])
		for _, t := range append(d.Y, d.P...) {
			y = append(y, t.Neg())
		}
		return y
	}
	total := make([]tensor.Tensor, n+len(at.P)) // of y, then of the parameters
	for i, x := range slices.Concat(at.Y, at.P) {
		total[i] = tensor.ZerosLike(x)
	}
	for i := len(ts) - 1; i >= 0; i-- {
		for k, ct := range cts[i] {
			if ct.IsValid() {
				total[k] = total[k].Add(ct)
			}
		}
		if i > 0 {
			start := slices.Concat(ys[i], total)
			end := adjoint(back, []float64{ts[i], ts[i-1]}, o)(problem{at.P, start})
			total = end[1][n:]
		}
	}
	return total
}

// A Solution is the solution of an equation at all times between two.
type Solution[Y any] struct {
	segments []segment
	back     func([]tensor.Tensor) Y
	from, to float64
}

// Dense returns the solution of [ODE] at all times from one to another, which may be
// earlier. It holds nine states like y for each step. It has no derivative.
func Dense[P, Y any](f func(p P, t tensor.Tensor, y Y) Y, p P, y0 Y, from, to float64, o *Options) *Solution[Y] {
	const op = "Dense"
	checkFunc(op, f == nil)
	checkTimes(op, []float64{from, to})
	y, back := stateOf(op, grad.StopGradient(y0))
	p = grad.StopGradient(p)
	s := &Solution[Y]{back: back, from: from, to: to}
	g := func(t float64, y []tensor.Tensor) []tensor.Tensor {
		return derivatives(op, f(p, tensor.Scalar(t), back(y)), y)
	}
	between(op, g, y, []float64{from, to}, o, func(next segment) { s.segments = append(s.segments, next) })
	return s
}

// At returns the solution at a time, by interpolation of order 4. It panics if the time is
// outside.
func (s *Solution[Y]) At(t float64) Y {
	forth := s.to > s.from
	if !(min(s.from, s.to) <= t && t <= max(s.from, s.to)) {
		misuse("Solution.At", "the time %v is not between %v and %v", t, s.from, s.to)
	}
	i := sort.Search(len(s.segments), func(i int) bool {
		end := s.segments[i].t + s.segments[i].h
		return forth && end >= t || !forth && end <= t
	})
	return s.back(s.segments[min(i, len(s.segments)-1)].at(t))
}

// Steps returns the times at which the steps begin, and the end of the last.
func (s *Solution[Y]) Steps() []float64 {
	ts := make([]float64, 0, len(s.segments)+1)
	for _, x := range s.segments {
		ts = append(ts, x.t)
	}
	return append(ts, s.to)
}
