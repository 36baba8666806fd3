// Package match finds the parts at which text is divided: characters by their properties, strings and
// regular expressions. Read this file first; scanner.go runs the expressions of known forms, and
// oniguruma.go rewrites the others for regexp2.
package match

import (
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
	"github.com/dlclark/regexp2/syntax"

	"github.com/tensorken/tensorken/internal/clock"
)

// A Pattern finds parts of a text.
type Pattern interface {
	// Each calls found with the matches, from left to right. Matches do not overlap.
	Each(s string, found func(lo, hi int)) error
}

// Literal is a string that is searched for as it is. The empty one is before each character, and at the
// end.
type Literal string

func (l Literal) Each(s string, found func(lo, hi int)) error {
	if l == "" {
		for i := range s {
			found(i, i)
		}
		found(len(s), len(s))
		return nil
	}
	for pos := 0; ; {
		i := strings.Index(s[pos:], string(l))
		if i < 0 {
			return nil
		}
		found(pos+i, pos+i+len(l))
		pos += i + len(l)
	}
}

// Runes matches single characters.
type Runes func(r rune) bool

func (f Runes) Each(s string, found func(lo, hi int)) error {
	for i, r := range s {
		if f(r) {
			found(i, i+utf8.RuneLen(r))
		}
	}
	return nil
}

// NewRegex returns the pattern of a regular expression: a scanner if it has a form that Splitters of
// tokenizers have, else one of regexp2.
func NewRegex(source string) (Pattern, error) {
	if len(source) > maxRegex {
		return nil, fmt.Errorf("the regular expression has %d bytes, more than %d", len(source), maxRegex)
	}
	if source == digitTriples {
		return triples{}, nil
	}
	if s := NewScanner(source); s != nil {
		return s, nil
	}
	return newBacktracking(source)
}

// The greatest length of a regular expression, and the longest that it may take for one text.
const (
	maxRegex     = 1 << 16
	regexTimeout = 10 * time.Second
)

// backtracking is a regular expression of regexp2.
type backtracking struct {
	re    *regexp2.Regexp
	limit time.Duration // that one text may take
}

func newBacktracking(source string) (Pattern, error) {
	rewritten, err := rewrite(source)
	var re *regexp2.Regexp
	if err == nil {
		re, err = regexp2.Compile(rewritten, regexp2.Multiline) // as Oniguruma
	}
	if err != nil {
		why := err.Error()
		if e := (*syntax.Error)(nil); errors.As(err, &e) {
			why = fmt.Sprintf(e.Code.String(), e.Args...) // without the expression
		}
		return nil, fmt.Errorf("the regular expression %.100q cannot be read: %.300q", source, why)
	}
	re.MatchTimeout = regexTimeout
	return backtracking{re, regexTimeout}, nil
}

func (b backtracking) Each(s string, found func(lo, hi int)) error {
	text, began := []rune(s), clock.Now()
	m, err := b.re.FindRunesMatch(text)
	at, pos := 0, 0 // the same place in runes and in bytes
	advance := func(to int) int {
		for ; at < to; at++ {
			pos += utf8.RuneLen(text[at])
		}
		return pos
	}
	slow := false
	for last := -1; err == nil && m != nil && !slow; {
		lo := advance(m.Index)
		if hi := advance(m.Index + m.Length); lo < hi || lo != last { // an empty one at the end of another does not count
			found(lo, hi)
			last = hi
		}
		m, err = b.re.FindNextMatch(m)
		slow = clock.Since(began) > b.limit // regexp2 has a limit for each match
	}
	if slow || err != nil { // regexp2 fails for nothing else, and quotes all of the text
		return fmt.Errorf("the regular expression takes longer than %v on a text of %d characters: divide the text", b.limit, len(text))
	}
	return nil
}

// A Behaviour says what a split does with the matches of its pattern.
type Behaviour int

const (
	Removed Behaviour = iota
	Isolated
	MergedWithPrevious
	MergedWithNext
	Contiguous
)

var Behaviours = map[string]Behaviour{
	"Removed": Removed, "Isolated": Isolated, "MergedWithPrevious": MergedWithPrevious,
	"MergedWithNext": MergedWithNext, "Contiguous": Contiguous,
}

// A part of a text matches a pattern or not.
type part struct {
	lo, hi int
	match  bool
}

// Split calls add with the parts of s, in order.
func Split(s string, p Pattern, b Behaviour, invert bool, add func(lo, hi int)) error {
	if b == Isolated { // whether a part matches does not matter
		prev := 0
		err := p.Each(s, func(lo, hi int) {
			if prev < lo {
				add(prev, lo)
			}
			if lo < hi {
				add(lo, hi)
			}
			prev = hi
		})
		if err == nil && prev < len(s) {
			add(prev, len(s))
		}
		return err
	}
	parts, err := partition(s, p, invert)
	if err != nil {
		return err
	}
	for _, q := range join(parts, b) {
		if q.lo < q.hi && !(b == Removed && q.match) {
			add(q.lo, q.hi)
		}
	}
	return nil
}

// partition returns the matches, and the parts between them.
func partition(s string, p Pattern, invert bool) (parts []part, err error) {
	prev := 0
	err = p.Each(s, func(lo, hi int) {
		if prev != lo {
			parts = append(parts, part{prev, lo, invert})
		}
		parts = append(parts, part{lo, hi, !invert})
		prev = hi
	})
	if prev != len(s) {
		parts = append(parts, part{prev, len(s), invert})
	}
	return parts, err
}

// join joins parts as the behaviour asks for. Of a row of matches only the one beside the text
// joins it.
func join(parts []part, b Behaviour) []part {
	var out []part
	before := false
	switch b {
	case Removed, Isolated:
		return parts
	case MergedWithNext:
		for i := len(parts) - 1; i >= 0; i-- {
			if p := parts[i]; p.match && !before && len(out) > 0 {
				out[len(out)-1].lo = p.lo
			} else {
				out = append(out, p)
			}
			before = parts[i].match
		}
		for i, j := 0, len(out)-1; i < j; i, j = i+1, j-1 {
			out[i], out[j] = out[j], out[i]
		}
		return out
	}
	for _, p := range parts {
		joins := p.match && !before
		if b == Contiguous {
			joins = p.match == before
		}
		if joins && len(out) > 0 {
			out[len(out)-1].hi = p.hi
		} else {
			out = append(out, p)
		}
		before = p.match
	}
	return out
}
