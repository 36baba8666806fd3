package main

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
)

// tour prints the results of some operations. The last one fails and names its line.
func tour() {
	a, b := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.From([][]float32{{10}, {20}})
	rng := tensor.NewRNG(42)
	n := a.Dim(-1)
	fmt.Println(a.Add(b).Mul(2).Sub(rng.Normal(2, 3).Mul(0.1)), a.Div(n), a.Neg().Add(1)) // n is an int; 1-a
	fmt.Println(a.Gt(3), tensor.Where(a.Gt(3), a, 0), a.Clamp(2, 5), a.Cast(tensor.Int32))
	fmt.Println(a.Sum(), a.Mean(1), a.Div(a.Sum(1)), a.ArgMax(1)) // shapes [] [2 1] [2 3] [2]
	fmt.Println(a.Reshape(3, -1), a.T(), a.Flip(1), a.Pad(1, 0, 2), a.Slice(1, 0, -1), a.At(1), tensor.Cat(0, a, a))
	fmt.Println(a.Index(tensor.All, tensor.Span(0, tensor.End, 2)), a.MatMul(a.T()), tensor.Einsum("ij,kj->ik", a, a))
	xs, err := tensor.Data[float32](a.Exp())
	fmt.Printf("%v %v %.2f %+v\n", xs, err, a, a)
	fmt.Println(tensor.Try(func() { a.MatMul(a) })) // tour.go:21: MatMul of [2 3] and [2 3]: …
}
