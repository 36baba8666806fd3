package pytree

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// A pattern names the leaves in the elements of a sequence, as the tag "*_l#_reverse" does:
// * is a leaf's name in the element, # the element's index.
type pattern struct{ before, after string } // texts around the index

// parsePattern returns the pattern that a tag has for a name, nil for a name without * and #.
func parsePattern(name string) (*pattern, error) {
	if !strings.ContainsAny(name, "*#") {
		return nil, nil
	}
	rest, ok := strings.CutPrefix(name, "*")
	before, after, found := strings.Cut(rest, "#")
	if !ok || !found || strings.ContainsAny(before+after, "*#") {
		return nil, errors.New(`want one * at the beginning, for the name of a leaf, and one # for the index, as in "*_l#"`)
	}
	return &pattern{before, after}, nil
}

// flat reports whether all leaves of a type are fields of one struct, so that a leaf's name
// is a field's name.
func (b *builder) flat(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("tensor") == "-" {
			continue
		}
		if f.Type != b.leaf && b.reaches(f.Type, b.needed) && !(b.embeds(f) && b.flat(f.Type)) {
			return false
		}
	}
	return true
}

// patterned returns the layout of a field whose tag has a pattern.
func (b *builder) patterned(f reflect.StructField, names *pattern) *layout {
	t := f.Type
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array || t.Elem() == b.leaf || !b.flat(t.Elem()) {
		b.fail("field %s has the tag %q and is a %v: want a slice of structs whose fields are %v", f.Name, f.Tag.Get("tensor"), t, b.leaf)
		return &layout{typ: t}
	}
	p := *b.layout(t)
	p.names = names
	return &p
}

// cut splits a name into an index and the name in the element; the index is "" if the name has
// another form.
func (n *pattern) cut(name string) (index, rest string) {
	name, ok := strings.CutSuffix(name, n.after)
	rest = strings.TrimRight(name, "0123456789")
	index = name[len(rest):]
	rest, found := strings.CutSuffix(rest, n.before)
	if !ok || !found {
		return "", ""
	}
	return index, rest
}

// cutIndex splits the name of a leaf of a sequence into the index of its element and its name
// there.
func (p *layout) cutIndex(name string) (i int, rest string, ok bool) {
	head, rest, _ := strings.Cut(name, ".")
	if p.names != nil {
		head, rest = p.names.cut(name)
	}
	i, err := strconv.Atoi(head)
	return i, rest, err == nil && i >= 0 && strconv.Itoa(i) == head
}

// enter appends the name of element i of a sequence to the walker's name, and returns the
// lengths of name and suffix before.
func (w *walker[L]) enter(p *layout, i int) (name, suffix int) {
	name, suffix = len(w.name), len(w.suffix)
	if p.names == nil {
		w.dot()
		w.name = strconv.AppendInt(w.name, int64(i), 10)
		return name, suffix
	}
	w.suffix = append(w.suffix, p.names.before...)
	w.suffix = strconv.AppendInt(w.suffix, int64(i), 10)
	w.suffix = append(w.suffix, p.names.after...)
	return name, suffix
}

// leafName returns the name of the walker's current leaf. The bytes are valid until its
// next step.
func (w *walker[L]) leafName() []byte { return append(w.name, w.suffix...) }
