package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A normalizer changes text before it is split.
type normalizer interface {
	normalize(t text) (text, error)
}

type normalizerFunc func(t text) (text, error)

func (f normalizerFunc) normalize(t text) (text, error) { return f(t) }

// normalizers apply one after the other.
type normalizers []normalizer

func (ns normalizers) normalize(t text) (_ text, err error) {
	for _, n := range ns {
		if t, err = n.normalize(t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// mapping replaces or removes characters: f returns the new one, or a negative one.
func mapping(f func(r rune) rune) normalizer {
	m := runeMap{f: f}
	for c := range m.kept {
		m.kept[c] = f(rune(c)) == rune(c)
	}
	return &m
}

type runeMap struct {
	f    func(r rune) rune
	kept [utf8.RuneSelf]bool // the characters of one byte that do not change
}

func (m *runeMap) normalize(t text) (text, error) {
	var b *builder
	for i := 0; i < len(t.s); {
		if c := t.s[i]; c < utf8.RuneSelf && m.kept[c] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t.s[i:])
		to := m.f(r)
		i += size
		if to == r {
			continue
		}
		if b == nil {
			b = newBuilder(&t)
		}
		b.keep(i - size)
		if to < 0 {
			b.drop(1)
		} else {
			b.put(to, 0)
		}
	}
	if b == nil {
		return t, nil
	}
	return b.done(), nil
}

// lowercase maps each character to its lower case, as Rust's char::to_lowercase.
func lowercase(t text) (text, error) {
	if strings.Contains(t.s, "İ") { // the only one that becomes two
		b := newBuilder(&t)
		for i, r := range t.s {
			if r == 'İ' {
				b.keep(i)
				b.put('i', 0)
				b.put('\u0307', 1)
			}
		}
		t = b.done()
	}
	return lowerRunes.normalize(t)
}

var lowerRunes = mapping(unicode.ToLower)

// nmt is the normalization of SentencePiece's nmt rules.
var nmt = mapping(func(r rune) rune {
	switch {
	case 1 <= r && r <= 8, r == 0xb, 0xe <= r && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
		return -1
	case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200b <= r && r <= 0x200f, r == 0x2028, r == 0x2029,
		r == 0x2581, r == 0xfeff, r == 0xfffd:
		return ' '
	}
	return r
})

// stripAccents removes combining marks.
var stripAccents = mapping(func(r rune) rune {
	if props(r)&catM != 0 {
		return -1
	}
	return r
})

// strip removes white space at the ends.
type strip struct{ left, right bool }

func (s strip) normalize(t text) (text, error) {
	lo, hi := 0, len(t.s)
	if s.left {
		lo = hi - len(strings.TrimLeftFunc(t.s, unicode.IsSpace))
	}
	if s.right {
		hi = max(lo, len(strings.TrimRightFunc(t.s, unicode.IsSpace)))
	}
	return t.slice(lo, hi), nil
}

// replace replaces the matches of a pattern by a string.
type replace struct {
	pattern pattern
	content string
}

func (n replace) normalize(t text) (text, error) {
	var b *builder
	err := n.pattern.each(t.s, func(lo, hi int) {
		if b == nil {
			b = newBuilder(&t)
		}
		b.keep(lo)
		b.drop(utf8.RuneCountInString(t.s[lo:hi]))
		b.insert(n.content)
	})
	if b == nil || err != nil {
		return t, err
	}
	return b.done(), nil
}

// prepend puts a string before a text that is not empty.
type prepend string

func (n prepend) normalize(t text) (text, error) {
	if t.s == "" || n == "" {
		return t, nil
	}
	b := newBuilder(&t)
	first, _ := utf8.DecodeRuneInString(t.s)
	for i, r := range string(n) {
		b.put(r, min(i, 1))
	}
	b.put(first, 1)
	return b.done(), nil
}

// bytesToRunes replaces each byte by the character that stands for it in byte-level vocabularies.
func bytesToRunes(t text) (text, error) {
	b := newBuilder(&t)
	for i, r := range t.s {
		for j := range utf8.RuneLen(r) {
			b.put(byteRunes[t.s[i+j]], min(j, 1))
		}
	}
	return b.done(), nil
}

// byteRunes are the characters that stand for bytes in byte-level vocabularies: GPT-2 gave bytes that
// do not print the characters from U+0100 on.
var byteRunes = func() (table [256]rune) {
	next := rune(256)
	for b := range table {
		switch {
		case '!' <= b && b <= '~', 0xa1 <= b && b <= 0xac, 0xae <= b:
			table[b] = rune(b)
		default:
			table[b] = next
			next++
		}
	}
	return table
}()

// runeBytes is the inverse of byteRunes.
var runeBytes = func() map[rune]byte {
	m := map[rune]byte{}
	for b, r := range byteRunes {
		m[r] = byte(b)
	}
	return m
}()

// A bertNormalizer cleans text as BERT does.
type bertNormalizer struct {
	clean, chinese, accents, lower bool
}

func (n bertNormalizer) normalize(t text) (_ text, err error) {
	if n.clean {
		if t, err = bertClean.normalize(t); err != nil {
			return t, err
		}
	}
	if n.chinese {
		t = spaceIdeographs(t)
	}
	if n.accents {
		if t, err = stripNonspacing(t); err != nil {
			return t, err
		}
	}
	if n.lower {
		return lowercase(t)
	}
	return t, nil
}

var bertClean = mapping(func(r rune) rune {
	switch p := props(r); {
	case r == '\t', r == '\n', r == '\r':
		return ' '
	case r == 0xfffd, p&catC != 0:
		return -1
	case p&isSpace != 0:
		return ' '
	}
	return r
})

func stripNonspacing(t text) (text, error) {
	if isASCII(t.s) {
		return t, nil
	}
	t, err := nfd.normalize(t)
	if err != nil {
		return t, err
	}
	return nonspacing.normalize(t)
}

var nonspacing = mapping(func(r rune) rune {
	if r >= utf8.RuneSelf && props(r)&catM != 0 && unicode.Is(unicode.Mn, r) {
		return -1
	}
	return r
})

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spaceIdeographs puts spaces around ideographs.
func spaceIdeographs(t text) text {
	var b *builder
	for i := 0; i < len(t.s); i++ {
		if t.s[i] < 0xe3 { // no byte that an ideograph begins with
			continue
		}
		r, _ := utf8.DecodeRuneInString(t.s[i:])
		if !isIdeograph(r) {
			continue
		}
		if b == nil {
			b = newBuilder(&t)
		}
		b.keep(i)
		b.put(' ', 0)
		b.put(r, 1)
		b.put(' ', 1)
	}
	if b == nil {
		return t
	}
	return b.done()
}

// isIdeograph reports whether BERT takes a character for Chinese.
func isIdeograph(r rune) bool {
	for _, block := range [...][2]rune{
		{0x4e00, 0x9fff}, {0x3400, 0x4dbf}, {0x20000, 0x2a6df}, {0x2a700, 0x2b73f}, {0x2b740, 0x2b81f},
		{0x2b920, 0x2ceaf}, {0xf900, 0xfaff}, {0x2f800, 0x2fa1f},
	} {
		if block[0] <= r && r <= block[1] {
			return true
		}
	}
	return false
}
