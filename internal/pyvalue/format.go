package pyvalue

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// format is Python's str.format in the sandbox.
func (s *Run) format(self any, args []any, named *Dict) any {
	f := &formatter{Run: s, args: args, named: named}
	_, f.safe = self.(Markup)
	text := f.expand(s.ToText(self), 3)
	return s.Like(self, text)
}

type formatter struct {
	*Run
	args  []any
	named *Dict
	auto  int // the next argument, -1 once arguments are numbered
	safe  bool
}

// expand replaces the fields of text, in which depth levels may be nested.
func (f *formatter) expand(text string, depth int) string {
	if depth == 0 {
		f.Fail("ValueError", "the format's fields are nested too deeply")
	}
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			b.WriteString(text)
			break
		}
		f.Step(1)
		b.WriteString(text[:i])
		if strings.HasPrefix(text[i+1:], text[i:i+1]) {
			b.WriteByte(text[i])
			text = text[i+2:]
			continue
		}
		if text[i] == '}' {
			f.Fail("ValueError", "single '}' in the format")
		}
		open, j := 1, i+1
		for ; j < len(text) && open > 0; j++ {
			switch text[j] {
			case '{':
				open++
			case '}':
				open--
			case '[': // brackets hide braces
				if k := strings.IndexByte(text[j:], ']'); k >= 0 && !strings.ContainsAny(text[i:j], ":!") {
					j += k
				}
			}
		}
		if open > 0 {
			f.Fail("ValueError", "a '{' in the format has no end")
		}
		part := f.field(text[i+1:j-1], depth)
		f.Alloc(len(part))
		b.WriteString(part)
		text = text[j:]
	}
	return b.String()
}

func (f *formatter) field(field string, depth int) string {
	end := strings.IndexAny(field, ":!")
	if k := strings.IndexByte(field, '['); k >= 0 && k < end {
		if m := strings.IndexByte(field[k:], ']'); m >= 0 {
			if end = strings.IndexAny(field[k+m:], ":!"); end >= 0 {
				end += k + m
			}
		}
	}
	name, conversion, spec := field, "", ""
	if end >= 0 {
		name = field[:end]
		rest := field[end:]
		if rest[0] == '!' {
			_, size := utf8.DecodeRuneInString(rest[1:])
			conversion, rest = rest[1:1+size], rest[1+size:]
			if rest != "" && rest[0] != ':' {
				f.Fail("ValueError", "expected ':' after the conversion")
			}
		}
		spec = strings.TrimPrefix(rest, ":")
	}
	v := f.value(name)
	switch conversion {
	case "":
		if end >= 0 && field[end] == '!' {
			f.Fail("ValueError", "the conversion is missing")
		}
	case "s":
		v = f.Str(v)
	case "r":
		v = f.Repr(v)
	case "a":
		v = f.ascii(v)
	default:
		f.Fail("ValueError", "unknown conversion %q", conversion)
	}
	spec = f.expand(spec, depth-1)
	_, safe := v.(Markup)
	switch {
	case f.safe && !safe:
		return string(f.Escape(f.formatValue(v, spec)))
	case f.safe && spec != "":
		f.Fail("ValueError", "markup cannot be formatted")
	}
	return f.formatValue(v, spec)
}

// value finds the value of a field's name: an argument, and its attributes and items.
func (f *formatter) value(name string) any {
	end := len(name)
	if i := strings.IndexAny(name, ".["); i >= 0 {
		end = i
	}
	first, rest := name[:end], name[end:]
	i, err := strconv.Atoi(first)
	whole := rest == "" // Python's Formatter counts only fields without attributes and items
	if first == "" {
		if f.auto < 0 && whole {
			f.Fail("ValueError", "cannot number fields automatically after numbered ones")
		}
		i, err = f.auto, nil
		f.auto++
	} else if err == nil && whole {
		if f.auto > 0 {
			f.Fail("ValueError", "cannot number fields after automatic ones")
		}
		f.auto = -1
	}
	var v any
	switch {
	case err != nil:
		if v = f.Get(f.named, first); v == nil {
			f.Fail("KeyError", "%s", Quote(first))
		}
	case i < 0 || i >= len(f.args):
		f.Fail("IndexError", "the format needs argument %d, and has %d", i, len(f.args))
	default:
		v = f.args[i]
	}
	for rest != "" {
		if rest[0] == '.' {
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			if end == 0 {
				f.Fail("ValueError", "empty attribute in the format")
			}
			v = f.GetAttr(v, rest[1:1+end])
			rest = rest[1+end:]
			continue
		}
		end := strings.IndexByte(rest, ']')
		if rest[0] != '[' || end < 2 {
			f.Fail("ValueError", "a '[' in the format has no end, or no content")
		}
		var key any = rest[1:end]
		if i, err := strconv.ParseInt(rest[1:end], 10, 64); err == nil && rest[1] != '-' && rest[1] != '+' {
			key = i
		}
		v = f.GetItem(v, key)
		rest = rest[end+1:]
		if rest != "" && rest[0] != '.' && rest[0] != '[' {
			f.Fail("ValueError", "only '.' or '[' may follow ']' in the format")
		}
	}
	return v
}

// parseSpec parses Python's format specification.
func (s *Run) parseSpec(text string) spec {
	f := spec{fill: " ", precision: -1}
	r, size := utf8.DecodeRuneInString(text)
	filled := len(text) > size && strings.IndexByte("<>^=", text[size]) >= 0 && size > 0
	switch {
	case filled:
		f.fill, f.align = string(r), text[size]
		text = text[size+1:]
	case text != "" && strings.IndexByte("<>^=", text[0]) >= 0:
		f.align, text = text[0], text[1:]
	}
	if text != "" && strings.IndexByte("+- ", text[0]) >= 0 {
		f.sign, text = text[0], text[1:]
	}
	if strings.HasPrefix(text, "z") {
		s.Fail("ValueError", "the format option z is not supported")
	}
	text, f.alternate = strings.CutPrefix(text, "#")
	if !filled && strings.HasPrefix(text, "0") {
		f.fill, text = "0", text[1:]
		if f.align == 0 {
			f.zero, f.align = true, '='
		}
	}
	number := func() int64 {
		n := Digits(text, Decimal)
		v, err := strconv.ParseInt("0"+text[:n], 10, 64)
		if err != nil {
			s.Fail("ValueError", "the number %s in the format is too large", text[:n])
		}
		text = text[n:]
		return v
	}
	f.width = number()
	if text != "" && (text[0] == ',' || text[0] == '_') {
		f.group, text = text[:1], text[1:]
	}
	if strings.HasPrefix(text, ".") {
		text = text[1:]
		if Digits(text, Decimal) == 0 {
			s.Fail("ValueError", "the format lacks a precision")
		}
		f.precision = number()
	}
	if len(text) > 1 {
		s.Fail("ValueError", "invalid format specification %q", text)
	}
	if text != "" {
		f.verb = text[0]
	}
	return f
}

// formatValue is Python's format.
func (s *Run) formatValue(v any, how string) string {
	if how == "" {
		return s.Str(v)
	}
	f := s.parseSpec(how)
	t, isText := Text(v)
	i, isInt := Integer(v)
	switch {
	case isText:
		if f.verb != 0 && f.verb != 's' || f.align == '=' && !f.zero || f.sign != 0 || f.group != "" || f.alternate {
			s.Fail("ValueError", "the format does not fit a string")
		}
		if f.align == '=' {
			f.align = '<'
		}
		if f.align == 0 {
			f.align = '<'
		}
		return s.formatText(f, t)
	case isInt && strings.IndexByte("\x00bcdnoxX", f.verb) >= 0:
		if f.precision >= 0 {
			s.Fail("ValueError", "the format of an integer has no precision")
		}
		if f.group != "" && strings.IndexByte("cn", f.verb) >= 0 || f.group == "," && strings.IndexByte("boxX", f.verb) >= 0 {
			s.Fail("ValueError", "the separator %q does not go with %q", f.group, string(f.verb))
		}
		if f.verb == 'c' && (f.sign != 0 || f.alternate) {
			s.Fail("ValueError", "a character has neither sign nor prefix")
		}
		if f.align == 0 {
			f.align = '>'
		}
		switch f.verb {
		case 0, 'n':
			f.verb = 'd'
		case 'c':
			if i < 0 || i > utf8.MaxRune {
				s.Fail("OverflowError", "%d is no character", i)
			}
			return s.formatText(f, string(rune(i)))
		}
		return s.formatInt(f, i)
	}
	fl, isNum := Number(v)
	if !isNum {
		s.Fail("TypeError", "the format does not fit a value of type %s", TypeName(v))
	}
	if strings.IndexByte("\x00eEfFgGn%", f.verb) < 0 {
		s.Fail("ValueError", "unknown format code %q", string(f.verb))
	}
	if f.align == 0 {
		f.align = '>'
	}
	return s.formatFloat(f, fl)
}
