package grad_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestNilFunctions gives nil for each function that the package takes.
func TestNilFunctions(t *testing.T) {
	type T = tensor.Tensor
	x := tensor.New([]float64{1})
	same := func(x T) T { return x }
	for name, call := range map[string]func(){
		"grad.Of":              func() { grad.Of[T](nil) },
		"grad.ValueAndGrad":    func() { grad.ValueAndGrad[T](nil) },
		"grad.ValueAndGradAux": func() { grad.ValueAndGradAux[T, int](nil) },
		"grad.VJP":             func() { grad.VJP[T, T](nil, x) },
		"grad.JVP":             func() { grad.JVP[T, T](nil, x, x) },
		"grad.Linearize":       func() { grad.Linearize[T, T](nil, x) },
		"grad.Diff":            func() { grad.Diff[T](nil) },
		"grad.HVP":             func() { grad.HVP(nil, x, x) },
		"grad.Hessian":         func() { grad.Hessian(nil) },
		"grad.JacFwd":          func() { grad.JacFwd[T](nil) },
		"grad.JacRev":          func() { grad.JacRev[T](nil) },
		"grad.Jit":             func() { grad.Jit[T, T](nil) },
		"grad.Checkpoint":      func() { grad.Checkpoint[T, T](nil) },
		"grad.Vmap":            func() { grad.Vmap[T, T](nil) },
		"grad.VmapAxes":        func() { grad.VmapAxes[T, T](nil, 0, 0) },
		"grad.Scan":            func() { grad.Scan[T, T, T](nil, x, x, nil) },
		"grad.Custom":          func() { grad.Custom(same, nil) },
		"grad.Custom, f":       func() { grad.Custom(nil, func(_, _, ct T) T { return ct }) },
		"grad.CustomJVP":       func() { grad.CustomJVP(same, nil) },
		"grad.CustomJVP, f":    func() { grad.CustomJVP(nil, func(x, v T) (T, T) { return x, v }) },
		"tree.Map":             func() { tree.Map(x, nil) },
		"tree.Zip":             func() { tree.Zip(x, x, nil) },
	} {
		err := tensor.Try(call)
		var e *tensor.Error
		op, _, _ := strings.Cut(name, ",")
		if !errors.As(err, &e) || !strings.HasPrefix(err.Error(), "nilfuncs_test.go:") || !strings.Contains(err.Error(), op) || !strings.Contains(err.Error(), "is nil") {
			t.Errorf("%s of nil: %v, want a *tensor.Error of this file that says so", name, err)
		}
	}
}
