package simd

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/ir"
)

// resultBits are hashes of the results of functions in assembly, which are the same at every level,
// so that errors measured at one hold at all.
var resultBits = []struct {
	op   ir.Op
	typ  ir.DType
	hash uint64
}{
	{ir.Exp, ir.Float32, 0x89dc3a6df77c6cac},
	{ir.Expm1, ir.Float32, 0xb7da5f5d2b3f1926},
	{ir.Log, ir.Float32, 0xe422ee8e4498005e},
	{ir.Log1p, ir.Float32, 0x7db8f8efa709e9ae},
	{ir.Log2, ir.Float32, 0x5edb064baa165397},
	{ir.Sin, ir.Float32, 0x9d0c28c4fa75c3fa},
	{ir.Cos, ir.Float32, 0x3843d421aedc027b},
	{ir.Atan, ir.Float32, 0xc2273b7fcf4e8829},
	{ir.Tanh, ir.Float32, 0x9f4ab2fe2a980f0f},
	{ir.Erf, ir.Float32, 0xd7861295525b4baa},
	{ir.Erfc, ir.Float32, 0xbd655b07dd556072},
	{ir.Pow, ir.Float32, 0x6f353edba5289fd6},
	{ir.Rem, ir.Float32, 0x8621ace794ec4457},
	{ir.Exp, ir.Float64, 0x9d250159f57a8d12},
	{ir.Expm1, ir.Float64, 0x7e5f7f1cd137fe53},
	{ir.Log, ir.Float64, 0x5ed10996a9f1c2fb},
	{ir.Log1p, ir.Float64, 0x16e5ca000f503a64},
	{ir.Log2, ir.Float64, 0x327682e68e3d534},
	{ir.Sin, ir.Float64, 0xf2f4ef0bcdca5e1d},
	{ir.Cos, ir.Float64, 0x688a3281dfba3ccc},
	{ir.Tanh, ir.Float64, 0x87b3f826472da63e},
	{ir.Erf, ir.Float64, 0xcc9956b5dd00ee9d},
	{ir.Erfc, ir.Float64, 0x6d00c8dae817ff3d},
	{ir.Pow, ir.Float64, 0x6ec148bda2156507},
	{ir.Rem, ir.Float64, 0x69677f8823c12597},
}

func TestBits(t *testing.T) {
	if Level == "go" {
		t.Skip("the twins differ in the last bit")
	}
	const n = 1 << 14
	for _, c := range resultBits {
		x, y, dst := scattered(c.typ, n, 1), scattered(c.typ, n, 2), newVector(c.typ, n)
		if f := Unaries[c.op][c.typ]; f != nil {
			f(dst.p(), x.p(), n)
		} else {
			Binaries[c.op][c.typ].VV(dst.p(), x.p(), y.p(), n)
		}
		h := fnv.New64a()
		for i := range n {
			v := dst.get(i)
			if f := v.Float64(c.typ); f != f {
				v = ir.Float(c.typ, math.NaN())
			}
			h.Write(v.Append(nil, c.typ))
		}
		if h.Sum64() != c.hash {
			t.Errorf("%v of %v at level %s: hash %#x, want %#x", c.op, c.typ, Level, h.Sum64(), c.hash)
		}
	}
}

// scattered returns numbers of both signs from 2⁻¹⁶ to 2¹⁶, and special ones.
func scattered(d ir.DType, n int, seed uint64) *vector {
	v, r := newVector(d, n), rand.New(rand.NewPCG(seed, seed))
	special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1, -1, math.SmallestNonzeroFloat32}
	for i := range n {
		x := math.Float64frombits(r.Uint64()&(1<<63|1<<52-1) | uint64(1023-16+r.IntN(32))<<52)
		if r.IntN(64) == 0 {
			x = special[r.IntN(len(special))]
		}
		v.set(i, ir.Float(d, x))
	}
	return v
}
