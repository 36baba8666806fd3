package vector

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A Space is a kernel's iteration space and how it is cut.
type Space struct {
	*loopnest.Nest
	Tune   *Tuning
	Limits []axisLimit
}

// With returns the space with another kernel over the same axes.
func (s *Space) With(k *ir.Kernel) *Space {
	return &Space{&loopnest.Nest{Kernel: k, Rank: s.Rank}, s.Tune, s.Limits}
}

// Work estimates the additions that stores take: each instruction counts once for each
// point that it varies over or reduces.
func (s *Space) Work(stores []int) int {
	work := 0
	for i, needed := range s.Needs(stores, nil) {
		if !needed {
			continue
		}
		in := &s.Body[i]
		n := ir.Table[in.Op].Cost
		for a, axis := range s.Axes {
			if (in.Domain | in.Axes).Has(a) {
				n *= axis.Len
			}
		}
		work += n
	}
	return work
}

// Extents lists, for each axis, the greatest length of a box of the tilings: 1 for axes
// that are in none of them.
func (s *Space) Extents(ts ...*Tiling) []int {
	n := make([]int, len(s.Axes))
	for i := range n {
		n[i] = 1
	}
	for _, t := range ts {
		for i, a := range t.Axes {
			n[a] = t.box[i]
		}
	}
	return n
}

// IsLoad reports whether an instruction is a load at affine coordinates.
func (s *Space) IsLoad(i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Load && len(in.View.Guards) == 0 && len(in.Src) == 0
}

// Plain reports whether an instruction is a load of elements as they lie in memory.
func (s *Space) Plain(i int) bool {
	return s.IsLoad(i) && s.Args[s.Body[i].Arg].DType == s.Body[i].Type
}

// Reuses reports whether a reduction is followed by work over the reduced axes.
func (s *Space) Reuses() bool {
	return slices.Max(loopnest.Levels(s.Body)) > 1 || len(s.Stores(s.Roles(ir.Reduced, ir.K), true)) > 0
}

// PrefersInnermost reports whether loads read more points with stride 1
// along the last of axes a than along the last of b.
func (s *Space) PrefersInnermost(loads []int, a, b []int) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	var votes float64
	for _, i := range loads {
		in := &s.Body[i]
		n := loopnest.Points(s.Axes, in.Domain)
		if c := in.View.Coef[a[len(a)-1]]; c == 1 || c == -1 {
			votes += n
		}
		if c := in.View.Coef[b[len(b)-1]]; c == 1 || c == -1 {
			votes -= n
		}
	}
	return votes > 0
}

// WidensInt reports whether instruction i is a cast whose result simd.WideSums sums.
func (s *Space) WidensInt(i int) bool {
	in := &s.Body[i]
	return in.Op == ir.Cast && in.Type == ir.Int64 && simd.WideSums[s.Body[in.Src[0]].Type.SumType()].Acc != 0
}
