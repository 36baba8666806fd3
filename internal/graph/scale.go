package graph

import "github.com/tensorken/tensorken/ir"

// SquareScale returns a power of two, down, and its reciprocal, for m ≥ 0: squares of numbers up to m
// times down, and sums of up to 2³¹ of them, stay in the type's range, as do those that matter to the
// sum.
func SquareScale(m *Node) (down, up *Node) {
	limit, scale := 0x1p40, 0x1p80
	if m.DType == ir.Float64 {
		limit, scale = 0x1p400, 0x1p800
	}
	number := func(v float64) *Node { return Fill(m.DType, v, m.Shape) }
	large, small := Binary(ir.Lt, number(limit), m), Binary(ir.Lt, m, number(1/limit))
	power := func(high, low float64) *Node {
		return Where(large, number(high), Where(small, number(low), number(1)))
	}
	return power(1/scale, scale), power(scale, 1/scale)
}
