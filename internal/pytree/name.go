package pytree

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// Title is a leaf's name in messages: quoted, but "element 1" for a bare index and
// "the tensor" for a tree that is itself a leaf.
func Title(name string) string {
	if name == "" {
		return "the tensor"
	}
	if _, err := strconv.ParseUint(name, 10, 64); err == nil {
		return "element " + name
	}
	return strconv.Quote(name)
}

// Titles lists the titles of names, only the first few of many.
func Titles(names []string) string {
	const shown = 5
	rest := ""
	if n := len(names) - shown; n > 1 {
		names, rest = names[:shown], fmt.Sprintf(" and %d more", n)
	}
	titles := make([]string, len(names))
	for i, name := range names {
		titles[i] = Title(name)
	}
	return strings.Join(titles, ", ") + rest
}

// snake returns a field's name in snake case: WeightIH is weight_ih, LN1 is
// ln1, CAttn is c_attn, Conv2DBlock is conv2d_block, IDs is ids.
func snake(name string) string {
	var b strings.Builder
	runes := []rune(name)
	for i, r := range runes {
		if i > 0 && unicode.IsUpper(r) && startsWord(runes, i) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

// startsWord reports whether the upper-case letter at i begins a word: after
// a lower-case letter always, after a digit or a capital when a lower-case
// letter follows that is not the s of a plural.
func startsWord(runes []rune, i int) bool {
	prev := runes[i-1]
	switch {
	case unicode.IsLower(prev):
		return true
	case unicode.IsDigit(prev) || unicode.IsUpper(prev):
		return i+1 < len(runes) && unicode.IsLower(runes[i+1]) && !plural(runes[i+1:])
	}
	return false
}

// plural reports whether the rest of a word is a lone s, as in URLs.
func plural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !unicode.IsLower(rest[1]))
}

// A tag is a parsed field tag.
type tag struct {
	name     string   // "" if none is given
	names    *pattern // nil unless the name is a pattern
	skip     bool
	state    bool
	optional bool
}

// parseTag reads the tag of a field.
func parseTag(f reflect.StructField) (tag, error) {
	text := f.Tag.Get("tensor")
	if text == "-" {
		return tag{skip: true}, nil
	}
	name, options, _ := strings.Cut(text, ",")
	names, err := parsePattern(name)
	if err != nil {
		return tag{}, fmt.Errorf("the pattern %q in the tag of field %s: %w", name, f.Name, err)
	}
	g := tag{name: name, names: names}
	known := map[string]*bool{"": new(bool), "state": &g.state, "optional": &g.optional}
	for option := range strings.SplitSeq(options, ",") {
		is := known[option]
		if is == nil {
			return tag{}, fmt.Errorf(`unknown option %q in the tag of field %s: want ",state" or ",optional"`, option, f.Name)
		}
		*is = true
	}
	return g, nil
}

// Align returns the leaves of b in the order of a's leaves of the same names. Leaves
// that b lacks are absent; one that a lacks is an error.
func Align[L any](a, b []Leaf[L]) ([]L, error) {
	out := make([]L, len(a))
	if slices.EqualFunc(a, b, func(x, y Leaf[L]) bool { return x.Name == y.Name }) {
		for i, l := range b {
			out[i] = l.Value
		}
		return out, nil
	}
	at := make(map[string]int, len(a))
	for i, l := range a {
		at[l.Name] = i
	}
	for _, l := range b {
		i, ok := at[l.Name]
		if !ok {
			return nil, fmt.Errorf("%q is in the second tree but not in the first", l.Name)
		}
		out[i] = l.Value
	}
	return out, nil
}

// Missing returns the names of the present leaves of a that b lacks or has absent, in order.
func Missing[L any](a, b []Leaf[L]) (names []string) {
	present := func(l Leaf[L]) bool { return !reflect.ValueOf(&l.Value).Elem().IsZero() }
	found := make(map[string]bool, len(b))
	for _, l := range b {
		found[l.Name] = present(l)
	}
	for _, l := range a {
		if present(l) && !found[l.Name] {
			names = append(names, l.Name)
		}
	}
	return names
}
