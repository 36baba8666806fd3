package pytree

import (
	"reflect"
	"unsafe"
)

// An address is where a pointer points, and its type: a struct and its first
// field share a pointer.
type address struct {
	ptr unsafe.Pointer
	typ reflect.Type
}

// A replacement is of a pointer by another.
type replacement struct {
	address
	by reflect.Value
}

// markSeen notes that x replaces the pointer v; false if v was seen before.
func (w *walker[L]) markSeen(v, x reflect.Value) bool {
	if _, ok := w.replacement(v); ok {
		return false
	}
	switch {
	case !w.first.by.IsValid():
		w.first = replacement{addressOf(v), x}
		return true
	case w.seen == nil:
		w.seen = map[address]reflect.Value{}
	}
	w.seen[addressOf(v)] = x
	return true
}

// replacement returns the pointer in place of one that was seen before.
func (w *walker[L]) replacement(v reflect.Value) (x reflect.Value, ok bool) {
	at := addressOf(v)
	if w.root.IsValid() && at == addressOf(w.root) {
		return w.root, true
	}
	if w.first.by.IsValid() && at == w.first.address {
		return w.first.by, true
	}
	x, ok = w.seen[at]
	return x, ok
}

func addressOf(v reflect.Value) address { return address{v.UnsafePointer(), v.Type()} }
