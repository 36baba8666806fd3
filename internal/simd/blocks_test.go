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
		decode := simd.BlocksOf(f.DType().Format()).Decode
		most := 200
		if testing.Short() {
			most = 50
		}
		for n := range most {
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

// TestBlockDots compares products of small integers and decoded numbers with sums in float64.
func TestBlockDots(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, f := range blocks.Formats {
		dot := simd.BlocksOf(f.DType().Format()).Dot
		for columns := range 4 {
			for n := 0; dot != nil && n < 9; n++ {
				const gap = 3
				ldb, add := n*f.Bytes+gap, r.IntN(2)
				a, b, c := make([]float32, n*f.Len), make([]byte, columns*ldb), make([]float32, columns+1)
				for i := range a {
					a[i] = float32(r.IntN(9) - 4)
				}
				for i := range b {
					b[i] = byte(r.Uint32()) & 0x3f // scales below 2
				}
				for j := range c {
					c[j] = float32(j + 1)
				}
				dot(unsafe.Pointer(&c[0]), unsafe.Pointer(unsafe.SliceData(a)), unsafe.Pointer(unsafe.SliceData(b)), columns, n, ldb, add)
				y := make([]float32, n*f.Len)
				for j := range columns {
					f.Decode(y, b[j*ldb:][:n*f.Bytes])
					want, terms := float64(add*(j+1)), float64(j+1)
					for i, x := range y {
						want += float64(x) * float64(a[i])
						terms += math.Abs(float64(x) * float64(a[i]))
					}
					if d := math.Abs(float64(c[j]) - want); !(d <= 1e-6*terms) {
						t.Fatalf("%s, column %d of %d, %d blocks: %v, want %v", name, j, columns, n, c[j], want)
					}
				}
				if c[columns] != float32(columns+1) {
					t.Fatalf("%s: writes beyond %d columns", name, columns)
				}
			}
		}
	}
}

func BenchmarkDecoders(b *testing.B) {
	for _, name := range []string{"Q8_0", "Q4_0", "Q4_K", "Q5_K", "Q6_K", "IQ4_XS", "MXFP4"} {
		b.Run(name, func(b *testing.B) {
			f := blocks.Formats[name]
			y, data := make([]float32, 4096), make([]byte, f.DType().Bytes(4096))
			decode := simd.BlocksOf(f.DType().Format()).Decode
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				decode(unsafe.Pointer(&y[0]), unsafe.Pointer(&data[0]), 4096/f.Len)
			}
			b.ReportMetric(4096*float64(b.N)/b.Elapsed().Seconds()/1e9, "G/s")
		})
	}
}
