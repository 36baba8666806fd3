package op

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Cast converts to the type of an attribute.
func Cast(c *Call) []Value { return []Value{convert(c, c.Value(0), c.Elem("to", 0))} }

// CastLike converts to the type of input 1.
func CastLike(c *Call) []Value { return []Value{convert(c, c.Value(0), c.Value(1).Elem)} }

// convert returns v in another type.
func convert(c *Call, v Value, to Elem) Value {
	switch {
	case v.Elem == to:
		return v
	case v.Kind == StringKind:
		return parseTexts(c, v, to)
	case to == String:
		return formatTexts(c, v)
	case to.Narrow():
		return Narrow(c, v, to, c.Bool("saturate", true))
	}
	return Of(v.Tensor.Cast(c.DType(to)))
}

// Floating returns x, or integers as float64.
func Floating(x tensor.Tensor) tensor.Tensor {
	if x.DType().IsFloat() {
		return x
	}
	return x.Cast(tensor.Float64)
}

// parseTexts reads numbers from strings.
func parseTexts(c *Call, v Value, to Elem) Value {
	var x tensor.Tensor
	switch d := to.DType(); {
	case d.IsInt() && d.IsSigned():
		x = parseInts(c, v, to, strconv.ParseInt, -math.Ldexp(1, to.Bits()-1), math.Ldexp(1, to.Bits()-1))
	case d.IsInt():
		x = parseInts(c, v, to, strconv.ParseUint, 0, math.Ldexp(1, to.Bits()))
	default:
		out := make([]float64, len(v.Strings))
		for i, s := range v.Strings {
			out[i] = parseFloat(c, s)
		}
		x = tensor.New(out, v.Shape...)
	}
	return Known(convert(c, Of(x), to))
}

// parseInts reads integers from least up to limit, which float64 may not have. The fraction of a float is dropped.
func parseInts[T int64 | uint64](c *Call, v Value, to Elem, parse func(string, int, int) (T, error), least, limit float64) tensor.Tensor {
	out := make([]T, len(v.Strings))
	for i, s := range v.Strings {
		digits := strings.TrimSpace(s)
		if plus, ok := strings.CutPrefix(digits, "+"); ok && !strings.HasPrefix(plus, "-") {
			digits = plus // which ParseUint does not take
		}
		x, err := parse(digits, 10, to.Bits())
		if errors.Is(err, strconv.ErrSyntax) {
			if f := math.Trunc(parseFloat(c, s)); f >= least && f < limit {
				x, err = T(f), nil
			}
		}
		if err != nil {
			c.Fail("%q is not in the range of %v", s, to)
		}
		out[i] = x
	}
	return tensor.New(out, v.Shape...)
}

// parseFloat reads a float, which is infinite beyond the range of float64.
func parseFloat(c *Call, s string) float64 {
	x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if errors.Is(err, strconv.ErrSyntax) {
		c.Fail("%q is no number", s)
	}
	return x
}

// formatTexts writes numbers as strings.
func formatTexts(c *Call, v Value) Value {
	d := v.Tensor.DType()
	var out []string
	switch {
	case d == tensor.Float64, d.IsFloat():
		bits := 32
		if d == tensor.Float64 {
			bits = 64
		}
		for _, x := range floatsOf(c, v) {
			out = append(out, formatFloat(x, bits))
		}
	default:
		e := *c
		e.In = []Value{v}
		_, ns := e.numbers(0)
		for _, n := range ns {
			if d == tensor.Uint64 {
				out = append(out, strconv.FormatUint(n.Bits(d), 10))
			} else {
				out = append(out, strconv.FormatInt(n.Int64(d), 10))
			}
		}
	}
	return Texts(out, v.Dims()...)
}

func floatsOf(c *Call, v Value) []float64 {
	e := *c
	e.In = []Value{v}
	return e.Floats(0)
}

// formatFloat writes a float with the fewest digits that it is read from, and an exponent where NumPy has one.
func formatFloat(x float64, bits int) string {
	switch {
	case x != x:
		return "NaN"
	case x > 1.7976931348623157e308:
		return "INF"
	case x < -1.7976931348623157e308:
		return "-INF"
	}
	form := byte('f')
	if a := math.Abs(x); a != 0 && a < 1e-4 || a >= 1e16 {
		form = 'e'
	}
	return strconv.FormatFloat(x, form, -1, bits)
}

// BitCast gives the bits of elements another type of the same size.
func BitCast(c *Call) []Value {
	v, to := c.Value(0), c.Elem("to", 0)
	if v.Kind != TensorKind || v.Elem.Bits() != to.Bits() {
		c.Fail("%v has elements of %d bits, and %v of %d", v, v.Elem.Bits(), to, to.Bits())
	}
	from := v.Tensor.DType()
	if v.Elem.Narrow() || to.Narrow() || from.IsHalf() || c.DType(to).IsHalf() || from == tensor.Bool || to == Bool {
		return []Value{bitCastOnHost(c, v, to)} // kernels have no such Bitcast
	}
	return []Value{Of(tensor.Internal.Bitcast(graph.Token{}, v.Tensor, c.DType(to)))}
}

// bitCastOnHost goes by the codes of the elements, on the host.
func bitCastOnHost(c *Call, v Value, to Elem) Value {
	b := c.Runner.Bytes(v)
	if v.Elem.Narrow() {
		b = Pack(v.Elem, v.Tensor.DType(), b)
	}
	n, dims := v.Tensor.Len(), v.Dims()
	if to.Narrow() {
		return As(to, unpack(to, b, n, dims))
	}
	return Of(tensor.FromBytes(c.DType(to), dims, b))
}

// Narrow rounds to a narrow type. saturate limits floats to its greatest value.
func Narrow(c *Call, v Value, to Elem, saturate bool) Value {
	x := v.Tensor
	f, isFloat := miniFloats[to]
	switch {
	case to == Float8E8M0:
		return As(to, roundScale(c, x.Cast(tensor.Float32), saturate))
	case isFloat:
		return As(to, f.round(x.Cast(tensor.Float32), saturate))
	}
	bits := to.Bits()
	if x.DType().IsFloat() {
		x = x.Cast(tensor.Int32)
	}
	x = x.Cast(to.DType()).Shl(8 - bits).Shr(8 - bits) // the low bits, with the sign of their first
	return As(to, x)
}
