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
)

var scalarNames = [...]string{"no type", "bool", "i32", "u32", "f32", "f16", "bf16"}

// A Type is that of a register: a scalar, or a vector of 2 or 4.
type Type struct {
	Scalar Scalar
	Width  uint8 // 1, 2 or 4
}

// The scalar types.
var (
	Bool = Type{boolean, 1}
	I32  = Type{i32, 1}
	U32  = Type{u32, 1}
	F32  = Type{f32, 1}
	F16  = Type{f16, 1}
	BF16 = Type{bf16, 1}
)

// Vec is the vector of n components of scalar type t.
func (t Type) Vec(n int) Type { return Type{t.Scalar, uint8(n)} }

// Elem is the type of t's components.
func (t Type) Elem() Type { return Type{t.Scalar, 1} }

// IsInt reports whether t's components are integers.
func (t Type) IsInt() bool { return t.Scalar == i32 || t.Scalar == u32 }

// Bytes is the size of t in shared memory.
func (t Type) Bytes() int { return 4 * int(t.Width) }

func (t Type) String() string {
	name := scalarNames[t.Scalar]
	if t.Width > 1 {
		name = fmt.Sprintf("vec%d<%s>", t.Width, name)
	}
	return name
}

// Register is the type of registers that hold elements of type d, also of
// narrower types; the zero Type if there is none: integers of 16 bits have no
// packing, and none have 64.
func Register(d ir.DType) Type {
	switch {
	case !d.Valid() || d.Size() > 4 || d.IsInt() && d.Size() == 2:
		return Type{}
	case d == ir.Bool:
		return Bool
	case d.IsFloat():
		return F32
	case d.IsSigned():
		return I32
	}
	return U32
}

// DTypes lists the element types that have registers.
var DTypes = slices.DeleteFunc(slices.Clone(ir.DTypes), func(d ir.DType) bool { return Register(d) == Type{} })
