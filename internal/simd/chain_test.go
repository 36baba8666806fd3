package simd

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// TestChain compares chains with the routines of their links, bit for bit, on special values too.
func TestChain(t *testing.T) {
	if Chain == nil {
		t.Skip("no routine")
	}
	const most = 300
	special := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 6, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), math.MaxFloat32, 1e-40}
	draw := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			if v[i] = rand.Float32()*8 - 4; rand.IntN(4) == 0 {
				v[i] = special[rand.IntN(len(special))]
			}
		}
		return v
	}
	ptr := func(v []float32) unsafe.Pointer { return unsafe.Pointer(&v[0]) }
	for range 3000 {
		n, src := rand.IntN(most), draw(most)
		x, saved := append([]float32(nil), src...), append([]float32(nil), src...)
		var links []Link
		for range 1 + rand.IntN(6) {
			l := Link{Op: LinkOp(rand.IntN(int(MulSaved) + 1)), Y: ptr(draw(most)), Z: ptr(draw(1))}
			links = append(links, l)
			binary := func(op ir.Op, f func(m Modes) Binary) { f(Binaries[op][ir.Float32])(ptr(x), ptr(x), l.Y, n) }
			vv, vs := func(m Modes) Binary { return m.VV }, func(m Modes) Binary { return m.VS }
			switch l.Op {
			case AddV:
				binary(ir.Add, vv)
			case AddS:
				binary(ir.Add, vs)
			case MulV:
				binary(ir.Mul, vv)
			case MulS:
				binary(ir.Mul, vs)
			case MaxS:
				binary(ir.Max, vs)
			case LowS:
				Clamps[ir.Float32].Low(ptr(x), ptr(x), l.Y, l.Z, n)
			case HighS:
				Clamps[ir.Float32].High(ptr(x), ptr(x), l.Y, l.Z, n)
			case Save:
				copy(saved, x)
			case MulSaved:
				l.Y = ptr(saved)
				binary(ir.Mul, vv)
			}
		}
		got := draw(most)
		want := append([]float32(nil), got...)
		copy(want, x[:n])
		Chain(ptr(got), ptr(src), unsafe.Pointer(&links[0]), len(links), n)
		for i := range got {
			if a, b := math.Float32bits(got[i]), math.Float32bits(want[i]); a != b && (got[i] == got[i] || want[i] == want[i]) {
				t.Fatalf("%v of %d: element %d is %v, want %v", links, n, i, got[i], want[i])
			}
		}
	}
}
