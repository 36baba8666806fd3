package drivertest

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// blocks returns a stored tensor in a format. The blocks have random bytes and, if they are tame, scales of
// moderate size.
func (s *suite) blocks(d ir.DType, tame bool, dims ...int) *graph.Node {
	b, f := make([]byte, d.Bytes(graph.Len(dims))), d.Format()
	for i := range b {
		b[i] = byte(s.Uint32())
	}
	for at := 0; tame && f.Codes != nil && at < len(b); at += f.Bytes {
		s.tame(b[at:], &f.Codes.Scale)
		if o := f.Codes.Offset; o != nil {
			s.tame(b[at:], o)
		}
	}
	n := graph.Buffer(ir.Float32, dims, &graph.Value{Store: storage.FromBlocks(d, b), Strides: shape.RowMajor(dims)})
	s.known.leaf(n, decode(d, b))
	return n
}

// tame gives the float of a block a moderate value.
func (s *suite) tame(b []byte, f *ir.Factor) {
	x := float32(s.NormFloat64() / 64)
	switch b := b[f.At:]; f.Float {
	case ir.HalfFloat:
		binary.LittleEndian.PutUint16(b, uint16(ir.ToF16(x)))
	case ir.SingleFloat:
		ir.Float(ir.Float32, float64(x)).Append(b[:0], ir.Float32)
	case ir.HalfPower:
		b[0] = byte(120 + s.IntN(8))
	}
}

// formats reads tensors in the block formats that the program has: each bit of blocks of random bytes, and products of
// some rows.
func (s *suite) formats() {
	for _, d := range ir.Formats() {
		n := d.Format().Len
		if n < 16 {
			continue
		}
		s.part(d.String(), func(s *suite) {
			x := s.blocks(d, false, 9, n)
			s.check("elements", graph.Unary(ir.Neg, x))
			s.check("elements in steps", graph.Unary(ir.Neg, graph.Crop(graph.Flip(x, []int{1}), []graph.Span{{Start: 2, Step: 3, Len: 2}, {Start: 1, Step: 2, Len: n/2 - 3}})))
			if d.Format().Codes == nil { // devices have decoded copies
				return
			}
			s.check("rows", graph.Gather(x, graph.Expand(s.below(ir.Int32, 9, []int{4, 1}), []int{4, n}), 0))
			s.formatProducts(d)
		})
	}
}

// formatProducts multiplies rows by matrices of a format.
func (s *suite) formatProducts(d ir.DType) {
	const n = 21
	for i, rows := range []int{1, 3, 16} {
		depth := (i + 1) * max(d.Format().Len, 64)
		x := s.tensor(ir.Float32, 1, rows, depth)
		s.known[x].fixedPoint()
		weights := func(dims ...int) *graph.Node { return s.blocks(d, true, append(dims, depth)...) }
		switch rows {
		case 1:
			up, gate := product(x, weights(1, n)), product(x, weights(1, n))
			s.check("two products of a row", graph.Binary(ir.Mul, up, graph.Unary(ir.Tanh, gate)))
		case 3:
			part := graph.Crop(weights(2, n+3), []graph.Span{{Start: 1, Step: 1, Len: 1}, {Start: 3, Step: 1, Len: n}, {Step: 1, Len: depth}})
			s.check("part of a matrix", product(graph.Unary(ir.Neg, x), part))
		default:
			s.check(fmt.Sprint(rows, " rows"), product(x, weights(1, n)))
		}
	}
}

// fixedPoint lets elements be off as in 16 bits, with one scale for each 32: devices may round the factor
// of a matrix in blocks so.
func (r *result) fixedPoint() {
	for at := 0; at < len(r.off); at += 32 {
		top := 0.0
		for _, x := range r.Elems[at : at+32] {
			top = max(top, math.Abs(x.Float64(r.DType)))
		}
		for i := range 32 {
			r.off[at+i] = top * 0x1.01p-16
		}
	}
}
