package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/ir"
)

// TestLimits runs kernels like attention to a cache, with a length that is an argument. Hidden operands
// are NaN beyond the length; elements that no store writes keep their values.
func TestLimits(t *testing.T) {
	const rows, columns, deep, i32 = 3, 700, 64, ir.Int32
	lowest := ir.Float(f32, math.Inf(-1))
	// The body of each begins with: the position along an axis, the length, whether the one is below the other.
	mask := func(axis int) []ir.Instr {
		return []ir.Instr{{Op: ir.Index, Type: i32, Axis: axis}, {Op: ir.Scalar, Type: i32, Arg: 0}, apply(ir.Lt, ir.Bool, 0, 1)}
	}
	number := ir.Arg{Kind: ir.Value, DType: i32}
	hidden := ir.Arg{Kind: ir.In, DType: f32, Undefined: true}
	upTo := func(src, arg int, coef ...int) ir.Instr {
		s := write(f32, src, arg, coef...)
		s.Src = append(s.Src, 2)
		return s
	}
	parallel, reduced := ir.Axis{Len: rows, Role: ir.Parallel}, ir.Axis{Len: columns, Role: ir.Reduced}
	for name, c := range map[string]struct {
		k      *ir.Kernel
		inputs []int // elements of arguments from number 1 on, a hidden one's first
		cut    bool  // the result ends at the length
	}{
		"scores": {kernel(ir.Contraction, []ir.Axis{{Len: rows, Role: ir.M}, {Len: columns, Role: ir.N}, {Len: deep, Role: ir.K}},
			[]ir.Arg{number, in(f32), in(f32), out(f32, rows*columns)}, append(mask(1),
				read(f32, 1, deep, 0, 1), read(f32, 2, 0, deep, 1), apply(ir.Mul, f32, 3, 4), sumOver(ir.Sum, f32, 5, 1<<2), upTo(6, 3, columns, 1, 0))...),
			[]int{rows * deep, columns * deep}, true},
		"softmax": {kernel(ir.Reduce, []ir.Axis{parallel, reduced}, []ir.Arg{number, hidden, out(f32, rows*columns)}, append(mask(1),
			read(f32, 1, columns, 1), ir.Instr{Op: ir.Const, Type: f32, Num: lowest}, apply(ir.Where, f32, 2, 3, 4), sumOver(ir.ReduceMax, f32, 5, 1<<1),
			apply(ir.Sub, f32, 5, 6), apply(ir.Exp, f32, 7), sumOver(ir.Sum, f32, 8, 1<<1), apply(ir.Div, f32, 8, 9), upTo(10, 2, columns, 1))...),
			[]int{rows * columns}, true},
		"values": {kernel(ir.Contraction, []ir.Axis{{Len: rows, Role: ir.M}, {Len: deep, Role: ir.N}, {Len: columns, Role: ir.K}},
			[]ir.Arg{number, hidden, in(f32), out(f32, rows*deep)}, append(mask(2),
				read(f32, 1, columns, 0, 1), ir.Instr{Op: ir.Const, Type: f32}, apply(ir.Where, f32, 2, 3, 4),
				read(f32, 2, 0, 1, deep), apply(ir.Mul, f32, 5, 6), sumOver(ir.Sum, f32, 7, 1<<2), write(f32, 8, 3, deep, 1, 0))...),
			[]int{rows * columns, columns * deep}, false},
	} {
		if err := ir.Verify(c.k); err != nil {
			t.Fatalf("%s: %v\n%v", name, err, c.k)
		}
		for tune := range tunings {
			d := New(Options{Threads: 3, Memory: 1 << 30}).(*device)
			d.Tune = tunings[tune]
			for _, n := range []int{-5, 1, 2, 300, columns - 1, columns, columns + 9, math.MaxInt32} {
				t.Run(fmt.Sprint(name, " ", tune, " ", n), func(t *testing.T) {
					args := []interp.Arg{{Num: ir.Int(i32, int64(n))}}
					for i, size := range append(c.inputs, c.k.Args[len(c.k.Args)-1].Len) {
						data := make([]ir.Number, size)
						for j := range data {
							data[j] = ir.Float(f32, float64(j%7-3)/4)
							if c.k.Args[1+i].Undefined && j%columns >= n {
								data[j] = ir.Float(f32, math.NaN())
							}
						}
						args = append(args, interp.Arg{Data: data})
					}
					got, err := runOn(d, c.k, args)
					if err != nil {
						t.Fatal(err)
					}
					last := len(args) - 1
					before := args[last].Data
					args[last].Data = make([]ir.Number, len(before))
					if err := interp.Run(c.k, args); err != nil {
						t.Fatal(err)
					}
					for j, want := range args[last].Data {
						if c.cut && j%columns >= n {
							want = before[j]
						}
						if !near(f32, got[last][j], want, false) {
							t.Fatalf("element %d = %v, want %v", j, got[last][j].Text(f32), want.Text(f32))
						}
					}
				})
			}
		}
	}
}
