package tensor

import (
	"fmt"
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
	return Tensor{n: fullOf("FullOf", graph.Fill(d, 0, s), v)}
}

// FullLike returns a tensor of t's shape and type with all elements equal to v, a Go number
// that the type can hold.
func FullLike(t Tensor, v any) Tensor {
	return Tensor{n: fullOf("FullLike", t.node("FullLike"), v)}
}

func fullOf(op string, model *graph.Node, v any) *graph.Node {
	if _, status := number(model.DType, v); status == doesNotFit {
		fail(op, fmt.Sprintf("%v does not fit %v%s", v, model.DType, numbersOf(model.DType)))
	}
	return numberLike(op, model, v)
}

// numbersOf describes the values that a type has, for errors.
func numbersOf(d DType) string {
	switch {
	case d == ir.Bool:
		return ": true or false"
	case d.IsFloat():
		return fmt.Sprintf(", up to %v", greatestFinite[d])
	}
	lo, hi := ir.Limits(d)
	if d.IsSigned() {
		return fmt.Sprintf(": integers from %d to %d", int64(lo), int64(hi))
	}
	return fmt.Sprintf(": integers from %d to %d", uint64(lo), uint64(hi))
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
	checkShape("TrilIndices", []int{rows, cols})
	k = min(max(k, -rows), cols)
	return triangle("TrilIndices", rows, cols, max(0, -k), rows, func(i int) (first, end int) { return 0, min(i+k+1, cols) })
}

// TriuIndices returns the int32 rows and columns [2 n] of the elements of a matrix [rows
// cols] that [Tensor.Triu] keeps, row by row.
func TriuIndices(rows, cols, k int) Tensor {
	checkShape("TriuIndices", []int{rows, cols})
	k = min(max(k, -rows), cols)
	return triangle("TriuIndices", rows, cols, 0, min(rows, cols-k), func(i int) (first, end int) { return max(0, i+k), cols })
}

// triangle returns the rows and columns of the elements of rows top to bottom of a matrix,
// each with the given columns, at least one.
func triangle(op string, rows, cols, top, bottom int, columns func(i int) (first, end int)) Tensor {
	checkCount(op, max(rows, cols))
	n := 0
	if cols > 0 {
		for i := top; i < bottom; i++ {
			first, end := columns(i)
			n += end - first
		}
	}
	s := []int{2, n}
	data := allocate(op, graph.Len(s), Int32)
	is := elementsOf[int32](data)
	is, js := is[:n], is[n:]
	for i := top; len(is) > 0; i++ {
		first, end := columns(i)
		for j := first; j < end; j++ {
			is[j-first], js[j-first] = int32(i), int32(j)
		}
		is, js = is[end-first:], js[end-first:]
	}
	return newStored(Int32, s, data)
}
