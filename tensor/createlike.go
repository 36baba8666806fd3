package tensor

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// ZerosOf returns zeros of a type; without a shape, a scalar.
func ZerosOf(d DType, lengths ...int) Tensor { return filled("ZerosOf", d, 0, lengths) }

// OnesOf returns ones of a type; without a shape, a scalar.
func OnesOf(d DType, lengths ...int) Tensor { return filled("OnesOf", d, 1, lengths) }

func filled(op string, d DType, v float64, lengths []int) Tensor {
	checkType(op, d)
	if d == ir.Bool && v == 1 {
		return FullOf(d, true, lengths...)
	}
	return constant(op, d, v, lengths)
}

// FullOf returns a tensor of a type with all elements equal to v, a Go number that the type
// can hold.
func FullOf(d DType, v any, lengths ...int) Tensor {
	checkType("FullOf", d)
	s := slices.Clone(lengths)
	checkShape("FullOf", s)
	model := graph.Fill(d, 0, s)
	return Tensor{n: numberLike("FullOf", model, v)}
}

// FullLike returns a tensor of t's shape and type with all elements equal to v, a Go number
// that the type can hold.
func FullLike(t Tensor, v any) Tensor {
	return Tensor{n: numberLike("FullLike", t.node("FullLike"), v)}
}

// checkType panics unless d is an element type.
func checkType(op string, d DType) {
	if !slices.Contains(ir.DTypes, d) {
		fail(op, "there is no such element type: want one such as Float32")
	}
}

// Logspace returns n numbers from 10^start to 10^end, both included, in equal ratios, an
// untyped constant of float32: 10 to the power of [Linspace].
func Logspace(start, end float64, n int) Tensor {
	line := Linspace(start, end, n)
	return Tensor{n: graph.Binary(ir.Pow, fill(line.n, 10), line.n)}
}

// TrilIndices returns the int32 rows and columns [2 n] of the elements of a matrix [rows
// cols] that [Tensor.Tril] keeps, row by row.
func TrilIndices(rows, cols, k int) Tensor {
	return triangle("TrilIndices", rows, cols, func(i, j int) bool { return j-i <= k })
}

// TriuIndices returns the int32 rows and columns [2 n] of the elements of a matrix [rows
// cols] that [Tensor.Triu] keeps, row by row.
func TriuIndices(rows, cols, k int) Tensor {
	return triangle("TriuIndices", rows, cols, func(i, j int) bool { return j-i >= k })
}

func triangle(op string, rows, cols int, has func(i, j int) bool) Tensor {
	checkShape(op, []int{rows, cols})
	checkCount(op, max(rows, cols))
	var is, js []int32
	for i := range rows {
		for j := range cols {
			if has(i, j) {
				is, js = append(is, int32(i)), append(js, int32(j))
			}
		}
	}
	return New(append(is, js...), 2, len(is))
}
