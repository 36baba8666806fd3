package pytree

import (
	"reflect"
	"slices"
	"unsafe"
)

// Values returns the leaves of v in the order of [Flatten], without their names.
func Values[L any](v any) ([]L, error) {
	var values []L
	err := Each(v, func(x *L) { values = append(values, *x) })
	return values, err
}

// Each calls f for the leaves of v in the order of [Flatten]. The pointers are into v where
// it has them behind a pointer or in a slice, otherwise to copies.
func Each[L any](v any, f func(x *L)) error {
	w := newWalker(func(_ []byte, _ bool, x *L) { f(x) })
	return w.descendAny(reflect.ValueOf(&v).Elem(), w.visit)
}

// EqualExcept reports whether two trees of one type differ in their leaves alone, the
// values of some types. Numbers, strings and whatever else a tree carries must be equal;
// functions must be the same function with the same captured variables, and pointers to
// what holds no leaf the same pointers. Where pointers in one tree are equal, those in the
// other must be.
func EqualExcept(a, b any, leaves ...reflect.Type) bool {
	f := former{leaves: leaves, inB: map[address]unsafe.Pointer{}, inA: map[address]unsafe.Pointer{}}
	return f.same(reflect.ValueOf(&a).Elem(), reflect.ValueOf(&b).Elem())
}

// A former compares trees a and b.
type former struct {
	leaves []reflect.Type
	// inB has for pointers in a the ones in b that they were compared with, and inA those in
	// a for the ones in b: they map one to one, so that both trees share the same subtrees.
	inB, inA map[address]unsafe.Pointer
}

// same compares values of one type, addressable ones.
func (f *former) same(a, b reflect.Value) bool {
	if slices.Contains(f.leaves, a.Type()) {
		return true
	}
	switch a.Kind() {
	case reflect.Struct:
		for i := range a.NumField() {
			if !f.same(a.Field(i), b.Field(i)) {
				return false
			}
		}
		return true
	case reflect.Slice, reflect.Array:
		if a.Len() != b.Len() || a.Kind() == reflect.Slice && a.IsNil() != b.IsNil() {
			return false
		}
		for i := range a.Len() {
			if !f.same(a.Index(i), b.Index(i)) {
				return false
			}
		}
		return true
	case reflect.Map:
		if a.Len() != b.Len() || a.IsNil() != b.IsNil() {
			return false
		}
		for k, x := range a.Seq2() {
			y := b.MapIndex(k)
			if !y.IsValid() || !f.sameCopies(x, y) {
				return false
			}
		}
		return true
	case reflect.Pointer:
		return f.samePointer(a, b)
	case reflect.Interface:
		if a.IsNil() || b.IsNil() {
			return a.IsNil() && b.IsNil()
		}
		return a.Elem().Type() == b.Elem().Type() && f.sameCopies(a.Elem(), b.Elem())
	case reflect.Func: // a func is a pointer to what it captures
		return *(*unsafe.Pointer)(pointerTo(a)) == *(*unsafe.Pointer)(pointerTo(b))
	}
	return a.Equal(b)
}

func (f *former) samePointer(a, b reflect.Value) bool {
	if a.IsNil() || b.IsNil() {
		return a.IsNil() && b.IsNil()
	}
	p, q := address{a.UnsafePointer(), a.Type()}, address{b.UnsafePointer(), b.Type()}
	if other, back := f.inB[p], f.inA[q]; other != nil || back != nil {
		return other == q.ptr && back == p.ptr
	}
	f.inB[p], f.inA[q] = q.ptr, p.ptr
	for _, leaf := range f.leaves {
		if l, err := layoutOf(leaf, a.Type()); err == nil && l.kind == pointer {
			return f.same(a.Elem(), b.Elem())
		}
	}
	return p == q
}

func pointerTo(v reflect.Value) unsafe.Pointer { return unsafe.Pointer(v.UnsafeAddr()) }

// sameCopies is same of values without an address. What an unexported field holds cannot be
// copied to have one: it is the same if Go's == says so.
func (f *former) sameCopies(a, b reflect.Value) bool {
	if !a.CanInterface() || !b.CanInterface() {
		return a.Comparable() && b.Comparable() && a.Equal(b)
	}
	x, y := reflect.New(a.Type()).Elem(), reflect.New(b.Type()).Elem()
	x.Set(a)
	y.Set(b)
	return f.same(x, y)
}
