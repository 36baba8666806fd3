package tensor_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Indices may be int64, and views of such.
func TestIndicesOfInt64(t *testing.T) {
	x := iota(3, 4)
	ids := tensor.New([]int{2, 0, -1, 1}, 2, 2)
	labels := tensor.New([]int64{3, 0, 1})
	run(t, []check{
		of("Take", x.Take(0, ids.At(0)), []int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3),
		of("Take of a view", x.Take(1, ids.Slice(1, 1, 2).Flip(0)), []int{3, 2, 1}, 1, 0, 5, 4, 9, 8),
		of("TakeAlong", x.TakeAlong(1, labels.Unsqueeze(1)), []int{3, 1}, 3, 4, 9),
		of("ScatterAdd", tensor.Zeros(4).ScatterAdd(0, labels, floats(1, 2, 3)), []int{4}, 2, 3, 0, 1),
		of("Put", tensor.Zeros(4).Put(0, labels, floats(1, 2, 3)), []int{4}, 2, 3, 0, 1),
		of("Embedding", nn.Embedding{Weight: x}.Apply(ids.At(0)), []int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3),
		of("CrossEntropy", nn.CrossEntropy(x.Mul(0), labels).Sub(tensor.Scalar(4).Log()), []int{3}, 0, 0, 0),
		{"OneHot", labels.OneHot(4).Sum(1), tensor.Int64, []int{3, 1}, []float64{1, 1, 1}},
	})
	ignoring, _ := nn.CrossEntropyWith(x.Mul(0), tensor.New([]int{-100, 1, 2}), &nn.CrossEntropyOptions{Ignore: []int{-100}})
	run(t, []check{of("CrossEntropyWith", ignoring.Gt(0).Cast(tensor.Float32), []int{3}, 0, 1, 1)})
	for _, i := range []int64{3, 1 << 32, -1 << 32} {
		if err := tensor.Eval(x.Take(0, tensor.New([]int64{0, i}))); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("index %d at [1] is out of range", i)) {
			t.Errorf("an index of %d: %v", i, err)
		}
	}
}
