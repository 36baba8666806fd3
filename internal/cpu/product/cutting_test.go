package product

import (
	"fmt"
	"slices"
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
		tune := vector.DefaultTuning
		tune.Threads = c.threads
		r, _ := NewContract(&vector.Space{Nest: loopnest.Canonical(productOf(1, c.m, c.n, c.depth)), Tune: &tune})
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

// TestStrips: tasks have each strip once, whichever way they go.
func TestStrips(t *testing.T) {
	for n := range 4 * 6 * 6 * 4 * 2 {
		batch, rows, cols, span, across := n%4+1, n/4%6+1, n/24%6+1, n/144%4+1, n/576 == 1
		c := &cutting{rows: &vector.Tiling{Count: rows}, cols: &vector.Tiling{Count: cols}, span: min(span, rows), across: across}
		c.strips = vector.Tilings{{Count: batch}, c.cols, c.rows}
		had := make([]int, c.strips.Count())
		for i := range c.tasks() {
			first, end := c.stripsOf(i)
			for s := first; s < end; s++ {
				had[s]++
			}
		}
		if slices.ContainsFunc(had, func(n int) bool { return n != 1 }) {
			t.Errorf("%d×%d×%d strips, %d in a task, across %v: tasks have them %v times", batch, cols, rows, span, across, had)
		}
	}
}

// productOf is a kernel of products of matrices, [batch m depth] by [batch depth n].
func productOf(batch, m, n, depth int) *ir.Kernel {
	view := func(coef ...int) *ir.View { return &ir.View{Coef: coef} }
	k := &ir.Kernel{Template: ir.Contraction,
		Axes: []ir.Axis{{Len: batch, Role: ir.Batch}, {Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: depth, Role: ir.K}},
		Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: batch * m * n}},
		Body: []ir.Instr{
			{Op: ir.Load, Type: ir.Float32, Arg: 0, View: view(m*depth, depth, 0, 1)},
			{Op: ir.Load, Type: ir.Float32, Arg: 1, View: view(depth*n, 0, 1, n)},
			{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
			{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 8},
			{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: view(m*n, n, 1, 0)},
		}}
	for i := range k.Body {
		k.Body[i].Domain = k.Varies(i)
	}
	return k
}

// TestTasks: tasks have each element of the result once, in one block of columns each, and of long results the same rows
// before the next ones.
func TestTasks(t *testing.T) {
	turns := 0 // results whose tasks go along several columns, down several rows
	for _, batch := range []int{1, 2, 3} {
		for _, m := range []int{1, 5, 17, 126, 300, 1021} {
			for _, n := range []int{1, 16, 70, 129, 512, 700} {
				for _, threads := range []int{1, 2, 3, 8, 16} {
					tune := vector.DefaultTuning
					tune.Threads, tune.ParallelThreshold = threads, 1<<10
					k := productOf(batch, m, n, 40)
					s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &tune}
					r, _ := NewContract(s)
					name := fmt.Sprintf("%d×%d×%d for %d threads", batch, m, n, threads)
					if r.across && r.cols.Count > 1 && r.rows.Count > r.span {
						turns++
					}
					testTasks(t, name, s, r)
				}
			}
		}
	}
	if turns < 10 {
		t.Errorf("%d results have tasks that go along columns before rows, want 10 or more", turns)
	}
}

func testTasks(t *testing.T, name string, s *vector.Space, r *contractRunner) {
	t.Helper()
	view := s.Body[s.Stores(0, false)[0]].View
	axes := slices.Concat(s.List(ir.Batch), s.List(ir.M), s.List(ir.N))
	had := make([]int, s.Args[2].Len)
	var f vector.Activation
	f.Enter(r.after.program, nil, nil, nil)
	before := -1
	for i := range r.tasks() {
		first, end := r.stripsOf(i)
		if first >= end || first/r.rows.Count != (end-1)/r.rows.Count {
			t.Fatalf("%s: task %d has strips %d to %d, %d in a column", name, i, first, end, r.rows.Count)
		}
		above := r.rows.Count * r.cols.Count
		if at := first/above*r.rows.Count + first%r.rows.Count; r.across {
			if at < before {
				t.Fatalf("%s: task %d goes back to strip %d of rows from %d", name, i, at, before)
			}
			before = at
		}
		for strip := first; strip < end; strip++ {
			r.strips.MoveTo(&f, strip)
			var count func(axes []int, pos int)
			count = func(axes []int, pos int) {
				if len(axes) == 0 {
					had[pos]++
					return
				}
				for x := range f.N[axes[0]] {
					count(axes[1:], pos+view.Coef[axes[0]]*(f.At[axes[0]]+x))
				}
			}
			count(axes, view.Off)
		}
	}
	for i, n := range had {
		if n != 1 {
			t.Fatalf("%s: %d tasks have element %d", name, n, i)
		}
	}
}

// TestWholeRows: of two threads each has about half of the rows, of which it has computed the same before, unless columns are many.
func TestWholeRows(t *testing.T) {
	for _, c := range []struct {
		m, n, depth int
		whole       bool
	}{
		{3136, 256, 64, true},
		{196, 1024, 256, true},
		{196, 256, 1024, true},
		{1024, 1024, 1024, true},
		{49, 2048, 512, false},
	} {
		tune := vector.DefaultTuning
		tune.Threads = 2
		r, _ := NewContract(&vector.Space{Nest: loopnest.Canonical(productOf(1, c.m, c.n, c.depth)), Tune: &tune})
		whole := true
		for i := range r.tasks() / 2 {
			_, end := r.stripsOf(i)
			whole = whole && ((end-1)%r.rows.Count+1)*r.rows.MaxPoints() <= c.m*9/16
		}
		if whole != c.whole {
			t.Errorf("%d×%d×%d: the first thread has whole rows: %v, want %v", c.m, c.n, c.depth, whole, c.whole)
		}
	}
}
