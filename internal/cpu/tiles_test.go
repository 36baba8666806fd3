package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestTiles compares products of factors in tiles and in runs, which are read where they are, with the
// interpreter's, at several tunings.
func TestTiles(t *testing.T) {
	const m, images, tiles, depth = 9, 3, 2, 46
	width := simd.Products[f32].Cols
	n := tiles * width
	for _, c := range []struct {
		name     string
		row, col int // strides of the result
	}{{"rows by columns", n, 1}, {"columns by rows", 1, images * m}} {
		k := kernel(ir.Contraction, []ir.Axis{{Len: images, Role: ir.M}, {Len: m, Role: ir.M}, {Len: tiles, Role: ir.N}, {Len: width, Role: ir.N}, {Len: depth, Role: ir.K}},
			[]ir.Arg{in(f32), in(f32), out(f32, images*m*n)},
			read(f32, 0, depth*m, 1, 0, 0, m), read(f32, 1, 0, 0, depth*width, 1, width), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 16),
			write(f32, 3, 2, m*c.row, c.row, width*c.col, c.col, 0))
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		testTunings(t, c.name, k, images*m*depth, n*depth, images*m*n)
	}
}

// TestAddends compares products plus a bias, a number for each row, or a matrix, which the product's routine adds where it
// can, and functions of them, which may be computed where the sums stand, with the interpreter's, at several tunings.
func TestAddends(t *testing.T) {
	const m, n, depth = 37, 41, 70
	for _, c := range []struct {
		name     string
		row, col int  // strides of the addend
		first    bool // it is the first operand
		square   bool // the sum is squared
		twice    bool // and the addend is added once more
	}{
		{name: "bias", col: 1}, {name: "bias first", col: 1, first: true}, {name: "number of a row", row: 1}, {name: "matrix", row: n, col: 1},
		{name: "columns", row: 1, col: m}, {name: "square", col: 1, square: true}, {name: "square of a matrix", row: n, col: 1, square: true},
		{name: "matrix twice", row: n, col: 1, square: true, twice: true}, {name: "one number"},
	} {
		k := kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: depth, Role: ir.K}},
			[]ir.Arg{in(f32), in(f32), in(f32), out(f32, m*n)},
			read(f32, 0, depth, 0, 1), read(f32, 1, 0, 1, n), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 4), read(f32, 2, c.row, c.col, 0), apply(ir.Add, f32, 3, 4))
		if c.first {
			k.Body[5].Src = []int{4, 3}
		}
		then := func(in ir.Instr) {
			in.Domain = k.Body[5].Domain
			k.Body = append(k.Body, in)
		}
		if c.square {
			then(apply(ir.Mul, f32, 5, 5))
		}
		if c.twice {
			then(apply(ir.Add, f32, 6, 4))
		}
		then(write(f32, len(k.Body)-1, 3, n, 1, 0))
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		testTunings(t, c.name, k, m*depth, n*depth, m*n, m*n)
	}
}

// testTunings compares a kernel's results with the interpreter's at several tunings, for arguments of some lengths.
func testTunings(t *testing.T, kernel string, k *ir.Kernel, lengths ...int) {
	t.Helper()
	for name, tune := range tunings {
		d := New(Options{Threads: 3}).(*device)
		d.Tune = tune
		made := &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: k, exact: make([]bool, len(k.Body))}
		for i, length := range lengths {
			data := make([]ir.Number, length)
			for j := range data {
				data[j] = ir.Float(f32, float64((j*7+i)%13-6))
			}
			made.args = append(made.args, interp.Arg{Data: data})
		}
		if check(t, d, made, 0); t.Failed() {
			t.Fatalf("%s, tuning %s", kernel, name)
		}
	}
}
