package simt

import (
	"math"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// keepsBits has the conversions, from and to a type, that change no register: a half is in
// a register as the float32 of its value.
var keepsBits = map[[2]shader.Type]bool{
	{shader.I32, shader.U32}: true, {shader.U32, shader.I32}: true,
	{shader.I64, shader.U64}: true, {shader.U64, shader.I64}: true,
	{shader.Bool, shader.I32}: true, {shader.Bool, shader.U32}: true,
	{shader.F16, shader.F32}: true, {shader.BF16, shader.F32}: true,
}

// conversions are from each type to each other, but for those in keepsBits.
func conversions(l map[key]loop) {
	set := func(from, to shader.Type, f loop) {
		l[key{op: shader.Convert, operand: from, converts: to}] = f
	}
	fromInteger[uint32](set, shader.Bool)
	fromInteger[uint32](set, shader.U32)
	fromInteger[int32](set, shader.I32)
	fromInteger[uint64](set, shader.U64)
	fromInteger[int64](set, shader.I64)
	fromFloat[float32](set, shader.F32)
	fromFloat[float64](set, shader.F64)
	set(shader.F32, shader.F16, map1(func(x float32) float32 { return ir.ToF16(x).Float32() }))
	set(shader.F32, shader.BF16, map1(func(x float32) float32 { return ir.ToBF16(x).Float32() }))
	pack := func(half shader.Type, bits func(x float32) uint16) {
		l[key{op: shader.Pack, operand: shader.F32, converts: half}] = loop2(func(z []uint32, x, y []float32) {
			for i := range z {
				z[i] = uint32(bits(x[i])) | uint32(bits(y[i]))<<16
			}
		})
	}
	l[key{op: shader.Unpack, operand: shader.U32, converts: shader.F16}] = map1(func(x uint32) float32 { return ir.F16(x).Float32() })
	l[key{op: shader.Unpack, operand: shader.U32, converts: shader.BF16}] = map1(func(x uint32) float32 { return ir.BF16(x).Float32() })
	pack(shader.F16, func(x float32) uint16 { return uint16(ir.ToF16(x)) })
	pack(shader.BF16, func(x float32) uint16 { return uint16(ir.ToBF16(x)) })
}

// fromInteger are the conversions from a type of integers.
func fromInteger[X uint32 | int32 | uint64 | int64](set func(from, to shader.Type, f loop), from shader.Type) {
	set(from, shader.Bool, map1(func(x X) uint32 { return truth(x != 0) }))
	set(from, shader.I32, map1(func(x X) int32 { return int32(x) }))
	set(from, shader.U32, map1(func(x X) uint32 { return uint32(x) }))
	set(from, shader.I64, map1(func(x X) int64 { return int64(x) }))
	set(from, shader.U64, map1(func(x X) uint64 { return uint64(x) }))
	set(from, shader.F32, map1(func(x X) float32 { return float32(x) }))
	set(from, shader.F64, map1(func(x X) float64 { return float64(x) }))
}

// fromFloat are the conversions from a type of floats.
func fromFloat[X float32 | float64](set func(from, to shader.Type, f loop), from shader.Type) {
	set(from, shader.Bool, map1(func(x X) uint32 { return truth(x != 0) }))
	set(from, shader.I32, truncated[X, int32](math.MinInt32-1, 1<<31))
	set(from, shader.U32, truncated[X, uint32](-1, 1<<32))
	set(from, shader.I64, truncated[X, int64](math.Nextafter(math.MinInt64, math.Inf(-1)), 1<<63))
	set(from, shader.U64, truncated[X, uint64](-1, 1<<64))
	set(from, shader.F32, map1(func(x X) float32 { return float32(x) }))
	set(from, shader.F64, map1(func(x X) float64 { return float64(x) }))
}

// truncated is the conversion of numbers between two others.
func truncated[X float32 | float64, Z uint32 | int32 | uint64 | int64](above, below float64) loop {
	return map1(func(x X) Z {
		if v := float64(x); v > above && v < below {
			return Z(v)
		}
		return Z(poison & math.MaxInt32)
	})
}
