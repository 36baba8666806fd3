package simd

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// The routines by operation, if there are several, and by the last operand's type. They
// are filled from rows.
var (
	Unaries    [ir.Ops][Types]Unary
	Binaries   [ir.Ops][Types]Modes
	Wheres     [Types]Choices
	Reductions [ir.Ops][Types]Reduction // to sum bool or uint8, convert to int32 first
	ArgMaxes   [Types]ArgMax
	Scatterers [ir.Ops][Types]Scatterer // by Add, Mul, Max, Min
	Products   [Types]Product
	Casts      [Types][Types]Unary // from and to; the 16-bit types convert only from and to float32
)

type integer interface {
	uint8 | int32 | uint32 | int64
}

type float interface{ float32 | float64 }

type number interface{ integer | float }

// A row has the routines for one element type.
type row struct {
	unaries    map[ir.Op]Unary
	binaries   map[ir.Op]Modes
	where      Choices
	reductions map[ir.Op]Reduction
	argMax     ArgMax
	scatterers map[ir.Op]Scatterer
	product    Product
	casts      [Types]Unary // to each type
}

var rows = [Types]row{
	ir.Bool:     booleans(),
	ir.Uint8:    integers[uint8, uint8](ir.Uint8),
	ir.Int32:    integers[int32, uint32](ir.Int32),
	ir.Uint32:   integers[uint32, uint32](ir.Uint32),
	ir.Int64:    integers[int64, uint64](ir.Int64),
	ir.Float16:  {scatterers: rounded(ir.F16.Float32, ir.ToF16)},
	ir.BFloat16: {scatterers: rounded(ir.BF16.Float32, ir.ToBF16)},
	ir.Float32: floats[float32, uint32](ir.Float32,
		map[ir.Op]Unary{
			ir.Exp: exp, ir.Expm1: unary32(expm132), ir.Log: unary32(log32), ir.Log1p: unary32(log1p32),
			ir.Sin: unary32(sin32), ir.Cos: unary32(cos32), ir.Atan: unary32(atan32), ir.Tanh: unary32(tanh32), ir.Erf: unary32(erf32),
		},
		binary32(pow32)),
	ir.Float64: floats[float64, uint64](ir.Float64,
		map[ir.Op]Unary{
			ir.Exp: unary64(exp64), ir.Expm1: unary64(math.Expm1), ir.Log: unary64(math.Log), ir.Log1p: unary64(math.Log1p),
			ir.Sin: unary64(math.Sin), ir.Cos: unary64(math.Cos), ir.Atan: unary64(math.Atan), ir.Tanh: unary64(math.Tanh), ir.Erf: unary64(math.Erf),
		},
		binary64(math.Pow)),
}

func init() {
	for d, r := range rows {
		for op, f := range r.unaries {
			Unaries[op][d] = f
		}
		for op, f := range r.binaries {
			Binaries[op][d] = f
		}
		for op, f := range r.reductions {
			Reductions[op][d] = f
		}
		for op, f := range r.scatterers {
			Scatterers[op][d] = f
		}
		Wheres[d], ArgMaxes[d], Products[d], Casts[d] = r.where, r.argMax, r.product, r.casts
	}
	Casts[ir.Bool][ir.Uint8] = copyV[uint8]
	Casts[ir.Float16][ir.Float32], Casts[ir.Float32][ir.Float16] = widenF16, narrowF16
	Casts[ir.BFloat16][ir.Float32], Casts[ir.Float32][ir.BFloat16] = widenBF16, narrowBF16
}

// numbers returns the routines that integers and floats share; W is an unsigned type of
// T's size.
func numbers[T number, W word]() row {
	return row{
		unaries: map[ir.Op]Unary{ir.Neg: negV[T]},
		binaries: map[ir.Op]Modes{
			ir.Add: commute(addVV[T], addVS[T]),
			ir.Sub: {subVV[T], subVS[T], subSV[T]},
			ir.Mul: commute(mulVV[T], mulVS[T]),
			ir.Max: commute(maxVV[T], maxVS[T]),
			ir.Min: commute(minVV[T], minVS[T]),
			ir.Eq:  commute(eqVV[T], eqVS[T]),
			ir.Lt:  {ltVV[T], ltVS[T], ltSV[T]},
		},
		where:      choices[W](),
		argMax:     argMaxes[T](),
		scatterers: scatterers(arithmetic[T]()),
		product:    product[T],
	}
}

func integers[T integer, W word](d ir.DType) row {
	r := numbers[T, W]()
	r.unaries[ir.Not] = notV[T]
	r.casts = castsFromInteger[T](d)
	for op, f := range map[ir.Op]Binary{
		ir.Div: quoVV[T], ir.Rem: remVV[T], ir.Pow: powVV[T],
		ir.And: andVV[T], ir.Or: orVV[T], ir.Xor: xorVV[T], ir.Shl: shlVV[T], ir.Shr: shrVV[T],
	} {
		r.binaries[op] = Modes{VV: f}
	}
	r.reductions = map[ir.Op]Reduction{ir.Prod: prods[T, T](d), ir.ReduceMax: maxes[T](d)}
	if ir.Sum.ResultDType(d, d) == d {
		r.reductions[ir.Sum] = sums[T, T](d)
	} else {
		r.product = nil
	}
	return r
}

// floats returns the row of a floating-point type, which sums and multiplies in float64.
func floats[T float, W word](d ir.DType, functions map[ir.Op]Unary, pow Binary) row {
	r := numbers[T, W]()
	for op, f := range functions {
		r.unaries[op] = f
	}
	r.casts = castsFromFloat[T](d)
	r.unaries[ir.Sqrt], r.unaries[ir.Floor] = sqrtV[T], floorV[T]
	r.binaries[ir.Div] = Modes{divVV[T], divVS[T], divSV[T]}
	r.binaries[ir.Rem] = Modes{VV: modVV[T]}
	r.binaries[ir.Pow] = Modes{VV: pow}
	r.reductions = map[ir.Op]Reduction{
		ir.Sum: sums[T, float64](ir.Float64), ir.Prod: prods[T, float64](ir.Float64), ir.ReduceMax: maxes[T](d),
	}
	return r
}

// booleans returns the row of Bool, whose elements are the bytes 0 and 1.
func booleans() row {
	all := integers[uint8, uint8](ir.Bool)
	r := row{
		unaries:    map[ir.Op]Unary{ir.Not: notBool},
		binaries:   map[ir.Op]Modes{},
		where:      all.where,
		casts:      all.casts,
		reductions: map[ir.Op]Reduction{ir.ReduceMax: all.reductions[ir.ReduceMax]},
		argMax:     all.argMax,
		scatterers: map[ir.Op]Scatterer{},
	}
	for _, op := range []ir.Op{ir.Max, ir.Min, ir.Eq, ir.Lt, ir.And, ir.Or, ir.Xor} {
		r.binaries[op] = all.binaries[op]
	}
	for _, op := range []ir.Op{ir.Max, ir.Min} {
		r.scatterers[op] = all.scatterers[op]
	}
	return r
}

// commute returns the modes of a commutative operation.
func commute(vv, vs Binary) Modes {
	return Modes{vv, vs, func(dst, x, y unsafe.Pointer, n int) { vs(dst, y, x, n) }}
}
