package tokenizer

import (
	"fmt"
	"slices"
)

// An Encoding is a text as a model reads it. All its slices have an element for each token.
type Encoding struct {
	IDs    []int32
	Tokens []string
	// Offsets are the characters of the text that tokens stand for, from the first to before the
	// last, counted in runes. Tokens that are added to a text have 0, 0.
	Offsets [][2]int32
	// TypeIDs say which text of a pair a token belongs to, as the model wants it.
	TypeIDs []int32
	// AttentionMask is 0 for padding, else 1.
	AttentionMask []int32
	// SpecialMask is 1 for tokens that are added to a text and for padding, else 0.
	SpecialMask []int32
	// Overflow has the parts that truncation cut off, each as long as this one.
	Overflow []*Encoding

	words [][2]int32 // the tokens of each word that is no added token: the first, and the one after the last
}

// A Side is an end of a text.
type Side int

// Sides.
const (
	Right Side = iota
	Left
)

// A Truncation limits the length of encodings.
type Truncation struct {
	MaxLength int
	// Stride is the number of tokens that Overflow repeats.
	Stride int
	// Strategy says which text of a pair is cut: LongestFirst, OnlyFirst or OnlySecond.
	Strategy Strategy
	// Side is where tokens are cut off.
	Side Side
}

// A Strategy says which text of a pair is cut.
type Strategy int

// Strategies.
const (
	LongestFirst Strategy = iota
	OnlyFirst
	OnlySecond
)

// A Padding makes encodings longer.
type Padding struct {
	// Length is the length of all encodings; 0 stands for the longest of a batch.
	Length int
	// MultipleOf rounds the length up, unless it is 0.
	MultipleOf int
	Side       Side
	ID, TypeID int32
	Token      string
}

// Len returns the number of tokens.
func (e *Encoding) Len() int { return len(e.IDs) }

// setTypes gives all tokens a type.
func (e *Encoding) setTypes(id int32) {
	for i := range e.TypeIDs {
		e.TypeIDs[i] = id
	}
	for _, o := range e.Overflow {
		o.setTypes(id)
	}
}

// part returns a copy of the tokens lo to hi.
func (e *Encoding) part(lo, hi int) *Encoding {
	p := &Encoding{IDs: slices.Clone(e.IDs[lo:hi])}
	if e.Tokens != nil {
		p.Tokens, p.Offsets, p.TypeIDs = slices.Clone(e.Tokens[lo:hi]), slices.Clone(e.Offsets[lo:hi]), slices.Clone(e.TypeIDs[lo:hi])
		p.AttentionMask, p.SpecialMask = slices.Clone(e.AttentionMask[lo:hi]), slices.Clone(e.SpecialMask[lo:hi])
	}
	return p
}

// add appends the tokens of f. Each overflow of one is combined with the other and its overflows.
func (e *Encoding) add(f *Encoding) {
	var overflow []*Encoding
	for _, o := range e.Overflow {
		for _, p := range append([]*Encoding{f}, f.Overflow...) {
			overflow = append(overflow, joined(o, p))
		}
	}
	for _, p := range f.Overflow {
		overflow = append(overflow, joined(e, p))
	}
	e.IDs = append(e.IDs, f.IDs...)
	e.Tokens = append(e.Tokens, f.Tokens...)
	e.Offsets = append(e.Offsets, f.Offsets...)
	e.TypeIDs = append(e.TypeIDs, f.TypeIDs...)
	e.AttentionMask = append(e.AttentionMask, f.AttentionMask...)
	e.SpecialMask = append(e.SpecialMask, f.SpecialMask...)
	e.Overflow = overflow
}

// joined returns the tokens of e and of f.
func joined(e, f *Encoding) *Encoding {
	j := e.part(0, e.Len())
	j.add(&Encoding{f.IDs, f.Tokens, f.Offsets, f.TypeIDs, f.AttentionMask, f.SpecialMask, nil, nil})
	return j
}

// specials returns tokens that are added to a text.
func specials(ids []int32, tokens []string, typeID int32, idsOnly bool) *Encoding {
	e := &Encoding{IDs: ids}
	if idsOnly {
		return e
	}
	e.Tokens, e.Offsets = tokens, make([][2]int32, len(ids))
	e.TypeIDs, e.AttentionMask, e.SpecialMask = filled(len(ids), typeID), filled(len(ids), 1), filled(len(ids), 1)
	return e
}

func filled(n int, v int32) []int32 {
	s := make([]int32, n)
	if v != 0 {
		for i := range s {
			s[i] = v
		}
	}
	return s
}

// truncate cuts the encoding to at most n tokens.
func (e *Encoding) truncate(n, stride int, side Side) error {
	length := e.Len()
	if n >= length {
		return nil
	}
	if n <= 0 {
		whole := *e
		*e = *e.part(0, 0)
		e.Overflow = append(whole.Overflow, &whole)
		whole.Overflow = nil
		return nil
	}
	if stride >= n {
		return fmt.Errorf("tokenizer: a stride of %d is not smaller than the %d tokens that truncation leaves", stride, n)
	}
	var parts []*Encoding
	for i := 0; ; i += n - stride {
		lo, hi := i, min(i+n, length)
		if side == Left {
			lo, hi = max(0, length-i-n), length-i
		}
		parts = append(parts, e.part(lo, hi))
		if side == Right && hi == length || side == Left && lo == 0 {
			break
		}
	}
	*e = *parts[0]
	e.Overflow = parts[1:]
	return nil
}

// apply truncates one or two encodings to the length that is left beside added tokens.
func (t *Truncation) apply(encodings []*Encoding, added int) error {
	most := t.MaxLength - added
	if most < 0 {
		return fmt.Errorf("tokenizer: truncation to %d tokens leaves no place for %d special ones", t.MaxLength, added)
	}
	total := 0
	for _, e := range encodings {
		total += e.Len()
	}
	if total <= most {
		return nil
	}
	if most == 0 {
		for _, e := range encodings {
			if err := e.truncate(0, t.Stride, t.Side); err != nil {
				return err
			}
		}
		return nil
	}
	if t.Strategy == LongestFirst {
		if len(encodings) == 1 {
			return encodings[0].truncate(most, t.Stride, t.Side)
		}
		n1, n2 := shares(t.counted(encodings[0]), t.counted(encodings[1]), most)
		if err := encodings[0].truncate(n1, t.Stride, t.Side); err != nil {
			return err
		}
		return encodings[1].truncate(n2, t.Stride, t.Side)
	}
	which := 0
	if t.Strategy == OnlySecond {
		which = 1
	}
	if which >= len(encodings) {
		return fmt.Errorf("tokenizer: truncation is to cut the second text, and there is none")
	}
	e := encodings[which]
	if left := e.Len() - (total - most); left > 0 {
		return e.truncate(left, t.Stride, t.Side)
	}
	return fmt.Errorf("tokenizer: truncation to %d tokens would leave none of text %d, which has %d", t.MaxLength, which+1, e.Len())
}

// counted returns the length of a text as far as Hugging Face's library goes: to the end of the word,
// or to its start from the other side, at which it has enough tokens.
func (t *Truncation) counted(e *Encoding) int {
	counted := e.Len()
	for _, w := range e.words {
		switch {
		case t.Side == Right && int(w[1]) >= t.MaxLength:
			return int(w[1])
		case t.Side == Left && e.Len()-int(w[0]) >= t.MaxLength:
			counted = e.Len() - int(w[0])
		}
	}
	return counted
}

// shares returns the lengths of two texts of n1 and n2 tokens of which most may stay: the longer one
// is cut first. Of two that are cut the longer one keeps an odd token.
func shares(n1, n2, most int) (int, int) {
	short, long := most/2, most-most/2
	if least := min(n1, n2); least < short {
		short, long = least, most-least
	}
	if n1 > n2 {
		return long, short
	}
	return short, long
}

// length returns the length of encodings, the longest of which has n tokens.
func (p *Padding) length(n int) int {
	if p.Length > 0 {
		n = p.Length
	}
	if p.MultipleOf > 0 && n%p.MultipleOf > 0 {
		n += p.MultipleOf - n%p.MultipleOf
	}
	return n
}

// pad makes an encoding n tokens long.
func (p *Padding) pad(e *Encoding, n int) {
	for _, o := range e.Overflow {
		p.pad(o, n)
	}
	missing := n - e.Len()
	if missing <= 0 {
		return
	}
	tokens := make([]string, missing)
	for i := range tokens {
		tokens[i] = p.Token
	}
	pad := specials(filled(missing, p.ID), tokens, p.TypeID, e.Tokens == nil && e.Len() > 0)
	clear(pad.AttentionMask)
	overflow := e.Overflow
	e.Overflow = nil
	if p.Side == Left {
		pad.add(e)
		*e = *pad
	} else {
		e.add(pad)
	}
	e.Overflow = overflow
}
