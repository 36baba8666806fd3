package norm

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// A Normalizer changes text before it is split.
type Normalizer interface {
	Normalize(t Text) (Text, error)
}

// A Func is a Normalizer.
type Func func(t Text) (Text, error)

// Normalize calls f.
func (f Func) Normalize(t Text) (Text, error) { return f(t) }

// A Chain applies its normalizers one after the other.
type Chain []Normalizer

// Normalize applies all.
func (ns Chain) Normalize(t Text) (_ Text, err error) {
	for _, n := range ns {
		if t, err = n.Normalize(t); err != nil {
			return t, err
		}
	}
	return t, nil
}

// mapping replaces or removes characters: f returns the new one, or a negative one.
func mapping(f func(r rune) rune) Normalizer {
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

func (m *runeMap) Normalize(t Text) (Text, error) {
	var b *builder
	for i := 0; i < len(t.S); {
		if c := t.S[i]; c < utf8.RuneSelf && m.kept[c] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(t.S[i:])
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

// Lowercase maps each character to its lower case, as Rust's char::to_lowercase.
func Lowercase(t Text) (Text, error) {
	if strings.Contains(t.S, "İ") { // the only one that becomes two
		b := newBuilder(&t)
		for i, r := range t.S {
			if r == 'İ' {
				b.keep(i)
				b.put('i', 0)
				b.put('\u0307', 1)
			}
		}
		t = b.done()
	}
	return lowerRunes.Normalize(t)
}

var lowerRunes = mapping(unicode.ToLower)

// NMT is the normalization of SentencePiece's NMT rules.
var NMT = mapping(func(r rune) rune {
	switch {
	case 1 <= r && r <= 8, r == 0xb, 0xe <= r && r <= 0x1f, r == 0x7f, r == 0x8f, r == 0x9f:
		return -1
	case r == '\t', r == '\n', r == '\f', r == '\r', r == 0x1680, 0x200b <= r && r <= 0x200f, r == 0x2028, r == 0x2029,
		r == 0x2581, r == 0xfeff, r == 0xfffd:
		return ' '
	}
	return r
})

// StripAccents removes combining marks.
var StripAccents = mapping(func(r rune) rune {
	if match.Props(r)&match.Mark != 0 {
		return -1
	}
	return r
})

// Strip removes white space at the ends.
type Strip struct{ Left, Right bool }

func (s Strip) Normalize(t Text) (Text, error) {
	lo, hi := 0, len(t.S)
	if s.Left {
		lo = hi - len(strings.TrimLeftFunc(t.S, unicode.IsSpace))
	}
	if s.Right {
		hi = max(lo, len(strings.TrimRightFunc(t.S, unicode.IsSpace)))
	}
	return t.Slice(lo, hi), nil
}

// Replace replaces the matches of a pattern by a string.
type Replace struct {
	Pattern match.Pattern
	Content string
}

func (n Replace) Normalize(t Text) (Text, error) {
	var b *builder
	err := n.Pattern.Each(t.S, func(lo, hi int) {
		if b == nil {
			b = newBuilder(&t)
		}
		b.keep(lo)
		b.drop(utf8.RuneCountInString(t.S[lo:hi]))
		b.insert(n.Content)
	})
	if b == nil || err != nil {
		return t, err
	}
	return b.done(), nil
}

// Prepend puts a string before a text that is not empty.
type Prepend string

func (n Prepend) Normalize(t Text) (Text, error) {
	if t.S == "" || n == "" {
		return t, nil
	}
	b := newBuilder(&t)
	first, _ := utf8.DecodeRuneInString(t.S)
	for i, r := range string(n) {
		b.put(r, min(i, 1))
	}
	b.put(first, 1)
	return b.done(), nil
}

// BytesToRunes replaces each byte by the character that stands for it in byte-level vocabularies.
func BytesToRunes(t Text) (Text, error) {
	b := newBuilder(&t)
	for i, r := range t.S {
		for j := range utf8.RuneLen(r) {
			b.put(ByteRunes[t.S[i+j]], min(j, 1))
		}
	}
	return b.done(), nil
}

// ByteRunes are the characters that stand for bytes in byte-level vocabularies: GPT-2 gave bytes that
// do not print the characters from U+0100 on.
var ByteRunes = func() (table [256]rune) {
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

// runeBytes is the inverse of ByteRunes.
var runeBytes = func() map[rune]byte {
	m := map[rune]byte{}
	for b, r := range ByteRunes {
		m[r] = byte(b)
	}
	return m
}()

// RawBytes returns the bytes that a token of a byte-level vocabulary stands for.
func RawBytes(s string) (string, bool) {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		c, ok := runeBytes[r]
		if !ok {
			return "", false
		}
		b = append(b, c)
	}
	return string(b), true
}

// A BERT cleans text as BERT does.
type BERT struct {
	Clean, Chinese, Accents, Lower bool
}

func (n BERT) Normalize(t Text) (_ Text, err error) {
	if n.Clean {
		if t, err = bertClean.Normalize(t); err != nil {
			return t, err
		}
	}
	if n.Chinese {
		t = spaceIdeographs(t)
	}
	if n.Accents {
		if t, err = stripNonspacing(t); err != nil {
			return t, err
		}
	}
	if n.Lower {
		return Lowercase(t)
	}
	return t, nil
}

var bertClean = mapping(func(r rune) rune {
	switch p := match.Props(r); {
	case r == '\t', r == '\n', r == '\r':
		return ' '
	case r == 0xfffd, p&match.Control != 0:
		return -1
	case p&match.Space != 0:
		return ' '
	}
	return r
})

func stripNonspacing(t Text) (Text, error) {
	if IsASCII(t.S) {
		return t, nil
	}
	t, err := NFD.Normalize(t)
	if err != nil {
		return t, err
	}
	return nonspacing.Normalize(t)
}

var nonspacing = mapping(func(r rune) rune {
	if r >= utf8.RuneSelf && match.Props(r)&match.Mark != 0 && unicode.Is(unicode.Mn, r) {
		return -1
	}
	return r
})

func IsASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// spaceIdeographs puts spaces around ideographs.
func spaceIdeographs(t Text) Text {
	var b *builder
	for i := 0; i < len(t.S); i++ {
		if t.S[i] < 0xe3 { // no byte that an ideograph begins with
			continue
		}
		r, _ := utf8.DecodeRuneInString(t.S[i:])
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
