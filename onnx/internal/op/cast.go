package op

import (
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

// parseTexts reads numbers from strings.
func parseTexts(c *Call, v Value, to Elem) Value {
	if d := to.DType(); !to.Narrow() && !d.IsFloat() { // which float64 may not have
		if x, ok := parseInts(v.Strings, strconv.ParseInt); ok {
			return Known(convert(c, Of(tensor.New(x, v.Shape...)), to))
		}
		if x, ok := parseInts(v.Strings, strconv.ParseUint); ok {
			return Known(convert(c, Of(tensor.New(x, v.Shape...)), to))
		}
	}
	out := make([]float64, len(v.Strings))
	for i, s := range v.Strings {
		x, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
		if err != nil {
			c.Fail("%q is no number", s)
		}
		out[i] = x
	}
	return Known(convert(c, Of(tensor.New(out, v.Shape...)), to))
}

// parseInts reads integers. ok is false if a text is no integer of the type.
func parseInts[T int64 | uint64](texts []string, parse func(string, int, int) (T, error)) (out []T, ok bool) {
	out = make([]T, len(texts))
	for i, s := range texts {
		x, err := parse(strings.TrimSpace(s), 10, 64)
		if err != nil {
			return nil, false
		}
		out[i] = x
	}
	return out, true
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

// formatFloat writes a float as NumPy does.
func formatFloat(x float64, bits int) string {
	switch {
	case x != x:
		return "NaN"
	case x > 1.7976931348623157e308:
		return "INF"
	case x < -1.7976931348623157e308:
		return "-INF"
	}
	return strconv.FormatFloat(x, 'g', -1, bits)
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
