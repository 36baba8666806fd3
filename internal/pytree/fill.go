package pytree

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// Fill returns a function that sets the leaves of p, a pointer to a tree or a map of
// pointers, in place, to f's results. Pointers are followed, not replaced. Nothing changes
// before set is called.
//
// To f, found says whether the leaf's name is among names, and optional whether it may
// be missing: its field is tagged ",optional", or is in a field with that tag that has
// no leaf among names.
//
// Empty values grow to hold names: a slice gets the elements that they name, a map their
// keys, a nil pointer a new value, and a nil interface that the leaf type satisfies a leaf.
func Fill[L any](p any, names []string, f func(name string, found, optional bool, x L) (L, error)) (set func(), err error) {
	v := reflect.ValueOf(p)
	if k := v.Kind(); (k != reflect.Pointer && k != reflect.Map) || v.IsNil() {
		return nil, noTarget(p)
	}
	w := &filler[L]{walker: newWalker[L](nil), f: f, names: slices.Sorted(slices.Values(names))}
	w.missing = w.lacks
	if err := w.descendAny(v, w.fill); err != nil {
		return nil, err
	}
	return func() {
		for _, set := range w.sets {
			set()
		}
	}, nil
}

// A filler is a walker that sets leaves in place, at the end.
type filler[L any] struct {
	*walker[L]
	f     func(name string, found, optional bool, x L) (L, error)
	names []string // sorted
	sets  []func() // in order
}

// set queues setting v to x.
func (w *filler[L]) set(v, x reflect.Value) {
	w.sets = append(w.sets, func() { v.Set(x) })
}

func (w *filler[L]) fill(p *layout, v reflect.Value) error {
	switch p.kind {
	case leaf:
		return w.fillLeaf(v, v.Interface().(L))
	case structure:
		return w.fields(p, v, w.fill)
	case sequence:
		if v.Kind() == reflect.Slice && v.Len() == 0 {
			return w.growSlice(p, v)
		}
		return w.elements(p, v, w.fill)
	case dictionary:
		if v.Len() == 0 {
			return w.growMap(p, v)
		}
		return w.values(v, func(k, e reflect.Value) error {
			return w.fillCopy(p.elem, e, func(x reflect.Value) { v.SetMapIndex(k, x) })
		})
	case pointer:
		if v.IsNil() {
			return w.growPointer(p, v)
		}
		if !w.markSeen(v, v) {
			return nil
		}
		return w.descend(p.elem, v.Elem(), w.fill)
	case dynamic:
		if v.IsNil() {
			return w.growInterface(v)
		}
		return w.descendAny(v.Elem(), func(p *layout, e reflect.Value) error {
			return w.fillCopy(p, e, func(x reflect.Value) { v.Set(x) })
		})
	}
	return nil
}

func (w *filler[L]) fillLeaf(v reflect.Value, old L) error {
	name := string(w.leafName())
	_, found := slices.BinarySearch(w.names, name)
	x, err := w.f(name, found, w.optional, old)
	if err == nil {
		w.set(v, reflect.ValueOf(x))
	}
	return err
}

// fillCopy fills a copy of v, which cannot be set itself, and queues set, which puts
// the copy in v's place.
func (w *filler[L]) fillCopy(p *layout, v reflect.Value, set func(reflect.Value)) error {
	if p.kind == opaque {
		return nil
	}
	x := reflect.New(p.typ).Elem()
	x.Set(v)
	if err := w.descend(p, x, w.fill); err != nil {
		return err
	}
	if p.kind != pointer || v.IsNil() {
		w.sets = append(w.sets, func() { set(x) })
	}
	return nil
}

// growSlice makes the elements of an empty slice that are in names.
func (w *filler[L]) growSlice(p *layout, v reflect.Value) error {
	named := map[int]bool{}
	last := -1
	for rest := range w.under {
		if i, rest, ok := p.splitIndex(rest); ok && w.accepts(p.elem, rest, 0) {
			named[i] = true
			last = max(last, i)
		}
	}
	if last < 0 {
		return nil
	}
	for i := range last {
		if !named[i] {
			return fmt.Errorf("%q has element %d but no element %d", w.name, last, i)
		}
	}
	s := reflect.MakeSlice(v.Type(), last+1, last+1)
	if err := w.elements(p, s, w.fill); err != nil {
		return err
	}
	w.set(v, s)
	return nil
}

// growMap makes the values of an empty map whose keys are in names.
func (w *filler[L]) growMap(p *layout, v reflect.Value) error {
	keys := map[string]bool{}
	for rest := range w.under {
		if key, ok := w.key(p, rest, 0); ok {
			keys[key] = true
		}
	}
	if len(keys) == 0 {
		return nil
	}
	m := v
	if v.IsNil() {
		m = reflect.MakeMapWithSize(v.Type(), len(keys))
	}
	for key := range keys {
		k, _ := parseKey(key, p.typ.Key())
		x := reflect.New(p.elem.typ).Elem()
		n := w.push(key)
		if err := w.descend(p.elem, x, w.fill); err != nil {
			return err
		}
		w.name = w.name[:n]
		w.sets = append(w.sets, func() { m.SetMapIndex(k, x) })
	}
	if v.IsNil() {
		w.set(v, m)
	}
	return nil
}

// key returns the key of a map that begins a name: the shortest prefix, up to a dot
// or the end, whose rest is the name of a leaf in a value.
func (w *filler[L]) key(p *layout, name string, depth int) (string, bool) {
	for i := 0; i <= len(name); i++ {
		if i < len(name) && name[i] != '.' {
			continue
		}
		if _, ok := parseKey(name[:i], p.typ.Key()); ok && w.accepts(p.elem, strings.TrimPrefix(name[i:], "."), depth) {
			return name[:i], true
		}
	}
	return "", false
}

// growPointer makes the target of a nil pointer if one of its leaves is in names.
func (w *filler[L]) growPointer(p *layout, v reflect.Value) error {
	if !w.asked(p.elem) {
		return nil
	}
	x := reflect.New(p.elem.typ)
	if err := w.descend(p.elem, x.Elem(), w.fill); err != nil {
		return err
	}
	w.set(v, x)
	return nil
}

// asked reports whether a leaf of a value of the layout's type, which has the walker's
// name, is in names.
func (w *filler[L]) asked(p *layout) bool {
	if _, ok := slices.BinarySearch(w.names, string(w.name)); ok && w.accepts(p, "", 0) {
		return true
	}
	for rest := range w.under {
		if w.accepts(p, rest, 0) {
			return true
		}
	}
	return false
}

// lacks reports whether no leaf in a field is in names.
func (w *filler[L]) lacks(f *field) bool {
	if f.name == "" { // embedded: other fields may have the same name
		return !w.asked(f.layout)
	}
	_, found := slices.BinarySearch(w.names, string(w.name))
	for range w.under {
		found = true
		break
	}
	return !found
}

// growInterface puts a leaf into a nil interface that it satisfies.
func (w *filler[L]) growInterface(v reflect.Value) error {
	_, found := slices.BinarySearch(w.names, string(w.name))
	if !found || !w.typ.AssignableTo(v.Type()) {
		return nil
	}
	var absent L
	return w.fillLeaf(v, absent)
}

// under yields the rest of each name that begins with the walker's name and a dot.
func (w *filler[L]) under(yield func(rest string) bool) {
	prefix := ""
	if len(w.name) > 0 {
		prefix = string(w.name) + "."
	}
	i, _ := slices.BinarySearch(w.names, prefix)
	for ; i < len(w.names) && strings.HasPrefix(w.names[i], prefix); i++ {
		if !yield(w.names[i][len(prefix):]) {
			return
		}
	}
}

// accepts reports whether a value of the layout's type can hold a leaf of that name.
func (w *filler[L]) accepts(p *layout, name string, depth int) bool {
	if depth > 100 { // a struct that embeds itself by a pointer
		return false
	}
	switch p.kind {
	case leaf:
		return name == ""
	case dynamic:
		return name == "" && w.typ.AssignableTo(p.typ)
	case pointer:
		return w.accepts(p.elem, name, depth+1)
	case sequence:
		_, rest, ok := p.splitIndex(name)
		return ok && w.accepts(p.elem, rest, depth+1)
	case dictionary:
		_, ok := w.key(p, name, depth+1)
		return ok
	case structure:
		for i := range p.fields {
			f := &p.fields[i]
			if f.hidden {
				continue
			}
			rest, ok := cutName(name, f.name)
			if ok && w.accepts(f.layout, rest, depth+1) {
				return true
			}
		}
	}
	return false
}

// cutName returns a name without the part that it begins with and the dot after.
func cutName(name, part string) (rest string, ok bool) {
	if part == "" || name == part {
		return name[len(part):], true
	}
	return strings.CutPrefix(name, part+".")
}

// noTarget returns the error for a value whose tree cannot be set.
func noTarget(p any) error {
	if v := reflect.ValueOf(p); v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Map) {
		return fmt.Errorf("the %T is nil, so nothing can be set in it: make it first", p)
	}
	return fmt.Errorf("%T is not a pointer to a tree: pass the address of a variable, as &model", p)
}
