package simd

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Unaries has the routines of operations on one operand, but Cast and
// Bitcast, by the type of it.
var Unaries = [ir.Ops][Types]Unary{
	ir.Neg: {
		ir.Uint8: negV[uint8], ir.Int32: negV[int32], ir.Uint32: negV[uint32], ir.Int64: negV[int64],
		ir.Float32: negV[float32], ir.Float64: negV[float64],
	},
	ir.Not: {
		ir.Bool: notBool, ir.Uint8: notV[uint8], ir.Int32: notV[int32], ir.Uint32: notV[uint32], ir.Int64: notV[int64],
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
		ir.Uint8: commute(addVV[uint8], addVS[uint8]), ir.Int32: commute(addVV[int32], addVS[int32]),
		ir.Uint32: commute(addVV[uint32], addVS[uint32]), ir.Int64: commute(addVV[int64], addVS[int64]),
		ir.Float32: commute(addVV[float32], addVS[float32]), ir.Float64: commute(addVV[float64], addVS[float64]),
	},
	ir.Sub: {
		ir.Uint8: {subVV[uint8], subVS[uint8], subSV[uint8]}, ir.Int32: {subVV[int32], subVS[int32], subSV[int32]},
		ir.Uint32: {subVV[uint32], subVS[uint32], subSV[uint32]}, ir.Int64: {subVV[int64], subVS[int64], subSV[int64]},
		ir.Float32: {subVV[float32], subVS[float32], subSV[float32]}, ir.Float64: {subVV[float64], subVS[float64], subSV[float64]},
	},
	ir.Mul: {
		ir.Uint8: commute(mulVV[uint8], mulVS[uint8]), ir.Int32: commute(mulVV[int32], mulVS[int32]),
		ir.Uint32: commute(mulVV[uint32], mulVS[uint32]), ir.Int64: commute(mulVV[int64], mulVS[int64]),
		ir.Float32: commute(mulVV[float32], mulVS[float32]), ir.Float64: commute(mulVV[float64], mulVS[float64]),
	},
	ir.Div: {
		ir.Uint8: {VV: quoVV[uint8]}, ir.Int32: {VV: quoVV[int32]}, ir.Uint32: {VV: quoVV[uint32]}, ir.Int64: {VV: quoVV[int64]},
		ir.Float32: {divVV[float32], divVS[float32], divSV[float32]}, ir.Float64: {divVV[float64], divVS[float64], divSV[float64]},
	},
	ir.Rem: {
		ir.Uint8: {VV: remVV[uint8]}, ir.Int32: {VV: remVV[int32]}, ir.Uint32: {VV: remVV[uint32]}, ir.Int64: {VV: remVV[int64]},
		ir.Float32: {VV: modVV[float32]}, ir.Float64: {VV: modVV[float64]},
	},
	ir.Pow: {
		ir.Uint8: {VV: powVV[uint8]}, ir.Int32: {VV: powVV[int32]}, ir.Uint32: {VV: powVV[uint32]}, ir.Int64: {VV: powVV[int64]},
		ir.Float32: {VV: binary32(pow32)}, ir.Float64: {VV: binary64(math.Pow)},
	},
	ir.Max: {
		ir.Bool: commute(maxVV[uint8], maxVS[uint8]), ir.Uint8: commute(maxVV[uint8], maxVS[uint8]),
		ir.Int32: commute(maxVV[int32], maxVS[int32]), ir.Uint32: commute(maxVV[uint32], maxVS[uint32]), ir.Int64: commute(maxVV[int64], maxVS[int64]),
		ir.Float32: commute(maxVV[float32], maxVS[float32]), ir.Float64: commute(maxVV[float64], maxVS[float64]),
	},
	ir.Min: {
		ir.Bool: commute(minVV[uint8], minVS[uint8]), ir.Uint8: commute(minVV[uint8], minVS[uint8]),
		ir.Int32: commute(minVV[int32], minVS[int32]), ir.Uint32: commute(minVV[uint32], minVS[uint32]), ir.Int64: commute(minVV[int64], minVS[int64]),
		ir.Float32: commute(minVV[float32], minVS[float32]), ir.Float64: commute(minVV[float64], minVS[float64]),
	},
	ir.Eq: {
		ir.Bool: commute(eqVV[uint8], eqVS[uint8]), ir.Uint8: commute(eqVV[uint8], eqVS[uint8]),
		ir.Int32: commute(eqVV[int32], eqVS[int32]), ir.Uint32: commute(eqVV[uint32], eqVS[uint32]), ir.Int64: commute(eqVV[int64], eqVS[int64]),
		ir.Float32: commute(eqVV[float32], eqVS[float32]), ir.Float64: commute(eqVV[float64], eqVS[float64]),
	},
	ir.Lt: {
		ir.Bool: {ltVV[uint8], ltVS[uint8], ltSV[uint8]}, ir.Uint8: {ltVV[uint8], ltVS[uint8], ltSV[uint8]},
		ir.Int32: {ltVV[int32], ltVS[int32], ltSV[int32]}, ir.Uint32: {ltVV[uint32], ltVS[uint32], ltSV[uint32]},
		ir.Int64: {ltVV[int64], ltVS[int64], ltSV[int64]}, ir.Float32: {ltVV[float32], ltVS[float32], ltSV[float32]},
		ir.Float64: {ltVV[float64], ltVS[float64], ltSV[float64]},
	},
	ir.And: {
		ir.Bool: {VV: andVV[uint8]}, ir.Uint8: {VV: andVV[uint8]}, ir.Int32: {VV: andVV[int32]}, ir.Uint32: {VV: andVV[uint32]}, ir.Int64: {VV: andVV[int64]},
	},
	ir.Or: {
		ir.Bool: {VV: orVV[uint8]}, ir.Uint8: {VV: orVV[uint8]}, ir.Int32: {VV: orVV[int32]}, ir.Uint32: {VV: orVV[uint32]}, ir.Int64: {VV: orVV[int64]},
	},
	ir.Xor: {
		ir.Bool: {VV: xorVV[uint8]}, ir.Uint8: {VV: xorVV[uint8]}, ir.Int32: {VV: xorVV[int32]}, ir.Uint32: {VV: xorVV[uint32]}, ir.Int64: {VV: xorVV[int64]},
	},
	ir.Shl: {
		ir.Uint8: {VV: shlVV[uint8]}, ir.Int32: {VV: shlVV[int32]}, ir.Uint32: {VV: shlVV[uint32]}, ir.Int64: {VV: shlVV[int64]},
	},
	ir.Shr: {
		ir.Uint8: {VV: shrVV[uint8]}, ir.Int32: {VV: shrVV[int32]}, ir.Uint32: {VV: shrVV[uint32]}, ir.Int64: {VV: shrVV[int64]},
	},
}

// commute returns the modes of a commutative operation.
func commute(vv, vs Binary) Modes {
	return Modes{vv, vs, func(dst, x, y unsafe.Pointer, n int) { vs(dst, y, x, n) }}
}
