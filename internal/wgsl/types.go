package wgsl

import (
	"fmt"
	"math"
	"strconv"

	"github.com/tensorken/tensorken/ir"
)

// A storage says how elements of a type lie in a buffer and how they come to
// registers.
type storage struct {
	size     int    // bytes of an element
	register string // the type in registers
	elem     string // of an array read one element at a time
	vec      string // of an array read four at a time
	// unpack gives a register from a word and the number of its first bit,
	// pack the low bits from a register; neither for elements of a word each.
	unpack func(word, bit string) string
	pack   func(x string) string
}

var storages = [...]storage{
	ir.Bool: {1, "bool", "u32", "u32",
		func(w, b string) string { return fmt.Sprintf("(extractBits(%s, %s, 8u) != 0u)", w, b) },
		func(x string) string { return fmt.Sprintf("select(0u, 1u, %s)", x) }},
	ir.Uint8: {1, "u32", "u32", "u32",
		func(w, b string) string { return fmt.Sprintf("extractBits(%s, %s, 8u)", w, b) },
		func(x string) string { return x }},
	ir.Int32:  {4, "i32", "i32", "vec4<i32>", nil, nil},
	ir.Uint32: {4, "u32", "u32", "vec4<u32>", nil, nil},
	ir.Float16: {2, "f32", "u32", "vec2<u32>",
		func(w, b string) string { return fmt.Sprintf("unpack2x16float(%s >> %s).x", w, b) },
		func(x string) string { return fmt.Sprintf("f16_bits(%s)", x) }},
	ir.BFloat16: {2, "f32", "u32", "vec2<u32>",
		func(w, b string) string { return fmt.Sprintf("bitcast<f32>((%s >> %s) << 16u)", w, b) },
		func(x string) string { return fmt.Sprintf("bf16_bits(%s)", x) }},
	ir.Float32: {4, "f32", "f32", "vec4<f32>", nil, nil},
	ir.Float64: {},
}

// perWord is the number of elements in a word.
func (s *storage) perWord() int { return 4 / s.size }

// literal gives a number of type d as an expression.
func (s *shader) literal(d ir.DType, x ir.Number) string {
	switch d {
	case ir.Bool:
		return strconv.FormatBool(x != 0)
	case ir.Int32:
		return fmt.Sprintf("i32(%d)", int64(x))
	case ir.Uint8, ir.Uint32:
		return fmt.Sprintf("%du", uint64(x))
	}
	f := float32(x.Float64(d))
	switch bits := math.Float32bits(f); {
	case f != f:
		return s.call("nan")
	case math.IsInf(float64(f), 1):
		return s.call("inf")
	case math.IsInf(float64(f), -1):
		return "-" + s.call("inf")
	case f == 0 && bits != 0, math.Abs(float64(f)) > 1e38:
		return s.hidden(f)
	}
	text := strconv.FormatFloat(float64(f), 'g', -1, 32)
	if _, err := strconv.Atoi(text); err == nil {
		text += ".0"
	}
	return text + "f"
}

// hidden gives a number that no compiler may reckon with: they take the sign of
// a zero for nothing, join factors into an infinity, and do not read the
// greatest numbers.
func (s *shader) hidden(x float32) string {
	s.need("zero")
	return fmt.Sprintf("bitcast<f32>(%#xu | zero)", math.Float32bits(x))
}

// opaque is literal, but for a zero, which is hidden.
func (s *shader) opaque(d ir.DType, x ir.Number) string {
	if d.IsFloat() && x.Float64(d) == 0 {
		return s.hidden(float32(x.Float64(d)))
	}
	return s.literal(d, x)
}
