package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
)

// A preTokenizer divides text into words.
type preTokenizer interface {
	apply(in *input) error
}

// preTokenizers apply one after the other.
type preTokenizers []preTokenizer

func (ps preTokenizers) apply(in *input) error {
	for _, p := range ps {
		if err := p.apply(in); err != nil {
			return err
		}
	}
	return nil
}

// splitter divides at the matches of a pattern.
type splitter struct {
	pattern   match.Pattern
	behaviour match.Behaviour
	invert    bool
}

func (p splitter) apply(in *input) error {
	if s, ok := p.pattern.(*match.Scanner); ok && p.behaviour == match.Isolated {
		in.scan(s)
		return nil
	}
	return in.split(func(s string, add func(lo, hi int)) error {
		return match.Split(s, p.pattern, p.behaviour, p.invert, add)
	})
}

// scan divides at the matches of a scanner, which are pieces themselves.
func (in *input) scan(p *match.Scanner) {
	next := in.next[:0]
	for _, q := range in.pieces {
		if q.id >= 0 {
			next = append(next, q)
			continue
		}
		s := in.text.S[:q.hi]
		prev := int(q.lo)
		for pos := prev; pos < len(s); {
			end := p.At(s, pos)
			if end <= pos {
				pos += match.RuneSize(s[pos:])
				continue
			}
			if prev < pos {
				next = append(next, piece{int32(prev), int32(pos), -1, 0})
			}
			next = append(next, piece{int32(pos), int32(end), -1, 0})
			prev, pos = end, end
		}
		if prev < len(s) {
			next = append(next, piece{int32(prev), int32(len(s)), -1, 0})
		}
	}
	in.pieces, in.next = next, in.pieces
}

// byteLevel divides as GPT-2 does, and replaces bytes by characters.
type byteLevel struct {
	prefixSpace bool
	words       *match.Scanner // nil: it does not divide
	raw         bool           // the model takes bytes
}

func (p *byteLevel) apply(in *input) error {
	if p.prefixSpace {
		err := in.rewrite(func(t norm.Text) (norm.Text, error) {
			if strings.HasPrefix(t.S, " ") {
				return t, nil
			}
			return norm.Prepend(" ").Normalize(t)
		})
		if err != nil {
			return err
		}
	}
	if p.words != nil {
		in.scan(p.words)
	}
	if p.raw {
		return nil
	}
	return in.rewrite(norm.BytesToRunes)
}

// metaspace replaces spaces by a visible character, puts one before the text, and divides before
// each.
type metaspace struct {
	replacement string
	scheme      prependScheme
	split       bool
}

type prependScheme int

const (
	prependAlways prependScheme = iota
	prependFirst                // only at the start of the text
	prependNever
)

var prependSchemes = map[string]prependScheme{"always": prependAlways, "first": prependFirst, "never": prependNever}

func (p metaspace) apply(in *input) error {
	spaces := norm.Replace{Pattern: match.Literal(" "), Content: p.replacement}
	err := in.rewrite(func(t norm.Text) (norm.Text, error) {
		t, err := spaces.Normalize(t)
		if err != nil || t.S == "" || strings.HasPrefix(t.S, p.replacement) {
			return t, err
		}
		if p.scheme == prependAlways || p.scheme == prependFirst && t.At(0).Lo == 0 {
			return norm.Prepend(p.replacement).Normalize(t)
		}
		return t, nil
	})
	if err != nil || !p.split {
		return err
	}
	return in.split(func(s string, add func(lo, hi int)) error {
		for lo := 0; lo < len(s); {
			_, first := utf8.DecodeRuneInString(s[lo:])
			hi := len(s)
			if i := strings.Index(s[lo+first:], p.replacement); i >= 0 {
				hi = lo + first + i
			}
			add(lo, hi)
			lo = hi
		}
		return nil
	})
}

// Splitters by properties of characters.
var (
	whitespaceSplit = splitter{pattern: match.Runes(unicode.IsSpace)}
	bertWords       = splitterFunc(splitBert)
	wordsAndSigns   = splitterFunc(splitWords)
	eachDigit       = splitter{pattern: match.Runes(isNumeric), behaviour: match.Isolated}
	digitRows       = splitter{pattern: match.Runes(isNumeric), behaviour: match.Contiguous}
	scripts         = splitterFunc(splitScripts)
)

type splitterFunc func(s string, add func(lo, hi int)) error

func (f splitterFunc) apply(in *input) error { return in.split(f) }

func isNumeric(r rune) bool { return match.Props(r)&match.Number != 0 }

func isPunctuation(r rune) bool {
	return match.Props(r)&match.Punctuation != 0 || r < utf8.RuneSelf && strings.ContainsRune("$+<=>^`|~", r)
}

// splitWords divides into rows of word characters and rows of others, without white space.
func splitWords(s string, add func(lo, hi int)) error {
	lo, before := 0, 0
	for i, r := range s {
		kind := 1
		if wordRune(r) {
			kind = 2
		} else if match.Props(r)&match.Space != 0 {
			kind = 0
		}
		if kind != before {
			if before != 0 {
				add(lo, i)
			}
			lo, before = i, kind
		}
	}
	if before != 0 {
		add(lo, len(s))
	}
	return nil
}

// splitBert divides at white space, and before and after punctuation.
func splitBert(s string, add func(lo, hi int)) error {
	const other, space, sign = 0, 1, 2
	start := 0
	for i := 0; i < len(s); {
		kind, size := other, 1
		if c := s[i]; c < utf8.RuneSelf {
			kind = int(bertASCII[c])
		} else {
			var r rune
			r, size = utf8.DecodeRuneInString(s[i:])
			if p := match.Props(r); p&match.Space != 0 {
				kind = space
			} else if p&match.Punctuation != 0 {
				kind = sign
			}
		}
		if kind != other {
			if start < i {
				add(start, i)
			}
			start = i + size
			if kind == sign {
				add(i, start)
			}
		}
		i += size
	}
	if start < len(s) {
		add(start, len(s))
	}
	return nil
}

var bertASCII = func() (kinds [utf8.RuneSelf]byte) {
	for c := range kinds {
		switch r := rune(c); {
		case unicode.IsSpace(r):
			kinds[c] = 1
		case isPunctuation(r):
			kinds[c] = 2
		}
	}
	return kinds
}()

// splitScripts divides where the script changes. Spaces before the first script are left out, as
// in Hugging Face's library.
func splitScripts(s string, add func(lo, hi int)) error {
	last, lo := "", -1
	for i, r := range s {
		script := scriptOf(r)
		if script == "" {
			continue
		}
		if script != last {
			if lo >= 0 {
				add(lo, i)
			}
			lo = i
		}
		last = script
	}
	if lo >= 0 {
		add(lo, len(s))
	}
	return nil
}

// scriptOf returns the script of a character, with Japanese as Han, "" for those without one.
func scriptOf(r rune) string {
	switch {
	case r == ' ':
		return ""
	case r == 0x30fc:
		return "Han"
	case r < utf8.RuneSelf && unicode.IsLetter(r):
		return "Latin"
	}
	for name, table := range unicode.Scripts {
		if unicode.Is(table, r) {
			if name == "Hiragana" || name == "Katakana" {
				return "Han"
			}
			return name
		}
	}
	return ""
}

// fixedLength divides into words of so many characters.
type fixedLength int

func (n fixedLength) apply(in *input) error {
	return in.split(func(s string, add func(lo, hi int)) error {
		lo, count := 0, 0
		for i := range s {
			if count == int(n) {
				add(lo, i)
				lo, count = i, 0
			}
			count++
		}
		add(lo, len(s))
		return nil
	})
}
