package drivertest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/blocks"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// blocks returns a stored tensor in a format, whose blocks fill makes.
func (s *suite) blocks(f *blocks.Format, fill func(b []byte), dims ...int) *graph.Node {
	d := f.DType()
	b := make([]byte, d.Bytes(graph.Len(dims)))
	for at := 0; at < len(b); at += f.Bytes {
		fill(b[at : at+f.Bytes])
	}
	n := graph.Buffer(ir.Float32, dims, &graph.Value{Store: storage.FromBlocks(d, b), Strides: shape.RowMajor(dims)})
	s.known.leaf(n, decode(d, b))
	return n
}

// formats reads tensors in block formats: each bit of blocks of random bytes, and products of some rows.
func (s *suite) formats() {
	for i, name := range slices.Sorted(maps.Keys(blocks.Formats)) {
		f := blocks.Formats[name]
		if f.DType().Format().Codes == nil && i%8 != 0 {
			continue // the device reads a decoded copy
		}
		s.part(name, func(s *suite) {
			random := func(b []byte) {
				for i := range b {
					b[i] = byte(s.Uint32())
				}
			}
			x := s.blocks(f, random, 9, f.Len)
			s.check("elements", graph.Unary(ir.Neg, x))
			s.check("transposed", graph.Unary(ir.Neg, graph.Permute(x, []int{1, 0})))
			s.check("elements in steps", graph.Unary(ir.Neg, graph.Crop(graph.Flip(x, []int{1}), []graph.Span{{Start: 2, Step: 3, Len: 2}, {Start: 1, Step: 2, Len: f.Len/2 - 3}})))
			index := s.below(ir.Int32, 9, []int{4, 1})
			s.check("rows", graph.Gather(x, graph.Expand(index, []int{4, f.Len}), 0))
			s.formatProducts(f)
		})
	}
}

// formatProducts multiplies rows by matrices of a format.
func (s *suite) formatProducts(f *blocks.Format) {
	weights := func(dims ...int) *graph.Node {
		return s.blocks(f, func(b []byte) {
			x := make([]float32, f.Len)
			for i := range x {
				x[i] = float32(s.NormFloat64())
			}
			if err := f.Encode(b, x, nil); err != nil {
				s.Fatal(err)
			}
		}, dims...)
	}
	const n = 21
	for i, rows := range []int{1, 3, 16, 20} {
		depth := (i + 1) * max(f.Len, 64)
		x := s.tensor(ir.Float32, 1, rows, depth)
		s.check(fmt.Sprint(rows, " rows"), product(x, weights(1, n, depth)))
		if rows > 3 {
			continue
		}
		up, gate := product(x, weights(1, n, depth)), product(x, weights(1, n, depth))
		s.check(fmt.Sprint(rows, " rows, two products"), graph.Binary(ir.Mul, up, graph.Unary(ir.Tanh, gate)))
		w := weights(2, n+3, depth)
		s.check(fmt.Sprint(rows, " rows, a part"), product(graph.Unary(ir.Neg, x), graph.Crop(w, []graph.Span{{Start: 1, Step: 1, Len: 1}, {Start: 3, Step: 1, Len: n}, {Step: 1, Len: depth}})))
	}
}
