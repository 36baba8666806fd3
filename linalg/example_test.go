package linalg_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/linalg"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	a := tensor.From([][]float64{{4, 1}, {1, 3}})
	b := tensor.New([]float64{1, 2})
	x := linalg.Solve(a, b)
	fmt.Println(a.MatMul(x))
	w, _ := linalg.Eigh(a)
	fmt.Println(w.Sum(), linalg.Det(a))
	// Output:
	// [1 2]
	// 7 11
}

// The gradient of the logarithm of a determinant is the inverse, transposed.
func ExampleSlogDet() {
	a := tensor.From([][]float64{{2, 0}, {1, 4}})
	gradient := grad.Of(func(a tensor.Tensor) tensor.Tensor {
		_, logAbs := linalg.SlogDet(a)
		return logAbs
	})(a)
	fmt.Println(gradient)
	// Output:
	// [[ 0.500 -0.125]
	//  [ 0.000  0.250]]
}

// A line through points by least squares.
func ExampleLstSq() {
	x := tensor.New([]float64{0, 1, 2, 3})
	y := tensor.New([]float64{1, 3, 5, 7})
	a := tensor.Stack(1, tensor.OnesLike(x), x)
	fmt.Println(linalg.LstSq(a, y).Mul(1000).Round().Div(1000))
	// Output: [1 2]
}
