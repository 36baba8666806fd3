package schedule

import (
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Kernels without elements that an index may name, or without indices, compile to valid shaders.
func TestEmptyIndexed(t *testing.T) {
	bag := kernel(ir.Reduce, []ir.Axis{kept(4), reduced(0)}, []ir.Arg{status, in(f32), in(i32), out(f32, 4)},
		load(i32, 2, by(1, 1)),
		ir.Instr{Op: ir.Load, Type: f32, Src: []int{0}, Arg: 1, View: &ir.View{Coef: []int{0, 0}, Stride: 1, Len: 10}},
		reduce(ir.Sum, f32, 1, 2), store(f32, 2, 3, by(1, 0)))
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

// No element of the base of a scatter is past the positions of 32 bits.
func TestBaseOffset(t *testing.T) {
	const rows, width = 100, 10
	k, target := scatterAdd(rows, 2, width, f32), wide
	target.Positions = 3000
	s := SignatureOf(k, target)
	for offset := range 2 * target.Positions {
		base := s.Base(1, []driver.Arg{{}, {Offset: offset}, {}, {}, {}})
		if last := offset - base + rows*width - 1; last > target.Positions {
			t.Fatalf("offset %d: base %d, and the last position is %d", offset, base, last)
		}
	}
}
