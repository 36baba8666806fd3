package op

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// Kind says which fields of a Value are in use.
type Kind uint8

// The kinds of values. An optional that has an element is that element.
const (
	Absent     Kind = iota // an optional input that is not given, or an optional without an element
	TensorKind             // Tensor, of type Elem
	StringKind             // Strings and Shape
	SequenceKind
	MapKind
)

// A Value is an input, an intermediate value or a result of a model. It does not change.
type Value struct {
	Kind     Kind
	Elem     Elem          // of a tensor, or of the tensors of a sequence
	Tensor   tensor.Tensor // its elements, in the type Elem.DType()
	Strings  []string      // elements of a tensor of strings
	Shape    []int         // of a tensor of strings
	Sequence []Value
	Map      map[any]any // from int64 or string to float32, float64, int64 or string
	known    bool
	from     uint64 // see [Value.Origins]
}

// Elsewhere is the origin of all inputs that are not small.
const Elsewhere = 1 << 63

// From returns the value with its origins.
func From(v Value, origins uint64) Value {
	v.from = origins
	return v
}

// Origins has a bit for each small input of the model that the elements depend on, 0 if they are known.
func (v Value) Origins() uint64 {
	if v.IsKnown() {
		return 0
	}
	return v.from
}

// Of returns a tensor as a value.
func Of(t tensor.Tensor) Value { return Value{Kind: TensorKind, Elem: ElemOf(t.DType()), Tensor: t} }

// As returns a tensor as a value of a type that it holds: a narrow one, or its own.
func As(e Elem, t tensor.Tensor) Value {
	if e.DType() != t.DType() {
		panic(fmt.Sprintf("op: a tensor of %v does not hold %v", t.DType(), e))
	}
	return Value{Kind: TensorKind, Elem: e, Tensor: t}
}

// Texts returns a tensor of strings.
func Texts(s []string, shape ...int) Value {
	return Value{Kind: StringKind, Elem: String, Strings: s, Shape: shape, known: true}
}

// Sequence returns a sequence of tensors of type e.
func Sequence(e Elem, vs ...Value) Value { return Value{Kind: SequenceKind, Elem: e, Sequence: vs} }

// Known returns the value marked as known on the host whatever the inputs are: a Shape, a constant.
func Known(v Value) Value {
	v.known = true
	return v
}

// Given returns the value of an input, of which nothing is known but its type and shape.
func Given(v Value) Value {
	v.known = false
	return v
}

// KnownInts returns a known tensor of int64.
func KnownInts(x []int, shape ...int) Value {
	var data []byte
	for _, v := range x {
		data = binary.LittleEndian.AppendUint64(data, uint64(v))
	}
	return Known(Of(tensor.FromBytes(tensor.Int64, shape, data)))
}

// IsKnown reports whether the value depends on no input whose elements are unknown: its elements may be
// read while a plan is recorded.
func (v Value) IsKnown() bool {
	switch v.Kind {
	case SequenceKind:
		return v.known || !slices.ContainsFunc(v.Sequence, func(x Value) bool { return !x.IsKnown() })
	case TensorKind:
		return v.known
	}
	return true
}

// Dims returns the lengths of the axes of a tensor.
func (v Value) Dims() []int {
	if v.Kind == StringKind {
		return v.Shape
	}
	return v.Tensor.Shape()
}

// String describes the value: its type and shape.
func (v Value) String() string {
	switch v.Kind {
	case TensorKind, StringKind:
		return v.Elem.String() + fmt.Sprint(v.Dims())
	case SequenceKind:
		return fmt.Sprintf("sequence of %d %v", len(v.Sequence), v.Elem)
	case MapKind:
		return fmt.Sprintf("map of %d", len(v.Map))
	}
	return "absent"
}
