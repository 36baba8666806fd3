package ir

import (
	"encoding/binary"
	"math"
	"strconv"
)

// A Number is one element of any type: the bits of a float64 for the
// floating-point types, of a uint64 for the unsigned ones, of an int64 for the
// others. Every value of every element type is represented exactly.
type Number uint64

// Float returns x as an element of type d, rounded to it.
func Float(d DType, x float64) Number {
	switch d {
	case Float16:
		x = float64(ToF16(float32(x)).Float32())
	case BFloat16:
		x = float64(ToBF16(float32(x)).Float32())
	case Float32:
		x = float64(float32(x))
	case Float64:
	default:
		return truncate(d, x)
	}
	return Number(math.Float64bits(x))
}

// Int returns x as an element of type d: rounded if d is floating-point,
// wrapped if it is an integer, x ≠ 0 if it is Bool.
func Int(d DType, x int64) Number {
	spare := 64 - 8*d.Size()
	switch dtypes[d].kind {
	case kindBool:
		if x != 0 {
			return 1
		}
		return 0
	case kindUint:
		return Number(uint64(x) << spare >> spare)
	case kindInt:
		return Number(x << spare >> spare)
	}
	return rounded(d, x)
}

// rounded returns x as an element of a floating-point type. It is rounded to the type
// that kernels compute in: through float64 it would be rounded twice.
func rounded[T int64 | uint64](d DType, x T) Number {
	if d.ComputeType() == Float32 {
		return Float(d, float64(float32(x)))
	}
	return Float(d, float64(x))
}

// Float64 returns a number of type d as a float64.
func (x Number) Float64(d DType) float64 {
	switch {
	case d.IsFloat():
		return math.Float64frombits(uint64(x))
	case d.IsSigned():
		return float64(int64(x))
	}
	return float64(x)
}

// Int64 returns a number of type d as an int64; one that the int64s lack saturates, after
// a floating-point one is truncated.
func (x Number) Int64(d DType) int64 {
	switch {
	case d.IsFloat():
		return int64(truncate(Int64, math.Float64frombits(uint64(x))))
	case d.IsSigned():
		return int64(x)
	}
	return int64(min(x, math.MaxInt64))
}

// Less reports whether x is less than y, both of type d. No NaN is.
func (x Number) Less(d DType, y Number) bool {
	switch {
	case d.IsFloat():
		return math.Float64frombits(uint64(x)) < math.Float64frombits(uint64(y))
	case d.IsSigned():
		return int64(x) < int64(y)
	}
	return x < y
}

// Convert returns x, of type from, as an element of type to, by the rules of
// the op Cast.
func (x Number) Convert(from, to DType) Number {
	if from.IsFloat() {
		if to == Bool {
			if math.Float64frombits(uint64(x)) != 0 { // NaN is true
				return 1
			}
			return 0
		}
		return Float(to, math.Float64frombits(uint64(x)))
	}
	if to.IsFloat() && !from.IsSigned() {
		return rounded(to, uint64(x))
	}
	return Int(to, int64(x))
}

// Text returns x, of type d, as a Go literal would be written: the shortest
// decimal that gives it back.
func (x Number) Text(d DType) string {
	switch {
	case d == Bool:
		return strconv.FormatBool(x != 0)
	case d == Float64:
		return strconv.FormatFloat(x.Float64(d), 'g', -1, 64)
	case d.IsFloat():
		return strconv.FormatFloat(x.Float64(d), 'g', -1, 32)
	case d.IsSigned():
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatUint(uint64(x), 10)
}

// Bits returns x, of type d, as it lies in memory: in the lowest bits, as many
// as an element has. Higher bits are undefined.
func (x Number) Bits(d DType) uint64 {
	switch d {
	case Float16:
		return uint64(ToF16(float32(x.Float64(d))))
	case BFloat16:
		return uint64(ToBF16(float32(x.Float64(d))))
	case Float32:
		return uint64(math.Float32bits(float32(x.Float64(d))))
	}
	return uint64(x)
}

// FromBits is the inverse of Bits.
func FromBits(d DType, b uint64) Number {
	switch d {
	case Float16:
		return Float(d, float64(F16(b).Float32()))
	case BFloat16:
		return Float(d, float64(BF16(b).Float32()))
	case Float32:
		return Float(d, float64(math.Float32frombits(uint32(b))))
	case Float64:
		return Number(b)
	}
	return Int(d, int64(b))
}

// Append appends x to b as an element of type d lies in memory, little-endian.
func (x Number) Append(b []byte, d DType) []byte {
	le, bits := binary.LittleEndian, x.Bits(d)
	switch d.Size() {
	case 1:
		return append(b, byte(bits))
	case 2:
		return le.AppendUint16(b, uint16(bits))
	case 4:
		return le.AppendUint32(b, uint32(bits))
	}
	return le.AppendUint64(b, bits)
}

// Decode returns the element of type d at the start of b, little-endian.
func Decode(d DType, b []byte) Number {
	le := binary.LittleEndian
	switch d.Size() {
	case 1:
		return FromBits(d, uint64(b[0]))
	case 2:
		return FromBits(d, uint64(le.Uint16(b)))
	case 4:
		return FromBits(d, uint64(le.Uint32(b)))
	}
	return FromBits(d, le.Uint64(b))
}

// truncate gives x as an integer of type d: towards zero, saturating, NaN 0.
func truncate(d DType, x float64) Number {
	lo, hi := Limits(d)
	switch {
	case x != x:
		return 0
	case x <= lo.Float64(d):
		return lo
	case x >= hi.Float64(d):
		return hi
	case d.IsSigned():
		return Number(int64(x))
	}
	return Number(x)
}

// Limits returns the least and greatest value of an integer type or Bool.
func Limits(d DType) (lo, hi Number) {
	switch dtypes[d].kind {
	case kindBool:
		return 0, 1
	case kindUint:
		return 0, 1<<(8*d.Size()) - 1
	}
	top := int64(1) << (8*d.Size() - 1)
	return Number(-top), Number(top - 1)
}

// CeilDiv is a/b rounded up, for b > 0.
func CeilDiv[T int | uint64](a, b T) T {
	q := a / b
	if a > q*b {
		q++
	}
	return q
}
