package pyvalue

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// A spec is how a value is formatted, by % or by str.format.
type spec struct {
	fill      string
	align     byte // '<', '>', '^' or '=', which pads after the sign; 0 for the type's own
	sign      byte // '+', ' ', '-' or 0
	alternate bool
	zero      bool
	group     string // "," or "_" between digits
	width     int64
	precision int64 // or -1
	verb      byte  // or 0
}

// Percent is Python's text % values.
func (s *Run) Percent(self any, format string, values any) any {
	p := &percenter{Run: s, rest: format, values: values}
	p.escape = func(v any) any { return v }
	if _, ok := self.(Markup); ok {
		p.escape = func(v any) any {
			if IsNumber(v) {
				return v
			}
			return string(s.Escape(v))
		}
	}
	if t, ok := values.(*Tuple); ok {
		p.args = t.Items
	} else {
		p.args = []any{values}
	}
	for {
		i := strings.IndexByte(p.rest, '%')
		if i < 0 {
			break
		}
		p.b.WriteString(p.rest[:i])
		p.rest = p.rest[i+1:]
		s.Step(1)
		p.directive()
	}
	p.b.WriteString(p.rest)
	if p.used < len(p.args) && !isMapping(values) {
		s.Fail("TypeError", "not all arguments are used in the formatting")
	}
	s.Alloc(p.b.Len())
	return s.Like(self, p.b.String())
}

type percenter struct {
	*Run
	b      strings.Builder
	rest   string
	values any
	args   []any
	used   int
	escape func(any) any
}

// isMapping reports whether Python takes a value for a mapping, which a format need not use.
func isMapping(v any) bool {
	switch v.(type) {
	case *Dict, *List, *RangeValue, *Undefined:
		return true
	}
	return false
}

func (p *percenter) arg() any {
	if p.used >= len(p.args) {
		p.Fail("TypeError", "not enough arguments for the format")
	}
	p.used++
	return p.args[p.used-1]
}

func (p *percenter) byte() byte {
	if p.rest == "" {
		p.Fail("ValueError", "incomplete format")
	}
	c := p.rest[0]
	p.rest = p.rest[1:]
	return c
}

// number reads digits, or * for an argument; ok is false without any.
func (p *percenter) number() (n int64, ok bool) {
	if strings.HasPrefix(p.rest, "*") {
		p.rest = p.rest[1:]
		return p.ToInt(p.arg()), true
	}
	i := Digits(p.rest, Decimal)
	if i == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(p.rest[:i], 10, 64)
	if err != nil {
		p.Fail("ValueError", "the width or precision %s is too large", p.rest[:i])
	}
	p.rest = p.rest[i:]
	return n, true
}

func (p *percenter) directive() {
	if strings.HasPrefix(p.rest, "%") {
		p.b.WriteString("%")
		p.rest = p.rest[1:]
		return
	}
	var key any
	if strings.HasPrefix(p.rest, "(") {
		d, ok := p.values.(*Dict)
		if !ok {
			p.Fail("TypeError", "the format needs a dict")
		}
		depth, i := 0, 0
		for ; i < len(p.rest); i++ {
			if p.rest[i] == '(' {
				depth++
			} else if p.rest[i] == ')' {
				if depth--; depth == 0 {
					break
				}
			}
		}
		if i == len(p.rest) {
			p.Fail("ValueError", "incomplete key in the format")
		}
		if key = p.Get(d, p.rest[1:i]); key == nil {
			p.Fail("KeyError", "%s", Quote(p.rest[1:i]))
		}
		p.rest = p.rest[i+1:]
	}
	f := spec{fill: " ", align: '>', precision: -1}
	left := false
	for p.rest != "" && strings.IndexByte("#0- +", p.rest[0]) >= 0 {
		switch p.byte() {
		case '#':
			f.alternate = true
		case '0':
			f.zero = true
		case '-':
			left = true
		case '+':
			f.sign = '+'
		case ' ':
			if f.sign == 0 {
				f.sign = ' '
			}
		}
	}
	if n, ok := p.number(); ok {
		f.width, left = max(n, -n), left || n < 0
	}
	if strings.HasPrefix(p.rest, ".") {
		p.rest = p.rest[1:]
		n, _ := p.number()
		f.precision = max(n, 0)
	}
	c := p.byte()
	for strings.IndexByte("hlL", c) >= 0 {
		c = p.byte()
	}
	v := key
	if v == nil {
		v = p.arg()
	}
	p.b.WriteString(p.verb(f, c, v, left))
}

func (p *percenter) verb(f spec, c byte, v any, left bool) string {
	f.verb = c
	if f.zero {
		f.align, f.fill = '=', "0"
	}
	if left {
		f.align, f.fill = '<', " "
	}
	switch c {
	case 's', 'r', 'a':
		if f.align == '=' {
			f.align, f.fill = '>', " "
		}
		text := ""
		switch v = p.escape(v); c {
		case 's':
			text = p.Str(v)
		case 'r':
			text = p.Repr(v)
		default:
			text = p.ascii(v)
		}
		f.verb = 's'
		return p.formatText(f, text)
	case 'c':
		if i, ok := Integer(v); ok && i >= 0 && i <= utf8.MaxRune {
			return p.formatText(f, string(rune(i)))
		}
		text := p.ToText(v)
		if utf8.RuneCountInString(text) != 1 {
			p.Fail("TypeError", "%%c needs one character")
		}
		return p.formatText(f, text)
	case 'd', 'i', 'u', 'o', 'x', 'X':
		i, ok := Integer(v)
		if fl, isFloat := v.(float64); isFloat && strings.IndexByte("diu", c) >= 0 {
			i, ok = p.FloatToInt(fl), true
		}
		if !ok {
			p.Fail("TypeError", "%%%c needs a number, not a value of type %s", c, TypeName(v))
		}
		if strings.IndexByte("iu", c) >= 0 {
			f.verb = 'd'
		}
		return p.formatInt(f, i)
	case 'e', 'E', 'f', 'F', 'g', 'G':
		fl, ok := Number(v)
		if !ok {
			p.Fail("TypeError", "%%%c needs a number, not a value of type %s", c, TypeName(v))
		}
		return p.formatFloat(f, fl)
	}
	p.Fail("ValueError", "unsupported format character %q", string(c))
	return ""
}

// ascii is Python's ascii: the repr with escapes.
func (s *Run) ascii(v any) string {
	var b strings.Builder
	for _, r := range s.Repr(v) {
		if r < utf8.RuneSelf {
			b.WriteRune(r)
		} else {
			b.WriteString(AsciiEscape(r))
		}
	}
	return b.String()
}
