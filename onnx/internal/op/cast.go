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
		for _, x := range e.Int64s(0) {
			out = append(out, strconv.FormatInt(x, 10))
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
	if v.Elem.Narrow() || to.Narrow() {
		return []Value{bitCastNarrow(c, v, to)}
	}
	n := tensor.Internal.Node(graph.Token{}, v.Tensor)
	return []Value{Of(tensor.Internal.Tensor(graph.Token{}, graph.Bitcast(n, c.DType(to))))}
}

func bitCastNarrow(c *Call, v Value, to Elem) Value {
	c.Fail("a bit cast of %v to %v is not supported", v.Elem, to)
	return Value{}
}

// Narrow rounds to a narrow type. saturate limits floats to its greatest value.
func Narrow(c *Call, v Value, to Elem, saturate bool) Value {
	c.Fail("a cast to %v is not supported", to)
	return Value{}
}
