package tokenizer

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// errorf returns an error of the package.
func errorf(format string, args ...any) error { return fmt.Errorf("tokenizer: "+format, args...) }

// fields reads an object of JSON. It keeps the first error, and done returns one for fields that were
// not read: a part of a tokenizer that is left out would change its tokens.
type fields struct {
	path string // of the object in the file, such as normalizer.normalizers[1]
	m    map[string]json.RawMessage
	err  error
}

func newFields(path string, raw json.RawMessage) *fields {
	f := &fields{path: path}
	if !f.decode("", raw, &f.m) || f.m == nil {
		f.fail("", "should be an object")
	}
	return f
}

// fail keeps an error about a field, or about the object if name is "".
func (f *fields) fail(name, format string, args ...any) {
	if f.err != nil {
		return
	}
	f.err = files.Quoted(fmt.Errorf("%s: %s", f.where(name), fmt.Sprintf(format, args...)))
}

// where is the path of a field, or of the object if name is "".
func (f *fields) where(name string) string { return strings.Trim(f.path+"."+name, ".") }

// decode reports whether raw, of a field, has the form of into. It keeps the error of too little memory.
func (f *fields) decode(name string, raw json.RawMessage, into any) bool {
	err := files.JSON(raw, into)
	if errors.Is(err, driver.ErrMemory) && f.err == nil {
		f.err = fmt.Errorf("%s: %w", cmp.Or(f.where(name), "tokenizer.json"), err)
	}
	return err == nil
}

// has reports whether a field is there and not null.
func (f *fields) has(name string) bool {
	raw, ok := f.m[name]
	return ok && !bytes.Equal(raw, []byte("null"))
}

// take returns a field and marks it as read; nil if it is absent or null.
func (f *fields) take(name string) json.RawMessage {
	raw := f.m[name]
	if !f.has(name) {
		raw = nil
	}
	delete(f.m, name)
	return raw
}

// read stores a field, and leaves to alone if the field is absent or null.
func read[T any](f *fields, name string, to *T) {
	raw := f.take(name)
	if raw == nil || f.err != nil {
		return
	}
	if !f.decode(name, raw, to) {
		f.fail(name, "should be %s, and is %.40s", kindOf(*to), raw)
	}
}

func kindOf(v any) string {
	switch v.(type) {
	case bool:
		return "true or false"
	case string:
		return "a string"
	case int, int32, uint32:
		return "a whole number that fits"
	case []json.RawMessage:
		return "a list"
	case map[string]int32:
		return "an object of whole numbers"
	}
	return fmt.Sprintf("%T", v)
}

// get returns a field that may be absent.
func get[T any](f *fields, name string, absent T) T {
	read(f, name, &absent)
	return absent
}

// must returns a field.
func must[T any](f *fields, name string) (v T) {
	if !f.has(name) {
		f.fail(name, "is missing")
	}
	read(f, name, &v)
	return v
}

// skip marks fields as read that change nothing.
func (f *fields) skip(names ...string) {
	for _, n := range names {
		delete(f.m, n)
	}
}

// char returns a field of one character.
func (f *fields) char(name string, absent string) string {
	s := get(f, name, absent)
	if utf8.RuneCountInString(s) != 1 {
		f.fail(name, "should be one character, and is %.40q", s)
	}
	return s
}

// list returns the parts of a field, with their paths.
func (f *fields) list(name string) (raws []json.RawMessage, paths []string) {
	raws = must[[]json.RawMessage](f, name)
	for i := range raws {
		paths = append(paths, fmt.Sprintf("%s.%s[%d]", f.path, name, i))
	}
	return raws, paths
}

// choice returns the value of a name.
func choice[T any](f *fields, name, absent string, of map[string]T) (v T) {
	s := get(f, name, absent)
	v, ok := of[s]
	if !ok {
		f.fail(name, "should be one of %q, and is %.40q", sortedKeys(of), s)
	}
	return v
}

func sortedKeys[T any](m map[string]T) []string { return slices.Sorted(maps.Keys(m)) }

// done returns the first error.
func (f *fields) done() error {
	if f.err == nil && len(f.m) > 0 {
		f.fail(sortedKeys(f.m)[0], "is no known field: the tokens would depend on it")
	}
	return f.err
}

// maxNested is the depth to which sequences may contain sequences.
const maxNested = 16

// component reads a component by its type. It returns the zero value for null.
func component[T any](kind, path string, depth int, raw json.RawMessage, of map[string]func(f *fields, depth int) T) (v T, err error) {
	if len(raw) == 0 || bytes.Equal(raw, []byte("null")) {
		return v, nil
	}
	f := newFields(path, raw)
	name := must[string](f, "type")
	build, ok := of[name]
	switch {
	case f.err != nil:
		return v, f.err
	case !ok:
		f.fail("type", "there is no %s %.60q: known are %q", kind, name, sortedKeys(of))
		return v, f.err
	case depth > maxNested:
		f.fail("", "sequences are nested more than %d deep", maxNested)
		return v, f.err
	}
	v = build(f, depth)
	return v, f.done()
}

// components reads a field that is a list of components.
func components[T any](f *fields, name string, depth int, one func(path string, raw json.RawMessage, depth int) (T, error)) (all []T) {
	raws, paths := f.list(name)
	for i, raw := range raws {
		if bytes.Equal(raw, []byte("null")) {
			f.fail(name, "element %d is null", i)
			continue
		}
		v, err := one(paths[i], raw, depth+1)
		if err != nil && f.err == nil {
			f.err = err
		}
		all = append(all, v)
	}
	return all
}

// pattern reads {"String": "…"} or {"Regex": "…"}.
func (f *fields) pattern(name string) match.Pattern {
	raw := f.take(name)
	if raw == nil {
		f.fail(name, "is missing")
		return nil
	}
	p := newFields(f.path+"."+name, raw)
	var out match.Pattern
	switch {
	case p.has("String"):
		out = match.Literal(must[string](p, "String"))
	default:
		source := must[string](p, "Regex")
		re, err := match.NewRegex(source)
		if err != nil {
			p.fail("Regex", "%v", err)
		}
		out = re
	}
	if err := p.done(); err != nil && f.err == nil {
		f.err = err
	}
	return out
}
