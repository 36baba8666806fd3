package tree_test

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

type layer struct{ Weight, Bias tensor.Tensor }

// Cast, To and Size work on all tensors of a model at once.
func ExampleCast() {
	m := layer{tensor.Ones(2, 3), tensor.Zeros(2)}
	half := tree.To(tree.Cast(m, tensor.Float16), tensor.CPU())
	fmt.Println(half.Weight.DType(), half.Bias.Device(), tree.Size(half))
	// Output: float16 cpu 8
}

// A copy stays when the model's tensors are donated to a computation.
func ExampleCopy() {
	m := layer{tensor.New([]float32{1, 2}), tensor.Scalar(3)}
	best := tree.Copy(m)
	tree.Donate(m)
	next := tree.Map(m, func(_ string, t tensor.Tensor) tensor.Tensor { return t.Mul(10) })
	fmt.Println(next.Weight, best.Weight)
	// Output: [10 20] [1 2]
}
