package solve

import (
	"slices"
	"sort"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// ODE returns the solution of dy/dt = f(p, t, y) at the times ts, where y(ts[0]) = y0. Its
// steps follow the method of Dormand and Prince, each as long as the tolerances in o allow,
// and it interpolates between them. The times ascend or descend, and t has shape []. f returns
// a tree like y. Only floating-point tensors are integrated; all other leaves keep their value
// in y0. A nil o means the defaults.
//
// Reverse mode differentiates the solution with respect to p and y0, to any order: it solves the adjoint
// equation backwards, within the same tolerances, in memory that does not grow with the
// number of steps. A tensor that f captures is a constant, so parameters belong in p.
//
// ODE computes at once, because the length of a step depends on the error of the one before.
// It therefore does not work in [grad.Vmap], [grad.Jit] or forward mode: use [RK4] there. It
// panics with a *tensor.Error if the solution has a pole or needs more than MaxSteps.
//
// Source: Chen et al., "Neural Ordinary Differential Equations", 2018.
func ODE[P, Y any](f func(p P, t tensor.Tensor, y Y) Y, p P, y0 Y, ts []float64, o *Options) []Y {
	const op = "ODE"
	checkFunc(op, f == nil)
	checkTimes(op, ts)
	params, unflattenP := leavesOf(op, p)
	y, unflattenY := stateOf(op, y0)
	y = typed(y, func(y []tensor.Tensor) []tensor.Tensor {
		return slopes(op, f(p, tensor.Scalar(ts[0]), unflattenY(y)), y)
	})
	rightSide := func(p []tensor.Tensor, t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor {
		return derivatives(op, f(unflattenP(p), t, unflattenY(y)), y)
	}
	var out []Y
	for _, y := range solveWithAdjoint(rightSide, problem{params, y}, ts, o) {
		out = append(out, unflattenY(y))
	}
	return out
}

// A problem has the parameters and the initial value of an equation.
type problem struct{ P, Y []tensor.Tensor }

// A system is the right-hand side of an equation with parameters.
type system func(p []tensor.Tensor, t tensor.Tensor, y []tensor.Tensor) []tensor.Tensor

// solveWithAdjoint returns y at each time. Reverse mode differentiates it by the adjoint method: the
// adjoint a(t) is the cotangent of y(t). It solves da/dt = -a·∂f/∂y, backwards from the last time;
// the cotangent of the parameters is the integral of a·∂f/∂p. Both are solved along with y, from
// each time to the one before.
func solveWithAdjoint(f system, initial problem, ts []float64, o *Options) [][]tensor.Tensor {
	// The custom call below takes and returns flat lists: y and then the parameters as
	// arguments, n tensors of y for each time as results.
	n := len(initial.Y)
	problemOf := func(args []tensor.Tensor) problem { return problem{args[n:], args[:n]} }
	perTime := func(list []tensor.Tensor) [][]tensor.Tensor { return slices.Collect(slices.Chunk(list, n)) }
	solution := func(args []tensor.Tensor) []tensor.Tensor {
		start := problemOf(args)
		rightSide := func(t float64, y []tensor.Tensor) []tensor.Tensor { return f(start.P, tensor.Scalar(t), y) }
		return slices.Concat(integrate("ODE", rightSide, start.Y, ts, o, nil)...)
	}
	forward := func(_, _, _ []tensor.Tensor) []tensor.Tensor {
		misuse("ODE", "it has no derivative in forward mode, which Hessian, JacFwd and fits of many residuals use: use solve.RK4, or reverse mode")
		return nil
	}
	reverse := func(args, outs, cts []tensor.Tensor) []tensor.Tensor {
		return pullBack(f, problemOf(args), perTime(outs), perTime(cts), ts, o)
	}
	return perTime(grad.Internal.Custom(graph.Token{}, "solve.ODE", solution, forward, reverse, slices.Concat(initial.Y, initial.P)...))
}

// pullBack returns the cotangents of a problem, of y0 and then of the parameters. ys is the
// solution, and cts has the cotangents of ys, where an absent one is zero.
func pullBack(f system, initial problem, ys, cts [][]tensor.Tensor, ts []float64, o *Options) []tensor.Tensor {
	n := len(initial.Y)
	// The state of the backward equation is y, its cotangent, and the parameters' cotangents.
	backward := func(p []tensor.Tensor, t tensor.Tensor, state []tensor.Tensor) []tensor.Tensor {
		dy, pull := grad.VJP(func(x problem) []tensor.Tensor { return f(x.P, t, x.Y) }, problem{p, state[:n]})
		ct := pull(state[n : 2*n])
		dstate := dy
		for _, x := range append(ct.Y, ct.P...) {
			dstate = append(dstate, x.Neg())
		}
		return dstate
	}
	total := make([]tensor.Tensor, n+len(initial.P)) // cotangents of y, then of the parameters
	for i, x := range slices.Concat(initial.Y, initial.P) {
		total[i] = tensor.ZerosLike(x)
	}
	for i := len(ts) - 1; i >= 0; i-- {
		for k, ct := range cts[i] {
			if ct.IsValid() {
				total[k] = total[k].Add(ct)
			}
		}
		if i > 0 {
			state := slices.Concat(ys[i], total)
			states := solveWithAdjoint(backward, problem{initial.P, state}, []float64{ts[i], ts[i-1]}, o)
			total = states[1][n:]
		}
	}
	return total
}

// A Solution is the solution of an equation at all times of an interval.
type Solution[Y any] struct {
	segments  []segment
	unflatten func([]tensor.Tensor) Y // makes a tree of the tensors of y
	from, to  float64
}

// Dense returns the solution of [ODE] at all times between from and to; to may be earlier than
// from. It holds nine states like y for each step. It has no derivative.
func Dense[P, Y any](f func(p P, t tensor.Tensor, y Y) Y, p P, y0 Y, from, to float64, o *Options) *Solution[Y] {
	const op = "Dense"
	checkFunc(op, f == nil)
	checkTimes(op, []float64{from, to})
	y, unflatten := stateOf(op, grad.StopGradient(y0))
	p = grad.StopGradient(p)
	y = typed(y, func(y []tensor.Tensor) []tensor.Tensor { return slopes(op, f(p, tensor.Scalar(from), unflatten(y)), y) })
	s := &Solution[Y]{unflatten: unflatten, from: from, to: to}
	rightSide := func(t float64, y []tensor.Tensor) []tensor.Tensor {
		return derivatives(op, f(p, tensor.Scalar(t), unflatten(y)), y)
	}
	integrate(op, rightSide, y, []float64{from, to}, o, func(next segment) { s.segments = append(s.segments, next) })
	return s
}

// At returns the solution at a time, by interpolation of order 4. It panics if the time is
// outside the interval.
func (s *Solution[Y]) At(t float64) Y {
	if len(s.segments) == 0 {
		misuse("Solution.At", "there is no solution: use solve.Dense")
	}
	forward := s.to > s.from
	if !(min(s.from, s.to) <= t && t <= max(s.from, s.to)) {
		misuse("Solution.At", "the time %v is not between %v and %v", t, s.from, s.to)
	}
	i := sort.Search(len(s.segments), func(i int) bool {
		end := s.segments[i].t + s.segments[i].h
		return forward && end >= t || !forward && end <= t
	})
	return s.unflatten(s.segments[min(i, len(s.segments)-1)].at(t))
}

// Steps returns the times at which the steps begin, and the end of the last step.
func (s *Solution[Y]) Steps() []float64 {
	ts := make([]float64, 0, len(s.segments)+1)
	for _, segment := range s.segments {
		ts = append(ts, segment.t)
	}
	return append(ts, s.to)
}
