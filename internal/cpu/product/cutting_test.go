package product

import (
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestRows: the rows of a convolution of 1 × 1 are the outputs, along which weights lie apart, unless the weights lie
// in tiles and positions fill registers badly; if there are many positions, a transposed result takes longer.
func TestRows(t *testing.T) {
	width := simd.Products[ir.Float32].Cols
	for _, c := range []struct {
		name                      string
		positions, outputs, depth int
		tiled                     bool
		rows                      int
	}{
		{"few positions by tiles", 49, 2048, 512, true, 49},
		{"few positions", 49, 2048, 512, false, 2048},
		{"many positions by tiles", 4096, 512, 2, true, 512},
	} {
		view := func(coef ...int) *ir.View { return &ir.View{Coef: coef} }
		weight := view(0, c.depth*width, c.depth, 1)
		if c.tiled {
			weight = view(0, c.depth*width, 1, width)
		}
		k := &ir.Kernel{Template: ir.Contraction,
			Axes: []ir.Axis{{Len: c.positions, Role: ir.M}, {Len: c.outputs / width, Role: ir.N}, {Len: width, Role: ir.N}, {Len: c.depth, Role: ir.K}},
			Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: c.positions * c.outputs}},
			Body: []ir.Instr{
				{Op: ir.Load, Type: ir.Float32, Arg: 0, View: view(1, 0, 0, c.positions)},
				{Op: ir.Load, Type: ir.Float32, Arg: 1, View: weight},
				{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
				{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 8},
				{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: view(1, c.positions*width, c.positions, 0)},
			}}
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &vector.DefaultTuning}
		if r, _ := NewContract(s); s.Size(r.rows.Axes) != c.rows {
			t.Errorf("%s: %d rows, want %d", c.name, s.Size(r.rows.Axes), c.rows)
		}
	}
}

// TestDivide: threads get tiles of about equal work, at most a few each, and a short product is for few.
func TestDivide(t *testing.T) {
	for _, c := range []struct{ m, n, depth, threads, least, most int }{
		{512, 512, 512, 16, 16, 64},
		{1024, 1024, 1024, 16, 16, 64},
		{784, 512, 256, 16, 16, 64},
		{8, 4096, 512, 16, 8, 64}, // few rows are one strip
		{256, 256, 256, 2, 2, 8},
		{64, 64, 64, 2, 1, 2},
		{64, 64, 64, 16, 1, 16},
		{16, 32, 32, 16, 1, 1},
		{1 << 20, 64, 8, 2, 1 << 10, 1 << 15}, // the sums of a tile stay in the cache
		{1 << 24, 16, 3, 16, 1 << 14, 1 << 19},
	} {
		view := func(coef ...int) *ir.View { return &ir.View{Coef: coef} }
		k := &ir.Kernel{Template: ir.Contraction,
			Axes: []ir.Axis{{Len: c.m, Role: ir.M}, {Len: c.n, Role: ir.N}, {Len: c.depth, Role: ir.K}},
			Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: c.m * c.n}},
			Body: []ir.Instr{
				{Op: ir.Load, Type: ir.Float32, Arg: 0, View: view(c.depth, 0, 1)},
				{Op: ir.Load, Type: ir.Float32, Arg: 1, View: view(0, 1, c.n)},
				{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
				{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 4},
				{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: view(c.n, 1, 0)},
			}}
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		tune := vector.DefaultTuning
		tune.Threads = c.threads
		r, _ := NewContract(&vector.Space{Nest: loopnest.Canonical(k), Tune: &tune})
		if n := r.tasks(); n < c.least || n > c.most {
			t.Errorf("%d×%d×%d for %d threads: %d tiles, want %d to %d", c.m, c.n, c.depth, c.threads, n, c.least, c.most)
		}
		if rows := r.span * r.rows.MaxPoints(); rows > 2*tune.Span {
			t.Errorf("%d×%d×%d for %d threads: a tile has %d rows", c.m, c.n, c.depth, c.threads, rows)
		}
		rounds := ir.CeilDiv(r.tasks(), c.threads)
		largest := min(c.m, r.span*r.rows.MaxPoints()) * r.cols.MaxPoints()
		if even := c.m * c.n / c.threads; c.m > vector.DefaultTuning.FewRows && c.depth > 64 && rounds*largest > even*5/4 {
			t.Errorf("%d×%d×%d for %d threads: a thread computes up to %d elements, want about %d", c.m, c.n, c.depth, c.threads, rounds*largest, even)
		}
	}
}
