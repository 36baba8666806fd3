package pytree

import "reflect"

// Values returns the leaves of v in the order of [Flatten], without their names.
func Values[L any](v any) ([]L, error) {
	var values []L
	w := newWalker(func(_ []byte, _ bool, x *L) {
		if values == nil {
			values = make([]L, 0, 8)
		}
		values = append(values, *x)
	})
	err := w.descendAny(reflect.ValueOf(&v).Elem(), w.visit)
	return values, err
}

// Each calls f for the leaves of v in the order of [Flatten], with pointers into v for leaves
// behind a pointer or in a slice, and pointers to copies for others.
func Each[L any](v any, f func(x *L)) error {
	w := newWalker(func(_ []byte, _ bool, x *L) { f(x) })
	return w.descendAny(reflect.ValueOf(&v).Elem(), w.visit)
}
