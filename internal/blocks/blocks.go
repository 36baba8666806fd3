package blocks

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// A Format is a block format.
type Format struct {
	Name  string // as ggml spells it
	Len   int    // numbers in a block
	Bytes int    // size of a block

	decode func(y []float32, b []byte) // one block
	encode func(b []byte, x, w []float32)
	scales []scale
}

// A scale is a number that multiplies elements of a block.
type scale struct {
	offset int
	read   func(b []byte) float32
}

// Formats are all block formats, by name.
var Formats = func() map[string]*Format {
	all := map[string]*Format{}
	for _, f := range formats {
		all[f.Name] = &f
	}
	return all
}()

var formats = []Format{
	{"Q1_0", 128, 18, decodeQ1_0, encodeQ1_0, halves(0)},
	{"Q2_0", 64, 18, decodeQ2_0, encodeQ2_0, halves(0)},
	{"Q4_0", 32, 18, decodeQ4_0, encodeQ4_0, halves(0)},
	{"Q4_1", 32, 20, decodeQ4_1, encodeQ4_1, halves(0, 2)},
	{"Q5_0", 32, 22, decodeQ5_0, encodeQ5_0, halves(0)},
	{"Q5_1", 32, 24, decodeQ5_1, encodeQ5_1, halves(0, 2)},
	{"Q8_0", 32, 34, decodeQ8_0, encodeQ8_0, halves(0)},
	{"Q8_1", 32, 36, decodeQ8_1, encodeQ8_1, halves(0, 2)},
	{"Q2_K", 256, 84, decodeQ2_K, encodeQ2_K, halves(80, 82)},
	{"Q3_K", 256, 110, decodeQ3_K, encodeQ3_K, halves(108)},
	{"Q4_K", 256, 144, decodeQ4_K, encodeQ4_K, halves(0, 2)},
	{"Q5_K", 256, 176, decodeQ5_K, encodeQ5_K, halves(0, 2)},
	{"Q6_K", 256, 210, decodeQ6_K, encodeQ6_K, halves(208)},
	{"Q8_K", 256, 292, decodeQ8_K, encodeQ8_K, []scale{{0, single}}},
	{"IQ1_S", 256, 50, decodeIQ1_S, encodeIQ1_S, halves(0)},
	{"IQ1_M", 256, 56, decodeIQ1_M, encodeIQ1_M, []scale{{48, scattered}}},
	{"IQ2_XXS", 256, 66, decodeIQ2_XXS, encodeIQ2_XXS, halves(0)},
	{"IQ2_XS", 256, 74, decodeIQ2_XS, encodeIQ2_XS, halves(0)},
	{"IQ2_S", 256, 82, decodeIQ2_S, encodeIQ2_S, halves(0)},
	{"IQ3_XXS", 256, 98, decodeIQ3_XXS, encodeIQ3_XXS, halves(0)},
	{"IQ3_S", 256, 110, decodeIQ3_S, encodeIQ3_S, halves(0)},
	{"IQ4_NL", 32, 18, decodeIQ4_NL, encodeIQ4_NL, halves(0)},
	{"IQ4_XS", 256, 136, decodeIQ4_XS, encodeIQ4_XS, halves(0)},
	{"TQ1_0", 256, 54, decodeTQ1_0, encodeTQ1_0, halves(52)},
	{"TQ2_0", 256, 66, decodeTQ2_0, encodeTQ2_0, halves(64)},
	{"MXFP4", 32, 17, decodeMXFP4, encodeMXFP4, nil},
	{"NVFP4", 64, 36, decodeNVFP4, encodeNVFP4, nil},
}

// Decode decodes all blocks of b, f.Bytes each, to f.Len numbers each.
func (f *Format) Decode(y []float32, b []byte) {
	for len(b) > 0 {
		f.decode(y[:f.Len:f.Len], b[:f.Bytes:f.Bytes])
		y, b = y[f.Len:], b[f.Bytes:]
	}
}

// NotFinite returns the index of the first block with a scale that is a NaN or infinite, or
// -1.
func (f *Format) NotFinite(b []byte) int {
	for i := 0; len(b) > 0; i++ {
		for _, s := range f.scales {
			if d := s.read(b[s.offset:f.Bytes]); d-d != 0 {
				return i
			}
		}
		b = b[f.Bytes:]
	}
	return -1
}

func halves(offsets ...int) (all []scale) {
	for _, o := range offsets {
		all = append(all, scale{o, half})
	}
	return all
}

func word(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }

func long(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }

func half(b []byte) float32 { return ir.F16(word(b)).Float32() }

func single(b []byte) float32 { return math.Float32frombits(long(b)) }

// scattered reads the half of IQ1_M, four bits of which are in each of four words.
func scattered(b []byte) float32 {
	h := word(b)>>12 | word(b[2:])>>8&0xf0 | word(b[4:])>>4&0xf00 | word(b[6:])&0xf000
	return ir.F16(h).Float32()
}
