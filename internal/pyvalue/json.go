package pyvalue

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
)

// Decode returns the value of a JSON text: a *Dict for an object, whose keys keep their order. A
// number with a point or an exponent is a float.
func Decode(data []byte) (any, error) {
	const perValue = 768 // an entry of a Dict, with its key and its place in the index
	if err := files.CheckJSON(data, perValue); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decode(d, maxJSON)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("text follows the JSON value")
	}
	return v, nil
}

// From returns a value of Go as Decode returns its JSON: a struct becomes a dict with its fields
// in their order.
func From(v any) (any, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return Decode(data)
}

// maxJSON is how deep JSON may nest.
const maxJSON = 1000

// decode reads a value that may nest so deep.
func decode(d *json.Decoder, depth int) (any, error) {
	if depth == 0 {
		return nil, fmt.Errorf("JSON nests deeper than %d", maxJSON)
	}
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '[' {
			return decodeList(d, depth-1)
		}
		return decodeDict(d, depth-1)
	case json.Number:
		return decodeNumber(string(t))
	case nil:
		return None, nil
	}
	return t, nil // a string or a bool
}

func decodeList(d *json.Decoder, depth int) (any, error) {
	l := &List{}
	for d.More() {
		v, err := decode(d, depth)
		if err != nil {
			return nil, err
		}
		l.Items = append(l.Items, v)
	}
	_, err := d.Token()
	return l, err
}

func decodeDict(d *json.Decoder, depth int) (any, error) {
	dict := &Dict{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, err
		}
		v, err := decode(d, depth)
		if err != nil {
			return nil, err
		}
		dict.Set(key.(string), v)
	}
	_, err := d.Token()
	return dict, err
}

func decodeNumber(text string) (any, error) {
	if strings.ContainsAny(text, ".eE") {
		f, err := strconv.ParseFloat(text, 64)
		if err != nil && !math.IsInf(f, 0) {
			return nil, fmt.Errorf("the number %s is no float", text)
		}
		return f, nil
	}
	i, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the integer %s does not fit in 64 bits", text)
	}
	return i, nil
}

// A jsonWriter writes as Python's json.dumps.
type jsonWriter struct {
	*Run
	b          strings.Builder
	ascii      bool
	sort       bool
	indented   bool
	indent     string
	item, pair string // separators
}

// ToJSON is transformers' filter tojson.
func (s *Run) ToJSON(a *Args) any {
	w := &jsonWriter{Run: s, ascii: a.Truth(0), sort: a.Truth(3), item: ", ", pair: ": "}
	if a.Has(1) {
		w.indented, w.item = true, ","
		if t, ok := Text(a.Pos[1]); ok {
			w.indent = t
		} else {
			w.indent = s.Repeat(" ", s.ToInt(a.Pos[1])).(string)
		}
	}
	if a.Has(2) {
		parts := s.List(a.Pos[2])
		if len(parts) != 2 {
			s.Fail("ValueError", "tojson needs two separators, not %d", len(parts))
		}
		w.item, w.pair = s.ToText(parts[0]), s.ToText(parts[1])
	}
	w.value(a.Self, 0)
	return w.b.String()
}

func (w *jsonWriter) put(text string) {
	w.Alloc(len(text))
	w.b.WriteString(text)
}

func (w *jsonWriter) line(depth int) {
	if w.indented {
		w.put("\n")
		for range depth {
			w.put(w.indent)
		}
	}
}

// nested writes n items between brackets.
func (w *jsonWriter) nested(open, end string, n, depth int, item func(i int)) {
	w.Descend()
	w.put(open)
	for i := range n {
		if i > 0 {
			w.put(w.item)
		}
		w.line(depth + 1)
		w.Step(1)
		item(i)
	}
	if n > 0 {
		w.line(depth)
	}
	w.put(end)
	w.Depth--
}

func (w *jsonWriter) value(v any, depth int) {
	if t, ok := Text(v); ok {
		w.string(t)
		return
	}
	switch v := v.(type) {
	case *List:
		w.nested("[", "]", len(v.Items), depth, func(i int) { w.value(v.Items[i], depth+1) })
	case *Tuple:
		w.nested("[", "]", len(v.Items), depth, func(i int) { w.value(v.Items[i], depth+1) })
	case *Dict:
		if w.sort && v.Len() > 1 {
			v = w.sorted(v)
		}
		w.nested("{", "}", v.Len(), depth, func(i int) {
			w.string(w.key(v.Entries[i].Key))
			w.put(w.pair)
			w.value(v.Entries[i].Value, depth+1)
		})
	case noneType, bool, int64, float64:
		w.put(scalar(v))
	default:
		w.Fail("TypeError", "Object of type %s is not JSON serializable", TypeName(v))
	}
}

func (w *jsonWriter) sorted(d *Dict) *Dict {
	keys := w.List(d)
	keys, _ = w.Run.Sorted(keys, keys, false)
	sorted := &Dict{}
	for _, k := range keys {
		w.Run.Put(sorted, k, w.Get(d, k))
	}
	return sorted
}

// scalar returns the JSON of a value without quotes and brackets.
func scalar(v any) string {
	switch v := v.(type) {
	case noneType:
		return "null"
	case bool:
		return strconv.FormatBool(v)
	case float64:
		switch {
		case math.IsNaN(v):
			return "NaN"
		case math.IsInf(v, 1):
			return "Infinity"
		case math.IsInf(v, -1):
			return "-Infinity"
		}
	}
	return Repr(v)
}

func (w *jsonWriter) key(v any) string {
	if t, ok := Text(v); ok {
		return t
	}
	switch v.(type) {
	case noneType, bool, int64, float64:
		return scalar(v)
	}
	w.Fail("TypeError", "keys must be str, int, float, bool or None, not %s", TypeName(v))
	return ""
}

var jsonEscapes = map[rune]string{'"': `\"`, '\\': `\\`, '\n': `\n`, '\r': `\r`, '\t': `\t`, '\f': `\f`, '\b': `\b`}

func (w *jsonWriter) string(text string) {
	w.Alloc(len(text) + 2)
	w.b.WriteByte('"')
	done := 0
	for i, r := range text {
		if r >= ' ' && r != '"' && r != '\\' && (!w.ascii || r < 0x7f) {
			continue
		}
		escape := jsonEscapes[r]
		if escape == "" {
			if escape = fmt.Sprintf(`\u%04x`, r); r > 0xffff {
				high, low := utf16.EncodeRune(r)
				escape = fmt.Sprintf(`\u%04x\u%04x`, high, low)
			}
		}
		w.b.WriteString(text[done:i])
		w.put(escape)
		done = i + utf8.RuneLen(r)
	}
	w.b.WriteString(text[done:])
	w.b.WriteByte('"')
}
