package blocks

import "github.com/tensorken/tensorken/ir"

// codes describe formats to shaders, by name. Of other formats GPUs have decoded copies.
var codes = map[string]*ir.Codes{
	"Q4_0":   {Run: 32, Code: ir.Field{Parts: bytewise(4, 2, 16), Bias: 8}, Scale: half16(0), Cuts: []int{2}},
	"Q4_1":   {Run: 32, Code: ir.Field{Parts: bytewise(4, 4, 16)}, Scale: half16(0), Offset: &ir.Factor{Float: ir.HalfFloat, At: 2}, Cuts: []int{4}},
	"Q5_0":   {Run: 32, Code: ir.Field{Parts: join(bytewise(4, 6, 16), bitwise(1, 2)), Bias: 16}, Scale: half16(0), Cuts: []int{2, 6}},
	"Q5_1":   {Run: 32, Code: ir.Field{Parts: join(bytewise(4, 8, 16), bitwise(1, 4))}, Scale: half16(0), Offset: &ir.Factor{Float: ir.HalfFloat, At: 2}, Cuts: []int{4, 8}},
	"Q8_0":   {Run: 32, Code: ir.Field{Parts: bytewise(8, 2, 32), Signed: true}, Scale: half16(0), Cuts: []int{2}},
	"Q8_1":   {Run: 32, Code: ir.Field{Parts: bytewise(8, 4, 32), Signed: true}, Scale: half16(0), Cuts: []int{4}},
	"Q2_K":   {Run: 16, Code: ir.Field{Parts: bytewise(2, 16, 32)}, Scale: times(80, bytewise(4, 0, 16)), Offset: minus(82, from(16, bytewise(4, 0, 16))), Cuts: []int{16, 80}},
	"Q3_K":   {Run: 16, Code: ir.Field{Parts: join(bytewise(2, 32, 32), bytewise(1, 0, 32)), Bias: 4}, Scale: biased(108, 32, join(bytewise(4, 96, 8), bytewise(2, 104, 4))), Cuts: []int{32, 96, 108}},
	"Q4_K":   {Run: 32, Code: ir.Field{Parts: bytewise(4, 16, 32)}, Scale: times(0, scalesQ4_K), Offset: minus(2, offsetsQ4_K), Cuts: []int{16}},
	"Q5_K":   {Run: 32, Code: ir.Field{Parts: join(bytewise(4, 48, 32), bytewise(1, 16, 32))}, Scale: times(0, scalesQ4_K), Offset: minus(2, offsetsQ4_K), Cuts: []int{16, 48}},
	"Q6_K":   {Run: 16, Code: ir.Field{Parts: join(bytewise(4, 0, 64), bytewise(2, 128, 32)), Bias: 32}, Scale: ir.Factor{Float: ir.HalfFloat, At: 208, Times: &ir.Field{Parts: bytewise(8, 192, 16), Signed: true}}, Cuts: []int{128, 192, 208}},
	"Q8_K":   {Run: 256, Code: ir.Field{Parts: bytewise(8, 4, 256), Signed: true}, Scale: ir.Factor{Float: ir.SingleFloat}, Cuts: []int{4, 260}},
	"IQ4_NL": {Run: 32, Code: ir.Field{Parts: bytewise(4, 2, 16), Table: nonLinear[:]}, Scale: half16(0), Cuts: []int{2}},
	"IQ4_XS": {Run: 32, Code: ir.Field{Parts: bytewise(4, 8, 16), Table: nonLinear[:]}, Scale: biased(0, 32, join(bitwise(4, 4), bitwise(2, 2))), Cuts: []int{8}},
	"MXFP4":  {Run: 32, Code: ir.Field{Parts: bytewise(4, 1, 16), Table: e2m1[:]}, Scale: ir.Factor{Float: ir.HalfPower}, Cuts: []int{1}},
	"TQ2_0":  {Run: 256, Code: ir.Field{Parts: bytewise(2, 0, 32), Bias: 1}, Scale: half16(64), Cuts: []int{64}},
	"Q2_0":   {Run: 64, Code: ir.Field{Parts: bitwise(2, 2), Bias: 1}, Scale: half16(0), Cuts: []int{2}},
}

// bytewise are bits of integers of which neighbours are in neighbouring bytes: the lowest bits of width bytes from a
// byte on, then the next bits of the same, then the next width bytes.
func bytewise(count, at, width int) []ir.Bits {
	return []ir.Bits{{Count: count, At: 8 * at, Digits: []ir.Digit{{Len: width, Step: 8}, {Len: 8 / count, Step: count}, {Len: ir.MaxBlock, Step: 8 * width}}}}
}

// bitwise are bits of integers that follow each other from a byte on.
func bitwise(count, at int) []ir.Bits {
	return []ir.Bits{{Count: count, At: 8 * at, Digits: []ir.Digit{{Len: ir.MaxBlock, Step: count}}}}
}

// from are the bits of integers from integer n of one byte each on.
func from(n int, bits []ir.Bits) []ir.Bits {
	bits[0].At += bits[0].Count * n / bits[0].Digits[0].Len
	return bits
}

func join(low, high []ir.Bits) []ir.Bits { return append(low, high...) }

func half16(at int) ir.Factor { return ir.Factor{Float: ir.HalfFloat, At: at} }

// times is a half times integers.
func times(at int, bits []ir.Bits) ir.Factor {
	return ir.Factor{Float: ir.HalfFloat, At: at, Times: &ir.Field{Parts: bits}}
}

func biased(at, bias int, bits []ir.Bits) ir.Factor {
	return ir.Factor{Float: ir.HalfFloat, At: at, Times: &ir.Field{Parts: bits, Bias: bias}}
}

func minus(at int, bits []ir.Bits) *ir.Factor {
	f := times(at, bits)
	f.Minus = true
	return &f
}

// The scales and offsets of Q4_K: see scaleQ4_K.
var (
	scalesQ4_K = []ir.Bits{
		{Count: 4, At: 32, Digits: []ir.Digit{{Len: 4, Step: 8}, {Len: 2, Step: 64}}},
		{Count: 2, At: 36, Digits: []ir.Digit{{Len: 4, Step: 8}, {Len: 2, Step: 2}}},
	}
	offsetsQ4_K = []ir.Bits{
		{Count: 4, At: 64, Digits: []ir.Digit{{Len: 4, Step: 8}, {Len: 2, Step: 36}}},
		{Count: 2, At: 68, Digits: []ir.Digit{{Len: 4, Step: 8}, {Len: 2, Step: 2}}},
	}
)
