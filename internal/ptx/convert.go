package ptx

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/shader"
)

// constant is a number, which a predicate needs an instruction for.
func (p *printer) constant(t shader.Type, bits uint64) value {
	if t != shader.Bool {
		return number(t, bits)
	}
	return p.result(pred, "setp.ne.u32", p.result(word, "mov.u32", value(fmt.Sprint(bits))), "0")
}

// bitcast is a value as one of another type, which only the text of a constant depends on.
func bitcast(t shader.Type, x value) value {
	if x[0] == '%' {
		return x
	}
	for _, float := range []string{"0f", "0d"} {
		if hex, ok := strings.CutPrefix(string(x), float); ok {
			bits, _ := strconv.ParseUint(hex, 16, 64)
			return number(t, bits)
		}
	}
	bits, err := strconv.ParseInt(string(x), 10, 64)
	if err != nil { // it is a U64 above them
		bits, _ := strconv.ParseUint(strings.TrimSuffix(string(x), "U"), 10, 64)
		return number(t, bits)
	}
	return number(t, uint64(bits))
}

// number is a constant of a word, or of two.
func number(t shader.Type, bits uint64) value {
	switch t {
	case shader.F32:
		return value(fmt.Sprintf("0f%08X", bits))
	case shader.F64:
		return value(fmt.Sprintf("0d%016X", bits))
	case shader.I32:
		return value(fmt.Sprint(int32(bits)))
	case shader.I64:
		return value(fmt.Sprint(int64(bits)))
	case shader.U64:
		if bits > math.MaxInt64 {
			return value(fmt.Sprint(bits, "U"))
		}
		return value(fmt.Sprint(bits))
	}
	return value(fmt.Sprint(uint32(bits)))
}

// convert writes a conversion. A half is held as its bits, in a word.
func (p *printer) convert(to, from shader.Type, x value) value {
	c := classOf(to)
	switch {
	case from == to:
		return x
	case to == shader.F16:
		h := p.result(short, "cvt.rn.f16.f32", x)
		return p.result(word, "cvt.u32.u16", h)
	case to == shader.BF16:
		return p.result(word, "cvt.u32.u16", p.bfloat16(x))
	case from == shader.F16:
		h := p.result(short, "cvt.u16.u32", x)
		return p.result(word, "cvt.f32.f16", h)
	case from == shader.BF16:
		return p.result(word, "shl.b32", x, "16")
	case to == shader.Bool:
		return p.result(pred, operations[shader.Ne].of(from), x, number(from, 0))
	case from == shader.Bool:
		return p.result(c, sized("selp.b32", to), number(to, shader.Number(to, 1).Bits), number(to, 0), x)
	case from.IsInt() && to.IsInt() && from.IsWide() == to.IsWide():
		return x
	case from.IsInt() && to.IsInt() && from.IsWide():
		return p.result(c, "cvt.u32.u64", x)
	case from.IsInt() && to.IsInt():
		return p.result(c, "cvt."+sized(suffix(from), to)+"."+suffix(from), x)
	case from.IsFloat() && to.IsFloat() && to.IsWide():
		return p.result(c, "cvt.f64.f32", x)
	case to.IsFloat():
		return p.result(c, "cvt.rn."+suffix(to)+"."+suffix(from), x)
	}
	return p.result(c, "cvt.rzi."+suffix(to)+"."+suffix(from), x)
}

// bfloat16 rounds a word to a half.
func (p *printer) bfloat16(x value) value {
	if p.gpu < matrices.target {
		return p.result(short, "cvt.u16.u32", p.inline(shader.Function("bf16_bits"), [][]value{{x}})[0])
	}
	p.require(matrices)
	return p.result(short, "cvt.rn.bf16.f32", x)
}

// pairs are types of two halves.
var pairs = map[shader.Type]string{shader.F16: "f16x2", shader.BF16: "bf16x2"}

// pack makes a word of two halves: of those that x and y were read from, if they were.
func (p *printer) pack(t shader.Type, x, y value) value {
	if a, b := p.halves[x], p.halves[y]; a.of == t && b.of == t {
		return p.result(word, "mov.b32", group([]value{a.bits, b.bits}))
	}
	p.require(matrices)
	return p.result(word, "cvt.rn."+pairs[t]+".f32", y, x)
}
