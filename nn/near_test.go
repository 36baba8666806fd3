package nn_test

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// near fails unless got is want to a relative and absolute tolerance.
func near(t *testing.T, call string, got, want tensor.Tensor, tol float64) {
	t.Helper()
	if !slices.Equal(got.Shape(), want.Shape()) || got.DType() != want.DType() {
		t.Errorf("%s is %v %v, want %v %v", call, got.DType(), got.Shape(), want.DType(), want.Shape())
		return
	}
	if ok, err := tensor.AllClose(got, want, tol, tol); err != nil || !ok {
		t.Errorf("%s =\n%.5f\nwant\n%.5f (%v)", call, got, want, err)
	}
}

// numbers returns the elements of a tensor of floats.
func numbers(t *testing.T, x tensor.Tensor) []float64 {
	t.Helper()
	v, err := tensor.Data[float64](x.Cast(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return v
}
