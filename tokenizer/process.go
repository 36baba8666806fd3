package tokenizer

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/norm"
)

// A processor adds the special tokens of a model to one or two texts.
type processor interface {
	process(encodings []*Encoding, special bool) []*Encoding
	// added is the number of tokens that process adds.
	added(pair bool) int
}

// processors apply one after the other.
type processors []processor

func (ps processors) process(encodings []*Encoding, special bool) []*Encoding {
	for _, p := range ps {
		encodings = p.process(encodings, special)
	}
	return encodings
}

func (ps processors) added(pair bool) (n int) {
	for _, p := range ps {
		n += p.added(pair)
	}
	return n
}

// A template is a row of texts and special tokens.
type template struct{ single, pair []templatePiece }

type templatePiece struct {
	sequence int // 0 or 1; -1 for special tokens
	typeID   int32
	ids      []int32
	tokens   []string
}

func (t template) pieces(pair bool) []templatePiece {
	if pair {
		return t.pair
	}
	return t.single
}

func (t template) added(pair bool) (n int) {
	for _, p := range t.pieces(pair) {
		n += len(p.ids)
	}
	return n
}

func (t template) process(encodings []*Encoding, special bool) (out []*Encoding) {
	idsOnly := true
	for _, e := range encodings {
		idsOnly = idsOnly && e.Tokens == nil
	}
	used := map[int]bool{}
	for _, p := range t.pieces(len(encodings) > 1) {
		switch {
		case p.sequence < 0 && special:
			out = append(out, specials(p.ids, p.tokens, p.typeID, idsOnly))
		case p.sequence >= 0 && p.sequence < len(encodings):
			e := encodings[p.sequence]
			if used[p.sequence] { // a text may stand in a template twice
				overflow := e.Overflow
				e = e.part(0, e.Len())
				e.Overflow = overflow
			}
			used[p.sequence] = true
			e.setTypes(p.typeID)
			out = append(out, e)
		}
	}
	return out
}

// trimSpaces moves offsets behind the spaces that byte-level tokens begin with, and before those at
// their end. A first space is left alone if it was added to the text.
type trimSpaces struct{ prefixSpace bool }

func (trimSpaces) added(bool) int { return 0 }

func (t trimSpaces) process(encodings []*Encoding, _ bool) []*Encoding {
	for _, e := range encodings {
		t.trim(e)
		for _, o := range e.Overflow {
			t.trim(o)
		}
	}
	return encodings
}

func (t trimSpaces) trim(e *Encoding) {
	for i, s := range e.Tokens {
		if s == "" {
			continue
		}
		first, _ := utf8.DecodeRuneInString(s)
		last, _ := utf8.DecodeLastRuneInString(s)
		if !isByteSpace(first) && !isByteSpace(last) {
			continue
		}
		o := &e.Offsets[i]
		leading := int32(utf8.RuneCountInString(s) - utf8.RuneCountInString(strings.TrimLeftFunc(s, isByteSpace)))
		trailing := int32(utf8.RuneCountInString(s) - utf8.RuneCountInString(strings.TrimRightFunc(s, isByteSpace)))
		if leading == 1 && t.prefixSpace && (i == 0 || o[0] == 0) {
			leading = 0
		}
		o[0] = min(o[0]+leading, o[1])
		if o[1] >= trailing {
			o[1] = max(o[1]-trailing, o[0])
		}
	}
}

func isByteSpace(r rune) bool { return r == norm.ByteRunes[' '] || unicode.IsSpace(r) }

// sameType gives all tokens the type 0, as RoBERTa has no other.
type sameType struct{}

func (sameType) added(bool) int { return 0 }

func (sameType) process(encodings []*Encoding, _ bool) []*Encoding {
	for _, e := range encodings {
		e.setTypes(0)
	}
	return encodings
}
