package pytree

import "reflect"

// Inner calls f with the values in v that may hold leaves, and v itself, in order and before
// what is in them: structs, slices, maps, pointers, interfaces and what these hold. Values
// behind pointers and the elements of slices can be set.
func Inner[L any](v any, f func(name string, v reflect.Value)) error {
	w := newWalker(func([]byte, bool, *L) {})
	w.inner = func(name []byte, v reflect.Value) { f(string(name), v) }
	return w.descendAny(reflect.ValueOf(&v).Elem(), w.visit)
}
