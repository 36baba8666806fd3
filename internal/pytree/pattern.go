package pytree

import (
	"errors"
	"reflect"
	"strconv"
	"strings"
)

// A pattern forms the names of the leaves in a sequence's elements. It comes from a tag such as
// "*_l#_reverse", where * is the name of a leaf within its element, and # the element's index:
// leaf weight of element 2 is named weight_l2_reverse.
type pattern struct{ before, after string } // texts before and after the index: "_l" and "_reverse"

// parsePattern parses the name in a tag as a pattern. It returns nil for a plain name, without
// * and #.
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

// isFlat reports whether t is a struct whose leaves are its own fields, or fields of structs
// embedded in it, so that the name of each leaf is the name of a field.
func (b *builder) isFlat(t reflect.Type) bool {
	if t.Kind() != reflect.Struct {
		return false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Tag.Get("tensor") == "-" {
			continue
		}
		if f.Type != b.leaf && b.reaches(f.Type, b.needed) && !(b.embeds(f) && b.isFlat(f.Type)) {
			return false
		}
	}
	return true
}

// patternLayout returns the layout of a field whose tag has a pattern.
func (b *builder) patternLayout(f reflect.StructField, names *pattern) *layout {
	t := f.Type
	if t.Kind() != reflect.Slice && t.Kind() != reflect.Array || t.Elem() == b.leaf || !b.isFlat(t.Elem()) {
		b.fail("field %s has the tag %q and is a %v: want a slice of structs whose fields are %v", f.Name, f.Tag.Get("tensor"), t, b.leaf)
		return &layout{typ: t}
	}
	p := *b.layout(t)
	p.names = names
	return &p
}

// split is the inverse of a pattern: it returns the index of the element and the name of the
// leaf within it. Both are "" if the name does not match.
func (n *pattern) split(name string) (index, leaf string) {
	name, hasAfter := strings.CutSuffix(name, n.after)
	leaf = strings.TrimRight(name, "0123456789")
	index = name[len(leaf):]
	leaf, found := strings.CutSuffix(leaf, n.before)
	if !hasAfter || !found {
		return "", ""
	}
	return index, leaf
}

// splitIndex splits the name of a leaf in a sequence into the index of the element and the
// name of the leaf within it.
func (p *layout) splitIndex(name string) (i int, leaf string, ok bool) {
	index, leaf, _ := strings.Cut(name, ".")
	if p.names != nil {
		index, leaf = p.names.split(name)
	}
	i, err := strconv.Atoi(index)
	return i, leaf, err == nil && i >= 0 && strconv.Itoa(i) == index
}

// enterElement adds index i to the walker's name, or to its suffix for a pattern. It returns
// the previous lengths; the caller truncates to them after the element.
func (w *walker[L]) enterElement(p *layout, i int) (name, suffix int) {
	name, suffix = len(w.name), len(w.suffix)
	if w.unnamed {
		return name, suffix
	}
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

// leafName returns the name of the walker's current leaf. The bytes are valid until the walker
// moves.
func (w *walker[L]) leafName() []byte { return append(w.name, w.suffix...) }
