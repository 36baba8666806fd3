package tokenizer

import (
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
)

// A stage turns tokens into text, step by step. A token may come in fragments, the last of which has end set.
type stage interface {
	push(fragment string, end bool, emit func(fragment string, end bool))
	// flush is called after the last token.
	flush(emit func(fragment string, end bool))
}

// A decoder makes the stages of a text, in order.
type decoder func() []stage

// pipeline sends fragments through the stages from i on to out.
func pipeline(stages []stage, out func(string)) (push func(string), flush func()) {
	emits := make([]func(string, bool), len(stages)+1)
	emits[len(stages)] = func(s string, _ bool) { out(s) }
	for i := len(stages) - 1; i >= 0; i-- {
		emits[i] = func(s string, end bool) { stages[i].push(s, end, emits[i+1]) }
	}
	push = func(s string) { emits[0](s, true) }
	flush = func() {
		for i, s := range stages {
			s.flush(emits[i+1])
		}
	}
	return push, flush
}

// tokenStage is a stage that needs whole tokens: f returns the replacement of a token, the i-th, and whether it stays.
type tokenStage struct {
	f       func(i int, s string) (string, bool)
	i       int
	partial string
}

func (t *tokenStage) push(s string, end bool, emit func(string, bool)) {
	t.partial += s
	if !end {
		return
	}
	s, keep := t.f(t.i, t.partial)
	t.partial = ""
	t.i++
	if keep {
		emit(s, true)
	}
}

func (t *tokenStage) flush(emit func(string, bool)) {
	if t.partial != "" {
		t.push("", true, emit)
	}
}

// each returns the decoder that changes each token by f.
func each(f func(i int, s string) (string, bool)) decoder {
	return func() []stage { return []stage{&tokenStage{f: f}} }
}

// wordPieceDecoder puts spaces before tokens without the prefix.
func wordPieceDecoder(prefix string, cleanup bool) decoder {
	return each(func(i int, s string) (string, bool) {
		if i > 0 {
			if rest, ok := strings.CutPrefix(s, prefix); ok {
				s = rest
			} else {
				s = " " + s
			}
		}
		if cleanup {
			s = cleanUp(s)
		}
		return s, true
	})
}

// cleanups are the spaces that English has not.
var cleanups = [][2]string{
	{" .", "."}, {" ?", "?"}, {" !", "!"}, {" ,", ","}, {" ' ", "'"}, {" n't", "n't"}, {" 'm", "'m"},
	{" do not", " don't"}, {" 's", "'s"}, {" 've", "'ve"}, {" 're", "'re"},
}

func cleanUp(s string) string {
	if !strings.Contains(s, " ") {
		return s
	}
	for _, c := range cleanups {
		s = strings.ReplaceAll(s, c[0], c[1])
	}
	return s
}

// metaspaceDecoder makes spaces of a character, but none of it in the first token if one was put before the text.
func metaspaceDecoder(replacement string, prepended bool) decoder {
	return each(func(i int, s string) (string, bool) {
		to := " "
		if i == 0 && prepended {
			to = ""
		}
		return strings.ReplaceAll(s, replacement, to), true
	})
}

// lastToken makes another thing of the last token than of the others.
type lastToken struct {
	f       func(s string, last bool) string
	waiting string
	any     bool
	partial string
}

func (t *lastToken) push(s string, end bool, emit func(string, bool)) {
	t.partial += s
	if !end {
		return
	}
	if t.any {
		emit(t.f(t.waiting, false), true)
	}
	t.waiting, t.any, t.partial = t.partial, true, ""
}

func (t *lastToken) flush(emit func(string, bool)) {
	if t.partial != "" {
		t.push("", true, emit)
	}
	if t.any {
		emit(t.f(t.waiting, true), true)
	}
}

// bpeDecoder makes spaces of the suffix that ends words.
func bpeDecoder(suffix string) decoder {
	return func() []stage {
		return []stage{&lastToken{f: func(s string, last bool) string {
			if last {
				return strings.ReplaceAll(s, suffix, "")
			}
			return strings.ReplaceAll(s, suffix, " ")
		}}}
	}
}

// ctcDecoder leaves out repetitions and padding.
func ctcDecoder(pad, delimiter string, cleanup bool) decoder {
	return func() []stage {
		last, any := "", false
		return []stage{&tokenStage{f: func(_ int, s string) (string, bool) {
			if any && s == last {
				return "", false
			}
			last, any = s, true
			s = strings.ReplaceAll(s, pad, "")
			if cleanup {
				s = strings.ReplaceAll(cleanUp(s), delimiter, " ")
			}
			return s, s != ""
		}}}
	}
}

// replaceDecoder replaces the matches of a pattern in each token.
func replaceDecoder(p match.Pattern, content string) decoder {
	return each(func(_ int, s string) (string, bool) {
		var b strings.Builder
		prev := 0
		p.Each(s, func(lo, hi int) { // one that takes too long leaves the rest as it is
			b.WriteString(s[prev:lo])
			b.WriteString(content)
			prev = hi
		})
		b.WriteString(s[prev:])
		return b.String(), true
	})
}

// stripStage removes a character at most left times from the start of a token, and at most right times from its end.
type stripStage struct {
	content     string
	left, right int
	removed     int // from the start of this token
	started     bool
	held        int // occurrences at the end, which may have to be removed
}

func (t *stripStage) push(s string, end bool, emit func(string, bool)) {
	for !t.started && s != "" {
		rest, ok := strings.CutPrefix(s, t.content)
		if !ok || t.removed == t.left {
			t.started = true
			break
		}
		s = rest
		t.removed++
	}
	if s != "" {
		n := len(s)
		tail := 0
		for tail < t.right && strings.HasSuffix(s[:n], t.content) {
			n -= len(t.content)
			tail++
		}
		if n > 0 {
			s = strings.Repeat(t.content, t.held) + s[:n]
			t.held = tail
		} else {
			t.held += tail
			over := max(0, t.held-t.right)
			s, t.held = strings.Repeat(t.content, over), t.held-over
		}
		if s != "" || end {
			emit(s, end)
		}
	} else if end {
		emit("", true)
	}
	if end {
		t.removed, t.started, t.held = 0, false, 0
	}
}

func (t *stripStage) flush(func(string, bool)) {}

// fuse makes one token of all.
type fuse struct{}

func (fuse) push(s string, _ bool, emit func(string, bool)) { emit(s, false) }
func (fuse) flush(emit func(string, bool))                  { emit("", true) }

// byteFallback makes characters of rows of tokens <0x00> to <0xFF>, and U+FFFD of each token of a row that is no UTF-8.
type byteFallback struct {
	row     []byte
	partial string
}

func (t *byteFallback) push(s string, end bool, emit func(string, bool)) {
	t.partial += s
	if !end {
		return
	}
	s, t.partial = t.partial, ""
	if b, ok := byteToken(s); ok {
		t.row = append(t.row, b)
		return
	}
	t.write(emit)
	emit(s, true)
}

// byteToken returns the byte that a token stands for.
func byteToken(s string) (byte, bool) {
	if len(s) != 6 || s[:3] != "<0x" || s[5] != '>' {
		return 0, false
	}
	hi, lo := strings.IndexByte(hexDigits, s[3]), strings.IndexByte(hexDigits, s[4])
	if hi < 0 || lo < 0 {
		return 0, false
	}
	return byte(hexValue(hi)<<4 | hexValue(lo)), true
}

const hexDigits = "0123456789ABCDEFabcdef"

func hexValue(i int) int {
	if i > 15 {
		return i - 6
	}
	return i
}

func (t *byteFallback) write(emit func(string, bool)) {
	if len(t.row) == 0 {
		return
	}
	if utf8.Valid(t.row) {
		emit(string(t.row), true)
	} else {
		for range t.row {
			emit("\ufffd", true)
		}
	}
	t.row = t.row[:0]
}

func (t *byteFallback) flush(emit func(string, bool)) {
	if t.partial != "" {
		t.push("", true, emit)
	}
	t.write(emit)
}

// bytesStage makes text of byte-level tokens, and one token of all.
type bytesStage struct {
	rest    []byte
	partial string
}

func (t *bytesStage) push(s string, end bool, emit func(string, bool)) {
	t.partial += s
	if !end {
		return
	}
	if raw, ok := norm.RawBytes(t.partial); ok {
		t.rest = append(t.rest, raw...)
	} else {
		t.rest = append(t.rest, t.partial...)
	}
	t.partial = ""
	var text []byte
	text, t.rest = validUTF8(t.rest, false)
	emit(string(text), false)
}

func (t *bytesStage) flush(emit func(string, bool)) {
	if t.partial != "" {
		t.push("", true, emit)
	}
	text, _ := validUTF8(t.rest, true)
	t.rest = nil
	emit(string(text), true)
}

// validUTF8 replaces each longest part of b that begins a character and does not end it, and each byte that begins
// none, by U+FFFD, as Unicode recommends. Unless b is complete, it leaves the start of a character at the end.
func validUTF8(b []byte, complete bool) (text, rest []byte) {
	if utf8.Valid(b) {
		return b, nil
	}
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r != utf8.RuneError || n > 1 {
			text = append(text, b[:n]...)
			b = b[n:]
			continue
		}
		if !complete && !utf8.FullRune(b) {
			return text, append([]byte(nil), b...)
		}
		n = 1
		for n < len(b) && !utf8.FullRune(b[:n]) && !utf8.FullRune(b[:n+1]) {
			n++
		}
		text = append(text, "\ufffd"...)
		b = b[n:]
	}
	return text, nil
}
