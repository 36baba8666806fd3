package op

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Narrow types are storage: integers of 2 and 4 bits are held as int8 or uint8, floats of 4, 6 and 8 bits
// as float32.

// A miniFloat is a format of floats of 4, 6 or 8 bits.
type miniFloat struct {
	exponent, mantissa int // bits
	bias               int
	signed             bool
	inf                bool // the greatest exponent is infinity and NaN, as in IEEE 754
	nan                bool // the code of all ones is NaN
	zeroNaN            bool // the code of -0 is NaN, and there is no -0
}

// miniFloats has the formats by type.
var miniFloats = map[Elem]miniFloat{
	Float8E4M3FN:   {exponent: 4, mantissa: 3, bias: 7, signed: true, nan: true},
	Float8E4M3FNUZ: {exponent: 4, mantissa: 3, bias: 8, signed: true, zeroNaN: true},
	Float8E5M2:     {exponent: 5, mantissa: 2, bias: 15, signed: true, inf: true},
	Float8E5M2FNUZ: {exponent: 5, mantissa: 2, bias: 16, signed: true, zeroNaN: true},
	Float4E2M1:     {exponent: 2, mantissa: 1, bias: 1, signed: true},
	Float6E2M3:     {exponent: 2, mantissa: 3, bias: 1, signed: true},
	Float6E3M2:     {exponent: 3, mantissa: 2, bias: 3, signed: true},
	Float8E8M0:     {exponent: 8, bias: 127, nan: true},
}

// value returns the number of a code.
func (f miniFloat) value(code uint8) float32 {
	bits := f.exponent + f.mantissa
	magnitude := int(code) & (1<<bits - 1)
	negative := f.signed && code>>bits&1 == 1
	exponent, mantissa := magnitude>>f.mantissa, magnitude&(1<<f.mantissa-1)
	var x float64
	switch {
	case f.zeroNaN && negative && magnitude == 0, f.nan && magnitude == 1<<bits-1:
		return float32(math.NaN())
	case f.inf && exponent == 1<<f.exponent-1 && mantissa != 0:
		return float32(math.NaN())
	case f.inf && exponent == 1<<f.exponent-1:
		x = math.Inf(1)
	case exponent == 0 && f.mantissa > 0:
		x = math.Ldexp(float64(mantissa), 1-f.bias-f.mantissa)
	default:
		x = math.Ldexp(float64(mantissa+1<<f.mantissa), exponent-f.bias-f.mantissa)
	}
	if negative {
		x = -x
		if x == 0 {
			x = math.Copysign(0, -1)
		}
	}
	return float32(x)
}

// unpack returns the values of n elements of a narrow type as a tensor. They follow each other from the lowest
// bits of a byte on; an element of 6 bits may be in two bytes.
func unpack(e Elem, b []byte, n int, dims []int) tensor.Tensor {
	bits := e.Bits()
	code := func(i int) uint8 {
		at, from := i*bits/8, i*bits%8
		w := uint16(b[at])
		if from+bits > 8 {
			w |= uint16(b[at+1]) << 8
		}
		return uint8(w>>from) & (1<<bits - 1)
	}
	switch e.DType() {
	case tensor.Float32:
		out := make([]float32, n)
		for i := range out {
			out[i] = miniFloats[e].value(code(i))
		}
		return tensor.New(out, dims...)
	case tensor.Int8:
		out := make([]int8, n)
		for i := range out {
			out[i] = int8(code(i)<<(8-bits)) >> (8 - bits)
		}
		return tensor.New(out, dims...)
	}
	out := make([]uint8, n)
	for i := range out {
		out[i] = code(i)
	}
	return tensor.New(out, dims...)
}

// Pack returns the codes of elements of a narrow type, which a tensor of a wider one holds: of floats,
// the code of the same value.
func Pack(e Elem, d tensor.DType, b []byte) []byte {
	bits, size := e.Bits(), d.Size()
	n := len(b) / size
	out := make([]byte, (n*bits+7)/8)
	var codes map[uint32]uint8
	if d == tensor.Float32 {
		codes = make(map[uint32]uint8, 1<<bits)
		for code := range 1 << bits {
			x := miniFloats[e].value(uint8(code))
			key := math.Float32bits(x)
			if x != x {
				key = nanKey
			}
			if _, ok := codes[key]; !ok {
				codes[key] = uint8(code)
			}
		}
	}
	for i := range n {
		code := b[i*size]
		if codes != nil {
			key := binary.LittleEndian.Uint32(b[i*size:])
			if x := math.Float32frombits(key); x != x {
				key = nanKey
			}
			code = codes[key]
		}
		at, w := i*bits/8, uint16(code&(1<<bits-1))<<(i*bits%8)
		if out[at] |= byte(w); w>>8 != 0 {
			out[at+1] |= byte(w >> 8)
		}
	}
	return out
}

// nanKey is the bits that stand for all NaNs.
const nanKey = 0x7fc00000

// max returns the greatest finite value.
func (f miniFloat) max() float32 {
	code := 1<<(f.exponent+f.mantissa) - 1
	for {
		if x := float64(f.value(uint8(code))); !math.IsNaN(x) && !math.IsInf(x, 0) {
			return float32(x)
		}
		code--
	}
}

// float32 has 23 bits of mantissa, and a bias of 127.
const (
	mantissa32 = 23
	bias32     = 127
)

// exponentOf returns the exponent of |x|, a float32, at least -126.
func exponentOf(x tensor.Tensor) tensor.Tensor {
	return tensor.Internal.Bitcast(graph.Token{}, x, tensor.Int32).Shr(mantissa32).And(0xff).Maximum(1).Sub(bias32)
}

// powerOf returns 2 to the power e, from -126 to 127.
func powerOf(e tensor.Tensor) tensor.Tensor {
	return tensor.Internal.Bitcast(graph.Token{}, e.Add(bias32).Shl(mantissa32), tensor.Float32)
}

// round returns float32 elements rounded to the nearest value of the format, ties to even. Beyond the
// greatest they are that, if they saturate, else infinite or, in a format without infinity, NaN.
func (f miniFloat) round(x tensor.Tensor, saturate bool) tensor.Tensor {
	a := x.Abs()
	quantum := powerOf(exponentOf(x).Maximum(1 - f.bias).Sub(f.mantissa))
	r := a.Div(quantum).Round().Mul(quantum)
	most := float64(f.max())
	beyond := math.NaN()
	switch {
	case saturate || !f.inf && !f.nan && !f.zeroNaN:
		beyond = most
	case f.inf:
		beyond = math.Inf(1)
	}
	r = tensor.Where(r.Le(most), r, tensor.FullLike(r, beyond))
	nan := tensor.FullLike(r, math.Copysign(0, -1)) // ml_dtypes' choice for a format without NaN
	if f.inf || f.nan || f.zeroNaN {
		nan = x
	}
	y := tensor.Where(x.IsNaN(), nan, r.Copysign(x))
	if f.zeroNaN { // which has no -0
		y = tensor.Where(r.Eq(0), r, y)
	}
	return y
}

// roundScale returns float32 elements rounded to powers of two. Infinity has no code, and is NaN as in the standard's
// reference.
func roundScale(c *Call, x tensor.Tensor, saturate bool) tensor.Tensor {
	e := exponentOf(x)
	part := x.Abs().Div(powerOf(e)) // from 1 up to 2, less for a subnormal
	switch mode := c.String("round_mode", "up"); mode {
	case "up":
		e = e.Add(part.Gt(1).Cast(tensor.Int32))
	case "nearest":
		e = e.Add(part.Ge(1.5).Cast(tensor.Int32))
	case "down":
	default:
		c.Fail("there is no round_mode %q", mode)
	}
	least := math.Ldexp(1, -bias32)
	y := powerOf(e.Minimum(bias32))
	y = tensor.Where(part.Lt(1), tensor.FullLike(y, least), y)
	if !saturate {
		y = tensor.Where(e.Gt(bias32), tensor.FullLike(y, math.NaN()), y)
	}
	return tensor.Where(x.IsNaN().Or(x.IsInf()), tensor.FullLike(y, math.NaN()), y)
}
