package schedule

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/internal/schedule/scheduletest"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/ir"
)

// Warps multiply a few rows of halves as they come from memory, in all forms of sides and results. The threads of a
// workgroup keep loads under way without a tile for rows that do not exist.
func TestSkinny(t *testing.T) {
	axis := func(n int, role ir.Role) ir.Axis { return ir.Axis{Len: n, Role: role} }
	for i, c := range []struct {
		name          string
		axes          []ir.Axis
		a, b, results *ir.View
		passes        int
	}{
		{"one row", []ir.Axis{axis(1, ir.M), axis(24, ir.N), axis(1024, ir.K)}, by(1024, 0, 1), by(0, 1024, 1), by(24, 1, 0), 1},
		{"four rows", []ir.Axis{axis(4, ir.M), axis(44, ir.N), axis(1416, ir.K)}, by(1416, 0, 1), by(0, 1416, 1), by(44, 1, 0), 1},
		{"eight rows", []ir.Axis{axis(8, ir.M), axis(33, ir.N), axis(64, ir.K)}, by(64, 0, 1), by(0, 64, 1), by(33, 1, 0), 1},
		{"eleven rows of two axes", []ir.Axis{axis(11, ir.M), axis(3, ir.N), axis(20, ir.N), axis(136, ir.K)}, by(136, 0, 0, 1), by(0, 136*20, 136, 1), by(20, 220, 1, 0), 1},
		{"few columns", []ir.Axis{axis(100, ir.M), axis(5, ir.N), axis(256, ir.K)}, by(256, 0, 1), by(0, 256, 1), by(5, 1, 0), 1},
		{"batches", []ir.Axis{axis(3, ir.Batch), axis(2, ir.M), axis(16, ir.N), axis(72, ir.K)}, by(144, 72, 0, 1), by(72*16, 0, 72, 1), by(32, 16, 1, 0), 1},
		{"a great depth", []ir.Axis{axis(2, ir.M), axis(8, ir.N), axis(9224, ir.K)}, by(9224, 0, 1), by(0, 9224, 1), by(8, 1, 0), 2},
		{"many columns", []ir.Axis{axis(2, ir.M), axis(2400, ir.N), axis(40, ir.K)}, by(40, 0, 1), by(0, 40, 1), by(2400, 1, 0), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := []ir.DType{ir.BFloat16, ir.Float16}[i%2]
			n := 1
			for _, a := range c.axes[:len(c.axes)-1] {
				n *= a.Len
			}
			body := []ir.Instr{load(f32, 0, c.a), load(f32, 1, c.b), alu(ir.Mul, f32, 0, 1), reduction(ir.Sum, f32, 2, ir.Axes(len(c.axes)-1)), store(f32, 3, 2, c.results)}
			k := kernel(ir.Contraction, c.axes, []ir.Arg{in(d), in(d), out(f32, n)}, body...)
			if err := ir.Verify(k); err != nil {
				t.Fatal(err)
			}
			for _, target := range []Target{nvidia, hopper, scheduletest.Positions64(hopper)} {
				p := compile(t, k, target)
				if err := simt.Verify(p); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(len(p.Passes), " passes, tiles of ", len(Choices(k, target))); got != fmt.Sprint(c.passes, " passes, tiles of 0") || sharedBytes(p.Passes[0]) > 8<<10 {
					t.Errorf("%s and %d bytes, want %d passes", got, sharedBytes(p.Passes[0]), c.passes)
				}
				if err := checkResults(p, k, target, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// Products of the same few rows by several matrices are one pass, whose results may use all sums.
func TestSkinnySiblings(t *testing.T) {
	axis := func(n int, role ir.Role) ir.Axis { return ir.Axis{Len: n, Role: role} }
	for _, c := range []struct {
		name              string
		rows, cols, depth int
		sums, lefts       int // matrices, and parts of rows that they multiply in turns
	}{
		{"gate and up", 4, 44, 1416, 2, 1}, {"queries, keys and values", 2, 16, 1024, 5, 1}, {"many rows", 11, 24, 136, 3, 1},
		{"eight matrices", 16, 24, 64, 8, 1}, {"parts of rows", 3, 16, 512, 3, 2}, {"parts of many rows", 12, 16, 64, 2, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			axes := []ir.Axis{axis(c.rows, ir.Parallel), axis(c.cols, ir.Parallel), axis(c.depth, ir.Reduced)}
			args, body := []ir.Arg{in(ir.BFloat16)}, []ir.Instr(nil)
			for i := range c.lefts {
				v := by(c.lefts*c.depth, 0, 1)
				v.Off = i * c.depth
				body = append(body, load(f32, 0, v))
			}
			var sums []int
			for i := range c.sums {
				n := len(body)
				body = append(body, load(f32, 1+i, by(0, c.depth, 1)), alu(ir.Mul, f32, i%c.lefts, n), reduction(ir.Sum, f32, n+1, ir.Axes(2)))
				args, sums = append(args, in(ir.BFloat16)), append(sums, n+2)
			}
			body = append(body, alu(ir.Sub, f32, sums[0], sums[c.sums-1]))
			for i, v := range append(sums[1:], len(body)-1) {
				wide := c.cols * (1 + i%2)
				body = append(body, store(f32, v, len(args), by(wide, 1, 0)))
				args = append(args, out(f32, c.rows*wide))
			}
			k := kernel(ir.Reduce, axes, args, body...)
			if err := ir.Verify(k); err != nil {
				t.Fatal(err)
			}
			for _, target := range []Target{nvidia, hopper, scheduletest.Positions64(hopper)} {
				p := compile(t, k, target)
				if err := simt.Verify(p); err != nil {
					t.Fatal(err)
				}
				if len(p.Passes) != 1 || p.Passes[0].Awaits() <= 0 {
					t.Errorf("%d passes, the first waits at %d", len(p.Passes), p.Passes[0].Awaits())
				}
				if err := checkResults(p, k, target, 0); err != nil {
					t.Error(err)
				}
			}
		})
	}
}
