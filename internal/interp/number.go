package interp

import (
	"math"

	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A function computes a number of type to from numbers of type from: the operands of an
// elementwise op, or all elements of a reduction in row-major order. Where's first
// operand is always a Bool.
type function func(to, from ir.DType, x []ir.Number) ir.Number

// Apply returns the result, of type to, of an elementwise op or a reduction of numbers of
// type from. For Where, from is the type of the last two operands.
func Apply(op ir.Op, to, from ir.DType, x ...ir.Number) ir.Number {
	return functions[op](to, from, x)
}

var functions = [ir.Ops]function{
	ir.Neg:     func(to, from ir.DType, x []ir.Number) ir.Number { return negate(to, x[0]) },
	ir.Exp:     real1(exp),
	ir.Expm1:   real1(math.Expm1),
	ir.Log:     real1(math.Log),
	ir.Log1p:   real1(math.Log1p),
	ir.Log2:    real1(log2),
	ir.Sin:     real1(math.Sin),
	ir.Cos:     real1(math.Cos),
	ir.Atan:    real1(math.Atan),
	ir.Sqrt:    real1(math.Sqrt),
	ir.Tanh:    real1(math.Tanh),
	ir.Erf:     real1(math.Erf),
	ir.Erfc:    real1(math.Erfc),
	ir.Floor:   real1(math.Floor),
	ir.Not:     not,
	ir.Cast:    func(to, from ir.DType, x []ir.Number) ir.Number { return x[0].Convert(from, to) },
	ir.Bitcast: func(to, from ir.DType, x []ir.Number) ir.Number { return ir.FromBits(to, x[0].Bits(from)) },

	ir.Add: number2(
		func(a, b float64) float64 { return a + b },
		func(a, b int64) int64 { return a + b },
		func(a, b uint64) uint64 { return a + b }),
	ir.Sub: number2(
		func(a, b float64) float64 { return a - b },
		func(a, b int64) int64 { return a - b },
		func(a, b uint64) uint64 { return a - b }),
	ir.Mul: number2(
		func(a, b float64) float64 { return a * b },
		func(a, b int64) int64 { return a * b },
		func(a, b uint64) uint64 { return a * b }),
	ir.Div: number2(
		func(a, b float64) float64 { return a / b }, quotient[int64], quotient[uint64]),
	ir.Rem:   number2(math.Mod, remainder[int64], remainder[uint64]),
	ir.Pow:   number2(math.Pow, power[int64], power[uint64]),
	ir.Atan2: real2(math.Atan2),
	ir.Max:   number2(larger[float64], larger[int64], larger[uint64]),
	ir.Min:   number2(smaller[float64], smaller[int64], smaller[uint64]),

	ir.Eq: func(to, from ir.DType, x []ir.Number) ir.Number { return truth(equal(from, x[0], x[1])) },
	ir.Lt: func(to, from ir.DType, x []ir.Number) ir.Number { return truth(x[0].Less(from, x[1])) },

	// Negative numbers are sign-extended, so these three work on all the bits.
	ir.And: func(to, from ir.DType, x []ir.Number) ir.Number { return x[0] & x[1] },
	ir.Or:  func(to, from ir.DType, x []ir.Number) ir.Number { return x[0] | x[1] },
	ir.Xor: func(to, from ir.DType, x []ir.Number) ir.Number { return x[0] ^ x[1] },

	ir.Shl: shift(func(d ir.DType, a ir.Number, n uint64) int64 { return int64(a << n) }),
	ir.Shr: shift(func(d ir.DType, a ir.Number, n uint64) int64 {
		if d.IsSigned() {
			return int64(a) >> n
		}
		return int64(a >> n)
	}),
	ir.Where: func(to, from ir.DType, x []ir.Number) ir.Number {
		if x[0] != 0 {
			return x[1]
		}
		return x[2]
	},
	ir.Threefry: func(to, from ir.DType, x []ir.Number) ir.Number {
		return ir.Number(simd.ThreefryWord(uint32(x[0]), uint32(x[1]), uint32(x[2]), uint32(x[3])))
	},

	ir.Sum: fold(0,
		func(a, b float64) float64 { return a + b },
		func(a, b int64) int64 { return a + b }),
	ir.Prod: fold(1,
		func(a, b float64) float64 { return a * b },
		func(a, b int64) int64 { return a * b }),
	ir.ReduceMax: func(to, from ir.DType, x []ir.Number) ir.Number {
		if len(x) == 0 {
			return ir.Identity(ir.ReduceMax, from)
		}
		return x[argMax(from, x)]
	},
	ir.ArgMax: func(to, from ir.DType, x []ir.Number) ir.Number {
		return ir.Int(to, int64(argMax(from, x)))
	},
}

// real1 and real2 return functions of floating-point numbers.
// log2 is [math.Log2], which loses digits near 1.
func log2(x float64) float64 {
	m, e := math.Frexp(x) // in [½, 1)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	return float64(e) + math.Log(m)*math.Log2E
}

func real1(f func(float64) float64) function {
	return func(to, from ir.DType, x []ir.Number) ir.Number {
		return ir.Float(to, f(x[0].Float64(from)))
	}
}

func real2(f func(y, x float64) float64) function {
	return func(to, from ir.DType, x []ir.Number) ir.Number {
		return ir.Float(to, f(x[0].Float64(from), x[1].Float64(from)))
	}
}

// exp returns math.Exp(x), which on amd64 overflows from 709.44 on instead of 709.78.
func exp(x float64) float64 {
	if x > 709 {
		return math.Expm1(x) // e^x-1 rounds to e^x here
	}
	return math.Exp(x)
}

// number2 returns a function of two numbers: f for floating-point types; i for signed and u
// for other integers, both of which wrap.
func number2(f func(a, b float64) float64, i func(a, b int64) int64, u func(a, b uint64) uint64) function {
	return func(to, from ir.DType, x []ir.Number) ir.Number {
		switch {
		case from.IsFloat():
			return ir.Float(to, f(x[0].Float64(from), x[1].Float64(from)))
		case from.IsSigned():
			return ir.Int(to, i(int64(x[0]), int64(x[1])))
		}
		return ir.Int(to, int64(u(uint64(x[0]), uint64(x[1]))))
	}
}

// fold returns a reduction with a start value.
func fold(start int64, f func(a, b float64) float64, i func(a, b int64) int64) function {
	return func(to, from ir.DType, x []ir.Number) ir.Number {
		if from.IsFloat() {
			acc := float64(start)
			for _, v := range x {
				acc = f(acc, v.Float64(from))
			}
			return ir.Float(to, acc)
		}
		acc := start
		for _, v := range x {
			acc = i(acc, int64(v))
		}
		return ir.Int(to, acc)
	}
}

// shift returns a shift; by the width or more it gives 0 or the sign, as Go's shifts of
// 64 bits do.
func shift(f func(d ir.DType, a ir.Number, n uint64) int64) function {
	return func(to, from ir.DType, x []ir.Number) ir.Number {
		return ir.Int(to, f(from, x[0], uint64(x[1])))
	}
}

func negate(d ir.DType, x ir.Number) ir.Number {
	if d.IsFloat() {
		return ir.Float(d, -x.Float64(d))
	}
	return ir.Int(d, -int64(x))
}

func not(to, from ir.DType, x []ir.Number) ir.Number {
	if from == ir.Bool {
		return truth(x[0] == 0)
	}
	return ir.Int(to, ^int64(x[0]))
}

func quotient[T int64 | uint64](a, b T) T {
	if b == 0 {
		return 0
	}
	return a / b
}

func remainder[T int64 | uint64](a, b T) T {
	if b == 0 {
		return 0
	}
	return a % b
}

func larger[T int64 | uint64 | float64](a, b T) T  { return max(a, b) }
func smaller[T int64 | uint64 | float64](a, b T) T { return min(a, b) }

// power returns a to the power b, wrapped. A negative exponent gives the truncated
// reciprocal: 0 unless a is 1 or -1.
func power[T int64 | uint64](a, b T) T {
	if b < 0 {
		switch {
		case a == 1, a+1 == 0 && b%2 == 0:
			return 1
		case a+1 == 0:
			return a
		}
		return 0
	}
	p := T(1)
	for ; b > 0; b >>= 1 {
		if b&1 == 1 {
			p *= a
		}
		a *= a
	}
	return p
}

func truth(b bool) ir.Number {
	if b {
		return 1
	}
	return 0
}

func equal(d ir.DType, a, b ir.Number) bool {
	if d.IsFloat() {
		return a.Float64(d) == b.Float64(d)
	}
	return a == b
}

// argMax returns the position of the first NaN, or else of the first maximum.
func argMax(d ir.DType, x []ir.Number) int {
	best := 0
	for i, v := range x {
		if d.IsFloat() && math.IsNaN(v.Float64(d)) {
			return i
		}
		if x[best].Less(d, v) {
			best = i
		}
	}
	return best
}
