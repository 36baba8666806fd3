package jinja

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/pyvalue"
)

// A token's kind is "data", "name", "string", "integer", "float", "eof", a delimiter such as
// "{{", or an operator such as "+".
type token struct {
	kind, text string
	value      any
	line       int
}

type lexer struct {
	src       string
	pos, line int
	startLine bool // the last match ended a line, or nothing has matched
	open      []byte
	toks      []token
}

var operators = []string{"//", "**", "==", "!=", ">=", "<=", "+", "-", "/", "*", "%", "~", "[", "]", "(", ")", "{", "}", ">", "<", "=", ".", ":", "|", ",", ";"}

var newlines = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// lex splits a template into tokens.
func lex(src string) []token {
	l := &lexer{src: strings.TrimSuffix(newlines.Replace(src), "\n"), line: 1, startLine: true}
	for l.pos < len(l.src) {
		l.text()
	}
	l.add("eof", "", nil)
	return l.toks
}

func (l *lexer) add(kind, text string, value any) {
	l.toks = append(l.toks, token{kind, text, value, l.line})
}

func (l *lexer) fail(format string, args ...any) {
	pyvalue.Fail(l.line, "TemplateSyntaxError", format, args...)
}

// take moves past the next n bytes and returns them.
func (l *lexer) take(n int) string {
	text := l.src[l.pos : l.pos+n]
	l.pos += n
	l.line += strings.Count(text, "\n")
	l.startLine = strings.HasSuffix(text, "\n")
	return text
}

// rest is the text that is not yet split, without n bytes.
func (l *lexer) rest(n int) string { return l.src[l.pos+n:] }

// text reads text up to a tag, and the tag.
func (l *lexer) text() {
	rest := l.rest(0)
	n := 0
	for {
		i := strings.IndexByte(rest[n:], '{')
		if i < 0 || n+i+1 == len(rest) {
			l.add("data", rest, nil)
			l.take(len(rest))
			return
		}
		n += i
		if strings.IndexByte("%{#", rest[n+1]) >= 0 {
			break
		}
		n++
	}
	tag := rest[n : n+2]
	sign := pyvalue.SignAt(rest[n+2:])
	data := l.strip(rest[:n], tag, sign)
	if data != "" {
		l.add("data", data, nil)
	}
	l.take(n + 2 + len(sign))
	switch tag {
	case "{#":
		l.comment()
	case "{%":
		if !l.raw() {
			l.add(tag, tag, nil)
			l.tag("%}")
		}
	default:
		l.add(tag, tag, nil)
		l.tag("}}")
	}
}

// strip applies whitespace control to the text before a tag.
func (l *lexer) strip(data, tag, sign string) string {
	if sign == "-" {
		return strings.TrimRightFunc(data, pyvalue.IsSpace)
	}
	line := strings.LastIndexByte(data, '\n') + 1
	if sign == "" && tag != "{{" && (line > 0 || l.startLine) && strings.TrimLeftFunc(data[line:], pyvalue.IsSpace) == "" {
		return data[:line]
	}
	return data
}

// endOf returns the length of the delimiter, with whitespace control, that text starts with, or
// 0.
func endOf(text, end string) int {
	sign := pyvalue.SignAt(text)
	if !strings.HasPrefix(text[len(sign):], end) || sign == "+" && end == "}}" {
		return 0
	}
	n := len(sign) + len(end)
	switch {
	case sign == "-":
		n = len(text) - len(strings.TrimLeftFunc(text[n:], pyvalue.IsSpace))
	case sign == "" && end != "}}" && strings.HasPrefix(text[n:], "\n"):
		n++
	}
	return n
}

func (l *lexer) comment() {
	rest := l.rest(0)
	i := strings.Index(rest, "#}")
	if rest == "" { // Jinja lets it be
		return
	}
	if i < 0 {
		l.fail("a comment has no end, #}")
	}
	if i > 0 && pyvalue.SignAt(rest[i-1:]) != "" {
		i--
	}
	l.take(i + endOf(rest[i:], "#}"))
}

// raw reads a raw block, if one starts here, and reports whether it did.
func (l *lexer) raw() bool {
	rest := l.rest(0)
	n, sign := wordThen(rest, "raw")
	if n == 0 || sign == "+" {
		return false
	}
	n += 2
	if sign == "-" { // a raw block keeps its first newline otherwise
		n = len(rest) - len(strings.TrimLeftFunc(rest[n:], pyvalue.IsSpace))
	}
	l.take(n)
	rest = l.rest(0)
	if rest == "" { // Jinja lets it be
		return true
	}
	for at := 0; ; at += 2 {
		i := strings.Index(rest[at:], "{%")
		if i < 0 {
			l.fail("a raw block has no end, {%% endraw %%}")
		}
		at += i
		sign := pyvalue.SignAt(rest[at+2:])
		start := at + 2 + len(sign)
		if n, end := wordThen(rest[start:], "endraw"); n > 0 {
			n -= len(end)
			l.add("data", l.strip(rest[:at], "{%", sign), nil)
			l.take(start + n + endOf(rest[start+n:], "%}"))
			return true
		}
	}
}

// wordThen returns the length of a word, with spaces and a sign, that text starts with before %},
// and the sign.
func wordThen(text, word string) (n int, sign string) {
	t, ok := strings.CutPrefix(strings.TrimLeftFunc(text, pyvalue.IsSpace), word)
	t = strings.TrimLeftFunc(t, pyvalue.IsSpace)
	sign = pyvalue.SignAt(t)
	if !ok || !strings.HasPrefix(t[len(sign):], "%}") {
		return 0, ""
	}
	return len(text) - len(t) + len(sign), sign
}

// tag reads the tokens of a tag and its end.
func (l *lexer) tag(end string) {
	l.open = l.open[:0]
	for l.pos < len(l.src) {
		rest := l.rest(0)
		if n := endOf(rest, end); n > 0 && len(l.open) == 0 {
			l.add(end, end, nil)
			l.take(n)
			return
		}
		r, _ := utf8.DecodeRuneInString(rest)
		switch {
		case pyvalue.IsSpace(r):
			l.take(len(rest) - len(strings.TrimLeftFunc(rest, pyvalue.IsSpace)))
		case r >= '0' && r <= '9':
			l.number()
		case r == '\'' || r == '"':
			l.str(byte(r))
		case pyvalue.IsName(r):
			n := len(rest) - len(strings.TrimLeftFunc(rest, pyvalue.IsName))
			l.add("name", rest[:n], nil)
			l.take(n)
		default:
			l.operator()
		}
	}
}

func (l *lexer) operator() {
	rest := l.rest(0)
	i := slices.IndexFunc(operators, func(op string) bool { return strings.HasPrefix(rest, op) })
	if i < 0 {
		r, _ := utf8.DecodeRuneInString(rest)
		l.fail("unexpected character %q", r)
	}
	op := operators[i]
	if j := strings.Index("({[", op); j >= 0 {
		l.open = append(l.open, ")}]"[j])
	}
	if strings.Contains(")}]", op) {
		if len(l.open) == 0 || l.open[len(l.open)-1] != op[0] {
			l.fail("unexpected %q", op)
		}
		l.open = l.open[:len(l.open)-1]
	}
	l.add(op, op, nil)
	l.take(len(op))
}

func (l *lexer) number() {
	rest := l.rest(0)
	whole := pyvalue.Digits(rest, pyvalue.Decimal)
	n := whole
	if n+1 < len(rest) && rest[n] == '.' {
		if d := pyvalue.Digits(rest[n+1:], pyvalue.Decimal); d > 0 {
			n += 1 + d
		}
	}
	if n < len(rest) && rest[n]|' ' == 'e' {
		sign := len(pyvalue.SignAt(rest[n+1:]))
		if d := pyvalue.Digits(rest[n+1+sign:], pyvalue.Decimal); d > 0 {
			n += 1 + sign + d
		}
	}
	if n > whole && (l.pos == 0 || l.src[l.pos-1] != '.') {
		f, err := strconv.ParseFloat(strings.ReplaceAll(rest[:n], "_", ""), 64)
		if err != nil {
			l.fail("the float %s is too large", rest[:n])
		}
		l.add("float", rest[:n], f)
		l.take(n)
		return
	}
	n = whole
	if rest[0] == '0' {
		n = max(1, pyvalue.Digits(rest, "0"))
		if len(rest) > 2 {
			set, ok := map[byte]string{'b': "01", 'o': "01234567", 'x': pyvalue.Decimal + "abcdefABCDEF"}[rest[1]|' ']
			if d := pyvalue.Digits(strings.TrimPrefix(rest[2:], "_"), set); ok && d > 0 {
				n = 2 + len(rest[2:]) - len(strings.TrimPrefix(rest[2:], "_")) + d
			}
		}
	}
	i, err := strconv.ParseInt(strings.ReplaceAll(rest[:n], "_", ""), 0, 64)
	if err != nil {
		l.fail("the integer %s does not fit in 64 bits", rest[:n])
	}
	l.add("integer", rest[:n], i)
	l.take(n)
}

func (l *lexer) str(quote byte) {
	rest := l.rest(0)
	n := 1
	for n < len(rest) && rest[n] != quote {
		if rest[n] == '\\' {
			n++
		}
		n++
	}
	if n >= len(rest) {
		l.fail("a string has no end, %c", quote)
	}
	text := rest[1:n]
	if strings.Contains(text, `\`) {
		text = l.unescape(text)
	}
	l.add("string", "", text)
	l.take(n + 1)
}

var escapes = map[byte]string{'\n': "", '\\': `\`, '\'': "'", '"': `"`, 'a': "\a", 'b': "\b", 'f': "\f", 'n': "\n", 'r': "\r", 't': "\t", 'v': "\v"}

// unescape replaces Python's escapes. Unknown ones keep their backslash.
func (l *lexer) unescape(text string) string {
	var b strings.Builder
	var high rune // the first half of a surrogate pair
	for i := 0; i < len(text); {
		if text[i] != '\\' {
			j := i + max(0, strings.IndexByte(text[i:], '\\'))
			if j == i {
				j = len(text)
			}
			b.WriteString(text[i:j])
			i, high = j, 0
			continue
		}
		c := text[i+1]
		width := map[byte]int{'x': 2, 'u': 4, 'U': 8}[c]
		known, ok := escapes[c]
		switch {
		case width > 0:
			if i+2+width > len(text) {
				l.fail("the escape \\%c needs %d digits", c, width)
			}
			n, err := strconv.ParseUint(text[i+2:i+2+width], 16, 32)
			if err != nil || n > unicode.MaxRune {
				l.fail("the escape %s is no character", text[i:i+2+width])
			}
			r := rune(n)
			switch {
			case r >= 0xD800 && r < 0xDC00:
				high = r
			case r >= 0xDC00 && r < 0xE000 && high != 0:
				b.WriteRune(0x10000 + (high-0xD800)<<10 + r - 0xDC00)
				high = 0
			default:
				b.WriteRune(r)
				high = 0
			}
			i += 2 + width
			continue
		case c >= '0' && c <= '7':
			n := 2
			for n < 4 && i+n < len(text) && text[i+n] >= '0' && text[i+n] <= '7' {
				n++
			}
			r, _ := strconv.ParseUint(text[i+1:i+n], 8, 32)
			b.WriteRune(rune(r))
			i += n
		case c == 'N':
			l.fail(`the escape \N is not supported: write the character, or \u and its number`)
		case ok:
			b.WriteString(known)
			i += 2
		default:
			b.WriteByte('\\')
			i++
			if r, size := utf8.DecodeRuneInString(text[i:]); r >= utf8.RuneSelf { // Python escapes it first
				b.WriteString(strings.TrimPrefix(pyvalue.AsciiEscape(r), `\`))
				i += size
			} else {
				b.WriteByte(c)
				i++
			}
		}
		high = 0
	}
	return b.String()
}
