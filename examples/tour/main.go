// Command tour shows the operations on tensors: creation, elementwise functions,
// broadcasting, reductions, movement and matrix products. Each step prints an expression
// and its value.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/flags"
	"github.com/tensorken/tensorken/tensor"
)

var on = flag.String("device", "", device.Usage)

func main() {
	flags.Parse()
	if err := device.Use(*on, os.Stderr); err != nil {
		log.Fatal(err)
	}
	tour(os.Stdout)
}

func tour(w io.Writer) {
	p := printer{w}
	creation(p)
	elementwise(p)
	broadcasting(p)
	reduction(p)
	movement(p)
	indexing(p)
	products(p)
	types(p)
}

// A printer prints the steps of the tour.
type printer struct{ w io.Writer }

// title begins a part of the tour.
func (p printer) title(text string) { fmt.Fprintf(p.w, "# %s\n\n", text) }

// show prints an expression and its value.
func (p printer) show(expr string, value any) { fmt.Fprintf(p.w, ">>> %s\n%v\n\n", expr, value) }

func creation(p printer) {
	p.title("Creation")
	t := tensor.New([]float32{0, 1, 2, 3, 4, 5}, 3, 2)
	p.show("t := tensor.New([]float32{0, 1, 2, 3, 4, 5}, 3, 2)", t)
	p.show("tensor.From([][]float32{{0, 1}, {2, 3}})", tensor.From([][]float32{{0, 1}, {2, 3}}))
	p.show("tensor.Scalar(2)", tensor.Scalar(2))
	p.show("tensor.Zeros(2, 3)", tensor.Zeros(2, 3))
	p.show("tensor.Ones(2, 3)", tensor.Ones(2, 3))
	p.show("tensor.Full(4, 2, 3)", tensor.Full(4, 2, 3))
	p.show("tensor.ZerosLike(t)", tensor.ZerosLike(t))
	p.show("tensor.OnesLike(t)", tensor.OnesLike(t))
	p.show("tensor.Arange(6)", tensor.Arange(6))
	p.show("tensor.Linspace(0, 1, 11)", tensor.Linspace(0, 1, 11))
	p.show("tensor.Eye(3)", tensor.Eye(3))
	p.show("tensor.NewRNG(0).Normal(2, 3), shown by %.2f", fmt.Sprintf("%.2f", tensor.NewRNG(0).Normal(2, 3)))
	p.show("t, shown by %+v", fmt.Sprintf("%+v", t))
	p.show("t.Shape()", t.Shape())
	values, err := tensor.Data[float32](t)
	p.show("tensor.Data[float32](t)", fmt.Sprint(values, " ", err))
}

func elementwise(p printer) {
	p.title("Operations on each element")
	t := tensor.Linspace(0, 5, 6).Reshape(3, 2)
	p.show("t := tensor.Linspace(0, 5, 6).Reshape(3, 2)", t)
	p.show("t.Exp()", t.Exp())
	p.show("t.Log(), shown by %.4f", fmt.Sprintf("%.4f", t.Log()))
	p.show("t.Neg()", t.Neg())
	p.show("t.Reciprocal()", t.Reciprocal())
	p.show("t.Sqrt()", t.Sqrt())
	p.show("t.Sigmoid(), shown by %.4f", fmt.Sprintf("%.4f", t.Sigmoid()))
	p.show("t.Tanh(), shown by %.4f", fmt.Sprintf("%.4f", t.Tanh()))

	u := tensor.Full(2, 3, 2)
	p.show("u := tensor.Full(2, 3, 2)", u)
	p.show("t.Add(u)", t.Add(u))
	p.show("t.Sub(u)", t.Sub(u))
	p.show("t.Mul(u)", t.Mul(u))
	p.show("t.Div(u)", t.Div(u))
	p.show("t.Pow(u)", t.Pow(u))
	p.show("t.Eq(u)", t.Eq(u))
	p.show("t.Gt(u)", t.Gt(u))
	p.show("tensor.Where(t.Gt(u), t, u)", tensor.Where(t.Gt(u), t, u))
}

func broadcasting(p printer) {
	p.title("Broadcasting")
	t := tensor.Linspace(0, 5, 6).Reshape(3, 2)
	p.show("t := tensor.Linspace(0, 5, 6).Reshape(3, 2)", t)
	p.show("t.Mul(2).Add(1)", t.Mul(2).Add(1))
	row := tensor.New([]float32{10, 100})
	p.show("row := tensor.New([]float32{10, 100})", row)
	p.show("t.Add(row)", t.Add(row))
	column := tensor.New([]float32{1, 2, 3}, 3, 1)
	p.show("column := tensor.New([]float32{1, 2, 3}, 3, 1)", column)
	p.show("t.Mul(column)", t.Mul(column))
	p.show("row.Sub(column)", row.Sub(column))
	p.show("tensor.Try(func() { t.Add(column.T()) })", tensor.Try(func() { t.Add(column.T()) }))
}

func reduction(p printer) {
	p.title("Reductions")
	t := tensor.Linspace(0, 5, 6).Reshape(3, 2)
	p.show("t := tensor.Linspace(0, 5, 6).Reshape(3, 2)", t)
	p.show("t.Sum()", t.Sum())
	p.show("t.Sum(0)", t.Sum(0))
	p.show("t.Sum(1)", t.Sum(1))
	p.show("t.Max(1)", t.Max(1))
	p.show("t.Mean(0)", t.Mean(0))
	p.show("t.ArgMax(1)", t.ArgMax(1))
	p.show("t.Div(t.Sum(0)), shown by %.3f", fmt.Sprintf("%.3f", t.Div(t.Sum(0))))
	p.show("t.Softmax(1), shown by %.4f", fmt.Sprintf("%.4f", t.Softmax(1)))
}

func movement(p printer) {
	p.title("Movement")
	t := tensor.Linspace(0, 5, 6).Reshape(3, 2)
	p.show("t := tensor.Linspace(0, 5, 6).Reshape(3, 2)", t)
	p.show("t.Reshape(2, -1)", t.Reshape(2, -1))
	p.show("t.Permute(1, 0)", t.Permute(1, 0))
	p.show("t.Transpose(0, 1)", t.Transpose(0, 1))
	p.show("t.Reshape(1, 3, 2).Expand(2, 3, 2)", t.Reshape(1, 3, 2).Expand(2, 3, 2))
	p.show("t.Pad(0, 1, 1).Pad(1, 0, 2)", t.Pad(0, 1, 1).Pad(1, 0, 2))
	p.show("t.Slice(0, 1, 3).Slice(1, 0, 1)", t.Slice(0, 1, 3).Slice(1, 0, 1))
	p.show("t.Flip(0)", t.Flip(0))
	p.show("t.Flip(0).Slice(0, 1, 3)", t.Flip(0).Slice(0, 1, 3))
	p.show("t.Unsqueeze(0).Shape()", t.Unsqueeze(0).Shape())
	p.show("t.Unsqueeze(0).Squeeze().Shape()", t.Unsqueeze(0).Squeeze().Shape())
	p.show("tensor.Cat(1, t, t.Neg())", tensor.Cat(1, t, t.Neg()))
	p.show("tensor.Stack(0, t, t.Neg())", tensor.Stack(0, t, t.Neg()))
	p.show("tensor.Linspace(1, 24, 24).Reshape(2, 3, 4)", tensor.Linspace(1, 24, 24).Reshape(2, 3, 4))
}

func indexing(p printer) {
	p.title("Indexing")
	t := tensor.Linspace(1, 24, 24).Reshape(3, 2, 4)
	p.show("t := tensor.Linspace(1, 24, 24).Reshape(3, 2, 4)", t)
	p.show("t.At(1)", t.At(1))
	p.show("t.At(1, 0)", t.At(1, 0))
	p.show("t.At(2, 1, -1).Item()", t.At(2, 1, -1).Item())
	p.show("t.Index(0, tensor.Ellipsis, 1)", t.Index(0, tensor.Ellipsis, 1))
	p.show("t.Index(tensor.All, -1, tensor.Span(0, tensor.End, 2))", t.Index(tensor.All, -1, tensor.Span(0, tensor.End, 2)))
	p.show("t.Index(1, tensor.NewAxis, 1, tensor.Span(0, 3))", t.Index(1, tensor.NewAxis, 1, tensor.Span(0, 3)))
	rows := tensor.New([]int32{2, 0})
	p.show("t.Take(0, tensor.New([]int32{2, 0})).Index(tensor.All, 0)", t.Take(0, rows).Index(tensor.All, 0))
}

func products(p printer) {
	p.title("Products")
	l := tensor.Linspace(1, 6, 6).Reshape(2, 3)
	r := tensor.Linspace(6, 1, 6).Reshape(3, 2)
	p.show("l := tensor.Linspace(1, 6, 6).Reshape(2, 3)", l)
	p.show("r := tensor.Linspace(6, 1, 6).Reshape(3, 2)", r)
	p.show("l.MatMul(r)", l.MatMul(r))
	v := tensor.New([]float32{1, 2})
	p.show("v := tensor.New([]float32{1, 2})", v)
	p.show("r.MatMul(v)", r.MatMul(v))
	p.show("v.Dot(v)", v.Dot(v))
	batch := tensor.Linspace(1, 36, 36).Reshape(3, 2, 2, 3)
	p.show("batch := tensor.Linspace(1, 36, 36).Reshape(3, 2, 2, 3)", batch)
	others := tensor.Linspace(39, 72, 12).Reshape(2, 3, 2)
	p.show("others := tensor.Linspace(39, 72, 12).Reshape(2, 3, 2)", others)
	p.show("batch.MatMul(others)", batch.MatMul(others))
	p.show(`tensor.Einsum("ij,jk->ki", l, r)`, tensor.Einsum("ij,jk->ki", l, r))
}

func types(p printer) {
	p.title("Types")
	i := tensor.New([]int32{-3, 0, 7, 8}, 2, 2)
	p.show("i := tensor.New([]int32{-3, 0, 7, 8}, 2, 2)", i)
	p.show("i.Div(2)", i.Div(2))
	p.show("i.Ne(0)", i.Ne(0))
	p.show("i.Ne(0).Sum()", i.Ne(0).Sum())
	p.show("i.Cast(tensor.Float32).Div(2)", i.Cast(tensor.Float32).Div(2))
	p.show("tensor.New([]float32{-1.5, 2.5}).Cast(tensor.Int32)", tensor.New([]float32{-1.5, 2.5}).Cast(tensor.Int32))
	p.show("tensor.New([]int32{2, 0}).OneHot(3)", tensor.New([]int32{2, 0}).OneHot(3))
	p.show("tensor.Try(func() { i.Add(0.5) })", tensor.Try(func() { i.Add(0.5) }))
	p.show("tensor.Try(func() { i.Exp() })", tensor.Try(func() { i.Exp() }))
}
