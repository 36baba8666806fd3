package simd

import "math/big"

// Elementary functions to more than 200 bits, by series.

const bigBits = 400

func bigInt(x int64) *big.Float { return new(big.Float).SetPrec(bigBits).SetInt64(x) }

func bigOp(f func(z, x, y *big.Float) *big.Float) func(x, y *big.Float) *big.Float {
	return func(x, y *big.Float) *big.Float { return f(new(big.Float).SetPrec(bigBits), x, y) }
}

var (
	bigAdd = bigOp((*big.Float).Add)
	bigSub = bigOp((*big.Float).Sub)
	bigMul = bigOp((*big.Float).Mul)
	bigQuo = bigOp((*big.Float).Quo)

	bigLn2 = bigMul(bigInt(2), bigAtanh(bigQuo(bigInt(1), bigInt(3))))
	// π/4 = 4·atan(1/5) - atan(1/239)
	bigPi = bigMul(bigInt(4), bigSub(bigMul(bigInt(4), bigAtan(bigQuo(bigInt(1), bigInt(5)))), bigAtan(bigQuo(bigInt(1), bigInt(239)))))
)

func bigScale(x *big.Float, n int) *big.Float { return new(big.Float).SetMantExp(x, n) }

// bigSeries adds terms until they are too small to matter; next gives term i from the one
// before.
func bigSeries(first *big.Float, next func(i int64, term *big.Float) *big.Float) *big.Float {
	sum, term := first, first
	for i := int64(1); term.Sign() != 0 && (sum.Sign() == 0 || term.MantExp(nil) > sum.MantExp(nil)-bigBits); i++ {
		term = next(i, term)
		sum = bigAdd(sum, term)
	}
	return sum
}

// bigOdd is the sum of sign·x^(2i+1)/(2i+1).
func bigOdd(x *big.Float, sign int64) *big.Float {
	x2, power := bigMul(bigMul(x, x), bigInt(sign)), x
	return bigSeries(x, func(i int64, _ *big.Float) *big.Float {
		power = bigMul(power, x2)
		return bigQuo(power, bigInt(2*i+1))
	})
}

func bigAtanh(x *big.Float) *big.Float { return bigOdd(x, 1) }
func bigAtan(x *big.Float) *big.Float  { return bigOdd(x, -1) }

// bigNearest is x/y rounded to an integer.
func bigNearest(x, y *big.Float) int64 {
	half := big.NewFloat(0.5)
	if x.Sign() < 0 {
		half.Neg(half)
	}
	n, _ := bigAdd(bigQuo(x, y), half).Int64()
	return n
}

func bigExpm1(x *big.Float) *big.Float {
	if x.MantExp(nil) >= 0 {
		return bigSub(bigExp(x), bigInt(1))
	}
	return bigSeries(x, func(i int64, term *big.Float) *big.Float { return bigQuo(bigMul(term, x), bigInt(i+1)) })
}

func bigExp(x *big.Float) *big.Float {
	n := bigNearest(x, bigLn2)
	r := bigSub(x, bigMul(bigInt(n), bigLn2))
	return bigScale(bigSeries(bigInt(1), func(i int64, term *big.Float) *big.Float { return bigQuo(bigMul(term, r), bigInt(i)) }), int(n))
}

func bigLog(x *big.Float) *big.Float {
	m := new(big.Float)
	e := x.MantExp(m) // m in [½, 1)
	s := bigQuo(bigSub(m, bigInt(1)), bigAdd(m, bigInt(1)))
	if e <= 1 && x.Cmp(bigQuo(bigInt(2), bigInt(3))) > 0 { // near 1 the two terms would cancel
		e, s = 0, bigQuo(bigSub(x, bigInt(1)), bigAdd(x, bigInt(1)))
	}
	return bigAdd(bigMul(bigInt(2), bigAtanh(s)), bigMul(bigInt(int64(e)), bigLn2))
}

func bigLog2(x *big.Float) *big.Float { return bigQuo(bigLog(x), bigLn2) }

func bigLog1p(x *big.Float) *big.Float {
	if x.MantExp(nil) > -2 {
		return bigLog(bigAdd(x, bigInt(1)))
	}
	return bigMul(bigInt(2), bigAtanh(bigQuo(x, bigAdd(x, bigInt(2)))))
}

func bigTanh(x *big.Float) *big.Float {
	m := bigExpm1(bigMul(bigInt(2), x))
	return bigQuo(m, bigAdd(m, bigInt(2)))
}

func bigErf(x *big.Float) *big.Float {
	x2, power := bigMul(x, x), x
	sum := bigSeries(x, func(i int64, _ *big.Float) *big.Float {
		power = bigQuo(bigMul(power, x2), bigInt(-i))
		return bigQuo(power, bigInt(2*i+1))
	})
	return bigQuo(bigMul(bigInt(2), sum), new(big.Float).SetPrec(bigBits).Sqrt(bigPi))
}

// bigErfc is, from 1 on, the trapezoidal sum of an integral, with an error of 2⁻²²⁸.
//
// Source: Matta and Reichel, "Uniform Computation of the Error Function", 1971.
func bigErfc(x *big.Float) *big.Float {
	if x.Cmp(bigInt(1)) < 0 {
		return bigSub(bigInt(1), bigErf(x))
	}
	square := bigMul(x, x)
	power := bigExp(new(big.Float).Neg(square))
	sum := bigQuo(power, bigMul(bigInt(2), square))
	for i, e := range bigGauss {
		sum = bigAdd(sum, bigQuo(bigMul(power, e), bigAdd(square, bigScale(bigInt(int64((i+1)*(i+1))), -4))))
	}
	residue := bigQuo(bigInt(2), bigExpm1(bigScale(bigMul(bigPi, x), 3)))
	if x.Cmp(bigScale(bigPi, 2)) > 0 {
		residue = bigInt(0)
	}
	return bigSub(bigQuo(bigMul(bigScale(x, -1), sum), bigPi), residue)
}

// bigGauss is exp(-n²/16) for n from 1 on.
var bigGauss = func() (list []*big.Float) {
	for n := int64(1); n <= 52; n++ {
		list = append(list, bigExp(bigScale(bigInt(-n*n), -4)))
	}
	return list
}()

func bigSin(x *big.Float) *big.Float { return bigSinPlus(x, 0) }
func bigCos(x *big.Float) *big.Float { return bigSinPlus(x, 1) }

// bigSinPlus is the sine of x + k·π/2.
func bigSinPlus(x *big.Float, k int64) *big.Float {
	quarter := bigScale(bigPi, -1)
	n := bigNearest(x, quarter)
	r := bigSub(x, bigMul(bigInt(n), quarter))
	r2, first := bigMul(r, r), r
	odd := (n + k) & 1
	if odd != 0 {
		first = bigInt(1)
	}
	v := bigSeries(first, func(i int64, term *big.Float) *big.Float {
		return bigQuo(bigMul(term, r2), bigInt(-(2*i-odd)*(2*i+1-odd)))
	})
	if (n+k)&2 != 0 {
		return v.Neg(v)
	}
	return v
}
