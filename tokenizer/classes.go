package tokenizer

import (
	"sync/atomic"
	"unicode"
)

// Properties of characters, as bits. A character has one general category.
const (
	catLu = 1 << iota
	catLl
	catLt
	catLm
	catLo
	catM
	catNd
	catNl
	catNo
	catP
	catS
	catZ
	catC  // control, format, private use, surrogates
	catCn // not assigned
	isSpace
	isWord // \w of Oniguruma: alphabetic characters, marks, numbers, connectors

	catL = catLu | catLl | catLt | catLm | catLo
	catN = catNd | catNl | catNo
)

// A page has the properties of 256 characters.
type page [256]uint16

// pages are made when one of their characters is first asked for.
var pages [(unicode.MaxRune + 1) / 256]atomic.Pointer[page]

// props returns the properties of a character.
func props(r rune) uint16 {
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
	{unicode.M, catM}, {unicode.Nd, catNd}, {unicode.Nl, catNl}, {unicode.No, catNo},
	{unicode.P, catP}, {unicode.S, catS}, {unicode.Z, catZ},
	{unicode.Cc, catC}, {unicode.Cf, catC}, {unicode.Co, catC}, {unicode.Cs, catC}, // unicode.C has unassigned ones too
	{unicode.White_Space, isSpace},
	{unicode.L, isWord}, {unicode.M, isWord}, {unicode.N, isWord}, {unicode.Pc, isWord}, {unicode.Other_Alphabetic, isWord},
}

func newPage(first rune) *page {
	p := new(page)
	for i := range p {
		for _, c := range categories {
			if unicode.Is(c.table, first+rune(i)) {
				p[i] |= c.bit
			}
		}
		if p[i]&^(isSpace|isWord) == 0 {
			p[i] |= catCn
		}
	}
	return p
}
