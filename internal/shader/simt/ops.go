package simt

import (
	"math"
	"math/bits"

	"github.com/tensorken/tensorken/internal/shader"
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

// poison is the result of an undefined operation.
const poison = 0xc0ffee11

var strange = math.Float32frombits(poison)

// A key is an op on components of a type; for conversions and Pack also the type that they
// convert to, for a Select one of as many bits as it selects.
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
	case shader.Pack, shader.Unpack:
		k.converts = shader.Type{Scalar: shader.Scalar(x.Bits), Width: 1}
	case shader.Select:
		k.converts = x.Type.Elem().Unsigned()
	}
	return loops[k]
}

func allLoops() map[key]loop {
	l := map[key]loop{}
	dots(l)
	numbers[uint32](l, shader.U32)
	numbers[int32](l, shader.I32)
	numbers[float32](l, shader.F32)
	numbers[uint64](l, shader.U64)
	numbers[int64](l, shader.I64)
	numbers[float64](l, shader.F64)
	integers[uint32](l, shader.U32)
	integers[uint32](l, shader.I32)
	integers[uint64](l, shader.U64)
	integers[uint64](l, shader.I64)
	signed[int32](l, shader.I32)
	signed[int64](l, shader.I64)
	floats(l)
	doubles(l)
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

// integers are ops on bits and on unsigned integers; signed replaces them for signed ones.
func integers[T uint32 | uint64](l map[key]loop, t shader.Type) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: t}] = f }
	width := uint32(8 * t.Bytes())
	set(shader.Not, map1(func(x T) T { return ^x }))
	set(shader.LeadingZeros, map1(func(x T) T { return T(bits.LeadingZeros64(uint64(x))) + T(width) - 64 }))
	set(shader.And, loop2(func(z, x, y []T) {
		for i := range z {
			z[i] = x[i] & y[i]
		}
	}))
	set(shader.Or, loop2(func(z, x, y []T) {
		for i := range z {
			z[i] = x[i] | y[i]
		}
	}))
	set(shader.Xor, map2(func(x, y T) T { return x ^ y }))
	set(shader.Shl, map2(func(x T, n uint32) T {
		if n >= width {
			return poison
		}
		return x << n
	}))
	set(shader.Shr, map2(func(x T, n uint32) T {
		if n >= width {
			return poison
		}
		return x >> n
	}))
	set(shader.Div, map2(func(x, y T) T {
		if y == 0 {
			return poison
		}
		return x / y
	}))
	set(shader.Rem, map2(func(x, y T) T {
		if y == 0 {
			return poison
		}
		return x % y
	}))
}

func signed[T int32 | int64](l map[key]loop, t shader.Type) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: t}] = f }
	width := uint32(8 * t.Bytes())
	poison, least := T(poison>>1), T(-1)<<(width-1)
	overflows := func(x, y T) bool { return y == 0 || x == least && y == -1 }
	set(shader.Abs, map1(func(x T) T { return max(x, -x) }))
	set(shader.Shr, map2(func(x T, n uint32) T {
		if n >= width {
			return poison
		}
		return x >> n
	}))
	set(shader.Div, map2(func(x, y T) T {
		if overflows(x, y) {
			return poison
		}
		return x / y
	}))
	set(shader.Rem, map2(func(x, y T) T {
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
	set(shader.Exp, within(math.Exp, func(x float32) bool { return x >= -104 && x <= 88.73 }))
	set(shader.Log, within(math.Log, func(x float32) bool { return x > 0 && x <= math.MaxFloat32 }))
	set(shader.Div, map2(func(x, y float32) float32 { return x / y }))
	set(shader.Fma, loop3(func(z, x, y, w []float32) {
		for i := range z {
			z[i] = float32(float64(x[i])*float64(y[i]) + float64(w[i]))
		}
	}))
}

// dots is DotInt8.
func dots(l map[key]loop) {
	l[key{op: shader.DotInt8, operand: shader.I32}] = loop3(func(z, x, y, w []int32) {
		for i := range z {
			z[i] = w[i]
			for n := 0; n < 32; n += 8 {
				z[i] += int32(int8(x[i]>>n)) * int32(int8(y[i]>>n))
			}
		}
	})
	l[key{op: shader.DotInt8, operand: shader.U32}] = loop3(func(z, x, y, w []uint32) {
		for i := range z {
			z[i] = w[i]
			for n := 0; n < 32; n += 8 {
				z[i] += uint32(uint8(x[i]>>n)) * uint32(int8(y[i]>>n))
			}
		}
	})
}

// doubles are ops on F64.
func doubles(l map[key]loop) {
	set := func(op shader.Op, f loop) { l[key{op: op, operand: shader.F64}] = f }
	set(shader.Abs, map1(math.Abs))
	set(shader.Floor, map1(math.Floor))
	set(shader.Sqrt, map1(math.Sqrt))
	set(shader.Div, map2(func(x, y float64) float64 { return x / y }))
	set(shader.Fma, loop3(func(z, x, y, w []float64) {
		for i := range z {
			z[i] = math.FMA(x[i], y[i], w[i])
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
	selects[uint32](l, shader.U32)
	selects[uint64](l, shader.U64)
}

func selects[T word](l map[key]loop, t shader.Type) {
	l[key{op: shader.Select, operand: shader.Bool, converts: t}] = loop3(func(z []T, x []uint32, yes, no []T) {
		for i := range z {
			v := no[i]
			if x[i] != 0 {
				v = yes[i]
			}
			z[i] = v // which may be one of the operands
		}
	})
}
