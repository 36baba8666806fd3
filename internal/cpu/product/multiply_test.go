package product

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
	p := simd.Products[ir.Float32]
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
				result: panel{at: unsafe.Pointer(&c[guard]), row: n}, leftPanel: leftPanel{left: panel{unsafe.Pointer(&a[0]), k, 1}}, right: panel{unsafe.Pointer(&b[0]), n, 1},
				rows: m, cols: n, depth: k,
			}
			x.add = x.result
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
		x := prefetch{p: 1000, bytes: 96, stride: 128, rows: rows, groups: 1, steps: steps}
		for i := range steps {
			x.advance()
			if got, want := x.p, uintptr(1000+128*((i+1)*rows/steps)); got != want { // a prefetch does no harm
				t.Errorf("%d rows in %d steps: after step %d the next row is at %d, want %d", rows, steps, i, got, want)
			}
		}
	}
	x := prefetch{p: 1000, bytes: 96, stride: 128, rows: 2, far: 4096, groups: 3, steps: 6}
	for i, want := range []uintptr{1128, 5096, 5224, 9192, 9320, 13288, 13288} { // nothing is read after the last group
		if x.advance(); x.p != want {
			t.Errorf("in groups: after step %d the next row is at %d, want %d", i, x.p, want)
		}
	}
}

// TestPrefetchJoined: pieces of contiguous rows cover all rows, and rows apart stay alone.
func TestPrefetchJoined(t *testing.T) {
	for _, c := range []struct{ bytes, stride, rows, pieces, piece int }{
		{128, 128, 256, 64, 512}, {128, 128, 5, 2, 512}, {1024, 1024, 3, 3, 1024}, {128, 256, 7, 7, 128}, {0, 0, 0, 0, 0},
	} {
		x := prefetch{bytes: c.bytes, stride: c.stride, rows: c.rows, groups: 2, far: 1 << 16}.joined()
		if x.rows != c.pieces || x.bytes != c.piece || x.rows*x.stride < c.rows*c.stride {
			t.Errorf("%d rows of %d bytes, %d apart, are %d pieces of %d, want %d of %d", c.rows, c.bytes, c.stride, x.rows, x.bytes, c.pieces, c.piece)
		}
	}
}

// TestPrefetchInside: the lines that the routine of products reads cover contiguous groups, once.
func TestPrefetchInside(t *testing.T) {
	const start, far, depth = 1 << 12, 1 << 16, 100
	for _, c := range []struct{ rows, groups, steps int }{{100, 1, 2}, {100, 1, 7}, {100, 3, 20}, {100, 4, 8}, {37, 2, 11}, {1, 1, 5}} {
		x := prefetch{p: start, bytes: 128, stride: 128, rows: c.rows, groups: c.groups, far: far, steps: c.steps}.inside(depth)
		read := map[int]bool{}
		for range c.steps {
			ahead, step := x.next()
			for k := 0; k < depth && step > 0; k++ {
				read[(int(ahead)+k*step)/64] = true
			}
		}
		for g := range c.groups {
			for b := 0; b < c.rows*128; b += 64 {
				if !read[(start+g*far+b)/64] {
					t.Errorf("%d rows in %d groups, %d steps: byte %d of group %d is not read", c.rows, c.groups, c.steps, b, g)
				}
			}
		}
		if most := c.groups * (c.rows*2 + c.steps*2); len(read) > most {
			t.Errorf("%d rows in %d groups, %d steps: %d lines are read, want at most %d", c.rows, c.groups, c.steps, len(read), most)
		}
	}
	apart := prefetch{p: start, bytes: 128, stride: 256, rows: 8, groups: 1, steps: 8}.inside(depth)
	if _, step := apart.next(); step != 0 || apart.p != start+256 {
		t.Errorf("rows apart are read by a step of %d up to %d, want 0 up to %d", step, apart.p, start+256)
	}
}
