package export

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/onnx/internal/op"
)

// elemOf is the type in which elements of type d are computed.
func elemOf(d ir.DType) op.Elem {
	switch d {
	case ir.Float16, ir.BFloat16:
		return op.Float
	case ir.Uint8, ir.Int8, ir.Uint16, ir.Int16:
		return op.Int32
	case ir.Uint32, ir.Uint64:
		return op.Int64
	}
	return op.ElemOf(d)
}

// wrap returns v, computed of elements of type d, with the values that d has.
func (w *writer) wrap(v *value, d ir.DType) *value {
	if d == ir.Uint64 || d.IsFloat() { // whose bits are right
		return v
	}
	return w.cast(w.cast(v, op.ElemOf(d)), v.elem)
}

// A formula computes an elementwise node of operands that broadcast.
type formula func(w *writer, n *graph.Node, x []*value) *value

// formulas has the elementwise operations. Results that may leave the type's range are wrapped.
var formulas = [ir.Ops]formula{
	ir.Neg:   same("Neg"),
	ir.Exp:   same("Exp"),
	ir.Expm1: expm1,
	ir.Log:   same("Log"),
	ir.Log1p: log1p,
	ir.Log2:  log2,
	ir.Sin:   same("Sin"),
	ir.Cos:   same("Cos"),
	ir.Atan:  same("Atan"),
	ir.Sqrt:  same("Sqrt"),
	ir.Tanh:  same("Tanh"),
	ir.Erf:   same("Erf"),
	ir.Erfc:  erfc,
	ir.Floor: same("Floor"),
	ir.Not:   byBool("Not", "BitwiseNot"),
	ir.Cast:  castNode,
	ir.Bitcast: func(_ *writer, n *graph.Node, _ []*value) *value {
		refuse(n, "the standard has no operator for the bits of an element before version 26")
		return nil
	},
	ir.Add:   same("Add"),
	ir.Sub:   same("Sub"),
	ir.Mul:   same("Mul"),
	ir.Div:   div,
	ir.Rem:   rem,
	ir.Pow:   pow,
	ir.Atan2: atan2,
	ir.Max:   extreme("Max", "Or"),
	ir.Min:   extreme("Min", "And"),
	ir.Eq:    func(w *writer, _ *graph.Node, x []*value) *value { return w.test("Equal", x[0], x[1]) },
	ir.Lt:    func(w *writer, n *graph.Node, x []*value) *value { return w.less(n.Operand(0).DType, x[0], x[1]) },
	ir.And:   byBool("And", "BitwiseAnd"),
	ir.Or:    byBool("Or", "BitwiseOr"),
	ir.Xor:   byBool("Xor", "BitwiseXor"),
	ir.Shl:   shl,
	ir.Shr:   shr,
	ir.Where: func(w *writer, _ *graph.Node, x []*value) *value { return w.where(x[0], x[1], x[2]) },
}

// elementwise writes a node by its formula.
func elementwise(w *writer, n *graph.Node) view {
	if x, ok := w.pattern(n); ok {
		return x
	}
	var xs []view
	for _, s := range n.Src().All() {
		xs = append(xs, w.done[s])
	}
	vs, layout := w.align(len(n.Shape), xs)
	return placed(w.wrap(formulas[n.Op](w, n, vs), n.DType), layout, len(n.Shape))
}

// op adds a node whose operands, of the type of its result, broadcast.
func (w *writer) op(name string, x ...*value) *value { return w.typed(name, x[0].elem, x...) }

// test is op of a node with a result of bools.
func (w *writer) test(name string, x ...*value) *value { return w.typed(name, op.Bool, x...) }

func (w *writer) typed(name string, e op.Elem, x ...*value) *value {
	dims := x[0].shape
	for _, v := range x[1:] {
		dims, _ = shape.Broadcast(dims, v.shape)
	}
	return w.call(name, e, dims, x)
}

// where takes elements of a where c is true, elsewhere of b.
func (w *writer) where(c, a, b *value) *value {
	if a.elem == op.Bool {
		return w.op("Or", w.op("And", c, a), w.op("And", w.op("Not", c), b))
	}
	return w.typed("Where", a.elem, c, a, b)
}

// less compares elements of type d.
func (w *writer) less(d ir.DType, a, b *value) *value {
	switch {
	case d == ir.Bool:
		return w.op("And", w.op("Not", a), b)
	case d == ir.Uint64:
		lowest := w.integer(op.Int64, math.MinInt64)
		return w.test("Less", w.op("BitwiseXor", a, lowest), w.op("BitwiseXor", b, lowest))
	}
	return w.test("Less", a, b)
}

// same is the operator with the meaning of an operation.
func same(name string) formula {
	return func(w *writer, _ *graph.Node, x []*value) *value { return w.op(name, x...) }
}

func byBool(logical, bitwise string) formula {
	return func(w *writer, n *graph.Node, x []*value) *value {
		if n.DType == ir.Bool {
			return w.op(logical, x...)
		}
		return w.op(bitwise, x...)
	}
}

func extreme(name, logical string) formula {
	return func(w *writer, n *graph.Node, x []*value) *value {
		switch less := n.Op == ir.Min; {
		case n.DType == ir.Bool:
			return w.op(logical, x...)
		case n.DType == ir.Uint64 || n.DType == ir.Uint32: // onnxruntime fuses casts of uint32 and then compares as int32
			return w.where(w.test("Equal", w.less(n.DType, x[0], x[1]), w.truth(less)), x[0], x[1])
		}
		return w.op(name, x...)
	}
}

func (w *writer) truth(b bool) *value {
	if b {
		return w.constant(op.Bool, nil, []byte{1})
	}
	return w.constant(op.Bool, nil, []byte{0})
}

// expm1 is tanh(x/2)·(eˣ+1), which keeps its digits near 0.
func expm1(w *writer, _ *graph.Node, x []*value) *value {
	half := w.op("Mul", x[0], w.number(x[0].elem, 0.5))
	return w.op("Mul", w.op("Tanh", half), w.op("Add", w.op("Exp", x[0]), w.number(x[0].elem, 1)))
}

// log2 is log(x)/ln 2, or the whole number near it of which x is a power of 2.
func log2(w *writer, _ *graph.Node, x []*value) *value {
	y := w.op("Mul", w.op("Log", x[0]), w.number(x[0].elem, math.Log2E))
	whole := w.op("Round", y)
	return w.where(w.test("Equal", w.op("Pow", w.number(y.elem, 2), whole), x[0]), whole, y)
}

// log1p is log(u)·x/(u-1) of u = 1+x, rounded, which keeps its digits near 0; log(u) where u-1 is x.
func log1p(w *writer, _ *graph.Node, xs []*value) *value {
	x, one := xs[0], w.number(xs[0].elem, 1)
	u := w.op("Add", x, one)
	d, log := w.op("Sub", u, one), w.op("Log", u)
	y := w.where(w.test("Equal", u, one), x, w.op("Mul", log, w.op("Div", x, d)))
	return w.where(w.test("Equal", d, x), log, y)
}

// erfc is 1-erf(x). The standard has nothing that keeps digits where it is near 0.
func erfc(w *writer, _ *graph.Node, x []*value) *value {
	return w.op("Sub", w.number(x[0].elem, 1), w.op("Erf", x[0]))
}

// atan2 reduces the quotient to at most 1, so that no infinity is divided by another.
func atan2(w *writer, _ *graph.Node, yx []*value) *value {
	y, x := yx[0], yx[1]
	e := x.elem
	zero, pi := w.number(e, 0), w.number(e, math.Pi)
	ay, ax := w.op("Abs", y), w.op("Abs", x)
	lo, hi := w.op("Min", ay, ax), w.op("Max", ay, ax)
	q := w.where(w.test("Equal", hi, zero), zero, w.where(w.test("Equal", lo, hi), w.number(e, 1), w.op("Div", lo, hi)))
	a := w.op("Atan", q)
	a = w.where(w.test("Less", ax, ay), w.op("Sub", w.number(e, math.Pi/2), a), a)
	a = w.where(w.isNegative(x), w.op("Sub", pi, a), a)
	return w.where(w.isNegative(y), w.op("Neg", a), a)
}

// isNegative is the sign bit of a float that is not NaN.
func (w *writer) isNegative(x *value) *value {
	zero := w.number(x.elem, 0)
	return w.op("Or", w.test("Less", x, zero), w.test("Less", w.op("Div", w.number(x.elem, 1), x), zero))
}

// divisor returns a divisor of integers that no processor traps at, and where it stands for 0 or -1; nil
// if it never does.
func (w *writer) divisor(n *graph.Node, y *value) (safe, bad *value) {
	if d, ok := constantOf(n.Operand(1)); ok && d != 0 && d.Int64(n.DType) != -1 {
		return y, nil
	}
	if n.DType == ir.Uint64 {
		refuse(n, "onnxruntime does not divide uint64")
	}
	bad = w.op("Or", w.test("Equal", y, w.number(y.elem, 0)), w.test("Equal", y, w.number(y.elem, -1)))
	return w.where(bad, w.number(y.elem, 1), y), bad
}

func div(w *writer, n *graph.Node, x []*value) *value {
	if n.DType.IsFloat() {
		return w.op("Div", x...)
	}
	y, bad := w.divisor(n, x[1])
	q := w.op("Div", x[0], y)
	if bad == nil {
		return q
	}
	return w.where(bad, w.op("Mul", x[0], x[1]), q) // 0 by 0, and -x by -1
}

// rem of integers is x less the quotient times y, because onnxruntime computes Mod of int64 in float64.
func rem(w *writer, n *graph.Node, x []*value) *value {
	if n.DType.IsFloat() {
		dims, _ := shape.Broadcast(x[0].shape, x[1].shape)
		return w.call("Mod", x[0].elem, dims, x, intAttr("fmod", 1))
	}
	y, bad := w.divisor(n, x[1])
	rest := w.op("Sub", x[0], w.op("Mul", w.op("Div", x[0], y), y))
	if bad == nil {
		return rest
	}
	return w.where(bad, w.number(y.elem, 0), rest)
}

// pow of integers is a product, because onnxruntime computes it in float64.
func pow(w *writer, n *graph.Node, x []*value) *value {
	if n.DType.IsFloat() {
		return w.op("Pow", x...)
	}
	e, ok := constantOf(n.Operand(1))
	times := e.Int64(n.DType)
	if !ok || times < 0 || times > 64 {
		refuse(n, "of integers it needs a constant exponent from 0 to 64")
	}
	y := w.op("Add", w.op("Mul", x[0], w.number(x[0].elem, 0)), w.number(x[0].elem, 1))
	for range times {
		y = w.op("Mul", y, x[0])
	}
	return y
}

// places returns the constant number of places of a shift of integers.
func places(n *graph.Node) int {
	k, ok := constantOf(n.Operand(1))
	if !ok {
		refuse(n, "it needs a constant number of places")
	}
	return int(min(uint64(k), 64))
}

func shl(w *writer, n *graph.Node, x []*value) *value {
	k := places(n)
	if k >= 8*n.DType.Size() {
		return w.op("Mul", x[0], w.number(x[0].elem, 0))
	}
	return w.op("Mul", x[0], w.integer(x[0].elem, 1<<k))
}

// integer is a constant integer without axes, which wraps.
func (w *writer) integer(e op.Elem, x int64) *value {
	return w.constant(e, nil, ir.Int(e.DType(), x).Append(nil, e.DType()))
}

// shr divides by powers of 2, and rounds down: first it subtracts the remainder.
func shr(w *writer, n *graph.Node, x []*value) *value {
	k, v := places(n), x[0]
	if n.DType == ir.Uint64 {
		if k > 63 {
			return w.op("Mul", v, w.number(v.elem, 0))
		}
		u := w.constant(op.Uint64, nil, ir.Int(ir.Uint64, int64(k)).Append(nil, ir.Uint64))
		dims := v.shape
		shifted := w.call("BitShift", op.Uint64, dims, []*value{w.cast(v, op.Uint64), u}, textAttr("direction", "RIGHT"))
		return w.cast(shifted, v.elem)
	}
	k = min(k, 8*n.DType.Size())
	for most := 8*v.elem.DType().Size() - 2; k > 0; k -= most {
		by := w.integer(v.elem, 1<<min(k, most))
		rest := w.op("Mod", v, by)
		v = w.op("Div", w.op("Sub", v, rest), by)
	}
	return v
}

// castNode converts as Cast does: floats saturate to integers, and NaN is 0.
func castNode(w *writer, n *graph.Node, x []*value) *value {
	v, from, to := x[0], n.Operand(0).DType, n.DType
	switch {
	case to == ir.Bool:
		return w.cast(v, op.Bool)
	case from.IsFloat() && to.IsFloat():
		return w.cast(w.cast(v, op.ElemOf(to)), elemOf(to))
	case from.IsFloat():
		return w.toInteger(v, to)
	case from == ir.Uint64 && to.IsFloat():
		v = w.cast(v, op.Uint64)
	}
	return w.cast(w.cast(v, op.ElemOf(to)), elemOf(to))
}

// toInteger converts floats to integers of type d. Those beyond the greatest int64 have other bits.
func (w *writer) toInteger(v *value, d ir.DType) *value {
	e, number := elemOf(d), func(x float64) *value { return w.number(op.Double, x) }
	v = w.cast(v, op.Double)
	v = w.where(w.test("Equal", v, v), v, number(0))
	lo, hi := ir.Limits(d)
	v = w.op("Max", v, number(lo.Float64(d)))
	if d.Size() < 8 {
		return w.cast(w.op("Min", v, number(hi.Float64(d))), e)
	}
	const limit = 0x1p63
	in := w.test("Less", v, number(limit))
	whole := func(v *value) *value { return w.cast(w.op("Min", v, number(math.Nextafter(limit, 0))), e) }
	over := w.integer(e, math.MaxInt64)
	if !d.IsSigned() {
		over = w.op("BitwiseXor", whole(w.op("Sub", v, number(limit))), w.integer(e, math.MinInt64))
		over = w.where(w.test("Less", v, number(2*limit)), over, w.integer(e, -1))
	}
	return w.where(in, whole(v), over)
}

// constantOf returns the number that all elements of a node are.
func constantOf(n *graph.Node) (ir.Number, bool) {
	for n = alias(n); (n.Op == ir.Reshape || n.Op == ir.Expand) && n.Value() == nil && n.Src().Len() > 0; {
		n = alias(n.Operand(0))
	}
	return n.Num, n.Op == ir.Const || n.Op == ir.Scalar
}
