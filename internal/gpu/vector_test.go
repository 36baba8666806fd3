package gpu

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Products of a few rows or columns are right as a large GPU would do them,
// however the matrix lies.
func TestVectorProducts(t *testing.T) {
	wgputest.NeedForMinutes(t)
	d, err := openPlain(func(t *schedule.Target) { t.Family = schedule.Discrete })
	if err != nil {
		t.Fatal(err)
	}
	dev := deviceOf(t, d)
	defer dev.Close()
	rng := tensor.NewRNG(1)
	for _, c := range []struct{ m, n, k int }{{1, 1024, 2048}, {1024, 1, 2048}, {1, 1, 100_000}, {1, 333, 5001}, {3, 260, 4100}, {1001, 4, 259}} {
		x, w := rng.Normal(c.m, c.k), rng.Normal(c.k, c.n)
		want, err := tensor.Data[float64](x.Cast(tensor.Float64).MatMul(w.Cast(tensor.Float64)))
		if err != nil {
			t.Fatal(err)
		}
		stored := func(x tensor.Tensor) tensor.Tensor { // in row-major order
			data, err := tensor.Data[float32](x)
			if err != nil {
				t.Fatal(err)
			}
			return tensor.New(data, x.Shape()...).To(dev)
		}
		for _, l := range []struct {
			name string
			x, w tensor.Tensor
		}{
			{"as they are", stored(x), stored(w)},
			{"both transposed in memory", stored(x.T()).T(), stored(w.T()).T()},
		} {
			got, err := tensor.Data[float32](l.x.MatMul(l.w).Add(1))
			if err != nil {
				t.Fatal(err)
			}
			for i := range want {
				if off := math.Abs(float64(got[i]) - 1 - want[i]); !(off < 1e-6*float64(c.k)) {
					t.Errorf("%+v, %s: element %d is %v, want %v", c, l.name, i, got[i], want[i]+1)
					break
				}
			}
		}
	}
}

// BenchmarkMatVec multiplies a matrix of 4096×4096 and a vector. Matrices take
// turns, so that caches do not hold them.
func BenchmarkMatVec(b *testing.B) {
	const n = 4096
	for _, layout := range []struct {
		name   string
		m, n   int
		matrix []int // coefficients along m, n and k
	}{
		{"RowByMatrix", 1, n, []int{0, 1, n}},
		{"RowByTransposed", 1, n, []int{0, n, 1}},
		{"MatrixByColumn", n, 1, []int{n, 0, 1}},
		{"TransposedByColumn", n, 1, []int{1, 0, n}},
	} {
		b.Run(layout.name, func(b *testing.B) {
			d := real(b, wgpu.Options{})
			in := ir.Arg{Kind: ir.In, DType: ir.Float32, Align: true}
			k := &ir.Kernel{
				Template: ir.Contraction,
				Axes:     []ir.Axis{{Len: layout.m, Role: ir.M}, {Len: layout.n, Role: ir.N}, {Len: n, Role: ir.K}},
				Args:     []ir.Arg{in, in, {Kind: ir.Out, DType: ir.Float32, Len: n, Align: true}},
			}
			matrix, vector := 0, 1
			views := [][]int{layout.matrix, {0, 0, 1}}
			if layout.m == 1 {
				matrix, vector = 1, 0
				views[0], views[1] = views[1], views[0]
			}
			k.Body = []ir.Instr{
				{Op: ir.Load, Type: ir.Float32, Arg: 0, View: &ir.View{Coef: views[0]}},
				{Op: ir.Load, Type: ir.Float32, Arg: 1, View: &ir.View{Coef: views[1]}},
				{Op: ir.Mul, Type: ir.Float32, Src: []int{0, 1}},
				{Op: ir.Sum, Type: ir.Float32, Src: []int{2}, Axes: 1 << 2},
				{Op: ir.Store, Type: ir.Float32, Src: []int{3}, Arg: 2, View: &ir.View{Coef: []int{1, 1, 0}}},
			}
			k.Body[4].View.Coef[vector] = 0 // of the axis of length 1
			for i := range k.Body {
				k.Body[i].Domain = k.Varies(i)
			}
			if err := ir.Verify(k); err != nil {
				b.Fatal(err)
			}
			p, err := d.Compile(k)
			if err != nil {
				b.Fatal(err)
			}
			const matrices, calls = 8, 64
			args := make([]driver.Arg, 3)
			args[vector], args[2] = driver.Arg{Buffer: alloc(b, d, 4*n)}, driver.Arg{Buffer: alloc(b, d, 4*n)}
			var held []driver.Buffer
			for range matrices {
				held = append(held, alloc(b, d, 4*n*n))
			}
			var list []driver.Call
			for i := range calls {
				call := driver.Call{Program: p, Args: append([]driver.Arg(nil), args...)}
				call.Args[matrix] = driver.Arg{Buffer: held[i%matrices]}
				list = append(list, call)
			}
			run := func() {
				if err := d.Run(list); err != nil {
					b.Fatal(err)
				}
				if err := d.Sync(); err != nil {
					b.Fatal(err)
				}
			}
			run()
			b.SetBytes(calls * 4 * n * n)
			for b.Loop() {
				run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*calls), "ns/product")
		})
	}
}
