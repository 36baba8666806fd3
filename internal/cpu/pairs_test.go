package cpu

import (
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/internal/cpu/product"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/interp"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestPairs compares products of bfloat16 with the interpreter's, at several tunings, and says which
// factors are pairs.
func TestPairs(t *testing.T) {
	const m, n = 20, 37
	for _, c := range []struct {
		name      string
		depth     int
		row, step int // strides of the left factor
		find      bool
	}{
		{"contiguous", 46, 46, 1, true},
		{"rows apart", 46, 50, 1, true},
		{"rows an odd distance apart", 46, 47, 1, false},
		{"an odd depth", 45, 46, 1, false},
		{"transposed", 46, 1, m, false},
	} {
		lengths := []int{(m-1)*c.row + (c.depth-1)*c.step + 1, n * 48, m * n}
		k := kernel(ir.Contraction, []ir.Axis{{Len: m, Role: ir.M}, {Len: n, Role: ir.N}, {Len: c.depth, Role: ir.K}},
			[]ir.Arg{in(ir.BFloat16), in(ir.BFloat16), out(ir.BFloat16, m*n)},
			read(f32, 0, c.row, 0, c.step), read(f32, 1, 0, 48, 1), apply(ir.Mul, f32, 0, 1), sumOver(ir.Sum, f32, 2, 4), write(f32, 3, 2, n, 1, 0))
		if err := ir.Verify(k); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for name, tune := range tunings {
			find := c.find && simd.Products[ir.BFloat16].Tile != nil
			few := *k
			few.Axes = append([]ir.Axis{{Len: 3, Role: ir.M}}, k.Axes[1:]...)
			if check(t, New(Options{Threads: 1}).(*device), &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: &few, exact: make([]bool, len(k.Body)), args: numbers(lengths)}, 0); t.Failed() {
				t.Fatalf("%s, few rows", c.name)
			}
			if r, _ := product.NewContract(&vector.Space{Nest: loopnest.Canonical(k), Tune: &tune}); r.ReadsPairs() != find {
				t.Errorf("%s: pairs are found: %v, want %v", c.name, r.ReadsPairs(), find)
			}
			d := New(Options{Threads: 3}).(*device)
			d.Tune = tune
			made := &maker{Rand: rand.New(rand.NewPCG(1, 2)), k: k, exact: make([]bool, len(k.Body))}
			made.args = numbers(lengths)
			if check(t, d, made, 0); t.Failed() {
				t.Fatalf("%s, tuning %s", c.name, name)
			}
		}
	}
}

// numbers returns arguments of some lengths, small integers in bfloat16.
func numbers(lengths []int) (args []interp.Arg) {
	for i, length := range lengths {
		data := make([]ir.Number, length)
		for j := range data {
			data[j] = ir.Float(ir.BFloat16, float64((j*7+i)%13-6))
		}
		args = append(args, interp.Arg{Data: data})
	}
	return args
}
