package pyvalue

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Str is Python's str.
func (s *Run) Str(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case Markup:
		return string(v)
	case *Undefined:
		return ""
	}
	return s.Repr(v)
}

// Repr is Python's repr.
func (s *Run) Repr(v any) string {
	var b strings.Builder
	s.writeRepr(&b, v)
	return b.String()
}

func (s *Run) writeRepr(b *strings.Builder, v any) {
	start := b.Len()
	switch v := v.(type) {
	case *List:
		s.writeItems(b, v, "[", "]", v.Items)
		return
	case *Tuple:
		end := ")"
		if len(v.Items) == 1 {
			end = ",)"
		}
		s.writeItems(b, v, "(", end, v.Items)
		return
	case *Dict:
		s.writeNested(b, v, "{", "}", len(v.Entries), func(i int) {
			s.writeRepr(b, v.Entries[i].Key)
			b.WriteString(": ")
			s.writeRepr(b, v.Entries[i].Value)
		})
		return
	case *View:
		open := "dict_" + v.Kind + "(["
		s.writeNested(b, v, open, "])", len(v.Of.Entries), func(i int) { s.writeRepr(b, v.item(int64(i))) })
		return
	case *Namespace:
		b.WriteString("<Namespace ")
		s.writeRepr(b, v.Vars)
		b.WriteString(">")
		return
	default:
		b.WriteString(Repr(v))
	}
	s.Alloc(b.Len() - start)
}

func (s *Run) writeItems(b *strings.Builder, of any, open, end string, items []any) {
	s.writeNested(b, of, open, end, len(items), func(i int) { s.writeRepr(b, items[i]) })
}

// writeNested writes n items of a container between brackets, or dots if it lies in itself.
func (s *Run) writeNested(b *strings.Builder, of any, open, end string, n int, item func(i int)) {
	for _, outer := range s.within {
		if outer == of {
			b.WriteString(open + "..." + end)
			return
		}
	}
	s.Descend()
	s.within = append(s.within, of)
	b.WriteString(open)
	for i := range n {
		if i > 0 {
			b.WriteString(", ")
		}
		s.Alloc(2)
		s.Step(1)
		item(i)
	}
	b.WriteString(end)
	s.within = s.within[:len(s.within)-1]
	s.Depth--
}

// Repr is Python's repr of a value that holds no others.
func Repr(v any) string {
	switch v := v.(type) {
	case noneType:
		return "None"
	case bool:
		if v {
			return "True"
		}
		return "False"
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return floatRepr(v)
	case string:
		return Quote(v)
	case Markup:
		return "Markup(" + Quote(string(v)) + ")"
	case *Undefined:
		return "Undefined"
	case Object:
		return v.Repr()
	case *RangeValue:
		if v.step == 1 {
			return fmt.Sprintf("range(%d, %d)", v.start, v.stop)
		}
		return fmt.Sprintf("range(%d, %d, %d)", v.start, v.stop, v.step)
	case *Generator:
		return "<" + v.Name + " object>"
	case *Method:
		return "<built-in method " + v.Name + " of " + TypeName(v.Self) + " object>"
	case *Builtin:
		return "<function>"
	}
	return "<" + TypeName(v) + " object>"
}

func floatRepr(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan"
	case math.IsInf(f, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(f, 'g', -1, 64)), "+")
	}
	text := strconv.FormatFloat(f, 'e', -1, 64)
	exp, _ := strconv.Atoi(text[strings.IndexByte(text, 'e')+1:])
	if exp < -4 || exp >= 16 {
		return text
	}
	text = strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(text, ".") {
		text += ".0"
	}
	return text
}

// isPrintable is Python's str.isprintable of a character.
func isPrintable(r rune) bool { return r == ' ' || unicode.IsPrint(r) }

func Quote(text string) string {
	q := byte('\'')
	if strings.Contains(text, "'") && !strings.Contains(text, `"`) {
		q = '"'
	}
	b := make([]byte, 0, len(text)+2)
	b = append(b, q)
	for _, r := range text {
		switch {
		case r == rune(q) || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case isPrintable(r):
			b = utf8.AppendRune(b, r)
		default:
			b = append(b, AsciiEscape(r)...)
		}
	}
	return string(append(b, q))
}

// AsciiEscape is Python's escape of a character.
func AsciiEscape(r rune) string {
	switch {
	case r < 0x100:
		return fmt.Sprintf(`\x%02x`, r)
	case r < 0x10000:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
