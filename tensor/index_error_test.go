package tensor_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// An error for an index out of range names the call, its line, the index as it was
// given, in any type, and its position in the program's tensor of indices.
func TestBadIndexIsNamed(t *testing.T) {
	x := tensor.Arange(12).Reshape(3, 4)
	column := tensor.New([]int32{0, 1, 9, 0, 1, 2, 2, 7}, 4, 2)
	for _, c := range []struct {
		name string
		y    tensor.Tensor
		want string
	}{
		{"int32", x.Take(0, tensor.New([]int32{0, 3})), "Take: index 3 at [1] is out of range for an axis of length 3"},
		{"a negative one", x.Take(1, tensor.New([]int32{-4, -5})), "Take: index -5 at [1] is out of range for an axis of length 4"},
		{"uint32", x.Take(0, tensor.New([]uint32{math.MaxUint32})), "Take: index 4294967295 at [0] is out of range for an axis of length 3"},
		{"int64", x.Take(0, tensor.New([]int64{0, 1 << 32})), "Take: index 4294967296 at [1] is out of range for an axis of length 3"},
		{"the least int64", x.Take(0, tensor.New([]int64{math.MinInt64})), "Take: index -9223372036854775808 at [0] is out of range for an axis of length 3"},
		{"a matrix", x.Take(1, tensor.New([]int32{0, 1, 2, 3, 4, 0}, 2, 3)), "Take: index 4 at [1 1] is out of range for an axis of length 4"},
		{"a column", x.Take(0, column.Index(tensor.All, 0)), "Take: index 9 at [1] is out of range for an axis of length 3"},
		{"a column backwards", x.Take(0, column.Index(tensor.All, 1).Flip(0)), "Take: index 7 at [0] is out of range for an axis of length 3"},
		{"a transpose", x.Take(0, column.T()), "Take: index 9 at [0 1] is out of range for an axis of length 3"},
		{"a part", x.Take(0, column.Slice(0, 1, 3)), "Take: index 9 at [0 0] is out of range for an axis of length 3"},
		{"computed", x.Take(0, column.Add(1)), "Take: index 10 at [1 0] is out of range for an axis of length 3"},
		{"computed, then transposed", x.Take(0, column.Add(1).Mul(2).T()), "Take: index 20 at [0 1] is out of range for an axis of length 3"},
		{"computed, then backwards", x.Take(0, column.Cast(tensor.Int64).Flip(1)), "Take: index 9 at [1 1] is out of range for an axis of length 3"},
		{"padded and cut", x.Take(0, column.Pad(1, 1, 0).Slice(1, 0, 2)), "Take: index 9 at [1 1] is out of range for an axis of length 3"},
		{"a sum, transposed", x.Take(0, tensor.Stack(0, column, column).Sum(0).Squeeze(0).T()), "Take: index 18 at [0 1] is out of range for an axis of length 3"},
		{"a scalar", x.Take(0, tensor.New([]int32{5}).Reshape()), "Take: index 5 is out of range for an axis of length 3"},
		{"TakeAlong", x.TakeAlong(1, tensor.New([]int32{0, -9, 0}, 3, 1)), "TakeAlong: index -9 at [1 0] is out of range for an axis of length 4"},
		{"Index", x.Index(tensor.All, tensor.New([]int32{1, 4})), "Index: index 4 at [1] is out of range for an axis of length 4"},
		{"long rows", tensor.Zeros(3, 40).Take(0, tensor.New([]int32{0, 1, 2, 7, 0})), "Take: index 7 at [3] is out of range for an axis of length 3"},
		{"Index by two", x.Index(tensor.New([]int32{0, 3}), tensor.New([]int32{0, 0})), "Index: index 3 at [1] is out of range for an axis of length 3"},
		{"Index by two, in range if merged", x.Index(tensor.New([]int32{0, 1}), tensor.New([]int64{0, 5})), "Index: index 5 at [1] is out of range for an axis of length 4"},
		{"OIndex", x.OIndex(tensor.New([]int32{0, 1}), tensor.New([]int32{0, -5})), "OIndex: index -5 at [1] is out of range for an axis of length 4"},
		{"VIndex", x.VIndex(tensor.All, tensor.New([]uint32{4})), "VIndex: index 4 at [0] is out of range for an axis of length 4"},
		{"Set", x.Set(1, tensor.New([]int32{0, 3})), "Set: index 3 at [1] is out of range for an axis of length 3"},
		{"AddAt of two", x.AddAt(1, tensor.New([]int32{-4}), tensor.New([]int32{0})), "AddAt: index -4 at [0] is out of range for an axis of length 3"},
		{"GatherND", x.GatherND(tensor.New([]int32{0, 0, 2, 4}, 2, 2)), "GatherND: index 4 at [1] is out of range for an axis of length 4"},
		{"ScatterAdd", x.ScatterAdd(0, tensor.New([]int32{0, 3}, 2, 1), tensor.Ones(2, 4).Cast(tensor.Int32)), "ScatterAdd: index 3 at [1 0] is out of range for an axis of length 3"},
	} {
		err := tensor.Eval(c.y)
		var e *tensor.Error
		if !errors.As(err, &e) || e.Msg != c.want || !strings.HasPrefix(e.Pos, "index_error_test.go:") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.want)
		}
	}
}
