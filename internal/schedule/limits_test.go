package schedule

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Kernels without elements that an index may name, or without indices, compile to valid shaders.
func TestEmptyIndexed(t *testing.T) {
	bag := kernel(ir.Reduce, []ir.Axis{kept(4), reduced(0)}, []ir.Arg{status, in(f32), in(i32), out(f32, 4)},
		load(i32, 2, by(1, 1)),
		ir.Instr{Op: ir.Load, Type: f32, Src: []int{0}, Arg: 1, View: &ir.View{Coef: []int{0, 0}, Stride: 1, Len: 10}},
		reduction(ir.Sum, f32, 1, 2), store(f32, 2, 3, by(1, 0)))
	for _, c := range []struct {
		name   string
		kernel *ir.Kernel
	}{
		{"no rows", scatterAdd(0, 500, 200, f32)},
		{"no updates", scatterAdd(10, 0, 5, f32)},
		{"a sum of none", bag},
	} {
		for _, target := range []Target{plain, big, wide} {
			t.Run(c.name, func(t *testing.T) {
				p := compile(t, c.kernel, target)
				if err := simt.Verify(p); err != nil {
					t.Error(err)
				}
				for _, q := range p.Passes {
					validate(t, q, target)
				}
			})
		}
	}
}

// No element of an argument is past the positions of 32 bits, whatever its offset is: also where a
// kernel reads all of it, as the base of a scatter.
func TestBaseOffset(t *testing.T) {
	target := wide.WithDefaults()
	for _, c := range typical {
		s := SignatureOf(c.kernel, target)
		for i, r := range shape.Reaches(c.kernel) {
			most := max(r.Hi, c.kernel.Args[i].Len-1)
			for _, offset := range []int{0, target.Positions - most, target.Positions - most + 1, target.Positions, 1 << 40} {
				args := make([]driver.Arg, len(c.kernel.Args))
				args[i].Offset = offset
				base := s.Base(i, args)
				if last := offset - base + most; base > offset || last > target.Positions {
					t.Errorf("%s, argument %d at offset %d: base %d, and the last position is %d", c.name, i, offset, base, last)
				}
			}
		}
	}
}

// Rows that occupy a GPU limit blocks of loops, but not where no threads run at once.
func TestEnoughRows(t *testing.T) {
	if n := big.LoopLimits().Enough; n != 512*132 {
		t.Errorf("a GPU of 132 units has enough of %d rows, want 512 for each", n)
	}
	software := Target{Family: Software, Units: 2}
	if n := software.LoopLimits().Enough; n != 0 {
		t.Errorf("a GPU in software has enough of %d rows, want no limit", n)
	}
}
