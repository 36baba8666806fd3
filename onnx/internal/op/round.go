package op

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Narrow rounds to a narrow type. Of integers the low bits stay. Floats beyond the greatest value become
// that value if saturate is set or the type has neither infinity nor NaN, and otherwise one of these.
func Narrow(c *Call, v Value, to Elem, saturate bool) Value {
	f, isFloat := miniFloats[to]
	if !isFloat {
		return As(to, lowBits(v.Tensor, to))
	}
	x := v.Tensor.Cast(tensor.Float32)
	if to == Float8E8M0 {
		return As(to, powers(c, x, saturate))
	}
	return As(to, f.round(x, saturate))
}

// lowBits keeps as many bits of whole numbers as an integer type has.
func lowBits(x T, to Elem) T {
	bits := to.Bits()
	code := x.Cast(tensor.Int32).And(1<<bits - 1)
	if to.DType() == tensor.Int8 {
		half := 1 << (bits - 1)
		code = code.Xor(half).Sub(half)
	}
	return code.Cast(to.DType())
}

// T is a tensor.
type T = tensor.Tensor

// bitcast gives bits of 32 another type.
func bitcast(x T, d ir.DType) T {
	return tensor.Internal.Tensor(graph.Token{}, graph.Bitcast(tensor.Internal.Node(graph.Token{}, x), d))
}

// exponent returns ⌊log2 |x|⌋ of normal floats, and at most -127 of others.
func exponent(x T) T {
	return bitcast(x, ir.Int32).Shr(23).And(255).Sub(127)
}

// power returns 2 to a whole number from -126 to 127.
func power(e T) T { return bitcast(e.Add(127).Shl(23), ir.Float32) }

// round returns the nearest values of the format, the even code of two.
func (f miniFloat) round(x T, saturate bool) T {
	most := f.most()
	size := x.Abs()
	step := power(exponent(x).Clamp(1-f.bias, 127).Sub(f.mantissa))
	y := size.Div(step).Round().Mul(step)
	over := y.Gt(most)
	switch {
	case saturate || !f.inf && !f.nan && !f.zeroNaN:
		y = tensor.Where(over, tensor.FullLike(y, most), y)
	case f.inf:
		y = tensor.Where(over, tensor.FullLike(y, math.Inf(1)), y)
	default:
		y = tensor.Where(over, tensor.FullLike(y, math.NaN()), y)
	}
	none := x // of NaN
	if !f.inf && !f.nan && !f.zeroNaN {
		none = tensor.FullLike(x, math.Copysign(0, -1)) // as ml_dtypes has it, which computes the standard's cases
	}
	y = tensor.Where(x.IsNaN(), none, y.Copysign(x))
	if f.zeroNaN { // there is no -0
		y = tensor.Where(y.Eq(0), tensor.ZerosLike(y), y)
	}
	return y
}

// most is the greatest finite value of the format.
func (f miniFloat) most() float64 {
	most := 0.0
	for code := range 1 << (f.exponent + f.mantissa) {
		if v := float64(f.value(uint8(code))); v > most && !math.IsInf(v, 0) {
			most = v
		}
	}
	return most
}

// powers rounds to powers of two by attribute round_mode. Other numbers are NaN.
func powers(c *Call, x T, saturate bool) T {
	e := exponent(x)
	rest := bitcast(x, ir.Int32).And(1<<23 - 1) // of the mantissa
	switch mode := c.String("round_mode", "up"); mode {
	case "up":
		e = e.Add(rest.Gt(0).Cast(tensor.Int32))
	case "nearest":
		e = e.Add(rest.Ge(1 << 22).Cast(tensor.Int32))
	case "down":
	default:
		c.Fail("there is no round_mode %q", mode)
	}
	least := math.Ldexp(1, -127)
	y := tensor.Where(e.Lt(-126), tensor.FullLike(x, least), power(e.Clamp(-126, 127)))
	over := e.Gt(127).Or(x.IsInf())
	if saturate {
		y = tensor.Where(over, tensor.FullLike(x, math.Ldexp(1, 127)), y)
	} else {
		y = tensor.Where(over, tensor.FullLike(x, math.NaN()), y)
	}
	return tensor.Where(x.IsNaN(), x, y)
}

// bitCastNarrow gives codes another type. It runs on the host.
func bitCastNarrow(c *Call, v Value, to Elem) Value {
	b := c.Runner.Bytes(v)
	if v.Elem.Narrow() {
		b = Pack(v.Elem, v.Tensor.DType(), b)
	}
	if to.Narrow() {
		return Given(As(to, unpack(to, b, v.Tensor.Len(), v.Dims())))
	}
	return Given(Of(tensor.FromBytes(to.DType(), v.Dims(), b)))
}
