package tensor

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// DType is the type of a tensor's elements.
type DType = ir.DType

// The element types. WebGPU lacks Float64.
const (
	Bool     = ir.Bool
	Uint8    = ir.Uint8
	Int8     = ir.Int8
	Uint16   = ir.Uint16
	Int16    = ir.Int16
	Int32    = ir.Int32
	Uint32   = ir.Uint32
	Int64    = ir.Int64
	Uint64   = ir.Uint64
	Float16  = ir.Float16
	BFloat16 = ir.BFloat16
	Float32  = ir.Float32
	Float64  = ir.Float64
)

// F16 is a Go element of a [Float16] tensor: the bits of an IEEE 754 binary16
// number.
type F16 = ir.F16

// BF16 is a Go element of a [BFloat16] tensor: the upper half of a float32.
type BF16 = ir.BF16

// ToF16 rounds x to the nearest F16, ties to even.
func ToF16(x float32) F16 { return ir.ToF16(x) }

// ToBF16 rounds x to the nearest BF16, ties to even.
func ToBF16(x float32) BF16 { return ir.ToBF16(x) }

// Element is a Go type of a tensor's elements; each corresponds to one [DType], int as
// int64 does to [Int64].
type Element interface {
	bool | uint8 | int8 | uint16 | int16 | int32 | uint32 | int | int64 | uint64 | F16 | BF16 | float32 | float64
}

// bytesOf returns the memory of data. Elements in memory are little-endian on all
// supported systems.
func bytesOf[E Element](data []E) []byte {
	if len(data) == 0 {
		return []byte{}
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&data[0])), len(data)*int(unsafe.Sizeof(data[0])))
}

// elementsOf is the inverse of bytesOf.
func elementsOf[E Element](data []byte) []E {
	var zero E
	if len(data) == 0 {
		return []E{}
	}
	return unsafe.Slice((*E)(unsafe.Pointer(&data[0])), len(data)/int(unsafe.Sizeof(zero)))
}

func dtypeOf[E Element]() DType {
	d, _ := dtype(reflect.TypeFor[E]())
	return d
}

// dtype returns the element type of a Go type.
func dtype(t reflect.Type) (d DType, ok bool) {
	switch t {
	case reflect.TypeFor[F16]():
		return ir.Float16, true
	case reflect.TypeFor[BF16]():
		return ir.BFloat16, true
	}
	d, ok = dtypes[t.Kind()]
	return d, ok
}

// dtypes has the element type of each kind of Go type, but the 16-bit floats'.
var dtypes = map[reflect.Kind]DType{
	reflect.Bool:    ir.Bool,
	reflect.Uint8:   ir.Uint8,
	reflect.Int8:    ir.Int8,
	reflect.Uint16:  ir.Uint16,
	reflect.Int16:   ir.Int16,
	reflect.Int32:   ir.Int32,
	reflect.Uint32:  ir.Uint32,
	reflect.Int:     ir.Int64, // of 64 bits on all supported systems
	reflect.Int64:   ir.Int64,
	reflect.Uint64:  ir.Uint64,
	reflect.Float32: ir.Float32,
	reflect.Float64: ir.Float64,
}

// goTypes lists the Go types of elements that are not of this package.
func goTypes() string {
	var names []string
	for _, d := range ir.DTypes {
		if !d.IsHalf() {
			names = append(names, d.String())
		}
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// appendElement appends a Go value of type d.
func appendElement(data []byte, v reflect.Value, d DType) []byte {
	var x ir.Number
	switch {
	case v.Kind() == reflect.Bool:
		x, _ = boolNumber(d, v.Bool())
	case v.CanInt():
		x = ir.Int(d, v.Int())
	case v.CanUint(): // a 16-bit float's bits, or an integer
		x = ir.FromBits(d, v.Uint())
	default:
		x = ir.Float(d, v.Float())
	}
	return x.Append(data, d)
}

// element returns element i of data, of type d.
func element(d DType, data []byte, i int) ir.Number { return ir.Decode(d, data[i*d.Size():]) }
