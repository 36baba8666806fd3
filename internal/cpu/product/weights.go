package product

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// weights are a right factor in a block format, of simd.FixedProduct.
type weights struct {
	vector.Affine
	typ    ir.DType
	arg    int
	cols   []vector.Term
	blocks simd.Blocks
	panels int // bytes of the copy
}

// fixedFactor returns which of instructions x and y, the factors of a product, simd.FixedProduct reads as its
// right factor, or -1. The other one is in float32.
func fixedFactor(s *vector.Space, x, y int) int {
	deep := s.List(ir.K)
	if simd.FixedProduct.Tile == nil || s.Body[x].Type != ir.Float32 {
		return -1
	}
	for _, i := range []int{y, x} {
		if hasCodes(s, i) && isDotted(s, i, deep) {
			return i
		}
	}
	return -1
}

// hasCodes reports whether instruction i is a load of blocks that simd.FixedProduct multiplies.
func hasCodes(s *vector.Space, i int) bool {
	if simd.FixedProduct.Tile == nil || !s.IsLoad(i) {
		return false
	}
	f := s.Args[s.Body[i].Arg].DType.Format()
	return f != nil && simd.BlocksOf(f).Codes != nil
}

// newWeights returns instruction i, for which fixedFactor holds, as the right factor.
func newWeights(s *vector.Space, i int, deep, cols *vector.Tiling) *factor {
	in := &s.Body[i]
	a := vector.Assemble(s, vector.Schedule{Extent: s.Extents(deep, cols)})
	typ := s.Args[in.Arg].DType
	w := &weights{Affine: a.Affine(in.View.Off, in.View.Coef, 0), typ: typ, arg: in.Arg, cols: a.Dims(in.View.Coef, cols.LongAxes()), blocks: simd.BlocksOf(typ.Format())}
	panels, scratch := simd.FixedBytesOf(cols.MaxPoints(), deep.MaxPoints())
	w.panels = vector.Align(panels)
	return &factor{program: a.Program, weights: w, packed: w.panels + vector.Align(scratch)}
}

// pack is factor.panel.
func (w *weights) pack(f *vector.Activation, to unsafe.Pointer, depth, cols int) (p unsafe.Pointer, so, si int) {
	base, pos, loops := f.Bind[w.arg].P, w.Pos(f), vector.Merge(f, w.cols)
	ldb := w.blocks.PackFixed(to, unsafe.Add(to, w.panels), cols, depth, w.typ.Unit(), w.typ.Bytes(depth), func(j int) unsafe.Pointer {
		return unsafe.Add(base, w.typ.Bytes(pos+vector.Offset(loops, j)))
	})
	return to, ldb, simd.FixedProduct.Depth(depth)
}
