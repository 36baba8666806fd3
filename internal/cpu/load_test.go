package cpu

import (
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// TestWindow loads planes of which none, some or all elements are inside the guards.
func TestWindow(t *testing.T) {
	const h, w, n = 5, 4, 3 // the source has n planes of h rows
	d := New(Options{})
	for _, size := range [][2]int{{1, 1}, {1, 6}, {5, 4}, {9, 8}, {3, 2}} {
		rows, cols := size[0], size[1]
		for top := -7; top <= 7; top++ {
			for _, left := range []int{-9, -4, -3, -1, 0, 1, 3, 4, 9} {
				for _, stride := range [][2]int{{1, 1}, {2, 1}, {1, -1}, {-1, 2}, {2, 2}} {
					sr, sc := stride[0], stride[1]
					guards := []ir.Guard{
						{AffineExpr: ir.AffineExpr{Off: top, Coef: []int{0, sr, 0}, Div: 1}, Len: h},
						{AffineExpr: ir.AffineExpr{Off: left, Coef: []int{0, 0, sc}, Div: 1}, Len: w},
					}
					view := &ir.View{Off: top*w + left, Coef: []int{h * w, sr * w, sc}, Guards: guards, Fill: ir.Float(f32, -1)}
					axes := []ir.Axis{{Len: n, Role: ir.Parallel}, {Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Parallel}}
					k := kernel(ir.Pointwise, axes, []ir.Arg{in(f32), out(f32, n*rows*cols)},
						ir.Instr{Op: ir.Load, Type: f32, Arg: 0, View: view}, write(f32, 0, 1, rows*cols, cols, 1))
					c := newCall(t, d, k, n*h*w, n*rows*cols)
					c.run(t)
					src, got := c.floats(0), c.floats(1)
					for i := range got {
						y, x := top+i/cols%rows*sr, left+i%cols*sc
						want := float32(-1)
						if y >= 0 && y < h && x >= 0 && x < w {
							want = src[(i/(rows*cols)*h+y)*w+x]
						}
						if got[i] != want {
							t.Fatalf("%d × %d from (%d, %d) by (%d, %d): element %d is %v, want %v", rows, cols, top, left, sr, sc, i, got[i], want)
						}
					}
				}
			}
		}
	}
}
