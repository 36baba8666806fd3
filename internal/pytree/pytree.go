package pytree

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
)

// A Leaf is a leaf of a tree, absent ones (the type's zero value) included.
type Leaf[L any] struct {
	Name  string
	State bool // in a field tagged ",state"
	Value L
}

// Flatten returns the leaves of v in order. It fails if the type of v cannot
// be walked or two leaves have one name.
func Flatten[L any](v any) ([]Leaf[L], error) {
	var leaves []Leaf[L]
	w := newWalker(func(name []byte, state bool, x *L) {
		leaves = append(leaves, Leaf[L]{string(name), state, *x})
	})
	if err := w.descendAny(reflect.ValueOf(&v).Elem(), w.visit); err != nil {
		return nil, err
	}
	return leaves, unique(leaves)
}

// unique checks that no two leaves have one name.
func unique[L any](leaves []Leaf[L]) error {
	if len(leaves) < 2 {
		return nil
	}
	seen := make(map[string]struct{}, len(leaves))
	for _, l := range leaves {
		if _, ok := seen[l.Name]; ok {
			return fmt.Errorf("two different leaves are named %q", l.Name)
		}
		seen[l.Name] = struct{}{}
	}
	return nil
}

// Rebuild returns a tree like v with the given leaves in place of those that
// Flatten finds, in order.
func Rebuild[L, T any](v T, leaves []L) (T, error) {
	w := &walker[L]{leaves: leaves, typ: reflect.TypeFor[L](), unnamed: true}
	err := w.descendAny(reflect.ValueOf(&v).Elem(), w.copy)
	return v, cmp.Or(err, w.left())
}

// Update sets *p to a tree like it with the given leaves.
func Update[L any](p any, leaves []L) error {
	v := reflect.ValueOf(p)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return noTarget(p)
	}
	w := &walker[L]{leaves: leaves, typ: reflect.TypeFor[L](), unnamed: true}
	w.root = v // pointers in the tree back to p still will
	tree := reflect.New(v.Type().Elem()).Elem()
	tree.Set(v.Elem())
	if err := cmp.Or(w.descendAny(tree, w.copy), w.left()); err != nil {
		return err
	}
	v.Elem().Set(tree)
	return nil
}

// replace sets the next leaf.
func (w *walker[L]) replace(x *L) {
	if w.replaced < len(w.leaves) {
		*x = w.leaves[w.replaced]
	}
	w.replaced++
}

// left fails if there were more or fewer leaves than the walker replaces.
func (w *walker[L]) left() error {
	if w.replaced != len(w.leaves) {
		return fmt.Errorf("%d leaves for a tree of %d", len(w.leaves), w.replaced)
	}
	return nil
}

// maxDepth bounds how deep values may nest. Only one that contains itself comes
// near it.
const maxDepth = 10000

var errDeep = errors.New("nested more than 10000 deep: does it contain itself?")

// A walker visits the values in a tree. Its fields describe the value it is at.
type walker[L any] struct {
	leaf func(name []byte, state bool, x *L)
	// unnamed says that visit calls each, or without that adds the leaf to leaves. Nobody needs names.
	unnamed bool
	each    func(x *L)
	// leaves are those that copy sets in place of others.
	leaves   []L
	replaced int                       // how many copy has met
	typ      reflect.Type              // of the leaf
	first    replacement               // of the first pointer
	seen     map[address]reflect.Value // the replacements of the others in the result
	root     reflect.Value             // a pointer that stays, if it is valid
	name     []byte
	// suffix follows the name of a leaf.
	suffix []byte
	state  bool
	depth  int
	// inner, if not nil, is called before the values in v are visited.
	inner func(name []byte, v reflect.Value)
	// optional: in a field tagged ",optional" that is missing.
	optional bool
	// missing, if not nil, reports whether a field that is optional is missing.
	missing func(f *field) bool
}

func newWalker[L any](leaf func(name []byte, state bool, x *L)) *walker[L] {
	return &walker[L]{leaf: leaf, typ: reflect.TypeFor[L]()}
}

// visit calls w.leaf for the leaves in v.
func (w *walker[L]) visit(p *layout, v reflect.Value) error {
	switch p.kind {
	case leaf:
		if v.CanAddr() {
			w.found(v.Addr().Interface().(*L))
			return nil
		}
		x := v.Interface().(L)
		w.found(&x)
	case structure:
		return w.fields(p, v, w.visit)
	case sequence:
		return w.elements(p, v, w.visit)
	case dictionary:
		return w.values(v, func(_ reflect.Value, e reflect.Value) error { return w.visit(p.elem, e) })
	case pointer:
		if v.IsNil() || !w.markSeen(v, v) {
			return nil
		}
		return w.descend(p.elem, v.Elem(), w.visit)
	case dynamic:
		if v.IsNil() {
			return nil
		}
		return w.descendAny(v.Elem(), w.visit)
	}
	return nil
}

// found tells of a leaf.
func (w *walker[L]) found(x *L) {
	switch {
	case !w.unnamed:
		w.leaf(w.leafName(), w.state, x)
	case w.each != nil:
		w.each(x)
	default:
		if w.leaves == nil {
			w.leaves = make([]L, 0, 8)
		}
		w.leaves = append(w.leaves, *x)
	}
}

// copy replaces the leaves in v, and copies slices, maps and the targets of pointers. v is
// a shallow copy that can be set.
func (w *walker[L]) copy(p *layout, v reflect.Value) error {
	switch p.kind {
	case leaf:
		w.replace(v.Addr().Interface().(*L))
	case structure:
		return w.fields(p, v, w.copy)
	case sequence:
		if v.Kind() == reflect.Slice {
			if v.IsNil() {
				return nil
			}
			s := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
			reflect.Copy(s, v)
			v.Set(s)
		}
		return w.elements(p, v, w.copy)
	case dictionary:
		if v.IsNil() {
			return nil
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		err := w.values(v, func(k, e reflect.Value) error {
			x := reflect.New(p.elem.typ).Elem()
			x.Set(e)
			err := w.copy(p.elem, x)
			m.SetMapIndex(k, x)
			return err
		})
		v.Set(m)
		return err
	case pointer:
		return w.copyPointer(p, v)
	case dynamic:
		if v.IsNil() {
			return nil
		}
		return w.descendAny(v.Elem(), func(p *layout, e reflect.Value) error {
			if p.kind == opaque {
				return nil
			}
			x := reflect.New(p.typ).Elem()
			x.Set(e)
			err := w.copy(p, x)
			v.Set(x)
			return err
		})
	}
	return nil
}

func (w *walker[L]) copyPointer(p *layout, v reflect.Value) error {
	if v.IsNil() {
		return nil
	}
	if x, ok := w.replacement(v); ok {
		v.Set(x)
		return nil
	}
	if p.unsure {
		has, err := w.hasLeaf(p, v)
		if err != nil || !has {
			return err
		}
	}
	x := reflect.New(p.elem.typ)
	x.Elem().Set(v.Elem())
	w.markSeen(v, x)
	v.Set(x)
	return w.descend(p.elem, x.Elem(), w.copy)
}

// hasLeaf reports whether there is a leaf behind a pointer.
func (w *walker[L]) hasLeaf(p *layout, v reflect.Value) (bool, error) {
	has := false
	search := newWalker(func([]byte, bool, *L) { has = true })
	err := search.visit(p, v)
	return has, err
}

// fields calls do for the fields of a struct.
func (w *walker[L]) fields(p *layout, v reflect.Value, do func(*layout, reflect.Value) error) error {
	for i := range p.fields {
		f := &p.fields[i]
		if f.hidden {
			if w.holdsLeaf(v.Field(f.index)) {
				return fmt.Errorf(hiddenText, p.typ, f.name, w.typ)
			}
			continue
		}
		n, state, optional := w.push(f.name), w.state, w.optional
		w.state, w.optional = state || f.state, optional || f.optional && w.missing != nil && w.missing(f)
		if w.inner != nil && f.layout.kind != leaf {
			w.inner(w.name, v.Field(f.index))
		}
		if err := do(f.layout, v.Field(f.index)); err != nil {
			return err
		}
		w.name, w.state, w.optional = w.name[:n], state, optional
	}
	return nil
}

// holdsLeaf reports whether v, of an unexported field, is an interface that holds
// leaves, or a slice, array or map of such.
func (w *walker[L]) holdsLeaf(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Interface:
		if v.IsNil() {
			return false
		}
		p, err := layoutOf(w.typ, v.Elem().Type())
		return err != nil || p.holds
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if w.holdsLeaf(v.Index(i)) {
				return true
			}
		}
	case reflect.Map: // Seq2 would add reflect's calls of functions to programs for browsers
		for i := v.MapRange(); i.Next(); {
			if w.holdsLeaf(i.Value()) {
				return true
			}
		}
	}
	return false
}

// elements calls do for the elements of a slice or array.
func (w *walker[L]) elements(p *layout, v reflect.Value, do func(*layout, reflect.Value) error) error {
	if p.elem.kind == opaque {
		return nil
	}
	for i := range v.Len() {
		n, suffix := w.enterElement(p, i)
		if err := w.descend(p.elem, v.Index(i), do); err != nil {
			return err
		}
		w.name, w.suffix = w.name[:n], w.suffix[:suffix]
	}
	return nil
}

// values calls do for the keys and values of a map, in the order of keys.
func (w *walker[L]) values(v reflect.Value, do func(k, e reflect.Value) error) error {
	if w.depth++; w.depth > maxDepth {
		return errDeep
	}
	for _, e := range entries(v) {
		n := w.push(keyName(e.key))
		if err := do(e.key, e.value); err != nil {
			return err
		}
		w.name = w.name[:n]
	}
	w.depth--
	return nil
}

// descendAny calls do with the layout of v's own type, which an interface hides.
func (w *walker[L]) descendAny(v reflect.Value, do func(*layout, reflect.Value) error) error {
	p, err := layoutOf(w.typ, v.Type())
	if err != nil {
		return err
	}
	return w.descend(p, v, do)
}

func (w *walker[L]) descend(p *layout, v reflect.Value, do func(*layout, reflect.Value) error) error {
	if w.depth++; w.depth > maxDepth {
		return errDeep
	}
	if w.inner != nil && p.kind != leaf {
		w.inner(w.name, v)
	}
	err := do(p, v)
	w.depth--
	return err
}

// push adds a part to the name and returns the length to cut it back to.
func (w *walker[L]) push(part string) int {
	n := len(w.name)
	if part != "" && !w.unnamed {
		w.dot()
		w.name = append(w.name, part...)
	}
	return n
}

func (w *walker[L]) dot() {
	if len(w.name) > 0 {
		w.name = append(w.name, '.')
	}
}
