package train_test

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

var (
	predicted = tensor.New([]int32{0, 1, 1, 2, 2, 2}).OneHot(3).Cast(tensor.Float32) // scores
	classes   = tensor.New([]int32{0, 1, 0, 2, 2, 1})
)

// F1 is the mean over classes of the harmonic mean of precision and recall.
func ExampleF1() {
	fmt.Printf("%.3f %.3f\n", train.Precision(predicted, classes), train.Recall(predicted, classes))
	fmt.Printf("%.3f %.3f\n", train.F1(predicted, classes), train.F1Micro(predicted, classes))
	// Output:
	// 0.722 0.667
	// 0.656 0.667
}

// The area under the curve is the share of pairs of a positive and a negative in the right order.
func ExampleAUC() {
	scores := tensor.New([]float32{0.9, 0.4, 0.6, 0.1})
	fmt.Println(train.AUC(scores, tensor.New([]bool{true, true, false, false})))
	// Output: 0.75
}

func ExampleTopK() {
	scores := tensor.From([][]float32{{1, 3, 2}, {3, 1, 2}})
	target := tensor.New([]int32{2, 1})
	fmt.Println(train.TopK(scores, target, 1), train.TopK(scores, target, 2))
	// Output: 0 0.5
}

func ExampleR2() {
	target := tensor.New([]float32{1, 2, 3, 4})
	pred := target.Add(0.5)
	fmt.Println(train.MAE(pred, target), train.R2(pred, target))
	// Output: 0.5 0.8
}

// A model that knows nothing about four tokens has a perplexity of four.
func ExamplePerplexity() {
	fmt.Printf("%.2f\n", train.Perplexity(tensor.Zeros(5, 4), tensor.New([]int32{0, 1, 2, 3, 0})))
	// Output: 4.00
}

// Metrics are the results of Loop.Validate, by name.
func ExampleMetrics() {
	validate := func(pred tensor.Tensor) (m train.Metrics, err error) {
		defer tensor.Catch(&err)
		return train.Metrics{"accuracy": train.Accuracy(pred, classes).Item(), "f1": train.F1(pred, classes).Item()}, nil
	}
	m, err := validate(predicted)
	fmt.Printf("%.2f %.2f %v\n", m["accuracy"], m["f1"], err)
	// Output: 0.67 0.66 <nil>
}

// A NaN says which operation made it, at which element and from which operands.
func ExampleNaN() {
	x := tensor.New([]float32{1, 0})
	var found *train.NaN
	found, err := train.FindNaN(func() any { return x.Div(x) })
	fmt.Println(found.Value, found.Op, found.Index, found.Operands, found.Backward, err)
	// Output: NaN Div [1] [0 0] false <nil>
}
