package schedule

import (
	"slices"
	"testing"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Threads that stream a matrix of halves load eight neighbours at once where they lie at multiples of eight.
func TestEights(t *testing.T) {
	for i, c := range []struct {
		cols, apart, first int
		eights             bool
	}{
		{1024, 1024, 0, true},
		{2048, 2056, 8, true},
		{1280, 1288, 8, false}, // past the end of the last step there would be fours
		{1032, 1032, 0, false},
		{1024, 1028, 0, false},
		{1024, 1024, 4, false},
	} {
		const rows = 160
		half := []ir.DType{ir.BFloat16, ir.Float16}[i%2]
		matrix := by(c.apart, 1)
		matrix.Off = c.first
		k := kernel(ir.Reduce, []ir.Axis{kept(rows), {Len: c.cols, Role: ir.Reduced}}, []ir.Arg{in(half), in(half), out(f32, rows)},
			load(f32, 0, matrix), load(f32, 1, by(0, 1)), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, 2), store(f32, 3, 2, by(1, 0)))
		if err := ir.Verify(k); err != nil {
			t.Fatal(err)
		}
		for _, target := range []Target{big, hopper} {
			target.Units = 8 // which the rows occupy
			p := compile(t, k, target)
			if err := simt.Verify(p); err != nil {
				t.Fatal(err)
			}
			if got := loadsOf(p.Passes[0].Body, "a0", 8); got != c.eights {
				t.Errorf("rows of %d, %d apart from %d on: the matrix is loaded by eights: %v, want %v", c.cols, c.apart, c.first, got, c.eights)
			}
			if err := checkResults(p, k, target, 0); err != nil {
				t.Errorf("rows of %d, %d apart from %d on: %v", c.cols, c.apart, c.first, err)
			}
		}
	}
}

// loadsOf reports whether a block, or one in it, loads so many elements of a buffer at once.
func loadsOf(b *shader.Block, buffer string, n int) bool {
	return slices.ContainsFunc(b.Stmts, func(s shader.Stmt) bool {
		switch s := s.(type) {
		case *shader.Load:
			return s.Buffer.Name == buffer && len(s.Dst) == n
		case *shader.For:
			return loadsOf(s.Body, buffer, n)
		case *shader.Nested:
			return loadsOf(s.Body, buffer, n)
		}
		return false
	})
}
