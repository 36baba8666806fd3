package main

import (
	"math"

	"github.com/mmcloughlin/avo/reg"
)

// lanes has the instructions on the lanes of vector registers, which are floating-point
// numbers of one type or integers of the same size. Every level implements it, so that a
// function written with it has the same bits at all. Operands of type any are registers or
// constants; results are new registers.
type lanes interface {
	size() int              // of a lane, in bytes
	num(x float64) constant // of the type
	bits(x uint64) constant // the highest bits of x
	broadcast(k constant) vec

	add(x vec, y any) vec
	sub(x vec, y any) vec
	mul(x vec, y any) vec
	div(x vec, y any) vec
	// max and min return y or NaN where either is NaN.
	max(x vec, y any) vec
	min(x vec, y any) vec
	// fma returns x·y + z, fms x·y - z and fnma z - x·y, with one rounding.
	fma(x vec, y, z any) vec
	fms(x vec, y, z any) vec
	fnma(x vec, y, z any) vec
	// horner evaluates the polynomial of x with coefficients c, that of x⁰ first.
	horner(x vec, c ...float64) vec
	floor(x vec) vec
	ties(x vec) vec // to the nearest integer
	// scale returns x·2ⁿ for results down to the subnormal ones; power is power or power64.
	scale(x, n vec, power func(lanes, vec) vec) vec

	and(x vec, y any) vec
	or(x vec, y any) vec
	xor(x vec, y any) vec
	abs(x vec) vec
	signOf(x vec) vec // the sign bits
	shl(n int, x vec) vec
	shr(n int, x vec) vec
	sar(n int, x vec) vec // of lanes of 4 bytes, as toInt and fromInt
	addInt(x vec, y any) vec
	subInt(x vec, y any) vec
	toInt(x vec) vec // of integers
	fromInt(x vec) vec

	// compare returns where x and y are in a relation.
	compare(predicate int, x vec, y any) mask
	odd(x vec) mask                  // where the lowest bit is set
	choose(m mask, x any, y vec) vec // x where the mask is set, else y
	keep(m mask, x vec) vec          // x where the mask is set, else 0
}

// vec is a vector register; its methods AsX and AsY name its lower parts.
type vec = reg.VecVirtual

// A mask selects lanes: a register of bits with AVX-512, else a vector.
type mask = reg.Register

// Predicates of comparisons.
const (
	equal           = 0
	less            = 17 // quiet
	unordered       = 3
	ordered         = 7
	atLeast         = 29
	notEqual        = 4
	notGreaterEqual = 25
	greater         = 30
)

// A constant is an operand of all lanes of 4 or 8 bytes.
type constant struct {
	size int
	bits uint64
}

func (constant) Asm() string { return "" }

func f32(x float64) constant { return constant{4, uint64(math.Float32bits(float32(x)))} }
func f64(x float64) constant { return constant{8, math.Float64bits(x)} }
func i32(x uint32) constant  { return constant{4, uint64(x)} }
func i64(x uint64) constant  { return constant{8, x} }

// bytes4 is a constant of equal bytes.
func bytes4(x uint8) constant { return i32(uint32(x) * 0x01010101) }

// number is a floating-point constant of some bytes.
func number(size int, x float64) constant {
	if size == 8 {
		return f64(x)
	}
	return f32(x)
}

// highBits is a constant of the highest bits of x.
func highBits(size int, x uint64) constant { return constant{size, x >> (64 - 8*size)} }

// scaleByHalves multiplies by the powers of both halves of n.
func scaleByHalves(l lanes, x, n vec, power func(lanes, vec) vec) vec {
	half := l.floor(l.mul(n, l.num(0.5)))
	return l.mul(l.mul(x, power(l, half)), power(l, l.sub(n, half)))
}

// within limits x to [lo, hi] and keeps NaN.
func within(l lanes, x vec, lo, hi float64) vec {
	return l.min(l.broadcast(l.num(hi)), l.max(l.broadcast(l.num(lo)), x))
}
