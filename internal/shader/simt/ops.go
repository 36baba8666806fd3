package simt

import (
	"math"
	"math/bits"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A loop computes words z of words x, y and w, as many of each.
type loop func(z, x, y, w []uint32)

func map1[X, Z word](f func(X) Z) loop {
	return loop1(func(z []Z, x []X) {
		for i := range z {
			z[i] = f(x[i])
		}
	})
}

func map2[X, Y word](f func(X, Y) X) loop {
	return loop2(func(z, x []X, y []Y) {
		for i := range z {
			z[i] = f(x[i], y[i])
		}
	})
}

// loop1, loop2 and loop3 are loops over numbers; ops that kernels have many of are written
// out in one, rather than with a call for each number.
func loop1[X, Z word](f func(z []Z, x []X)) loop {
	return func(z, x, _, _ []uint32) { f(as[Z](z), as[X](x)) }
}

func loop2[X, Y, Z word](f func(z []Z, x []X, y []Y)) loop {
	return func(z, x, y, _ []uint32) { f(as[Z](z), as[X](x), as[Y](y)) }
}

func loop3[X, Y word](f func(z []Y, x []X, y, w []Y)) loop {
	return func(z, x, y, w []uint32) { f(as[Y](z), as[X](x), as[Y](y), as[Y](w)) }
}

// truth is a bool in a register.
func truth(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

// poison is the result of what is undefined.
const poison = 0xc0ffee11

var strange = math.Float32frombits(poison)

// A key is an op on components of a type; for conversions and Pack also the type that they
// convert to.
type key struct {
	op       shader.Op
	operand  shader.Type
	converts shader.Type
}

var (
	loops    = allLoops()
	copyLoop = loop1(func(z, x []uint32) { copy(z, x) })
)

// loopOf finds the loop of an expression's op.
func loopOf(x *shader.Expr) loop {
	k := key{op: x.Op, operand: x.Args[0].Type.Elem()}
	switch x.Op {
	case shader.Convert:
		k.converts = x.Type.Elem()
	case shader.Pack:
		k.converts = shader.Type{Scalar: shader.Scalar(x.Bits), Width: 1}
	}
	return loops[k]
}

func allLoops() map[key]loop {
	l := map[key]loop{}
	numbers[uint32](l, shader.U32)
	numbers[int32](l, shader.I32)
	numbers[float32](l, shader.F32)
	integers(l, shader.U32)
	integers(l, shader.I32)
	signed(l)
	floats(l)
	booleans(l)
	conversions(l)
	return l
}

// numbers are ops that Go has for all types.
func numbers[T word](l map[key]loop, t shader.Type) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: t}] = f }
	set(shader.Neg, map1(func(x T) T { return -x }))
	set(shader.Add, loop2(func(z, x, y []T) {
		for i := range z {
			z[i] = x[i] + y[i]
		}
	}))
	set(shader.Sub, loop2(func(z, x, y []T) {
		for i := range z {
			z[i] = x[i] - y[i]
		}
	}))
	set(shader.Mul, loop2(func(z, x, y []T) {
		for i := range z {
			z[i] = x[i] * y[i]
		}
	}))
	set(shader.Min, map2(func(x, y T) T { // of a NaN and a number, the first
		if y < x {
			return y
		}
		return x
	}))
	set(shader.Max, map2(func(x, y T) T {
		if y > x {
			return y
		}
		return x
	}))
	set(shader.Eq, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] == y[i])
		}
	}))
	set(shader.Ne, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] != y[i])
		}
	}))
	set(shader.Lt, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] < y[i])
		}
	}))
	set(shader.Le, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] <= y[i])
		}
	}))
	set(shader.Gt, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] > y[i])
		}
	}))
	set(shader.Ge, loop2(func(z []uint32, x, y []T) {
		for i := range z {
			z[i] = truth(x[i] >= y[i])
		}
	}))
}

// integers are ops on bits, and those of U32, which signed replaces for I32.
func integers(l map[key]loop, t shader.Type) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: t}] = f }
	set(shader.Not, map1(func(x uint32) uint32 { return ^x }))
	set(shader.LeadingZeros, map1(func(x uint32) uint32 { return uint32(bits.LeadingZeros32(x)) }))
	set(shader.And, loop2(func(z, x, y []uint32) {
		for i := range z {
			z[i] = x[i] & y[i]
		}
	}))
	set(shader.Or, loop2(func(z, x, y []uint32) {
		for i := range z {
			z[i] = x[i] | y[i]
		}
	}))
	set(shader.Xor, map2(func(x, y uint32) uint32 { return x ^ y }))
	set(shader.Shl, map2(func(x, n uint32) uint32 {
		if n > 31 {
			return poison
		}
		return x << n
	}))
	set(shader.Shr, map2(func(x, n uint32) uint32 {
		if n > 31 {
			return poison
		}
		return x >> n
	}))
	set(shader.Div, map2(func(x, y uint32) uint32 {
		if y == 0 {
			return poison
		}
		return x / y
	}))
	set(shader.Rem, map2(func(x, y uint32) uint32 {
		if y == 0 {
			return poison
		}
		return x % y
	}))
}

func signed(l map[key]loop) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: shader.I32}] = f }
	poison := int32(math.MinInt32 + poison>>1)
	overflows := func(x, y int32) bool { return y == 0 || x == math.MinInt32 && y == -1 }
	set(shader.Abs, map1(func(x int32) int32 { return max(x, -x) }))
	set(shader.Shr, map2(func(x int32, n uint32) int32 {
		if n > 31 {
			return poison
		}
		return x >> n
	}))
	set(shader.Div, map2(func(x, y int32) int32 {
		if overflows(x, y) {
			return poison
		}
		return x / y
	}))
	set(shader.Rem, map2(func(x, y int32) int32 {
		if overflows(x, y) {
			return poison
		}
		return x % y
	}))
}

// smallestNormal is the least positive F32 that is not subnormal.
const smallestNormal = 0x1p-126

// floats are ops on F32. The functions are undefined where shaders' are.
func floats(l map[key]loop) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: shader.F32}] = f }
	within := func(f func(float64) float64, domain func(x float32) bool) loop {
		return map1(func(x float32) float32 {
			if !domain(x) {
				return strange
			}
			return float32(f(float64(x)))
		})
	}
	set(shader.Abs, map1(func(x float32) float32 { return math.Float32frombits(math.Float32bits(x) &^ (1 << 31)) }))
	set(shader.Floor, map1(func(x float32) float32 { return float32(math.Floor(float64(x))) }))
	set(shader.RoundTF32, loop1(func(z, x []uint32) {
		for i := range z {
			z[i] = (x[i] + 1<<12) &^ (1<<13 - 1)
			if f := math.Float32frombits(x[i]); f != f {
				z[i] = x[i] | 1<<22 // which stays NaN without its lower bits
			}
		}
	}))
	set(shader.Sqrt, within(math.Sqrt, func(x float32) bool { return x >= 0 && x <= math.MaxFloat32 }))
	set(shader.Exp2, map1(func(x float32) float32 {
		y := float32(math.Exp2(float64(x)))
		if y < smallestNormal {
			y = 0
		}
		return y
	}))
	set(shader.Exp, within(math.Exp, func(x float32) bool { return x > -104 && x < 88.73 }))
	set(shader.Log, within(math.Log, func(x float32) bool { return x > 0 && x <= math.MaxFloat32 }))
	set(shader.Div, map2(func(x, y float32) float32 { return x / y }))
	set(shader.Fma, loop3(func(z, x, y, w []float32) {
		for i := range z {
			z[i] = float32(float64(x[i])*float64(y[i]) + float64(w[i]))
		}
	}))
}

func booleans(l map[key]loop) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: shader.Bool}] = f }
	set(shader.Not, map1(func(x uint32) uint32 { return x ^ 1 }))
	set(shader.And, loop2(func(z, x, y []uint32) {
		for i := range z {
			z[i] = x[i] & y[i]
		}
	}))
	set(shader.Or, loop2(func(z, x, y []uint32) {
		for i := range z {
			z[i] = x[i] | y[i]
		}
	}))
	set(shader.Eq, loop2(func(z []uint32, x, y []uint32) {
		for i := range z {
			z[i] = truth(x[i] == y[i])
		}
	}))
	set(shader.Ne, loop2(func(z []uint32, x, y []uint32) {
		for i := range z {
			z[i] = truth(x[i] != y[i])
		}
	}))
	set(shader.Select, loop3(func(z, x, yes, no []uint32) {
		for i := range z {
			v := no[i]
			if x[i] != 0 {
				v = yes[i]
			}
			z[i] = v // which may be one of the operands
		}
	}))
}

// keepsBits has the conversions, from and to a type, that change no register: a half is in
// a register as the float32 of its value.
var keepsBits = map[[2]shader.Type]bool{
	{shader.I32, shader.U32}: true, {shader.U32, shader.I32}: true,
	{shader.Bool, shader.I32}: true, {shader.Bool, shader.U32}: true,
	{shader.F16, shader.F32}: true, {shader.BF16, shader.F32}: true,
}

// conversions are from each type to each other, but for those in keepsBits.
func conversions(l map[key]loop) {
	set := func(from, to shader.Type, f loop) {
		l[key{op: shader.Convert, operand: from, converts: to}] = f
	}
	nonzero := map1(func(x uint32) uint32 { return min(x, 1) })
	set(shader.I32, shader.Bool, nonzero)
	set(shader.U32, shader.Bool, nonzero)
	set(shader.F32, shader.Bool, map1(func(x float32) uint32 { return min(math.Float32bits(x)<<1, 1) }))
	set(shader.Bool, shader.F32, map1(func(x uint32) float32 { return float32(x) }))
	set(shader.I32, shader.F32, map1(func(x int32) float32 { return float32(x) }))
	set(shader.U32, shader.F32, map1(func(x uint32) float32 { return float32(x) }))
	set(shader.F32, shader.I32, map1(func(x float32) uint32 {
		if x >= math.MinInt32 && x < -math.MinInt32 {
			return uint32(int32(x))
		}
		return poison
	}))
	set(shader.F32, shader.U32, map1(func(x float32) uint32 {
		if x > -1 && x < 1<<32 {
			return uint32(int64(x))
		}
		return poison
	}))
	set(shader.F32, shader.F16, map1(func(x float32) float32 { return ir.ToF16(x).Float32() }))
	set(shader.F32, shader.BF16, map1(func(x float32) float32 { return ir.ToBF16(x).Float32() }))
	pack := func(half shader.Type, bits func(x float32) uint16) {
		l[key{op: shader.Pack, operand: shader.F32, converts: half}] = loop2(func(z []uint32, x, y []float32) {
			for i := range z {
				z[i] = uint32(bits(x[i])) | uint32(bits(y[i]))<<16
			}
		})
	}
	pack(shader.F16, func(x float32) uint16 { return uint16(ir.ToF16(x)) })
	pack(shader.BF16, func(x float32) uint16 { return uint16(ir.ToBF16(x)) })
}
