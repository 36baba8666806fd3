package solve

import (
	"cmp"
	"math"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

// FitOptions are the settings of [LevenbergMarquardt] and [GaussNewton].
type FitOptions struct {
	MaxIter int // 0 is 100
	// Tol ends a fit: the relative change of the sum of squares, or of the parameters,
	// that is taken for none. 0 is 1e-12 for float64 and 1e-6 for other types.
	Tol float64
}

// A Fit says how a fit ended.
type Fit struct {
	SumSquares float64 // of the residuals
	Iterations int     // how often the Jacobian was computed
	Converged  bool    // by Tol, rather than MaxIter
}

// LevenbergMarquardt returns the parameters p for which the sum of the squares of the
// residuals is least, near the given ones. Residuals are a tensor of any shape; p is a
// tree, whose floating-point tensors are fitted. A nil o is the defaults.
//
// Each iteration solves a linear problem with the Jacobian J, min ‖J·δ + r‖² + λ·‖D·δ‖²
// where D are the norms of the columns of J, and reads the new sum of squares, so the
// device waits for the host; linear algebra is computed there. λ is divided by 10 where
// the sum fell, and multiplied by 10 where it did not, where p stays. It fails if the
// residuals at the start are not finite. Beside an error it returns the best parameters that it
// found, at least the given ones.
//
// Source: Marquardt, "An Algorithm for Least-Squares Estimation of Nonlinear Parameters",
// 1963; Moré, "The Levenberg-Marquardt Algorithm", 1978.
func LevenbergMarquardt[P any](residuals func(P) tensor.Tensor, p P, o *FitOptions) (P, Fit, error) {
	return fit("LevenbergMarquardt", residuals, p, o, 1e-3)
}

// GaussNewton is [LevenbergMarquardt] without λ: a step that does not lower the sum of
// squares is halved instead. It takes fewer iterations where the residuals are nearly
// linear or small, and may fail to converge elsewhere. If the linear problem has several
// solutions, it takes the shortest step.
func GaussNewton[P any](residuals func(P) tensor.Tensor, p P, o *FitOptions) (P, Fit, error) {
	return fit("GaussNewton", residuals, p, o, 0)
}

func fit[P any](op string, residuals func(P) tensor.Tensor, p P, o *FitOptions, lambda float64) (fitted P, report Fit, err error) {
	defer tensor.Catch(&err)
	fitted = p
	checkFunc(op, residuals == nil)
	settings := FitOptions{}
	if o != nil {
		settings = *o
	}
	checkSetting(op, "MaxIter", float64(settings.MaxIter))
	checkSetting(op, "Tol", settings.Tol)
	leaves, back := leavesOf(op, p)
	if leaves == nil {
		misuse(op, "the parameters have no floating-point tensor")
	}
	if slices.ContainsFunc(leaves, isUntyped) { // such as tensor.Scalar(1)
		leaves = typed(leaves, func(p []tensor.Tensor) []tensor.Tensor {
			return slices.Repeat([]tensor.Tensor{residuals(back(p))}, len(p))
		})
	}
	f := func(x tensor.Tensor) tensor.Tensor { return residuals(back(split(x, leaves))).Reshape(-1) }
	x := joined(leaves)
	tol := settings.Tol
	if tol == 0 {
		tol = 1e-6
		if x.DType() == tensor.Float64 {
			tol = 1e-12
		}
	}
	norm := func(r tensor.Tensor) tensor.Tensor { return r.NormP(2) } // whose squares may leave the type's range
	now := read(op, []tensor.Tensor{norm(f(x))}, x)[0]
	report.SumSquares = now * now
	if math.IsNaN(now) || math.IsInf(now, 0) {
		misuse(op, "the sum of the squares of the residuals is %v at the start", report.SumSquares)
	}
	for !report.Converged && report.Iterations < cmp.Or(settings.MaxIter, 100) {
		report.Iterations++
		r, j := f(x), jacobian(f, x)
		part, done := 1.0, false // of the step
		for !done {
			step := linear(j, r, lambda)
			next := x.Add(step.Mul(part))
			of := read(op, []tensor.Tensor{norm(f(next)), norm(step.Mul(part)), norm(x)}, next, r, j)
			small := of[1] <= tol*of[2]
			better := of[0] <= now // false for NaN
			left := of[0] / max(now, math.SmallestNonzeroFloat64)
			report.Converged = small || better && 1-left*left <= tol || now == 0
			switch {
			case better:
				x, now, lambda, done = next, of[0], lambda/10, true
				fitted, report.SumSquares = back(split(x, leaves)), now*now
			case lambda == 0:
				part, done = part/2, small
			default:
				lambda, done = lambda*10, small
			}
		}
	}
	return fitted, report, tensor.Eval(fitted)
}

// jacobian returns the derivatives of f, of shape [residuals parameters], by the mode
// that needs fewer passes.
func jacobian(f func(tensor.Tensor) tensor.Tensor, x tensor.Tensor) tensor.Tensor {
	if f(x).Len() < x.Len() {
		return grad.JacRev(f)(x)
	}
	return grad.JacFwd(f)(x)
}

// linear returns the step that is least for ‖J·δ + r‖² + λ·‖D·δ‖².
func linear(j, r tensor.Tensor, lambda float64) tensor.Tensor {
	b := r.Neg()
	if lambda > 0 {
		norms := j.NormP(2, 0)
		norms = tensor.Where(norms.Eq(0), 1, norms) // a parameter that changes nothing stays
		n := j.Dim(1)
		damping := tensor.Eye(n).Cast(j.DType()).Mul(norms).Mul(math.Sqrt(lambda))
		j = tensor.Cat(0, j, damping)
		b = tensor.Cat(0, b, tensor.ZerosOf(b.DType(), n))
	}
	return linalg.LstSq(j, b.Reshape(-1, 1)).Reshape(-1)
}

// joined returns the elements of tensors as one vector, in the type of the widest.
func joined(ts []tensor.Tensor) tensor.Tensor {
	d := tensor.Float32
	for _, t := range ts {
		if t.DType() == tensor.Float64 {
			d = tensor.Float64
		}
	}
	flat := make([]tensor.Tensor, len(ts))
	for i, t := range ts {
		flat[i] = t.Reshape(-1).Cast(d)
	}
	return tensor.Cat(0, flat...)
}

// split returns the elements of a vector as tensors like those that it joins.
func split(x tensor.Tensor, like []tensor.Tensor) []tensor.Tensor {
	out, from := make([]tensor.Tensor, len(like)), 0
	for i, t := range like {
		out[i] = x.Slice(0, from, from+t.Len()).Reshape(t.Shape()...).Cast(t.DType())
		from += t.Len()
	}
	return out
}
