package nn_test

import (
	"fmt"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// The focal loss counts examples that are nearly right far less than the cross-entropy does.
func ExampleFocalOptions() {
	logits, target := tensor.New([]float32{-2, 0, 2}), tensor.New([]float32{1, 1, 1})
	fmt.Printf("%.3f\n", nn.BCE(logits.Sigmoid(), target))
	fmt.Printf("%.3f\n", nn.Focal(logits, target, &nn.FocalOptions{Gamma: 2, Alpha: 0.25}))
	// Output:
	// [2.127 0.693 0.127]
	// [0.413 0.043 0.000]
}

// Labels of -100 do not count; the weights say how much each example counts.
func ExampleCrossEntropyOptions() {
	logits, labels := tensor.Zeros(3, 2), tensor.New([]int32{0, 1, -100})
	loss, weight := nn.CrossEntropyWith(logits, labels, &nn.CrossEntropyOptions{Ignore: []int{-100}, Smoothing: 0.1})
	fmt.Printf("%.3f %v\n", loss, weight)
	fmt.Printf("%.3f\n", loss.Sum().Div(weight.Sum()))
	// Output:
	// [0.693 0.693 0.000] [1 1 0]
	// 0.693
}

// A square near 0 and a line beyond.
func ExampleSmoothL1() {
	fmt.Println(nn.SmoothL1(tensor.New([]float32{0, 1, 4}), tensor.Zeros(3), 2))
	// Output: [0.00 0.25 3.00]
}
