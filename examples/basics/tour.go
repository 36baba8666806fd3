package main

import (
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// section prints a heading.
func section(title string) { fmt.Printf("\n%s\n\n", title) }

// show prints an expression and, beside it, its value, whose rows are below each other.
func show(expr string, value any) {
	const width = 38
	text := strings.ReplaceAll(fmt.Sprint(value), "\n", "\n"+strings.Repeat(" ", width))
	fmt.Printf("%-*s%s\n", width, expr, text)
}

// tour prints the results of some operations. The last one fails and names its line.
func tour() {
	section("Tensors are made of Go's numbers")
	a, b := tensor.New([]float32{1, 2, 3, 4, 5, 6}, 2, 3), tensor.From([][]float32{{10}, {20}})
	show("a", a)
	show("b", b)
	show("a.Shape()", a.Shape())
	show("tensor.NewRNG(42).Normal(2, 3)", tensor.NewRNG(42).Normal(2, 3))

	section("Arithmetic broadcasts")
	show("a.Add(b)", a.Add(b))
	show("a.Mul(2).Sub(1)", a.Mul(2).Sub(1))
	show("a.Gt(3)", a.Gt(3))
	show("tensor.Where(a.Gt(3), a, 0)", tensor.Where(a.Gt(3), a, 0))

	section("A reduction keeps its axis, so that the result broadcasts")
	show("a.Sum()", a.Sum())
	show("a.Mean(1)", a.Mean(1))
	show("a.Div(a.Sum(1))", a.Div(a.Sum(1)))
	show("a.ArgMax(1)", a.ArgMax(1))

	section("Other shapes of the same elements, and parts of them")
	show("a.T()", a.T())
	show("a.Reshape(3, -1)", a.Reshape(3, -1))
	show("a.At(1)", a.At(1))
	show("a.Slice(1, 0, -1)", a.Slice(1, 0, -1))
	show("tensor.Cat(0, a, a.Flip(1))", tensor.Cat(0, a, a.Flip(1)))

	section("Products")
	show("a.MatMul(a.T())", a.MatMul(a.T()))
	show(`tensor.Einsum("ij,kj->ik", a, a)`, tensor.Einsum("ij,kj->ik", a, a))

	section("The gradient of a function is a function")
	length := func(x tensor.Tensor) tensor.Tensor { return x.Square().Sum().Sqrt() }
	show("length(a)", length(a))
	show("grad.Of(length)(a)", grad.Of(length)(a))

	section("Back to Go")
	xs, err := tensor.Data[float32](a.Sqrt())
	show("tensor.Data[float32](a.Sqrt())", fmt.Sprintf("%.3f, %v", xs, err))
	show("a, shown by %+v", fmt.Sprintf("%+v", a))

	section("A mistake is reported at the line that made it")
	show("a.MatMul(a)", tensor.Try(func() { a.MatMul(a) }))
}
