package ir

import "fmt"

// DType is the type of a tensor's elements.
type DType uint8

// The element types.
const (
	Bool DType = iota + 1
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Uint32
	Int64
	Uint64
	Float16
	BFloat16
	Float32
	Float64
	numDTypes
)

// DTypes lists every element type, in the order of their constants.
var DTypes = []DType{Bool, Uint8, Int8, Uint16, Int16, Int32, Uint32, Int64, Uint64, Float16, BFloat16, Float32, Float64}

type kind uint8

const (
	kindBool kind = iota + 1
	kindUint
	kindInt
	kindFloat
)

var dtypes = [numDTypes]struct {
	name string
	size int
	kind kind
}{
	Bool:     {"bool", 1, kindBool},
	Uint8:    {"uint8", 1, kindUint},
	Int8:     {"int8", 1, kindInt},
	Uint16:   {"uint16", 2, kindUint},
	Int16:    {"int16", 2, kindInt},
	Int32:    {"int32", 4, kindInt},
	Uint32:   {"uint32", 4, kindUint},
	Int64:    {"int64", 8, kindInt},
	Uint64:   {"uint64", 8, kindUint},
	Float16:  {"float16", 2, kindFloat},
	BFloat16: {"bfloat16", 2, kindFloat},
	Float32:  {"float32", 4, kindFloat},
	Float64:  {"float64", 8, kindFloat},
}

// String returns the type's name, such as "float32".
func (d DType) String() string {
	if f := d.Format(); f != nil {
		return f.Name
	}
	if !d.Valid() {
		return fmt.Sprintf("DType(%d)", uint8(d))
	}
	return dtypes[d].name
}

// Valid reports whether d is one of the constants, a type of elements.
func (d DType) Valid() bool { return d > 0 && d < numDTypes }

// Size is the number of bytes an element takes in a buffer, 0 for a [Format]. See [DType.Bytes].
func (d DType) Size() int {
	if d >= numDTypes {
		return 0
	}
	return dtypes[d].size
}

// IsFloat reports whether d is a floating-point type.
func (d DType) IsFloat() bool { return d < numDTypes && dtypes[d].kind == kindFloat }

// IsInt reports whether d is an integer type, signed or not; Bool is not an integer.
func (d DType) IsInt() bool { return dtypes[d].kind == kindInt || dtypes[d].kind == kindUint }

// IsSigned reports whether d is a signed integer type.
func (d DType) IsSigned() bool { return dtypes[d].kind == kindInt }

// IsHalf reports whether d is one of the 16-bit floating-point types, which
// are float32 inside a kernel.
func (d DType) IsHalf() bool { return d == Float16 || d == BFloat16 }

// ComputeType is the type in which a kernel computes elements of type d: float32
// for the 16-bit floating-point types and for formats, otherwise d itself.
func (d DType) ComputeType() DType {
	if d.IsHalf() || d.Format() != nil {
		return Float32
	}
	return d
}

// SumType is the type of the result of Sum on elements of type d: int32 for bool and for
// integers that are narrower, otherwise d. Package tensor casts elements to int64 where
// sums may not fit.
func (d DType) SumType() DType {
	if !d.IsFloat() && d.Size() < Int32.Size() {
		return Int32
	}
	return d
}

// A TypeSet is a set of element types.
type TypeSet uint16

// Sets that rows of the op table name.
const (
	floats   TypeSet = 1<<Float16 | 1<<BFloat16 | 1<<Float32 | 1<<Float64
	integers TypeSet = 1<<Uint8 | 1<<Int8 | 1<<Uint16 | 1<<Int16 | 1<<Int32 | 1<<Uint32 | 1<<Int64 | 1<<Uint64
	indices  TypeSet = 1<<Int32 | 1<<Uint32 | 1<<Int64
	boolean  TypeSet = 1 << Bool
	numbers          = floats | integers
	bitwise          = integers | boolean
	anyType          = numbers | boolean
	word     TypeSet = 1 << Uint32
)

// Has reports whether d is in s.
func (s TypeSet) Has(d DType) bool { return d.Valid() && s>>d&1 == 1 }
