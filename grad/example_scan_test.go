package grad_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// Interest on an account, and its derivative by the rate.
func ExampleScan() {
	account := func(rate tensor.Tensor) (last, all tensor.Tensor) {
		return grad.Scan(func(balance, deposit tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			balance = balance.Mul(rate.Add(1)).Add(deposit)
			return balance, balance
		}, tensor.New([]float64{0}), tensor.New([]float64{100, 100, 100}, 3, 1), nil)
	}
	rate := tensor.New([]float64{0.5})
	_, all := account(rate)
	fmt.Println(all.T())
	fmt.Println(grad.Of(func(rate tensor.Tensor) tensor.Tensor { last, _ := account(rate); return last.Sum() })(rate))
	// Output:
	// [[100 250 475]]
	// [400]
}

// Without inputs, Length is the number of steps: here of Newton's method for a square root.
func ExampleScanOptions() {
	root, _ := grad.Scan(func(x tensor.Tensor, _ struct{}) (tensor.Tensor, struct{}) {
		return x.Add(x.Reciprocal().Mul(2)).Div(2), struct{}{}
	}, tensor.New([]float64{1}), struct{}{}, &grad.ScanOptions{Length: 5})
	fmt.Printf("%.6f\n", root)
	// Output: [1.414214]
}

// The function runs twice, to record a plan, which later calls replay.
func ExampleJit() {
	runs := 0
	norm := grad.Jit(func(x tensor.Tensor) tensor.Tensor {
		runs++
		return x.Square().Sum().Sqrt()
	})
	for _, x := range [][]float32{{3, 4}, {6, 8}, {5, 12}} {
		fmt.Println(norm(tensor.New(x)))
	}
	fmt.Println(runs, "runs")
	// Output:
	// 5
	// 10
	// 13
	// 2 runs
}
