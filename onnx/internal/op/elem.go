package op

import (
	"fmt"

	"github.com/tensorken/tensorken/tensor"
)

// Elem is a type of elements, by its number in TensorProto.DataType.
type Elem int32

// The types of elements.
const (
	Float Elem = iota + 1
	Uint8
	Int8
	Uint16
	Int16
	Int32
	Int64
	String
	Bool
	Float16
	Double
	Uint32
	Uint64
	Complex64
	Complex128
	BFloat16
	Float8E4M3FN
	Float8E4M3FNUZ
	Float8E5M2
	Float8E5M2FNUZ
	Uint4
	Int4
	Float4E2M1
	Float8E8M0
	Uint2
	Int2
	Float6E2M3
	Float6E3M2
	numElems
)

// An elemInfo is a row of the table of types.
type elemInfo struct {
	name  string
	dtype tensor.DType // of the tensor that holds the elements; 0 if none can
	bits  int          // of an element in a file
}

// elems has the types. A tensor of a narrow one, which package tensor lacks, holds its values in the
// next type that has them all; see narrow.go.
var elems = [numElems]elemInfo{
	Float:          {"float", tensor.Float32, 32},
	Uint8:          {"uint8", tensor.Uint8, 8},
	Int8:           {"int8", tensor.Int8, 8},
	Uint16:         {"uint16", tensor.Uint16, 16},
	Int16:          {"int16", tensor.Int16, 16},
	Int32:          {"int32", tensor.Int32, 32},
	Int64:          {"int64", tensor.Int64, 64},
	String:         {"string", 0, 0},
	Bool:           {"bool", tensor.Bool, 8},
	Float16:        {"float16", tensor.Float16, 16},
	Double:         {"double", tensor.Float64, 64},
	Uint32:         {"uint32", tensor.Uint32, 32},
	Uint64:         {"uint64", tensor.Uint64, 64},
	Complex64:      {"complex64", 0, 64},
	Complex128:     {"complex128", 0, 128},
	BFloat16:       {"bfloat16", tensor.BFloat16, 16},
	Float8E4M3FN:   {"float8e4m3fn", tensor.Float32, 8},
	Float8E4M3FNUZ: {"float8e4m3fnuz", tensor.Float32, 8},
	Float8E5M2:     {"float8e5m2", tensor.Float32, 8},
	Float8E5M2FNUZ: {"float8e5m2fnuz", tensor.Float32, 8},
	Uint4:          {"uint4", tensor.Uint8, 4},
	Int4:           {"int4", tensor.Int8, 4},
	Float4E2M1:     {"float4e2m1", tensor.Float32, 4},
	Float8E8M0:     {"float8e8m0", tensor.Float32, 8},
	Uint2:          {"uint2", tensor.Uint8, 2},
	Int2:           {"int2", tensor.Int8, 2},
	Float6E2M3:     {"float6e2m3", tensor.Float32, 6},
	Float6E3M2:     {"float6e3m2", tensor.Float32, 6},
}

// Valid reports whether e is one of the constants.
func (e Elem) Valid() bool { return e > 0 && e < numElems }

// String returns the standard's name.
func (e Elem) String() string {
	if !e.Valid() {
		return fmt.Sprintf("type %d", int32(e))
	}
	return elems[e].name
}

// DType is the type of a tensor that holds elements of type e, 0 if none does.
func (e Elem) DType() tensor.DType {
	if !e.Valid() {
		return 0
	}
	return elems[e].dtype
}

// Bits is the number of bits of an element in a file.
func (e Elem) Bits() int {
	if !e.Valid() {
		return 0
	}
	return elems[e].bits
}

// Narrow reports whether a tensor holds the elements in a wider type.
func (e Elem) Narrow() bool { return e.DType() != 0 && e.DType().Size()*8 != e.Bits() }

// ElemOf is the type of elements of a tensor that is not of a narrow type.
func ElemOf(d tensor.DType) Elem {
	for e, info := range elems {
		if info.dtype == d && info.bits == 8*d.Size() {
			return Elem(e)
		}
	}
	return 0
}
