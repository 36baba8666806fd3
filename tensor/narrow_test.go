package tensor_test

import (
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A device without int64 takes indices of that type, and views of them.
func TestNarrow(t *testing.T) {
	gpu := tensor.NewDevice(gpuTypes{cpu.New(cpu.Options{})})
	defer gpu.Close()
	x := iota(3, 4).To(gpu)
	ids := tensor.New([]int{2, 0, -1, 1}, 2, 2)
	labels := tensor.New([]int64{3, 0, 1})
	back := func(x tensor.Tensor) tensor.Tensor { return x.To(tensor.CPU()) }
	run(t, []check{
		of("Take", back(x.Take(0, ids.At(0))), []int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3),
		of("Take of a view", back(x.Take(1, ids.Slice(1, 1, 2).Flip(0))), []int{3, 2, 1}, 1, 0, 5, 4, 9, 8),
		of("Take, moved", back(x.Take(0, ids.At(1, 0).To(gpu))), []int{4}, 8, 9, 10, 11),
		of("TakeAlong", back(x.TakeAlong(1, labels.Unsqueeze(1))), []int{3, 1}, 3, 4, 9),
		of("ScatterAdd", back(tensor.Zeros(4).To(gpu).ScatterAdd(0, labels, floats(1, 2, 3))), []int{4}, 2, 3, 0, 1),
		of("Put", back(tensor.Zeros(4).To(gpu).Put(0, labels, floats(1, 2, 3))), []int{4}, 2, 3, 0, 1),
		of("Embedding", back(nn.Embedding{Weight: x}.Apply(ids.At(0))), []int{2, 4}, 8, 9, 10, 11, 0, 1, 2, 3),
		of("CrossEntropy", back(nn.CrossEntropy(x.Mul(0), labels).Sub(tensor.Scalar(4).Log())), []int{3}, 0, 0, 0),
		{"OneHot", back(labels.To(gpu).OneHot(4).Sum(1)), tensor.Int32, []int{3, 1}, []float64{1, 1, 1}},
	})
	ignoring, _ := nn.CrossEntropyWith(x.Mul(0), tensor.New([]int{-100, 1, 2}), &nn.CrossEntropyOptions{Ignore: []int{-100}})
	run(t, []check{of("CrossEntropyWith", back(ignoring.Gt(0).Cast(tensor.Float32)), []int{3}, 0, 1, 1)})
	err := tensor.Try(func() { x.Take(0, tensor.New([]int64{0, 1 << 32})) })
	if err == nil || !strings.Contains(err.Error(), "index 4294967296, element 1 of the indices, is out of range") {
		t.Errorf("an index of 2^32: %v", err)
	}
	if err := tensor.Eval(x.Take(0, tensor.New([]int64{3}))); err == nil || !strings.Contains(err.Error(), "index 3 at [0] is out of range") {
		t.Errorf("an index of 3: %v", err)
	}
}
