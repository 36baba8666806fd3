package match

import (
	"unicode"
	"unicode/utf8"
)

// A Scanner matches a regular expression of a simple form without a general engine: alternatives of
// sequences of characters and classes, with greedy or possessive counts, groups that may be absent,
// and a class looked ahead for. The splitters of nearly all models have this form. scanparse.go
// reads them.
type Scanner struct {
	alternatives [][]node
	firsts       [][4]uint64 // by alternative: the bytes it can begin with
}

// A node is a class and how often it is repeated, or, if alternatives is set, a group of which one
// alternative matches.
type node struct {
	class        *class
	min, max     int
	possessive   bool
	look         lookahead
	alternatives [][]node
}

type lookahead int

const (
	noLook lookahead = iota
	mustFollow
	mustNotFollow
)

// A class is a set of characters.
type class struct {
	ascii  [2]uint64
	props  uint16 // the characters that have one of these properties,
	ranges []rune // those in a range, as pairs,
	nots   uint16 // and those that lack one of these,
	also   *class // if they belong to this one too; nil: to all
	negate bool
}

// member reports whether a character of more than one byte belongs to a class.
func (c *class) member(r rune) bool {
	p := Props(r)
	in := p&c.props != 0
	for bits := c.nots; bits != 0 && !in; bits &= bits - 1 {
		in = p&(bits&-bits) == 0
	}
	for i := 0; i < len(c.ranges) && !in; i += 2 {
		in = c.ranges[i] <= r && r <= c.ranges[i+1]
	}
	if in && c.also != nil {
		in = c.also.member(r)
	}
	return in != c.negate
}

// seal makes the table of the characters of one byte.
func (c *class) seal() *class {
	for r := range rune(utf8.RuneSelf) {
		if c.member(r) {
			c.ascii[r>>6] |= 1 << (r & 63)
		}
	}
	return c
}

// run returns the end of at most most characters of the class, from pos on, and their number.
func (c *class) run(s string, pos, most int) (end, n int) {
	a0, a1 := c.ascii[0], c.ascii[1]
	for n < most && pos < len(s) {
		if b := s[pos]; b < utf8.RuneSelf {
			word := a0
			if b >= 64 {
				word = a1
			}
			if word>>(b&63)&1 == 0 {
				break
			}
			pos++
		} else {
			r, size := utf8.DecodeRuneInString(s[pos:])
			if !c.member(r) {
				break
			}
			pos += size
		}
		n++
	}
	return pos, n
}

// match returns the end of the sequence at pos of s, -1 if it does not match.
func match(seq []node, s string, pos int) int {
	for i := range seq {
		n := &seq[i]
		switch {
		case n.look != noLook:
			_, found := n.class.run(s, pos, 1)
			if (found == 1) != (n.look == mustFollow) {
				return -1
			}
		case n.alternatives != nil:
			for _, a := range n.alternatives {
				if end := match(a, s, pos); end >= 0 { // a group's alternatives end at fixed places
					if end = match(seq[i+1:], s, end); end >= 0 {
						return end
					}
				}
			}
			if n.min > 0 {
				return -1
			}
		default:
			end, count := n.class.run(s, pos, n.max)
			if count < n.min {
				return -1
			}
			if i+1 == len(seq) {
				return end
			}
			if n.possessive || count == n.min {
				pos = end
				continue
			}
			for ; count >= n.min; count-- {
				if e := match(seq[i+1:], s, end); e >= 0 {
					return e
				}
				if count > 0 {
					_, size := utf8.DecodeLastRuneInString(s[:end])
					end -= size
				}
			}
			return -1
		}
	}
	return pos
}

// At returns the end of the match at pos, or -1.
func (p *Scanner) At(s string, pos int) int {
	b := s[pos]
	for i := range p.alternatives {
		if p.firsts[i][b>>6]>>(b&63)&1 == 0 {
			continue
		}
		if end := match(p.alternatives[i], s, pos); end >= 0 {
			return end
		}
	}
	return -1
}

func (p *Scanner) Each(s string, found func(lo, hi int)) error {
	for pos := 0; pos < len(s); {
		if end := p.At(s, pos); end > pos {
			found(pos, end)
			pos = end
			continue
		}
		_, size := utf8.DecodeRuneInString(s[pos:])
		pos += size
	}
	return nil
}

// first returns the bytes that a sequence may begin with, and whether it may be empty.
func first(seq []node) (set [4]uint64, empty bool) {
	for _, n := range seq {
		if n.look != noLook {
			continue
		}
		more, optional := [4]uint64{}, n.min == 0
		if n.alternatives == nil {
			more = [4]uint64{n.class.ascii[0], n.class.ascii[1], ^uint64(0), ^uint64(0)}
			if n.class.onlyASCII() {
				more[2], more[3] = 0, 0
			}
		}
		for _, a := range n.alternatives {
			begin, empty := first(a)
			for i := range more {
				more[i] |= begin[i]
			}
			optional = optional || empty
		}
		for i := range set {
			set[i] |= more[i]
		}
		if !optional {
			return set, false
		}
	}
	return set, true
}

// onlyASCII reports whether a class has no other characters.
func (c *class) onlyASCII() bool {
	for i := 1; i < len(c.ranges); i += 2 {
		if c.ranges[i] > unicode.MaxASCII {
			return false
		}
	}
	return !c.negate && c.props == 0 && c.nots == 0
}
