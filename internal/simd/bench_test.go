package simd

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

func BenchmarkRoutines(b *testing.B) {
	const n = 1024
	x, y, d := make([]float32, n), make([]float32, n), make([]float32, n)
	for i := range x {
		x[i], y[i] = rand.Float32()*4-2, rand.Float32()*4-2
	}
	p, q, r := unsafe.Pointer(&x[0]), unsafe.Pointer(&y[0]), unsafe.Pointer(&d[0])
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/element")
		})
	}
	x64, y64, d64 := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x64 {
		x64[i], y64[i] = float64(x[i]), float64(y[i])
	}
	for _, op := range []ir.Op{ir.Pow, ir.Rem} {
		run(op.String()+" of float64", func() {
			Binaries[op][ir.Float64].VV(unsafe.Pointer(&d64[0]), unsafe.Pointer(&x64[0]), unsafe.Pointer(&y64[0]), n)
		})
	}
	for _, op := range []ir.Op{ir.Exp, ir.Expm1, ir.Log, ir.Log1p, ir.Log2, ir.Sin, ir.Cos, ir.Tanh, ir.Erf, ir.Erfc} {
		d := make([]float64, n)
		run(op.String()+" of float64", func() { Unaries[op][ir.Float64](unsafe.Pointer(&d[0]), unsafe.Pointer(&x64[0]), n) })
	}
	for _, op := range []ir.Op{ir.Neg, ir.Exp, ir.Expm1, ir.Log, ir.Log1p, ir.Log2, ir.Sin, ir.Cos, ir.Atan, ir.Sqrt, ir.Tanh, ir.Erf, ir.Erfc, ir.Floor} {
		run(op.String(), func() { Unaries[op][ir.Float32](r, p, n) })
	}
	for _, op := range []ir.Op{ir.Add, ir.Mul, ir.Div, ir.Max, ir.Pow, ir.Rem, ir.Lt} {
		m := Binaries[op][ir.Float32]
		run(fmt.Sprint(op, "VV"), func() { m.VV(r, p, q, n) })
		if m.VS != nil {
			run(fmt.Sprint(op, "VS"), func() { m.VS(r, p, q, n) })
		}
	}
	run("Where", func() { Wheres[ir.Float32].VV(r, r, p, q, n) })
	var acc float64
	run("Sum", func() { Reductions[ir.Sum][ir.Float32].Along(unsafe.Pointer(&acc), p, 1, n) })
	run("ReduceMax", func() { Reductions[ir.ReduceMax][ir.Float32].Along(unsafe.Pointer(&acc), p, 1, n) })
	var val float32
	run("ArgMax", func() {
		pos := int32(-1)
		ArgMaxes[ir.Float32].Along(unsafe.Pointer(&val), unsafe.Pointer(&pos), p, 1, n, 0)
	})
	run("Threefry", func() { Threefry(r, p, q, p, q, n) })
	run("ToF16", func() { Casts[ir.Float32][ir.Float16](r, p, n) })
	run("ToInt32", func() { Casts[ir.Float32][ir.Int32](r, p, n) })
}
