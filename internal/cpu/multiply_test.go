package cpu

import (
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestMultiplication multiplies panels of one tile, of several, and of parts of tiles.
func TestMultiplication(t *testing.T) {
	const k, guard = 3, 8
	p := simd.Products[f32]
	edges := func(n int) []int { return []int{1, 2, n - 1, n, n + 1, 2*n - 1, 2 * n, 2*n + 1} }
	for _, m := range edges(p.Rows) {
		for _, n := range edges(p.Cols) {
			a, b, c := make([]float32, m*k), make([]float32, k*n), make([]float32, m*n+2*guard)
			for i := range a {
				a[i] = float32(i % 7)
			}
			for i := range b {
				b[i] = float32(i % 5)
			}
			for i := range c {
				c[i] = float32(i)
			}
			want := slices.Clone(c)
			for i := range m {
				for j := range n {
					for p := range k {
						want[guard+i*n+j] += a[i*k+p] * b[p*n+j]
					}
				}
			}
			x := multiplication{
				result: panel{at: unsafe.Pointer(&c[guard]), row: n}, left: panel{unsafe.Pointer(&a[0]), k, 1}, right: panel{at: unsafe.Pointer(&b[0]), row: n},
				rows: m, cols: n, depth: k, add: 1,
			}
			x.run(&p, 4)
			if !slices.Equal(c, want) {
				t.Fatalf("product of %d × %d × %d is wrong", m, n, k)
			}
		}
	}
}

// TestPrefetch: in the given number of steps each row is read once, about as many in each.
func TestPrefetch(t *testing.T) {
	for _, c := range [][2]int{{0, 3}, {1, 1}, {1, 5}, {3, 7}, {7, 3}, {8, 2}, {256, 36}, {5, 0}} {
		rows, steps := c[0], c[1]
		x := prefetch{p: 1000, bytes: 96, stride: 128, rows: rows, steps: steps}
		for i := range steps {
			x.advance()
			if got, want := x.p, uintptr(1000+128*((i+1)*rows/steps)); got != want { // a prefetch does no harm
				t.Errorf("%d rows in %d steps: after step %d the next row is at %d, want %d", rows, steps, i, got, want)
			}
		}
	}
}

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
