package shader

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// A Scalar is the type of a component of a register.
type Scalar uint8

// The scalars. Of F16 and BF16 there is only conversion, from and to F32.
const (
	boolean Scalar = iota + 1
	i32
	u32
	f32
	f16
	bf16
	i64
	u64
	f64
	scalars
)

// scalarInfo has the name of each scalar, and its bytes in a register and in shared memory.
var scalarInfo = [scalars]struct {
	name  string
	bytes int
}{
	{"no type", 0}, boolean: {"bool", 4},
	i32: {"i32", 4}, u32: {"u32", 4}, f32: {"f32", 4}, f16: {"f16", 4}, bf16: {"bf16", 4},
	i64: {"i64", 8}, u64: {"u64", 8}, f64: {"f64", 8},
}

// A Type is the type of a register: a scalar, or a vector of 2 or 4.
type Type struct {
	Scalar Scalar
	Width  uint8 // 1, 2 or 4
}

// The scalar types. WGSL lacks F64, and its printer makes I64 and U64 of two words.
var (
	Bool = Type{boolean, 1}
	I32  = Type{i32, 1}
	U32  = Type{u32, 1}
	F32  = Type{f32, 1}
	F16  = Type{f16, 1}
	BF16 = Type{bf16, 1}
	I64  = Type{i64, 1}
	U64  = Type{u64, 1}
	F64  = Type{f64, 1}
)

// Vec is the vector of n components of scalar type t.
func (t Type) Vec(n int) Type { return Type{t.Scalar, uint8(n)} }

// Elem is the type of t's components.
func (t Type) Elem() Type { return Type{t.Scalar, 1} }

// IsInt reports whether t's components are integers.
func (t Type) IsInt() bool { return t.IsSigned() || t.Scalar == u32 || t.Scalar == u64 }

// IsSigned reports whether t's components are signed integers.
func (t Type) IsSigned() bool { return t.Scalar == i32 || t.Scalar == i64 }

// IsFloat reports whether t's components are F32 or F64.
func (t Type) IsFloat() bool { return t.Scalar == f32 || t.Scalar == f64 }

// IsWide reports whether t's components have 64 bits.
func (t Type) IsWide() bool { return scalarInfo[t.Scalar].bytes == 8 }

// Unsigned is the type of unsigned integers with as many bits and components as t.
func (t Type) Unsigned() Type {
	if t.IsWide() {
		return Type{u64, t.Width}
	}
	return Type{u32, t.Width}
}

// Bytes is the size of t in shared memory.
func (t Type) Bytes() int { return scalarInfo[t.Scalar].bytes * int(t.Width) }

func (t Type) String() string {
	name := scalarInfo[t.Scalar].name
	if t.Width > 1 {
		name = fmt.Sprintf("vec%d<%s>", t.Width, name)
	}
	return name
}

// Register is the type of registers that hold elements of type d, also of narrower types.
func Register(d ir.DType) Type {
	wide := d.Size() == 8
	switch {
	case d == ir.Bool:
		return Bool
	case d.IsFloat() && wide:
		return F64
	case d.IsFloat():
		return F32
	case d.IsSigned() && wide:
		return I64
	case d.IsSigned():
		return I32
	case wide:
		return U64
	}
	return U32
}

// DTypes lists the element types that every device has: WGSL lacks float64.
var DTypes = slices.DeleteFunc(slices.Clone(ir.DTypes), func(d ir.DType) bool { return d == ir.Float64 })
