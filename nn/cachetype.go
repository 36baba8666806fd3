package nn

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A CacheType says how a cache stores keys and values. The names are llama.cpp's.
type CacheType string

// The types of caches. An empty CacheType is the type of the first keys. Types with scales have 0 for elements of blocks
// whose greatest is below 1e-35.
const (
	CacheF32  CacheType = "f32"
	CacheF16  CacheType = "f16"
	CacheBF16 CacheType = "bf16"
	// CacheQ8 rounds to int8, with a scale for each 32 elements of a head, or for the head if 32 do not divide
	// its width: 8.5 bits an element, and errors of up to 1/253 of the greatest element of a block.
	CacheQ8 CacheType = "q8_0"
	// CacheF8 rounds to FP8 with four bits of exponent and three of mantissa, e4m3, with a scale for each head: 8.25 bits
	// an element for heads of 64, and relative errors of at most 1/16.
	CacheF8 CacheType = "f8_e4m3"
)

// cacheTypes has the element type of each CacheType, and whether there are scales.
var cacheTypes = map[CacheType]struct {
	tensor.DType
	scaled bool
}{
	CacheF32:  {tensor.Float32, false},
	CacheF16:  {tensor.Float16, false},
	CacheBF16: {tensor.BFloat16, false},
	CacheQ8:   {tensor.Int8, true},
	CacheF8:   {tensor.Uint8, true}, // the bits
}

// Check returns an error for a name that is no type of a cache.
func (t CacheType) Check() error {
	if _, ok := cacheTypes[t]; !ok && t != "" {
		return fmt.Errorf("the type of a cache is %q: want f32, f16, bf16, q8_0 or f8_e4m3", string(t))
	}
	return nil
}

// Bytes returns the bytes that the keys of a head take for one position; 0 if the type is empty.
func (t CacheType) Bytes(width int) int {
	f, ok := cacheTypes[t]
	switch {
	case !ok:
		return 0
	case !f.scaled:
		return width * f.Size()
	}
	return width + t.scales(width)*scaleType.Size()
}

// scaleType is the type of scales. It has the range of float32, and codes are made by the rounded scale.
const scaleType = tensor.BFloat16

// scales returns the number of scales of the keys of a head.
func (t CacheType) scales(width int) int {
	const block = 32
	if t == CacheQ8 && width%block == 0 {
		return width / block
	}
	return min(width, 1)
}

// encode returns x, [batch heads time width], as a cache stores it: cast to type d or, if there are scales for each
// head, in codes of type d and their scales.
func encode(x tensor.Tensor, d tensor.DType, scales int) (codes, scale tensor.Tensor) {
	if scales == 0 {
		return x.Cast(d), scale
	}
	s := x.Shape()
	x = x.Cast(tensor.Float32).Reshape(s[0], s[1], s[2], scales, s[3]/scales)
	greatest := 127.0
	if d == tensor.Uint8 {
		greatest = greatestE4M3
	}
	scale = x.Abs().Max(-1).Div(greatest)
	// A scale that is not normal has too few digits: such elements are stored as 0. The product keeps NaN.
	scale = tensor.Where(scale.Ge(math.Ldexp(1, -126)), tensor.Internal.RoundBF16(graph.Token{}, scale), scale.Mul(0)).Keep()
	x = x.Div(tensor.Where(scale.Eq(0), 1, scale))
	if d == tensor.Uint8 {
		codes = toE4M3(x)
	} else {
		codes = x.Round().Cast(d)
	}
	return codes.Reshape(s...), scale.Squeeze(-1).Cast(scaleType)
}

// decode returns codes with their scales, if there are any, in type d.
func decode(codes, scale tensor.Tensor, d tensor.DType) tensor.Tensor {
	if !scale.IsValid() {
		return codes.Cast(d)
	}
	x := codes.Cast(tensor.Float32)
	if codes.DType() == tensor.Uint8 {
		x = fromE4M3(codes)
	}
	s := codes.Shape()
	x = x.Reshape(append(scale.Shape(), s[3]/scale.Dim(3))...)
	return x.Mul(scale.Cast(tensor.Float32).Unsqueeze(-1)).Reshape(s...).Cast(d)
}

const (
	greatestE4M3 = 448
	// shiftE4M3 is the difference of the numbers of bits of two mantissas, float32's and e4m3's.
	shiftE4M3 = 20
	// biasE4M3 is the difference of the two biases of exponents.
	biasE4M3 = 120
)

// toE4M3 returns x, of up to greatestE4M3, rounded to the bits of e4m3. NaN is a finite number: its scale is NaN.
func toE4M3(x tensor.Tensor) tensor.Tensor {
	u := tensor.Internal.Bitcast(graph.Token{}, x.Mul(math.Ldexp(1, -biasE4M3)), tensor.Int32)
	even := u.Shr(shiftE4M3).And(1)
	return u.Add(even).Add(1<<(shiftE4M3-1) - 1).Shr(shiftE4M3).And(0x7f).Or(u.Shr(24).And(0x80)).Cast(tensor.Uint8)
}

// fromE4M3 returns numbers by their bits. A device may have 0 for numbers below 2^-6.
func fromE4M3(codes tensor.Tensor) tensor.Tensor {
	u := codes.Cast(tensor.Int8).Cast(tensor.Int32).Shl(shiftE4M3).And(math.MinInt32 | 0x7f<<shiftE4M3)
	return tensor.Internal.Bitcast(graph.Token{}, u, tensor.Float32).Mul(math.Ldexp(1, biasE4M3))
}
