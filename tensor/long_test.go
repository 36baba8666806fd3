package tensor_test

import (
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// Operations on axes of more than 2³¹-1 elements are right or refused.
func TestLongAxes(t *testing.T) {
	const n = 3_000_000_000
	long := tensor.New([]float32{1}).Expand(n) // uses the memory of one element
	for _, index := range []tensor.Tensor{
		tensor.New([]int32{-1}), tensor.New([]int64{-1}), tensor.New([]int64{n - 1}), tensor.New([]uint32{n - 1}),
	} {
		if got := long.Take(0, index).Item(); got != 1 {
			t.Errorf("Take at %v: %v, want 1", index, got)
		}
		if got := long.TakeAlong(0, index).Item(); got != 1 {
			t.Errorf("TakeAlong at %v: %v, want 1", index, got)
		}
	}
	if err := tensor.Eval(long.Take(0, tensor.New([]int64{n}))); err == nil {
		t.Error("an index past the end of a long axis is no error")
	}
	if got := tensor.Ones(n).Slice(0, 0, 1<<31-1).Len(); got != 1<<31-1 {
		t.Errorf("a slice of a long axis has %d elements, want %d", got, 1<<31-1)
	}
	if got := tensor.Ones(n).Slice(0, 5, tensor.End).Len(); got != n-5 {
		t.Errorf("a slice to the end of a long axis has %d elements, want %d", got, n-5)
	}
	if got := tensor.Ones(1, 1<<31-1).Tril(0).Slice(1, -3, tensor.End).Sum().Item(); got != 0 {
		t.Errorf("the end of a row of 2³¹-1 below the diagonal sums to %v, want 0", got)
	}
	for name, f := range map[string]func(){
		"ArgMax":       func() { long.ArgMax(0) },
		"ArgMin":       func() { long.ArgMin(0) },
		"Tril":         func() { tensor.Ones(1, n).Tril(0) },
		"Triu":         func() { tensor.Ones(n, 1).Triu(0) },
		"Tril far out": func() { tensor.Ones(1<<31-1, 2).Tril(1) },
		"OneHot":       func() { tensor.New([]int32{1}).OneHot(n) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s of a long axis is no error", name)
		}
	}
}
