package wav

import (
	"encoding/binary"
	"fmt"
	"math"
)

// An Encoding says how a file stores a sample.
type Encoding uint8

// The encodings. PCM8 is unsigned in files, the other integers are signed.
const (
	PCM16 Encoding = iota
	PCM8
	PCM24
	PCM32
	Float32
	Float64
	numEncodings // how many can be written
)

// Encodings that are read only: telephone sound, 8 bits a sample (ITU-T G.711).
const (
	aLaw = numEncodings + iota
	muLaw
	numReadable
)

// Tags of formats in files.
const (
	tagPCM        = 1
	tagFloat      = 3
	tagALaw       = 6
	tagMuLaw      = 7
	tagExtensible = 0xfffe
)

var little = binary.LittleEndian

var encodings = [numReadable]struct {
	name string
	tag  uint16
	size int // of a sample, in bytes
	get  func(b []byte) float32
	put  func(b []byte, x float32)
}{
	PCM16: {"PCM16", tagPCM, 2,
		func(b []byte) float32 { return float32(int16(little.Uint16(b))) / (1 << 15) },
		func(b []byte, x float32) { little.PutUint16(b, uint16(quantize(x, 16))) }},
	PCM8: {"PCM8", tagPCM, 1,
		func(b []byte) float32 { return float32(int(b[0])-1<<7) / (1 << 7) },
		func(b []byte, x float32) { b[0] = byte(quantize(x, 8) + 1<<7) }},
	PCM24: {"PCM24", tagPCM, 3,
		func(b []byte) float32 {
			return float32(int32(uint32(b[0])<<8|uint32(b[1])<<16|uint32(b[2])<<24)) / (1 << 31)
		},
		func(b []byte, x float32) {
			q := quantize(x, 24)
			b[0], b[1], b[2] = byte(q), byte(q>>8), byte(q>>16)
		}},
	PCM32: {"PCM32", tagPCM, 4,
		func(b []byte) float32 { return float32(int32(little.Uint32(b))) / (1 << 31) },
		func(b []byte, x float32) { little.PutUint32(b, uint32(quantize(x, 32))) }},
	Float32: {"Float32", tagFloat, 4,
		func(b []byte) float32 { return math.Float32frombits(little.Uint32(b)) },
		func(b []byte, x float32) { little.PutUint32(b, math.Float32bits(x)) }},
	Float64: {"Float64", tagFloat, 8,
		func(b []byte) float32 { return float32(math.Float64frombits(little.Uint64(b))) },
		func(b []byte, x float32) { little.PutUint64(b, math.Float64bits(float64(x))) }},
	aLaw:  {"A-law", tagALaw, 1, func(b []byte) float32 { return float32(expandALaw(b[0])) / (1 << 15) }, nil},
	muLaw: {"μ-law", tagMuLaw, 1, func(b []byte) float32 { return float32(expandMuLaw(b[0])) / (1 << 15) }, nil},
}

// expandALaw returns the 16-bit number of an A-law sample: sign, exponent of 3 bits and
// fraction of 4, every other bit inverted.
func expandALaw(b byte) int {
	b ^= 0x55
	exponent, x := int(b>>4&7), int(b&15)<<4+8
	if exponent > 0 {
		x = (x + 1<<8) << (exponent - 1)
	}
	if b&0x80 == 0 {
		return -x
	}
	return x
}

// expandMuLaw returns the 16-bit number of a μ-law sample: sign, exponent of 3 bits and
// fraction of 4, all inverted.
func expandMuLaw(b byte) int {
	const bias = 0x84
	b = ^b
	x := (int(b&15)<<3+bias)<<(b>>4&7) - bias
	if b&0x80 != 0 {
		return -x
	}
	return x
}

// quantize returns x·2^(bits-1), rounded half to even and limited to integers of that many
// bits; 0 for NaN.
func quantize(x float32, bits int) int64 {
	most := int64(1) << (bits - 1)
	y := math.RoundToEven(float64(x) * float64(most))
	switch {
	case y != y:
		return 0
	case y >= float64(most):
		return most - 1
	case y < -float64(most):
		return -most
	}
	return int64(y)
}

// String returns the name of the constant.
func (e Encoding) String() string {
	if e >= numEncodings {
		return fmt.Sprintf("Encoding(%d)", uint8(e))
	}
	return encodings[e].name
}

// unknownTags names formats that this package does not read.
var unknownTags = map[uint16]string{
	2: " (Microsoft ADPCM)", 0x11: " (IMA ADPCM)", 0x31: " (GSM 6.10)", 0x55: " (MP3)",
}

// encodingOf returns the encoding of a format's tag and its bits per sample. A PCM sample of,
// say, 12 bits is stored in the upper bits of whole bytes, and reads as one of 16.
func encodingOf(tag uint16, bits int) (Encoding, error) {
	stored := bits
	if tag == tagPCM {
		stored = (bits + 7) &^ 7
	}
	for e, row := range encodings {
		if row.tag == tag && 8*row.size == stored {
			return Encoding(e), nil
		}
	}
	switch tag {
	case tagPCM, tagFloat, tagALaw, tagMuLaw:
		return 0, fmt.Errorf("its samples have %d bits: want 1 to 32 of integers, 32 or 64 of floating-point numbers, 8 of A-law and μ-law", bits)
	}
	return 0, fmt.Errorf("its encoding is number %d%s: only PCM, floating-point numbers, A-law and μ-law can be read", tag, unknownTags[tag])
}
