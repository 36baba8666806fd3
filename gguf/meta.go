package gguf

import (
	"fmt"
	"reflect"
	"slices"
)

// A Pair is an entry of metadata. Value is of one of the types bool, string, int8 to int64,
// uint8 to uint64, float32, float64, or a slice of one of them; arrays of arrays are []any.
type Pair struct {
	Key   string
	Value any
}

// Meta is the metadata of a file, in its order.
type Meta []Pair

// Value returns the value of a key, or nil.
func (m Meta) Value(key string) any {
	if i := m.index(key); i >= 0 {
		return m[i].Value
	}
	return nil
}

func (m Meta) index(key string) int {
	return slices.IndexFunc(m, func(p Pair) bool { return p.Key == key })
}

// With returns the metadata with a value for a key: in place of the old one, or after the
// others.
func (m Meta) With(key string, value any) Meta {
	m = slices.Clone(m)
	if i := m.index(key); i >= 0 {
		m[i].Value = value
		return m
	}
	return append(m, Pair{key, value})
}

// Get returns the value of a key as a T. Numbers of other types are converted, if T can hold
// them, and so are the elements of arrays: Get[int] reads an uint32, and Get[[]float64] an array
// of float32.
func Get[T any](m Meta, key string) (T, error) {
	var to T
	value := m.Value(key)
	if value == nil {
		return to, fmt.Errorf("gguf: there is no metadata %q", key)
	}
	if !convert(reflect.ValueOf(&to).Elem(), reflect.ValueOf(value)) {
		return to, fmt.Errorf("gguf: metadata %q is a %T, want a %T", key, value, to)
	}
	return to, nil
}

// convert sets to to a value, if its type can hold it.
func convert(to, from reflect.Value) bool {
	if from.Kind() == reflect.Interface {
		from = from.Elem()
	}
	switch {
	case from.Type().AssignableTo(to.Type()):
		to.Set(from)
		return true
	case to.Kind() == reflect.Slice && from.Kind() == reflect.Slice:
		to.Set(reflect.MakeSlice(to.Type(), from.Len(), from.Len()))
		for i := range from.Len() {
			if !convert(to.Index(i), from.Index(i)) {
				return false
			}
		}
		return true
	case !isNumber(to.Kind()) || !isNumber(from.Kind()):
		return false
	}
	to.Set(from.Convert(to.Type()))
	back := to.Convert(from.Type())
	same := back.Equal(from) || from.CanFloat() && from.Float() != from.Float()
	// An unsigned number above the greatest signed one converts there and back.
	negative := func(v reflect.Value) bool { return v.CanInt() && v.Int() < 0 || v.CanFloat() && v.Float() < 0 }
	return same && negative(to) == negative(from) || to.CanFloat() && from.CanFloat()
}

func isNumber(k reflect.Kind) bool {
	return k >= reflect.Int && k <= reflect.Float64 && k != reflect.Uintptr
}
