package solve

import (
	"fmt"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// stateOf is leavesOf of the state of an equation, which has at least one.
func stateOf[T any](op string, y T) (xs []tensor.Tensor, unflatten func([]tensor.Tensor) T) {
	xs, unflatten = leavesOf(op, y)
	if xs == nil {
		misuse(op, "the state has no floating-point tensor")
	}
	return xs, unflatten
}

// leavesOf returns the floating-point tensors of a tree, and the function that makes a
// tree like it of others in their place.
func leavesOf[T any](op string, v T) (xs []tensor.Tensor, unflatten func([]tensor.Tensor) T) {
	leaves, err := pytree.Flatten[tensor.Tensor](v)
	if err != nil {
		misuse(op, "%v", err)
	}
	isFloat := func(t tensor.Tensor) bool { return t.IsValid() && t.DType().IsFloat() }
	for _, l := range leaves {
		if isFloat(l.Value) {
			xs = append(xs, l.Value)
		}
	}
	return xs, func(xs []tensor.Tensor) T {
		out, next := make([]tensor.Tensor, len(leaves)), 0
		for i, l := range leaves {
			out[i] = l.Value
			if isFloat(l.Value) {
				out[i] = xs[next]
				next++
			}
		}
		t, err := pytree.Rebuild(v, out)
		if err != nil {
			misuse(op, "%v", err)
		}
		return t
	}
}

// slopes returns the floating-point tensors of a right-hand side's result, one for each of y.
func slopes[T any](op string, dy T, y []tensor.Tensor) []tensor.Tensor {
	xs, _ := leavesOf(op, dy)
	if len(xs) != len(y) {
		misuse(op, "the derivative has %d floating-point tensors, the state %d: want one for each", len(xs), len(y))
	}
	return xs
}

func isUntyped(t tensor.Tensor) bool { return tensor.Internal.Node(graph.Token{}, t).IsUntyped() }

// typed returns tensors whose constants without a type have the types of f's results, such as the
// derivatives of a state: of a tensor.Scalar and parameters in float64 the solution is in float64.
func typed(y []tensor.Tensor, f func(y []tensor.Tensor) []tensor.Tensor) []tensor.Tensor {
	y = slices.Clone(y)
	for again := slices.ContainsFunc(y, isUntyped); again; {
		again = false
		for i, dy := range f(y) {
			if isUntyped(y[i]) && !isUntyped(dy) {
				y[i], again = y[i].Cast(dy.DType()), true
			}
		}
	}
	return y
}

// derivatives returns the floating-point tensors of a right-hand side's result, which must
// have the shapes and types of y.
func derivatives[T any](op string, dy T, y []tensor.Tensor) []tensor.Tensor {
	xs := slopes(op, dy, y)
	for i, x := range xs {
		if x.DType() != y[i].DType() || !slices.Equal(x.Shape(), y[i].Shape()) {
			misuse(op, "the derivative of a tensor of %v %v is %v %v: want the same type and shape", y[i].DType(), y[i].Shape(), x.DType(), x.Shape())
		}
	}
	return xs
}

// read returns numbers that are computed together with other tensors.
func read(op string, numbers []tensor.Tensor, others ...any) []float64 {
	for _, t := range numbers {
		if of := tensor.Internal.InsideOf(graph.Token{}, t); of != "" {
			misuse(op, "it decides by numbers, which tensors inside of %s do not have: %s", of, insteadOf[op])
		}
	}
	if err := tensor.Eval(append(others, numbers)...); err != nil {
		panic(err)
	}
	out := make([]float64, len(numbers))
	for i, t := range numbers {
		out[i] = t.Item()
	}
	return out
}

// insteadOf says, by operation, how to do without numbers inside of a transformation.
var insteadOf = map[string]string{
	"ODE":                "use solve.RK4 there",
	"Dense":              "use solve.RK4 there",
	"LevenbergMarquardt": "fit outside of it",
	"GaussNewton":        "fit outside of it",
}

// misuse panics with a *tensor.Error of op.
func misuse(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "solve."+op, fmt.Sprintf(format, args...))
}

// checkSetting panics unless a setting is a finite number of at least 0, which is its default.
func checkSetting(op, name string, x float64) {
	if !(x >= 0) || math.IsInf(x, 1) {
		misuse(op, "%s is %v: want a number above 0, or 0 for the default", name, x)
	}
}

// checkFunc panics if the function is nil.
func checkFunc(op string, isNil bool) {
	if isNil {
		misuse(op, "the function is nil")
	}
}

// checkTimes panics unless the times are finite and in order, up or down.
func checkTimes(op string, ts []float64) {
	if len(ts) == 0 {
		misuse(op, "there are no times: want that of the start, and those of the results")
	}
	for i, t := range ts {
		if math.IsNaN(t) || math.IsInf(t, 0) {
			misuse(op, "time %d is %v", i, t)
		}
		if i > 0 && (t == ts[i-1] || (t > ts[i-1]) != (ts[1] > ts[0])) {
			misuse(op, "the times %v do not all ascend or all descend", ts)
		}
	}
}
