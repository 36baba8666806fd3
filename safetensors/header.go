package safetensors

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// metadataKey is the key of the metadata in a header; all other keys name tensors.
const metadataKey = "__metadata__"

// maxHeader is the greatest size of a header in bytes, as in Hugging Face's reader.
const maxHeader = 100_000_000

// perHeaderByte is the most bytes of memory that a byte of a header or an index takes while
// it is parsed.
const perHeaderByte = 64

// An elementType is a type of the format.
type elementType struct {
	name  string
	bits  uint64
	dtype tensor.DType // 0 if package tensor lacks it
}

// elementTypes lists the format's types in the order of its reference writer, which
// writes tensors of later types first.
var elementTypes = []elementType{
	{"BOOL", 8, tensor.Bool},
	{"F4", 4, 0},
	{"F6_E2M3", 6, 0},
	{"F6_E3M2", 6, 0},
	{"U8", 8, tensor.Uint8},
	{"I8", 8, tensor.Int8},
	{"F8_E5M2", 8, 0},
	{"F8_E4M3", 8, 0},
	{"F8_E8M0", 8, 0},
	{"F8_E4M3FNUZ", 8, 0},
	{"F8_E5M2FNUZ", 8, 0},
	{"I16", 16, tensor.Int16},
	{"U16", 16, tensor.Uint16},
	{"F16", 16, tensor.Float16},
	{"BF16", 16, tensor.BFloat16},
	{"I32", 32, tensor.Int32},
	{"U32", 32, tensor.Uint32},
	{"F32", 32, tensor.Float32},
	{"C64", 64, 0},
	{"F64", 64, tensor.Float64},
	{"I64", 64, tensor.Int64},
	{"U64", 64, tensor.Uint64},
}

// An entry is a header's description of a tensor.
type entry struct {
	name       string
	typ        int // in elementTypes
	shape      []int
	start, end int64 // bytes, from the end of the header
}

// parseHeader parses a header, the text between the length and the data, of a file
// with size bytes of data. The entries are in the order of their data, and cover it
// without gap or overlap.
func parseHeader(text []byte, size int64) (entries []entry, meta map[string]string, err error) {
	if !utf8.Valid(text) {
		return nil, nil, errors.New("its header is not UTF-8")
	}
	if err := hostmem.Check(len(text), perHeaderByte); err != nil {
		return nil, nil, err
	}
	err = eachMember("its header", text, func(name string, value json.RawMessage) error {
		if name == metadataKey {
			meta, err = parseStrings("its metadata", value)
			return err
		}
		e, err := parseEntry(name, value, size)
		entries = append(entries, e)
		return err
	})
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	return entries, meta, checkCover(entries, size)
}

// eachMember calls f for the members of a JSON object, in order; the argument what names
// the object in errors. Keys are case-sensitive. A duplicate key is an error: readers
// differ in which value they take.
func eachMember(what string, text []byte, f func(key string, value json.RawMessage) error) error {
	dec := json.NewDecoder(bytes.NewReader(text))
	fail := func(err error) error {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%s is not JSON: a brace is not closed in its %d bytes; the file was cut off, or is of another format", what, len(text))
		}
		return fmt.Errorf("%s is not JSON after byte %d, %q: the file is damaged, or of another format", what, dec.InputOffset(), start(text[dec.InputOffset():]))
	}
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return fmt.Errorf("%s is not a JSON object", what)
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		key, ok := t.(string)
		if err != nil || !ok {
			return fail(err)
		}
		if seen[key] {
			return fmt.Errorf("%s has the key %q twice", what, key)
		}
		seen[key] = true
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fail(err)
		}
		if err := f(key, value); err != nil {
			return err
		}
	}
	if _, err := dec.Token(); err != nil {
		return fail(err)
	}
	if rest := bytes.TrimLeft(text[dec.InputOffset():], " \t\r\n"); len(rest) > 0 {
		return fmt.Errorf("%s has text after the end of the JSON object", what)
	}
	return nil
}

// start is the start of a text, for an error.
func start(text []byte) []byte { return text[:min(len(text), 40)] }

// wanted describes the values of an entry, for errors.
var wanted = map[string]string{
	"dtype":        "a string",
	"shape":        "a list of integers from 0 on",
	"data_offsets": "a list of two integers from 0 on",
}

// parseStrings parses a JSON object of strings.
func parseStrings(what string, text []byte) (map[string]string, error) {
	out := map[string]string{}
	err := eachMember(what, text, func(key string, value json.RawMessage) error {
		var s *string // nil for null
		if err := json.Unmarshal(value, &s); err != nil || s == nil {
			return fmt.Errorf("%s %q is not a string", what, key)
		}
		out[key] = *s
		return nil
	})
	return out, err
}

// parseEntry parses a header's description of a tensor. It skips unknown keys, which a
// later version of the format may have.
func parseEntry(name string, value json.RawMessage, size int64) (entry, error) {
	var dtype string
	var counts, offsets []uint64
	missing := map[string]any{"dtype": &dtype, "shape": &counts, "data_offsets": &offsets}
	what := fmt.Sprintf("header of %q", name)
	err := eachMember(what, value, func(key string, value json.RawMessage) error {
		into, ok := missing[key]
		if !ok || bytes.Contains(value, []byte("null")) { // Unmarshal would skip a null
			return nil
		}
		delete(missing, key)
		if err := json.Unmarshal(value, into); err != nil {
			return fmt.Errorf("%s: %s is %s, want %s", what, key, files.Name(string(start(value))), wanted[key])
		}
		return nil
	})
	if err != nil {
		return entry{}, err
	}
	if len(missing) > 0 || len(offsets) != 2 {
		return entry{}, fmt.Errorf("%s: want dtype, shape and two data_offsets", what)
	}
	typ := typeNamed(dtype)
	if typ < 0 {
		return entry{}, fmt.Errorf("%q is of an unknown type %q", name, dtype)
	}
	start, end := offsets[0], offsets[1]
	if start > end || end > uint64(size) {
		return entry{}, fmt.Errorf("%q is at bytes %d to %d of %d", name, start, end, size)
	}
	if len(counts) > shape.MaxFileRank {
		return entry{}, fmt.Errorf("%q has %d axes: want at most %d", name, len(counts), shape.MaxFileRank)
	}
	lengths := make([]int, len(counts))
	count, over := uint64(1), uint64(0)
	for i, n := range counts {
		var hi uint64
		hi, count = bits.Mul64(count, n)
		over |= hi
		lengths[i] = int(n)
	}
	hi, need := bits.Mul64(count, elementTypes[typ].bits)
	if over|hi != 0 || shape.Check(lengths) != nil {
		return entry{}, fmt.Errorf("%q has shape %v: more than can be counted", name, counts)
	}
	if need%8 != 0 || need/8 != end-start {
		return entry{}, fmt.Errorf("%q has %d bytes, but shape %v of %s needs %d",
			name, end-start, lengths, dtype, ir.CeilDiv(need, 8))
	}
	return entry{name, typ, lengths, int64(start), int64(end)}, nil
}

// checkCover checks that entries, in order, cover each byte of the data once.
func checkCover(entries []entry, size int64) error {
	at, last := int64(0), ""
	for _, e := range entries {
		switch {
		case e.start > at:
			return fmt.Errorf("no tensor is at bytes %d to %d", at, e.start)
		case e.start < at:
			return fmt.Errorf("%q and %q overlap at byte %d", last, e.name, e.start)
		}
		at, last = e.end, e.name
	}
	if at < size {
		return fmt.Errorf("no tensor is at bytes %d to %d", at, size)
	}
	return nil
}

// typeNamed returns the index of an element type by name, or -1.
func typeNamed(name string) int {
	return slices.IndexFunc(elementTypes, func(t elementType) bool { return t.name == name })
}

// typeOf returns the index of a tensor's element type.
func typeOf(d tensor.DType) int {
	return slices.IndexFunc(elementTypes, func(t elementType) bool { return t.dtype == d })
}

// arrange sorts entries as the reference writer does, by type, last first, then by
// name, and sets the offsets of their data.
func arrange(entries []entry) {
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(b.typ, a.typ), cmp.Compare(a.name, b.name))
	})
	at := int64(0)
	for i := range entries {
		e := &entries[i]
		e.start = at
		at += int64(graph.Len(e.shape)) * int64(elementTypes[e.typ].bits) / 8
		e.end = at
	}
}

// formatHeader returns a header in the form of the reference writer.
func formatHeader(entries []entry, meta map[string]string) []byte {
	var members []string
	if meta != nil {
		var pairs []string
		for _, k := range slices.Sorted(maps.Keys(meta)) {
			pairs = append(pairs, quote(k)+":"+quote(meta[k]))
		}
		members = append(members, quote(metadataKey)+":{"+strings.Join(pairs, ",")+"}")
	}
	for _, e := range entries {
		lengths := strings.ReplaceAll(fmt.Sprint(e.shape), " ", ",")
		members = append(members, fmt.Sprintf(`%s:{"dtype":"%s","shape":%s,"data_offsets":[%d,%d]}`,
			quote(e.name), elementTypes[e.typ].name, lengths, e.start, e.end))
	}
	text := "{" + strings.Join(members, ",") + "}"
	return []byte(text + strings.Repeat(" ", -len(text)&7))
}

// quote returns the UTF-8 string s as a JSON string, with the escapes that JSON requires
// and no others.
func quote(s string) string { return `"` + escapes.Replace(s) + `"` }

var escapes = func() *strings.Replacer {
	pairs := []string{`"`, `\"`, `\`, `\\`, "\b", `\b`, "\f", `\f`, "\n", `\n`, "\r", `\r`, "\t", `\t`}
	for c := range ' ' { // the first pair of a character counts
		pairs = append(pairs, string(c), fmt.Sprintf(`\u%04x`, c))
	}
	return strings.NewReplacer(pairs...)
}()
