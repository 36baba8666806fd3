package simd_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/tensorken/tensorken/internal/blocks"
	"github.com/tensorken/tensorken/internal/simd"
)

// TestDecoders compares routines with the decoders of package blocks, bit for bit but for the bits of
// NaNs. Scales are any halves.
func TestDecoders(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, f := range blocks.Formats {
		decode := simd.DecoderOf(f.DType().Format())
		for n := range 200 {
			b := make([]byte, n*f.Bytes)
			for i := range b {
				b[i] = byte(r.Uint32())
			}
			want, got := make([]float32, n*f.Len), make([]float32, n*f.Len+1)
			got[len(want)] = 7
			f.Decode(want, b)
			decode(unsafe.Pointer(unsafe.SliceData(got)), unsafe.Pointer(unsafe.SliceData(b)), n)
			for i, w := range want {
				if g := got[i]; math.Float32bits(g) != math.Float32bits(w) && (g == g || w == w) {
					t.Fatalf("%s: number %d of %d blocks is %v, want %v", name, i, n, g, w)
				}
			}
			if got[len(want)] != 7 {
				t.Fatalf("%s: writes beyond %d blocks", name, n)
			}
		}
	}
}

func BenchmarkDecoders(b *testing.B) {
	for _, name := range []string{"Q8_0", "Q4_0", "Q4_K", "Q6_K"} {
		b.Run(name, func(b *testing.B) {
			f := blocks.Formats[name]
			y, data := make([]float32, 4096), make([]byte, f.DType().Bytes(4096))
			decode := simd.DecoderOf(f.DType().Format())
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				decode(unsafe.Pointer(&y[0]), unsafe.Pointer(&data[0]), 4096/f.Len)
			}
			b.ReportMetric(4096*float64(b.N)/b.Elapsed().Seconds()/1e9, "G/s")
		})
	}
}
