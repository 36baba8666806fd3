package cpu

import (
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// An instruction counts for the points that it varies over, not for all points of the
// kernel.
func TestWork(t *testing.T) {
	const rows, cols = 128, 64
	k := kernel(ir.Reduce, []ir.Axis{{Len: rows, Role: ir.Parallel}, {Len: cols, Role: ir.Reduced}}, []ir.Arg{in(f32), in(f32), out(f32, rows)},
		read(f32, 0, cols, 1), read(f32, 1, 0, 1), apply(ir.Mul, f32, 0, 1),
		sumOver(ir.Sum, f32, 2, 1<<1), apply(ir.Exp, f32, 3), write(f32, 4, 2, 1, 0))
	if err := ir.Verify(k); err != nil {
		t.Fatal(err)
	}
	s := &vector.Space{Nest: loopnest.Canonical(k), Tune: &vector.DefaultTuning}
	want := rows*cols + cols + rows*cols + rows*cols + 16*rows + rows
	if got := s.Work(s.Stores(0, false)); got != want {
		t.Errorf("the work is %d additions, want %d", got, want)
	}
}
