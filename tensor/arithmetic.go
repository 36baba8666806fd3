package tensor

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// FloorDiv returns t/o rounded down, as Python's //; [Tensor.Div] of integers truncates,
// as Go's does. Integers divided by 0 give 0. A zero has the sign of the quotient. Its
// derivative is 0.
func (t Tensor) FloorDiv(o Operand) Tensor {
	x, y := numberOperands("FloorDiv", t, o)
	rem, apart := flooredRem(x, y)
	if !x.DType.IsFloat() {
		q := div(x, y)
		return Tensor{n: graph.Where(apart, sub(q, fill(x, 1)), q)}
	}
	q := div(sub(x, rem), y) // an integer, but for rounding
	q = Tensor{n: graph.Where(apart, shifted(q, -1), q)}.Round().n
	negative := graph.Binary(ir.Xor, signBit(x), signBit(y))
	q = graph.Where(eq(q, fill(q, 0)), graph.Where(negative, fill(q, math.Copysign(0, -1)), fill(q, 0)), q)
	return Tensor{n: graph.Where(eq(y, fill(y, 0)), floor(div(x, y)), q)}
}

// Mod returns t - o·[Tensor.FloorDiv](t, o), which has the sign of o, as Python's %, where it is
// not 0; [Tensor.Rem] has the sign of t, as Go's. An integer mod 0 is 0.
func (t Tensor) Mod(o Operand) Tensor {
	x, y := numberOperands("Mod", t, o)
	rem, apart := flooredRem(x, y)
	return Tensor{n: graph.Where(apart, add(rem, y), rem)}
}

// flooredRem returns the truncated remainder of x/y, and whether it is of the sign that
// y is not, so that the quotient rounded down is less by 1.
func flooredRem(x, y *graph.Node) (rem, apart *graph.Node) {
	rem = graph.Binary(ir.Rem, x, y)
	zero := fill(x, 0)
	opposite := graph.Binary(ir.Xor, lt(rem, zero), lt(y, zero))
	return rem, graph.Binary(ir.And, opposite, not(eq(rem, zero)))
}

// numberOperands is exactOperands for functions that are not defined for bools.
func numberOperands(op string, t Tensor, o Operand) (x, y *graph.Node) {
	x, y = exactOperands(op, t, o)
	if x.DType == ir.Bool {
		failType(op, x, y)
	}
	return x, y
}

// Lerp returns t + weight·(end-t), which is t for weight 0 and exactly end for weight 1,
// also where end-t overflows. The three are broadcast. Floats only.
func (t Tensor) Lerp(end, weight Operand) Tensor {
	x, e := floatOperands("Lerp", t, end)
	x, w := exactOperands("Lerp", Tensor{n: x}, weight)
	x, e = promote("Lerp", x, graph.BroadcastTo(e, x.Shape))
	d, rest := sub(e, x), shifted(neg(w), 1)
	far := not(lt(abs(d), fill(d, math.Inf(1))))
	d = graph.Where(far, fill(d, 0), d)
	y := graph.Where(lt(w, fill(w, 0.5)), add(x, mul(w, d)), sub(e, mul(d, rest)))
	// 0 times an infinity would be NaN.
	part := func(x, w *graph.Node) *graph.Node {
		return mul(graph.Where(eq(w, fill(w, 0)), fill(x, 0), x), w)
	}
	return Tensor{n: graph.Where(far, add(part(x, rest), part(e, w)), y)}
}

// SignBit returns bools: whether the sign bit is set, for -0 and NaN too. Floats only.
func (t Tensor) SignBit() Tensor { return Tensor{n: signBit(t.floats("SignBit"))} }

func signBit(x *graph.Node) *graph.Node {
	if x.DType.IsHalf() {
		x = graph.Cast(x, ir.Float32)
	}
	return byType(x, func(x *graph.Node) *graph.Node {
		d := ir.Int32
		if x.DType == ir.Float64 {
			d = ir.Int64
		}
		bits := graph.Bitcast(x, d)
		return lt(bits, fill(bits, 0))
	}).n
}

// Copysign returns |t| with the sign of o, where -0 is negative. Its derivative by t is 1
// where t keeps its sign and -1 elsewhere; its derivative by o is 0. Floats only.
func (t Tensor) Copysign(o Operand) Tensor {
	x, y := floatOperands("Copysign", t, o)
	return Tensor{n: graph.Where(graph.Binary(ir.Xor, signBit(x), signBit(y)), neg(x), x)}
}

// IsFinite returns bools: whether each element is neither infinite nor NaN.
func (t Tensor) IsFinite() Tensor {
	x := t.node("IsFinite")
	if !x.DType.IsFloat() {
		return Tensor{n: graph.Fill(ir.Bool, 1, x.Shape)}
	}
	return Tensor{n: lt(abs(x), fill(x, math.Inf(1)))}
}

// greatestFinite has the greatest finite number of each floating-point type.
var greatestFinite = map[DType]float64{
	ir.Float16:  65504,
	ir.BFloat16: 0x1.FEp127,
	ir.Float32:  math.MaxFloat32,
	ir.Float64:  math.MaxFloat64,
}

// NanToNum returns t with 0 in place of NaN and the greatest finite number, or its
// negative, in place of an infinity. Their derivatives are 0. For other numbers see
// [Where] and [Tensor.IsNaN].
func (t Tensor) NanToNum() Tensor {
	x := t.node("NanToNum")
	if !x.DType.IsFloat() {
		return t
	}
	return byType(x, func(x *graph.Node) *graph.Node {
		most := greatestFinite[x.DType]
		y := graph.Where(lt(fill(x, most), x), fill(x, most), x)
		y = graph.Where(lt(x, fill(x, -most)), fill(x, -most), y)
		return graph.Where(eq(x, x), y, fill(x, 0))
	})
}
