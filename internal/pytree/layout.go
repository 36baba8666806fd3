package pytree

import (
	"fmt"
	"reflect"
	"sync"
)

type kind uint8

const (
	opaque    kind = iota // with nothing to find or to copy
	leaf                  // a leaf
	structure             // fields
	sequence              // a slice or an array
	dictionary
	pointer
	dynamic // an interface
)

// A layout says how to walk the values of a type.
type layout struct {
	typ    reflect.Type
	kind   kind
	elem   *layout  // of a sequence, dictionary or pointer
	names  *pattern // of the leaves in a sequence's elements, nil for those by index
	fields []field
	holds  bool // can hold leaves, not counting the values of interfaces
	// unsure marks a pointer to a type that has unexported fields and can hold leaves only
	// through an interface: its target is copied if it does.
	unsure bool
}

// A field of a struct that is walked.
type field struct {
	index    int
	name     string // "" for an embedded struct, and for a pattern
	state    bool
	optional bool
	hidden   bool // unexported: checked to hold no leaf
	layout   *layout
}

type layoutKey struct{ leaf, typ reflect.Type }

// A prepared is a layout or the error instead of it.
type prepared struct {
	layout *layout
	err    error
}

var layouts sync.Map // of layoutKey to prepared

// layoutOf returns the layout of type t for leaves of type leaf.
func layoutOf(leaf, t reflect.Type) (*layout, error) {
	key := layoutKey{leaf, t}
	if p, ok := layouts.Load(key); ok {
		return p.(prepared).layout, p.(prepared).err
	}
	b := builder{leaf: leaf, done: map[reflect.Type]*layout{}}
	p := b.layout(t)
	layouts.Store(key, prepared{p, b.err})
	return p, b.err
}

// IsTree reports whether values of v's type are trees: the type is made of
// leaves, of structs, which may have no leaf as a layer without parameters, or
// of interfaces, as a nil v is.
func IsTree[L any](v any) bool {
	t := reflect.TypeOf(v)
	if t == nil {
		return true
	}
	b := builder{leaf: reflect.TypeFor[L]()}
	return b.reaches(t, func(t reflect.Type) bool {
		return b.isLeaf(t) || t.Kind() == reflect.Struct || isInterface(t)
	})
}

// A builder prepares the layout of a type and of the types in it.
type builder struct {
	leaf reflect.Type
	done map[reflect.Type]*layout
	err  error // the first
}

func (b *builder) fail(format string, args ...any) {
	if b.err == nil {
		b.err = fmt.Errorf(format, args...)
	}
}

func (b *builder) layout(t reflect.Type) *layout {
	if p := b.done[t]; p != nil {
		return p
	}
	p := &layout{typ: t, holds: b.reaches(t, b.isLeaf)}
	b.done[t] = p
	switch t.Kind() {
	case reflect.Struct:
		b.structure(p)
	case reflect.Slice, reflect.Array:
		p.kind, p.elem = sequence, b.layout(t.Elem())
		if t.Kind() == reflect.Array && !b.reaches(t.Elem(), b.needed) {
			p.kind = opaque
		}
	case reflect.Map:
		p.kind, p.elem = dictionary, b.layout(t.Elem())
		if !validKey(t.Key()) && b.reaches(t.Elem(), b.isLeaf) {
			b.fail("%v has keys of type %v: a name needs a string or an integer", t, t.Key())
		}
	case reflect.Pointer:
		b.pointer(p)
	case reflect.Interface:
		p.kind = dynamic
	}
	return p
}

func (b *builder) pointer(p *layout) {
	e := p.typ.Elem()
	switch {
	case b.reaches(e, b.isLeaf) || !b.isOpaque(e):
	case b.reaches(e, isInterface):
		p.unsure = true
	default:
		return
	}
	p.kind, p.elem = pointer, b.layout(e)
}

func (b *builder) structure(p *layout) {
	t := p.typ
	if t == b.leaf {
		p.kind = leaf
		return
	}
	if b.leaf.Kind() == reflect.Struct && t.ConvertibleTo(b.leaf) {
		b.fail("%v is another type than %v: use that", t, b.leaf)
		return
	}
	p.kind = structure
	names := map[string]string{}
	for i := range t.NumField() {
		f := t.Field(i)
		g, err := parseTag(f)
		if err != nil {
			b.fail("%v: %w", t, err)
			return
		}
		switch {
		case g.skip:
			continue
		case !b.walkable(f):
			b.hidden(p, i, f)
			continue
		case !b.reaches(f.Type, b.needed):
			continue
		}
		if g.name == "" && !b.embeds(f) {
			g.name = snake(f.Name)
		}
		if other, ok := names[g.name]; ok && g.name != "" {
			b.fail("%v: fields %s and %s are both named %q: give one a tag", t, other, f.Name, g.name)
			return
		}
		names[g.name] = f.Name
		l := field{index: i, name: g.name, state: g.state, optional: g.optional}
		if g.names != nil && b.reaches(f.Type, b.isLeaf) {
			l.name, l.layout = "", b.patternLayout(f, g.names)
		} else {
			l.layout = b.layout(f.Type)
		}
		p.fields = append(p.fields, l)
	}
}

// hidden checks an unexported field, which must hold no leaf.
func (b *builder) hidden(p *layout, i int, f reflect.StructField) {
	if b.reaches(f.Type, b.isLeaf) {
		b.fail(hiddenText, p.typ, f.Name, b.leaf)
		return
	}
	if holdsInterface(f.Type) {
		p.fields = append(p.fields, field{index: i, name: f.Name, hidden: true})
	}
}

const hiddenText = "%v: unexported field %s holds %v: export it or tag it `tensor:\"-\"`"

// embeds reports whether f is an embedded struct, which adds no name.
func (b *builder) embeds(f reflect.StructField) bool {
	t := f.Type
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return f.Anonymous && t.Kind() == reflect.Struct && t != b.leaf
}

// reaches reports whether a value of type t can hold one of a type that is
// wanted, without looking into interfaces and fields tagged "-".
func (b *builder) reaches(t reflect.Type, wanted func(reflect.Type) bool) bool {
	seen := map[reflect.Type]bool{}
	var search func(t reflect.Type) bool
	search = func(t reflect.Type) bool {
		switch {
		case wanted(t):
			return true
		case seen[t] || t == b.leaf:
			return false
		}
		seen[t] = true
		switch t.Kind() {
		case reflect.Slice, reflect.Array, reflect.Map, reflect.Pointer:
			return search(t.Elem())
		case reflect.Struct:
			for i := range t.NumField() {
				f := t.Field(i)
				if f.Tag.Get("tensor") != "-" && search(f.Type) {
					return true
				}
			}
		}
		return false
	}
	return search(t)
}

func (b *builder) isLeaf(t reflect.Type) bool { return t == b.leaf }

func isInterface(t reflect.Type) bool { return t.Kind() == reflect.Interface }

// needed reports whether a type has to be visited: it is the leaf, or a reference
// that results must not share.
func (b *builder) needed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map, reflect.Pointer, reflect.Interface:
		return true
	}
	return t == b.leaf
}

// isOpaque reports whether a type has unexported fields: a copy may not work.
func (b *builder) isOpaque(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Array:
		return b.isOpaque(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if f := t.Field(i); !b.walkable(f) || b.isOpaque(f.Type) {
				return true
			}
		}
	}
	return false
}

// walkable reports whether a field, or the fields of an embedded struct, can be set
// from outside its package.
func (b *builder) walkable(f reflect.StructField) bool {
	return f.IsExported() || f.Anonymous && f.Type.Kind() == reflect.Struct && f.Type != b.leaf
}

// holdsInterface reports whether t is an interface, or a slice, array or map of
// them.
func holdsInterface(t reflect.Type) bool {
	for {
		switch t.Kind() {
		case reflect.Interface:
			return true
		case reflect.Slice, reflect.Array, reflect.Map:
			t = t.Elem()
		default:
			return false
		}
	}
}
