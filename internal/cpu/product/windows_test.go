package product

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// TestColumnsOfWindows: threads share the columns of a convolution whose tiles have all rows, and compute the bits that one
// computes, with zeros beyond the image and without.
func TestColumnsOfWindows(t *testing.T) {
	const channels, outputs, taps = 100, 100, 9
	for _, c := range []struct{ images, positions, pad int }{{1, 60, 0}, {1, 60, 4}, {3, 200, 4}} {
		length := c.positions + taps - 1 - 2*c.pad
		v := &ir.View{Off: -c.pad, Coef: []int{channels * length, 1, 0, length, 1}, Fill: ir.Float(ir.Float32, 0)}
		if c.pad > 0 {
			v.Guards = []ir.Guard{{AffineExpr: ir.AffineExpr{Off: -c.pad, Coef: []int{0, 1, 0, 0, 1}, Div: 1}, Len: length}}
		}
		view := func(coef ...int) *ir.View { return &ir.View{Coef: coef} }
		k := &ir.Kernel{Template: ir.Contraction,
			Axes: []ir.Axis{{Len: c.images, Role: ir.M}, {Len: c.positions, Role: ir.M}, {Len: outputs, Role: ir.N}, {Len: channels, Role: ir.K}, {Len: taps, Role: ir.K}},
			Args: []ir.Arg{{Kind: ir.In, DType: ir.Float32}, {Kind: ir.In, DType: ir.Float32}, {Kind: ir.Out, DType: ir.Float32, Len: c.images * c.positions * outputs}},
			Body: []ir.Instr{
				{Op: ir.Load, Type: ir.Float32, Arg: 0, View: v},
				{Op: ir.Load, Type: ir.Float32, Arg: 1, View: view(0, 0, 1, taps*outputs, outputs)},
				{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
				{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 0x18},
				{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: view(c.positions*outputs, outputs, 1, 0, 0)},
			}}
		for i := range k.Body {
			k.Body[i].Domain = k.Varies(i)
		}
		if err := ir.Verify(k); err != nil {
			t.Fatal(err)
		}
		random := rand.New(rand.NewPCG(1, 2))
		args := [][]float32{make([]float32, c.images*channels*length), make([]float32, channels*taps*outputs), make([]float32, c.images*c.positions*outputs)}
		for _, x := range args[:2] {
			for i := range x {
				x[i] = float32(random.NormFloat64())
			}
		}
		var first []float32
		columns := 0 // of tiles
		for _, threads := range []int{1, 2, 3, 8} {
			tune := vector.DefaultTuning
			tune.Threads = threads
			r, extra := NewContract(&vector.Space{Nest: loopnest.Canonical(k), Tune: &tune})
			if !r.ReadsWindows() || !r.whole {
				t.Fatalf("%v: windows %v, whole %v, want both", c, r.ReadsWindows(), r.whole)
			}
			if threads == 1 {
				columns = r.cols.Count
			} else if threads == 8 && simd.Level != "go" && r.cols.Count <= columns { // whose tiles have few columns
				t.Errorf("%v: %d tiles of columns for %d threads, %d for one", c, r.cols.Count, threads, columns)
			}
			for i := range args[2] {
				args[2][i] = float32(math.NaN())
			}
			runOn(t, r, &tune, extra, args)
			if first == nil {
				first = slices.Clone(args[2])
			}
			for i, x := range args[2] {
				if math.Float32bits(x) != math.Float32bits(first[i]) {
					t.Fatalf("%v: %d threads: result %d is %v, want %v", c, threads, i, x, first[i])
				}
			}
		}
		for i, x := range first {
			sum, at := 0.0, i/outputs%c.positions-c.pad
			for j := range channels * taps {
				if p := at + j%taps; p >= 0 && p < length {
					sum += float64(args[0][(i/outputs/c.positions*channels+j/taps)*length+p]) * float64(args[1][j*outputs+i%outputs])
				}
			}
			if math.Abs(float64(x)-sum) > 1e-3 {
				t.Fatalf("%v: result %d is %v, want %v", c, i, x, sum)
			}
		}
	}
}

// runOn runs a product on as many workers as a tuning has threads.
func runOn(t *testing.T, r *contractRunner, tune *vector.Tuning, extra int, args [][]float32) {
	t.Helper()
	p := &vector.Pool{Tune: *tune}
	p.Start(tune.Threads)
	defer p.Close()
	x, err := p.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer p.Release(x)
	x.Bind = make([]vector.Binding, len(args)+extra)
	for i, a := range args {
		x.Bind[i].P = unsafe.Pointer(&a[0])
	}
	if err := r.Run(x); err != nil {
		t.Fatal(err)
	}
}
