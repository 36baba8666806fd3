package match

import (
	"sync/atomic"
	"unicode"
	"unicode/utf8"
)

// Properties of characters, as bits. A character has one general category.
const (
	catLu = 1 << iota
	catLl
	catLt
	catLm
	catLo
	Mark
	catNd
	catNl
	OtherNumber
	Punctuation
	catS
	catZ
	Control // control, format, private use, surrogates
	catCn   // not assigned
	Space
	Word // \w of Oniguruma: alphabetic characters, marks, digits, connectors

	catL   = catLu | catLl | catLt | catLm | catLo
	Number = catNd | catNl | OtherNumber
)

// A page has the properties of 256 characters.
type page [256]uint16

// pages are made when one of their characters is first asked for.
var pages [(unicode.MaxRune + 1) / 256]atomic.Pointer[page]

// Props returns the properties of a character.
func Props(r rune) uint16 {
	if uint32(r) > unicode.MaxRune {
		return catCn
	}
	p := pages[r>>8].Load()
	if p == nil {
		p = newPage(r &^ 255)
		pages[r>>8].Store(p)
	}
	return p[r&255]
}

var categories = []struct {
	table *unicode.RangeTable
	bit   uint16
}{
	{unicode.Lu, catLu}, {unicode.Ll, catLl}, {unicode.Lt, catLt}, {unicode.Lm, catLm}, {unicode.Lo, catLo},
	{unicode.M, Mark}, {unicode.Nd, catNd}, {unicode.Nl, catNl}, {unicode.No, OtherNumber},
	{unicode.P, Punctuation}, {unicode.S, catS}, {unicode.Z, catZ},
	{unicode.Cc, Control}, {unicode.Cf, Control}, {unicode.Co, Control}, {unicode.Cs, Control}, // unicode.C has unassigned ones too
	{unicode.White_Space, Space},
	{unicode.L, Word}, {unicode.M, Word}, {unicode.Nd, Word}, {unicode.Nl, Word}, {unicode.Pc, Word}, {unicode.Other_Alphabetic, Word},
}

func newPage(first rune) *page {
	p := new(page)
	for i := range p {
		for _, c := range categories {
			if unicode.Is(c.table, first+rune(i)) {
				p[i] |= c.bit
			}
		}
		if p[i]&^(Space|Word) == 0 {
			p[i] |= catCn
		}
	}
	return p
}

// RuneSize returns the number of bytes of the first character of a string that is not empty.
func RuneSize(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}
