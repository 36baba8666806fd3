package simd

import (
	"math"

	"github.com/tensorken/tensorken/ir"
)

// The types of elements, by what routines do with them.

type integer interface {
	uint8 | int8 | int32 | uint32 | int64
}

type float interface{ float32 | float64 }

type number interface{ integer | float }

// Unaries has the routines of operations on one operand by its type; for Cast see
// Casts.
var Unaries = [ir.Ops][Types]Unary{
	ir.Neg: {
		ir.Uint8: negV[uint8], ir.Int8: negV[int8], ir.Int32: negV[int32], ir.Uint32: negV[uint32], ir.Int64: negV[int64],
		ir.Float32: negV[float32], ir.Float64: negV[float64],
	},
	ir.Not: {
		ir.Bool: notBool, ir.Uint8: notV[uint8], ir.Int8: notV[int8], ir.Int32: notV[int32], ir.Uint32: notV[uint32], ir.Int64: notV[int64],
	},
	ir.Exp:   {ir.Float32: exp, ir.Float64: unary64(exp64)},
	ir.Expm1: {ir.Float32: unary32(expm132), ir.Float64: unary64(math.Expm1)},
	ir.Log:   {ir.Float32: unary32(log32), ir.Float64: unary64(math.Log)},
	ir.Log1p: {ir.Float32: unary32(log1p32), ir.Float64: unary64(math.Log1p)},
	ir.Sin:   {ir.Float32: unary32(sin32), ir.Float64: unary64(math.Sin)},
	ir.Cos:   {ir.Float32: unary32(cos32), ir.Float64: unary64(math.Cos)},
	ir.Atan:  {ir.Float32: unary32(atan32), ir.Float64: unary64(math.Atan)},
	ir.Sqrt:  {ir.Float32: sqrtV[float32], ir.Float64: sqrtV[float64]},
	ir.Tanh:  {ir.Float32: unary32(tanh32), ir.Float64: unary64(math.Tanh)},
	ir.Erf:   {ir.Float32: unary32(erf32), ir.Float64: unary64(math.Erf)},
	ir.Floor: {ir.Float32: floorV[float32], ir.Float64: floorV[float64]},
}

// Binaries has the routines of operations on two operands by their type.
var Binaries = [ir.Ops][Types]Modes{
	ir.Add: {
		ir.Uint8: commute(addVV[uint8], addVS[uint8]), ir.Int8: commute(addVV[int8], addVS[int8]), ir.Int32: commute(addVV[int32], addVS[int32]),
		ir.Uint32: commute(addVV[uint32], addVS[uint32]), ir.Int64: commute(addVV[int64], addVS[int64]),
		ir.Float32: commute(addVV[float32], addVS[float32]), ir.Float64: commute(addVV[float64], addVS[float64]),
	},
	ir.Sub: {
		ir.Uint8: {subVV[uint8], subVS[uint8], subSV[uint8]}, ir.Int8: {subVV[int8], subVS[int8], subSV[int8]}, ir.Int32: {subVV[int32], subVS[int32], subSV[int32]},
		ir.Uint32: {subVV[uint32], subVS[uint32], subSV[uint32]}, ir.Int64: {subVV[int64], subVS[int64], subSV[int64]},
		ir.Float32: {subVV[float32], subVS[float32], subSV[float32]}, ir.Float64: {subVV[float64], subVS[float64], subSV[float64]},
	},
	ir.Mul: {
		ir.Uint8: commute(mulVV[uint8], mulVS[uint8]), ir.Int8: commute(mulVV[int8], mulVS[int8]), ir.Int32: commute(mulVV[int32], mulVS[int32]),
		ir.Uint32: commute(mulVV[uint32], mulVS[uint32]), ir.Int64: commute(mulVV[int64], mulVS[int64]),
		ir.Float32: commute(mulVV[float32], mulVS[float32]), ir.Float64: commute(mulVV[float64], mulVS[float64]),
	},
	ir.Div: {
		ir.Uint8: {VV: quoVV[uint8]}, ir.Int8: {VV: quoVV[int8]}, ir.Int32: {VV: quoVV[int32]}, ir.Uint32: {VV: quoVV[uint32]}, ir.Int64: {VV: quoVV[int64]},
		ir.Float32: {divVV[float32], divVS[float32], divSV[float32]}, ir.Float64: {divVV[float64], divVS[float64], divSV[float64]},
	},
	ir.Rem: {
		ir.Uint8: {VV: remVV[uint8]}, ir.Int8: {VV: remVV[int8]}, ir.Int32: {VV: remVV[int32]}, ir.Uint32: {VV: remVV[uint32]}, ir.Int64: {VV: remVV[int64]},
		ir.Float32: {VV: modVV[float32]}, ir.Float64: {VV: modVV[float64]},
	},
	ir.Pow: {
		ir.Uint8: {VV: powVV[uint8]}, ir.Int8: {VV: powVV[int8]}, ir.Int32: {VV: powVV[int32]}, ir.Uint32: {VV: powVV[uint32]}, ir.Int64: {VV: powVV[int64]},
		ir.Float32: {VV: binary32(pow32)}, ir.Float64: {VV: binary64(math.Pow)},
	},
	ir.Atan2: {ir.Float32: {VV: binary32(atan232)}, ir.Float64: {VV: binary64(math.Atan2)}},
	ir.Max: {
		ir.Bool: commute(maxVV[uint8], maxVS[uint8]), ir.Uint8: commute(maxVV[uint8], maxVS[uint8]), ir.Int8: commute(maxVV[int8], maxVS[int8]),
		ir.Int32: commute(maxVV[int32], maxVS[int32]), ir.Uint32: commute(maxVV[uint32], maxVS[uint32]), ir.Int64: commute(maxVV[int64], maxVS[int64]),
		ir.Float32: commute(maxVV[float32], maxVS[float32]), ir.Float64: commute(maxVV[float64], maxVS[float64]),
	},
	ir.Min: {
		ir.Bool: commute(minVV[uint8], minVS[uint8]), ir.Uint8: commute(minVV[uint8], minVS[uint8]), ir.Int8: commute(minVV[int8], minVS[int8]),
		ir.Int32: commute(minVV[int32], minVS[int32]), ir.Uint32: commute(minVV[uint32], minVS[uint32]), ir.Int64: commute(minVV[int64], minVS[int64]),
		ir.Float32: commute(minVV[float32], minVS[float32]), ir.Float64: commute(minVV[float64], minVS[float64]),
	},
	ir.Eq: {
		ir.Bool: commute(eqVV[uint8], eqVS[uint8]), ir.Uint8: commute(eqVV[uint8], eqVS[uint8]), ir.Int8: commute(eqVV[int8], eqVS[int8]),
		ir.Int32: commute(eqVV[int32], eqVS[int32]), ir.Uint32: commute(eqVV[uint32], eqVS[uint32]), ir.Int64: commute(eqVV[int64], eqVS[int64]),
		ir.Float32: commute(eqVV[float32], eqVS[float32]), ir.Float64: commute(eqVV[float64], eqVS[float64]),
	},
	ir.Lt: {
		ir.Bool: {ltVV[uint8], ltVS[uint8], ltSV[uint8]}, ir.Uint8: {ltVV[uint8], ltVS[uint8], ltSV[uint8]}, ir.Int8: {ltVV[int8], ltVS[int8], ltSV[int8]},
		ir.Int32: {ltVV[int32], ltVS[int32], ltSV[int32]}, ir.Uint32: {ltVV[uint32], ltVS[uint32], ltSV[uint32]},
		ir.Int64: {ltVV[int64], ltVS[int64], ltSV[int64]}, ir.Float32: {ltVV[float32], ltVS[float32], ltSV[float32]},
		ir.Float64: {ltVV[float64], ltVS[float64], ltSV[float64]},
	},
	ir.And: {
		ir.Bool: {VV: andVV[uint8]}, ir.Uint8: {VV: andVV[uint8]}, ir.Int8: {VV: andVV[int8]}, ir.Int32: {VV: andVV[int32]}, ir.Uint32: {VV: andVV[uint32]}, ir.Int64: {VV: andVV[int64]},
	},
	ir.Or: {
		ir.Bool: {VV: orVV[uint8]}, ir.Uint8: {VV: orVV[uint8]}, ir.Int8: {VV: orVV[int8]}, ir.Int32: {VV: orVV[int32]}, ir.Uint32: {VV: orVV[uint32]}, ir.Int64: {VV: orVV[int64]},
	},
	ir.Xor: {
		ir.Bool: {VV: xorVV[uint8]}, ir.Uint8: {VV: xorVV[uint8]}, ir.Int8: {VV: xorVV[int8]}, ir.Int32: {VV: xorVV[int32]}, ir.Uint32: {VV: xorVV[uint32]}, ir.Int64: {VV: xorVV[int64]},
	},
	ir.Shl: {
		ir.Uint8: {VV: shlVV[uint8]}, ir.Int8: {VV: shlVV[int8]}, ir.Int32: {VV: shlVV[int32]}, ir.Uint32: {VV: shlVV[uint32]}, ir.Int64: {VV: shlVV[int64]},
	},
	ir.Shr: {
		ir.Uint8: {VV: shrVV[uint8]}, ir.Int8: {VV: shrVV[int8]}, ir.Int32: {VV: shrVV[int32]}, ir.Uint32: {VV: shrVV[uint32]}, ir.Int64: {VV: shrVV[int64]},
	},
}

// Wheres has the routines of Where by the type of its last operands.
var Wheres = [Types]Choices{
	ir.Bool: choices[uint8](), ir.Uint8: choices[uint8](), ir.Int8: choices[uint8](),
	ir.Int32: choices[uint32](), ir.Uint32: choices[uint32](), ir.Float32: choices[uint32](),
	ir.Int64: choices[uint64](), ir.Float64: choices[uint64](),
}

// Reductions has the reductions by operation and by type of element. Elements
// narrower than their sum are converted before they are added.
var Reductions = [ir.Ops][Types]Reduction{
	ir.Sum: {
		ir.Int32: sums[int32](ir.Int32), ir.Uint32: sums[uint32](ir.Uint32), ir.Int64: sums[int64](ir.Int64),
		ir.Float32: sums[float32](ir.Float64), ir.Float64: sums[float64](ir.Float64),
	},
	ir.Prod: {
		ir.Uint8: prods[uint8](ir.Uint8), ir.Int8: prods[int8](ir.Int8), ir.Int32: prods[int32](ir.Int32), ir.Uint32: prods[uint32](ir.Uint32), ir.Int64: prods[int64](ir.Int64),
		ir.Float32: prods[float32](ir.Float64), ir.Float64: prods[float64](ir.Float64),
	},
	ir.ReduceMax: {
		ir.Bool: maxes[uint8](ir.Bool), ir.Uint8: maxes[uint8](ir.Uint8), ir.Int8: maxes[int8](ir.Int8), ir.Int32: maxes[int32](ir.Int32), ir.Uint32: maxes[uint32](ir.Uint32),
		ir.Int64: maxes[int64](ir.Int64), ir.Float32: maxes[float32](ir.Float32), ir.Float64: maxes[float64](ir.Float64),
	},
}

// Dots has the routines by type. Their accumulators are those of the sum.
var Dots = [Types]Dot{ir.Float32: dots[float32](), ir.Float64: dots[float64]()}

// ArgMaxes has the routines by the type of elements.
var ArgMaxes = [Types]ArgMax{
	ir.Bool: argMaxes[uint8](), ir.Uint8: argMaxes[uint8](), ir.Int8: argMaxes[int8](), ir.Int32: argMaxes[int32](), ir.Uint32: argMaxes[uint32](),
	ir.Int64: argMaxes[int64](), ir.Float32: argMaxes[float32](), ir.Float64: argMaxes[float64](),
}

// Products has the routines by the type of factors. Int8's sums are int32: only levels whose
// routines are faster than Int32's have them.
var Products = [Types]Product{
	ir.Int32: plainProduct[int32](), ir.Uint32: plainProduct[uint32](), ir.Int64: plainProduct[int64](),
	ir.Float32: plainProduct[float32](), ir.Float64: plainProduct[float64](),
}

// Scatterers has the routines by how elements are combined (Add, Mul, Max,
// Min) and by their type.
var Scatterers = func() (t [ir.Ops][Types]Scatterer) {
	setScatterers(&t, ir.Uint8, arithmetic[uint8]())
	setScatterers(&t, ir.Int8, arithmetic[int8]())
	setScatterers(&t, ir.Int32, arithmetic[int32]())
	setScatterers(&t, ir.Uint32, arithmetic[uint32]())
	setScatterers(&t, ir.Int64, arithmetic[int64]())
	setScatterers(&t, ir.Float32, arithmetic[float32]())
	setScatterers(&t, ir.Float64, arithmetic[float64]())
	lattice := arithmetic[uint8]()
	delete(lattice, ir.Add)
	delete(lattice, ir.Mul)
	setScatterers(&t, ir.Bool, lattice)
	f := arithmetic[float32]()
	setScatterers(&t, ir.Float16, rounded(f, ir.F16.Float32, ir.ToF16))
	setScatterers(&t, ir.BFloat16, rounded(f, ir.BF16.Float32, ir.ToBF16))
	return t
}()

// Casts has the routines of Cast by the types from and to. The 16-bit types
// convert only from and to float32.
var Casts = makeCasts()

func makeCasts() (t [Types][Types]Unary) {
	t[ir.Bool] = fromInteger[uint8](ir.Bool)
	t[ir.Bool][ir.Uint8] = copyV[uint8]
	t[ir.Uint8] = fromInteger[uint8](ir.Uint8)
	t[ir.Int8] = fromInteger[int8](ir.Int8)
	t[ir.Int32] = fromInteger[int32](ir.Int32)
	t[ir.Uint32] = fromInteger[uint32](ir.Uint32)
	t[ir.Int64] = fromInteger[int64](ir.Int64)
	t[ir.Float32] = fromFloat[float32](ir.Float32)
	t[ir.Float64] = fromFloat[float64](ir.Float64)
	t[ir.Float16][ir.Float32], t[ir.Float32][ir.Float16] = widenF16, narrowF16
	t[ir.BFloat16][ir.Float32], t[ir.Float32][ir.BFloat16] = widenBF16, narrowBF16
	return t
}

// fromInteger and fromFloat have the routines from a type.
func fromInteger[F integer](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Uint8: convert[F, uint8], ir.Int8: convert[F, int8], ir.Int32: convert[F, int32], ir.Uint32: convert[F, uint32],
		ir.Int64: convert[F, int64], ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}

func fromFloat[F float](self ir.DType) [Types]Unary {
	t := [Types]Unary{
		ir.Bool: truth[F], ir.Uint8: saturate[F, uint8](0, math.MaxUint8), ir.Int8: saturate[F, int8](math.MinInt8, math.MaxInt8),
		ir.Int32:  saturate[F, int32](math.MinInt32, math.MaxInt32),
		ir.Uint32: saturate[F, uint32](0, math.MaxUint32),
		ir.Int64:  saturate[F, int64](math.MinInt64, math.MaxInt64), ir.Float32: convert[F, float32], ir.Float64: convert[F, float64],
	}
	t[self] = copyV[F]
	return t
}
