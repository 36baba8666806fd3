package product

import (
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// pairs returns a space whose elements of factors x and y are pairs of bfloat16 at successive positions of
// the depth, as the product of BFloat16 multiplies them; nil if the level has no such product, or a factor
// is computed, or has no pairs that are contiguous.
func pairs(s *vector.Space, x, y int) *vector.Space {
	depth := s.List(ir.K)
	if simd.Products[ir.BFloat16].Tile == nil || len(depth) == 0 || len(s.Limits) > 0 {
		return nil
	}
	last := depth[len(depth)-1]
	if s.Axes[last].Len%2 != 0 {
		return nil
	}
	k := *s.Kernel
	k.Axes, k.Args, k.Body = slices.Clone(k.Axes), slices.Clone(k.Args), slices.Clone(k.Body)
	k.Axes[last].Len /= 2
	for _, i := range []int{x, y} {
		in := &k.Body[i]
		if !s.IsLoad(i) || k.Args[in.Arg].DType != ir.BFloat16 || in.View.Coef[last] != 1 || in.View.Off%2 != 0 || !isReadOnce(s, i) {
			return nil
		}
		view := *in.View
		view.Off, view.Coef = view.Off/2, slices.Clone(view.Coef)
		for a, c := range view.Coef {
			if a == last {
				continue
			}
			if c%2 != 0 {
				return nil
			}
			view.Coef[a] = c / 2
		}
		in.View, in.Type, k.Args[in.Arg].DType = &view, ir.Int32, ir.Int32
	}
	return s.With(&k)
}

// isReadOnce reports whether only one instruction reads load i, which is the only one to read its buffer.
func isReadOnce(s *vector.Space, i int) bool {
	readers := 0
	for j := range s.Body {
		in := &s.Body[j]
		for _, x := range in.Src {
			if x == i {
				readers++
			}
		}
		if j != i && in.View != nil && in.Arg == s.Body[i].Arg {
			return false
		}
	}
	return readers == 1
}
