package pytree

import "reflect"

// Values returns the leaves of v in the order of [Flatten], without their names.
func Values[L any](v any) ([]L, error) {
	w := &walker[L]{typ: reflect.TypeFor[L](), unnamed: true}
	err := w.visitAll(reflect.ValueOf(v))
	return w.leaves, err
}

// AppendValues appends the Values of the tree that p points to.
func AppendValues[L any](list []L, p any) ([]L, error) {
	w := &walker[L]{typ: reflect.TypeFor[L](), unnamed: true, leaves: list}
	err := w.visitAll(reflect.ValueOf(p).Elem())
	return w.leaves, err
}

// Each calls f for the leaves of the tree that p points to in the order of [Flatten], with pointers into
// the tree where that has them: not for the values of maps and interfaces.
func Each[L any](p any, f func(x *L)) error {
	w := &walker[L]{typ: reflect.TypeFor[L](), unnamed: true, each: f}
	return w.visitAll(reflect.ValueOf(p).Elem())
}

// visitAll visits the leaves in v, which may be the zero Value.
func (w *walker[L]) visitAll(v reflect.Value) error {
	if !v.IsValid() {
		return nil
	}
	return w.descendAny(v, w.visit)
}
