package grad_test

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func Example() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	df := grad.Of(f)
	ddf := grad.Of(func(x tensor.Tensor) tensor.Tensor { return df(x).Sum() })
	x := tensor.New([]float32{1, 2, 3})
	fmt.Println(f(x), df(x), ddf(x))
	// Output: 36 [3 12 27] [6 12 18]
}

// The argument may be any Go value made of tensors.
func ExampleOf() {
	type Line struct{ Slope, Offset tensor.Tensor }
	x := tensor.New([]float32{0, 1, 2})
	y := tensor.New([]float32{1, 3, 5})
	loss := func(l Line) tensor.Tensor {
		return l.Slope.Mul(x).Add(l.Offset).Sub(y).Square().Sum()
	}
	g := grad.Of(loss)(Line{Slope: tensor.Scalar(1), Offset: tensor.Scalar(0)})
	fmt.Println(g.Slope, g.Offset)
	// Output: -16 -12
}

func ExampleValueAndGrad() {
	square := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	value, g := grad.ValueAndGrad(square)(tensor.Scalar(3))
	fmt.Println(value, g)
	// Output: 9 6
}

func ExampleValueAndGradAux() {
	x := tensor.New([]float32{1, 2, 3})
	loss := func(w tensor.Tensor) (loss, prediction tensor.Tensor) {
		prediction = x.Mul(w)
		return prediction.Sub(1).Square().Mean(), prediction
	}
	value, prediction, g := grad.ValueAndGradAux(loss)(tensor.Scalar(2))
	fmt.Println(prediction)
	fmt.Printf("%.3f %.3f\n", value, g)
	// Output:
	// [2 4 6]
	// 11.667 14.667
}

func ExampleVJP() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x) }
	y, pullback := grad.VJP(f, tensor.New([]float32{1, 2, 3}))
	fmt.Println(y)
	fmt.Println(pullback(tensor.New([]float32{1, 0, 0})))
	fmt.Println(pullback(tensor.New([]float32{0, 10, 100})))
	// Output:
	// [1 4 9]
	// [2 0 0]
	// [0 40 600]
}
