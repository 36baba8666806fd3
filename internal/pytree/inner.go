package pytree

import "reflect"

// Inner calls f with v and the values in it that may hold leaves: structs, slices, maps,
// pointers, interfaces and the values in these. They come in order, outer ones first. Values
// behind pointers and the elements of slices can be set.
func Inner[L any](v any, f func(name string, v reflect.Value)) error {
	w := newWalker(func([]byte, bool, *L) {})
	w.inner = func(name []byte, v reflect.Value) { f(string(name), v) }
	return w.descendAny(reflect.ValueOf(&v).Elem(), w.visit)
}
