package drivertest

import (
	"encoding/binary"
	"math"

	"github.com/tensorken/tensorken/ir"
)

// encode returns elements of type d as they lie in a buffer.
func encode(d ir.DType, elems []ir.Number) []byte {
	out := make([]byte, 0, len(elems)*d.Size())
	for _, x := range elems {
		out = x.Append(out, d)
	}
	return out
}

// decode is the inverse of encode; bytes that make no whole element are left
// out.
func decode(d ir.DType, b []byte) []ir.Number {
	out := make([]ir.Number, len(b)/d.Size())
	for i := range out {
		out[i] = elem(d, b[i*d.Size():])
	}
	return out
}

func elem(d ir.DType, b []byte) ir.Number {
	le := binary.LittleEndian
	switch d {
	case ir.Bool, ir.Uint8:
		return ir.Number(b[0])
	case ir.Float16:
		return ir.Float(d, float64(ir.F16(le.Uint16(b)).Float32()))
	case ir.BFloat16:
		return ir.Float(d, float64(ir.BF16(le.Uint16(b)).Float32()))
	case ir.Float32:
		return ir.Float(d, float64(math.Float32frombits(le.Uint32(b))))
	case ir.Int32:
		return ir.Int(d, int64(int32(le.Uint32(b))))
	case ir.Uint32:
		return ir.Number(le.Uint32(b))
	}
	return ir.Number(le.Uint64(b))
}
