package vector

import (
	"testing"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// TestTilingOf: boxes are of whole units, cover all points, and are about as large as they may be.
func TestTilingOf(t *testing.T) {
	for _, c := range []struct {
		lens        []int
		limit, unit int
		box         int
	}{
		{[]int{896}, 455, 32, 448}, {[]int{4864}, 455, 32, 448}, {[]int{160}, 455, 32, 160}, {[]int{1024}, 455, 256, 256},
		{[]int{14, 64}, 455, 32, 448}, {[]int{16, 64}, 455, 256, 256}, {[]int{32, 16}, 455, 256, 256}, {[]int{64, 3, 8}, 100, 32, 96},
		{[]int{4, 512}, 455, 256, 256}, {[]int{3, 1024}, 455, 32, 352}, {[]int{0}, 455, 32, 32},
	} {
		s := &Space{Nest: &loopnest.Nest{Kernel: &ir.Kernel{}}}
		var axes []int
		all := 1
		for a, n := range c.lens {
			s.Axes = append(s.Axes, ir.Axis{Len: n})
			axes = append(axes, a)
			all *= n
		}
		x := NewTilingOf(s, axes, c.limit, c.unit)
		if got := x.MaxPoints(); got != c.box || got%c.unit != 0 {
			t.Errorf("%v: boxes of %d points, want %d", c.lens, got, c.box)
		}
		f := &Activation{limit: [ir.MaxAxes]int{all, all, all}}
		points := 0
		for i := range x.Count {
			x.MoveTo(f, i)
			if points += x.Size(f); x.Size(f)%c.unit != 0 {
				t.Errorf("%v: box %d has %d points", c.lens, i, x.Size(f))
			}
		}
		if points != all {
			t.Errorf("%v: boxes have %d points, want %d", c.lens, points, all)
		}
	}
}
