package match

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A rewriter writes an expression of Oniguruma, which Hugging Face's library has, in the syntax of
// regexp2, which is .NET's: there a set of characters has neither other sets in it nor
// intersections, nothing is possessive, and words, options and names of sets differ.
type rewriter struct {
	rest string
	out  []byte
	last int   // where the last expression that may be repeated begins in out
	open []int // where open parentheses begin
	deep int   // repetitions of one another so far
	err  error
}

func rewrite(source string) (string, error) {
	w := &rewriter{rest: source}
	for w.rest != "" && w.err == nil {
		w.next()
	}
	return string(w.out), w.err
}

func (w *rewriter) take(s string) bool {
	rest, ok := strings.CutPrefix(w.rest, s)
	if ok {
		w.rest = rest
	}
	return ok
}

func (w *rewriter) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
	w.rest = ""
}

// add writes an expression that may be repeated.
func (w *rewriter) add(s string) {
	w.last, w.deep = len(w.out), 0
	w.out = append(w.out, s...)
}

// wrap puts the last expression in a group.
func (w *rewriter) wrap(group string) {
	w.out = append(slices.Insert(w.out, w.last, []byte(group)...), ')')
}

// next rewrites one element.
func (w *rewriter) next() {
	switch c := w.rest[0]; c {
	case '\\':
		w.rest = w.rest[1:]
		w.escape()
	case '[':
		w.rest = w.rest[1:]
		w.add(w.class(0))
	case '(':
		w.open = append(w.open, len(w.out))
		w.group()
	case ')':
		w.rest = w.rest[1:]
		w.out = append(w.out, c)
		if n := len(w.open) - 1; n >= 0 {
			w.last, w.open = w.open[n], w.open[:n]
		}
	case '?', '*', '+', '{':
		w.quantifier()
	default:
		_, size := utf8.DecodeRuneInString(w.rest)
		w.add(w.rest[:size])
		w.rest = w.rest[size:]
	}
}

// group writes the start of a group: of the options, m is .NET's s.
func (w *rewriter) group() {
	w.rest = w.rest[1:]
	w.out = append(w.out, '(')
	if !w.take("?") {
		return
	}
	w.out = append(w.out, '?')
	end := strings.IndexFunc(w.rest, func(r rune) bool { return !strings.ContainsRune("imsx-", r) })
	if end <= 0 || !strings.Contains(":)", w.rest[end:end+1]) {
		return
	}
	if strings.Contains(w.rest[:end], "s") {
		w.fail("the option s is not known")
		return
	}
	w.out = append(w.out, strings.ReplaceAll(w.rest[:end], "m", "s")...)
	w.rest = w.rest[end:]
}

// quantifier writes how often the last expression is repeated.
func (w *rewriter) quantifier() {
	size, braces := 1, w.rest[0] == '{'
	if braces {
		end := strings.IndexByte(w.rest, '}')
		if end < 2 || strings.Trim(w.rest[1:end], "0123456789,") != "" {
			w.add(`\{`)
			w.rest = w.rest[1:]
			return
		}
		size = end + 1
	}
	count := w.rest[:size]
	if strings.HasPrefix(count, "{,") {
		count = "{0" + count[1:]
	}
	w.out = append(w.out, count...)
	w.rest = w.rest[size:]
	switch {
	case w.take("?"):
		w.out = append(w.out, '?')
	case !braces && w.take("+"):
		w.wrap("(?>")
	}
	if w.rest != "" && strings.Contains("?*+{", w.rest[:1]) { // a repetition of the repetition
		if w.deep++; w.deep > maxDeep {
			w.fail("it has more than %d repetitions of one another", maxDeep)
			return
		}
		w.wrap("(?:")
	}
}

const maxDeep = 16 // repetitions of one another

const (
	// setWord is \w in brackets; alone, it has Latin-1's numbers too.
	setWord   = `\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}Ⓐ-ⓩ`
	aloneWord = setWord + latin1Numbers
	hexDigits = `0-9A-Fa-f`
	anyRune   = `[\s\S]`
)

// escapes are expressions that regexp2 writes otherwise.
var escapes = map[byte]string{
	'w': `[` + aloneWord + `]`, 'W': `[^` + aloneWord + `]`, 'h': `[` + hexDigits + `]`, 'H': `[^` + hexDigits + `]`,
	'b': `(?:(?<=[` + aloneWord + `])(?![` + aloneWord + `])|(?<![` + aloneWord + `])(?=[` + aloneWord + `]))`,
	'B': `(?:(?<=[` + aloneWord + `])(?=[` + aloneWord + `])|(?<![` + aloneWord + `])(?![` + aloneWord + `]))`,
	'R': `(?>\r\n|[\n-\r\u0085\u2028\u2029])`, 'O': anyRune, 'N': `[^\n]`,
}

// escape writes the expression after a backslash.
func (w *rewriter) escape() {
	if w.rest == "" {
		w.fail("it ends in a backslash")
		return
	}
	c := w.rest[0]
	if to, ok := escapes[c]; ok {
		w.rest = w.rest[1:]
		w.add(to)
		return
	}
	switch c {
	case 'p', 'P':
		if set, negated := w.property(); negated {
			w.add(`[^` + set + `]`)
		} else {
			w.add(`[` + set + `]`)
		}
	case 'x', 'u':
		w.add(literal(w.code()))
	default:
		_, size := utf8.DecodeRuneInString(w.rest)
		w.add(`\` + w.rest[:size])
		w.rest = w.rest[size:]
	}
}

// code reads \xHH, \x{H...} or \uHHHH after the backslash.
func (w *rewriter) code() rune {
	digits, rest := "", w.rest[1:]
	if inner, braces := strings.CutPrefix(rest, "{"); braces && w.rest[0] == 'x' {
		digits, rest, _ = strings.Cut(inner, "}")
	} else {
		digits = rest[:min(len(rest), map[byte]int{'x': 2, 'u': 4}[w.rest[0]])]
		if w.rest[0] == 'x' && len(digits) == 2 && !strings.ContainsAny(digits[1:], "0123456789abcdefABCDEF") {
			digits = digits[:1]
		}
		rest = rest[len(digits):]
	}
	n, err := strconv.ParseUint(digits, 16, 32)
	if err != nil || !utf8.ValidRune(rune(n)) {
		w.fail(`\%.10s is no character`, w.rest)
		return 0
	}
	w.rest = rest
	return rune(n)
}

// literal returns a character as it stands in an expression or in brackets.
func literal(r rune) string {
	switch {
	case r <= ' ' || r == 0x7f:
		return fmt.Sprintf(`\u%04x`, r)
	case r < utf8.RuneSelf && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_':
		return `\` + string(r)
	}
	return string(r)
}

// property reads \p{name}, \p{^name} or \P{name} after the backslash, and returns the set of the name.
func (w *rewriter) property() (set string, negated bool) {
	negated = w.rest[0] == 'P'
	name, rest, ok := strings.Cut(strings.TrimPrefix(w.rest[1:], "{"), "}")
	if !ok || w.rest[1] != '{' {
		w.fail(`\%c should be followed by {name}`, w.rest[0])
		return "", false
	}
	w.rest = rest
	if inner, ok := strings.CutPrefix(name, "^"); ok {
		name, negated = inner, !negated
	}
	set, ok = sets()[plainName(name)]
	if !ok {
		w.fail(`\p{%.40s} is not known`, name)
	}
	return set, negated
}
