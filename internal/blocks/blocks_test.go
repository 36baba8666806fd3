package blocks

import (
	"encoding/binary"
	"hash/fnv"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// edges are halves at the ends of a scale's range: zeros, subnormal numbers, the smallest
// normal and the greatest one, one, infinities, a NaN.
var edges = []uint16{0, 0x8000, 1, 0x83ff, 0x400, 0x7bff, 0xfbff, 0x3c00, 0xbc00, 0x7c00, 0xfc00, 0x7e00}

// edgeBlocks returns blocks of random bytes, most of them with scales from edges.
func edgeBlocks(f *Format) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, 64*f.Bytes)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	for i := range 48 {
		for k, s := range f.scales {
			e := edges[(i+5*k*(i/12))%len(edges)]
			at := b[i*f.Bytes+s.offset:]
			switch {
			case f.Name == "Q8_K":
				binary.LittleEndian.PutUint32(at, uint32(e)<<16)
			case f.Name == "IQ1_M":
				for n := range 4 {
					at[2*n+1] = at[2*n+1]&15 | byte(e>>(4*n))<<4
				}
			default:
				binary.LittleEndian.PutUint16(at, e)
			}
		}
	}
	return b
}

// fingerprint hashes the bits of numbers, all NaNs as one.
func fingerprint(y []float32) uint64 {
	h := fnv.New64a()
	for _, v := range y {
		if v != v {
			v = float32(math.NaN())
		}
		binary.Write(h, binary.LittleEndian, v)
	}
	return h.Sum64()
}

// ggml has, by format, the fingerprint of edgeBlocks as the library ggml decodes them. It has no
// decoder of Q8_1, an intermediate format.
var ggml = map[string]uint64{
	"IQ1_M":   0x3f6dd30227517161,
	"IQ1_S":   0x3796ec65c61eefd,
	"IQ2_S":   0x732a67c367c5a12f,
	"IQ2_XS":  0xa87483514e579721,
	"IQ2_XXS": 0x8e9dfc6da4ce85f0,
	"IQ3_S":   0x4561225fbb5499da,
	"IQ3_XXS": 0x4ed84eb255480c5,
	"IQ4_NL":  0x37fc48fcf7712ef0,
	"IQ4_XS":  0xf0a9d274a3e3d4c3,
	"MXFP4":   0x3f6e9618b21d9f31,
	"NVFP4":   0x6e306924e43a2f46,
	"Q1_0":    0x5535fdd31a71d1a5,
	"Q2_0":    0x16e447be2ca3cfd3,
	"Q2_K":    0x1731e9b8b6ce1ca1,
	"Q3_K":    0x170810ce80533246,
	"Q4_0":    0x9186864aebed71fb,
	"Q4_1":    0xe5b99adefa9c3b18,
	"Q4_K":    0xe846ca1659bbc36c,
	"Q5_0":    0x7091622028197d85,
	"Q5_1":    0x27322bacee312d69,
	"Q5_K":    0x26753292f9d3474,
	"Q6_K":    0x580886a671bd28bf,
	"Q8_0":    0xd4e0b913c3286c28,
	"Q8_K":    0xaa517e7b7258317,
	"TQ1_0":   0xc7085352ac56d603,
	"TQ2_0":   0x45513e47534b0192,
}

func TestDecode(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(ggml)) {
		f := Formats[name]
		b := edgeBlocks(f)
		y := make([]float32, 64*f.Len)
		f.Decode(y, b)
		if got := fingerprint(y); got != ggml[name] {
			t.Errorf("%s: decoded blocks have the fingerprint %#x, want %#x", name, got, ggml[name])
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, name := range slices.Sorted(maps.Keys(Formats)) {
		f := Formats[name]
		b.Run(name, func(b *testing.B) {
			data, y := edgeBlocks(f), make([]float32, 64*f.Len)
			b.SetBytes(int64(4 * len(y)))
			for b.Loop() {
				f.Decode(y, data)
			}
		})
	}
}
