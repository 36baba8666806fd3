package match

import (
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// NewScanner returns the scanner of a regular expression, nil if it is of another form.
func NewScanner(source string) *Scanner {
	p := scanParser{rest: source}
	all := p.alternatives()
	if p.bad || p.rest != "" {
		return nil
	}
	s := &Scanner{alternatives: all}
	for _, a := range all {
		set, empty := first(a)
		if empty {
			return nil
		}
		s.firsts = append(s.firsts, set)
	}
	return s
}

// A scanParser reads a regular expression; bad says that it has another form.
type scanParser struct {
	rest  string
	fold  bool
	depth int
	bad   bool
}

// alternatives reads to the end, or to the closing parenthesis.
func (p *scanParser) alternatives() (all [][]node) {
	for {
		all = append(all, p.sequence())
		if !p.take("|") {
			return all
		}
	}
}

func (p *scanParser) take(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *scanParser) fail() {
	p.bad, p.rest = true, ""
}

func (p *scanParser) sequence() (seq []node) {
	for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
		n := p.atom()
		if n.look == noLook {
			p.count(&n)
		}
		fixed := n.min == n.max
		if n.alternatives != nil {
			if n.max != 1 {
				p.fail()
			}
		} else if p.depth > 0 && !fixed {
			p.fail() // a group would have to be tried in other lengths
		}
		seq = append(seq, n)
	}
	return seq
}

// atom reads an expression that a count may follow.
func (p *scanParser) atom() node {
	fold := p.fold
	switch {
	case p.take("(?!"):
		return p.ahead(mustNotFollow)
	case p.take("(?="):
		return p.ahead(mustFollow)
	case p.take("(?i:"):
		p.fold = true
	case p.take("(?:"):
	case p.take("(?"):
		p.fail()
	case p.take("("):
	default:
		return node{class: p.class()}
	}
	if p.depth++; p.depth > 8 {
		p.fail()
	}
	n := node{alternatives: p.alternatives()}
	p.depth--
	p.fold = fold
	if !p.take(")") {
		p.fail()
	}
	return n
}

func (p *scanParser) ahead(l lookahead) node {
	n := node{look: l, class: p.class()}
	if !p.take(")") {
		p.fail()
	}
	return n
}

// count reads how often a node is repeated.
func (p *scanParser) count(n *node) {
	n.min, n.max = 1, 1
	switch {
	case p.take("?"):
		n.min = 0
	case p.take("*"):
		n.min, n.max = 0, math.MaxInt
	case p.take("+"):
		n.max = math.MaxInt
	case p.take("{"):
		inner, rest, ok := strings.Cut(p.rest, "}")
		least, most, two := strings.Cut(inner, ",")
		lo, err := strconv.ParseUint(least, 10, 16)
		hi := lo
		if two && most == "" {
			hi = math.MaxInt
		} else if two && err == nil {
			hi, err = strconv.ParseUint(most, 10, 16)
		}
		if !ok || err != nil || hi < lo || hi == 0 {
			p.fail()
			return
		}
		p.rest, n.min, n.max = rest, int(lo), int(hi)
		if p.rest != "" && strings.Contains("+?*", p.rest[:1]) {
			p.fail()
		}
		return
	default:
		return
	}
	n.possessive = p.take("+")
	if n.possessive && n.alternatives != nil || p.rest != "" && strings.Contains("?*+{", p.rest[:1]) {
		p.fail()
	}
}

// class reads a character, an escape or a class in brackets.
func (p *scanParser) class() *class {
	c := &class{}
	switch {
	case p.rest == "":
		p.fail()
	case p.take(`\`):
		p.escape(c)
	case p.take("["):
		p.brackets(c)
	case strings.Contains(".^$()*+?{}|", p.rest[:1]):
		p.fail()
	default:
		r, size := utf8.DecodeRuneInString(p.rest)
		p.rest = p.rest[size:]
		p.add(c, r, r)
	}
	return c.seal()
}

// add adds a range of characters, and those that differ from them in case if that does not matter.
func (p *scanParser) add(c *class, lo, hi rune) {
	c.ranges = append(c.ranges, lo, hi)
	if !p.fold {
		return
	}
	if hi-lo > 1024 {
		p.fail()
		return
	}
	for r := lo; r <= hi; r++ {
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			c.ranges = append(c.ranges, f, f)
		}
	}
}

func (p *scanParser) brackets(c *class) {
	c.negate = p.take("^")
	if strings.HasPrefix(p.rest, "]") {
		p.fail()
	}
	for !p.take("]") {
		switch {
		case p.rest == "" || strings.HasPrefix(p.rest, "[:"):
			p.fail()
			return
		case p.take("&&["):
			c.also = &class{}
			if p.brackets(c.also); !p.take("]") {
				p.fail()
			}
			return
		case strings.HasPrefix(p.rest, "&&"):
			p.fail()
			return
		case p.take("["):
			p.union(c)
			continue
		}
		lo, single := p.member(c)
		if !single {
			continue
		}
		hi := lo
		if len(p.rest) > 1 && p.rest[0] == '-' && p.rest[1] != ']' {
			p.rest = p.rest[1:]
			if hi, single = p.member(c); !single || hi < lo {
				p.fail()
				return
			}
		}
		p.add(c, lo, hi)
	}
}

// union adds the characters of brackets in brackets.
func (p *scanParser) union(c *class) {
	var inner class
	if p.depth++; p.depth > maxClasses {
		p.fail()
		return
	}
	p.brackets(&inner)
	if p.depth--; inner.negate || inner.also != nil {
		p.fail()
	}
	c.props |= inner.props
	c.nots |= inner.nots
	c.ranges = append(c.ranges, inner.ranges...)
}

// member reads a character in brackets; a set of characters it adds to the class.
func (p *scanParser) member(c *class) (r rune, single bool) {
	if p.take(`\`) {
		return p.escape2(c)
	}
	r, size := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[size:]
	return r, size > 0
}

// latin1Numbers are \w in Oniguruma, but not in brackets, and no other such numbers are.
const latin1Numbers = "²³¹¼½¾"

// escape reads an escape that is not in brackets.
func (p *scanParser) escape(c *class) {
	if p.rest != "" && (p.rest[0] == 'w' || p.rest[0] == 'W') {
		c.negate = p.rest[0] == 'W'
		c.props = Word
		for _, r := range latin1Numbers {
			c.ranges = append(c.ranges, r, r)
		}
		p.rest = p.rest[1:]
		return
	}
	if r, single := p.escape2(c); single {
		p.add(c, r, r)
	}
}

var (
	escapedSets = map[byte]struct{ props, nots uint16 }{
		's': {props: Space}, 'S': {nots: Space}, 'd': {props: catNd}, 'D': {nots: catNd},
		'w': {props: Word}, 'W': {nots: Word},
	}
	escapedRunes = map[byte]rune{'n': '\n', 'r': '\r', 't': '\t', 'f': '\f', 'v': '\v', '0': 0}
	properties   = map[string]uint16{
		"L": catL, "Lu": catLu, "Ll": catLl, "Lt": catLt, "Lm": catLm, "Lo": catLo, "M": Mark, "N": Number,
		"Nd": catNd, "Nl": catNl, "No": OtherNumber, "P": Punctuation, "S": catS, "Z": catZ, "C": Control | catCn,
	}
)

// escape2 reads the text after a backslash: a character, or a set of them, which it adds to the
// class.
func (p *scanParser) escape2(c *class) (r rune, single bool) {
	if p.rest == "" {
		p.fail()
		return 0, false
	}
	b := p.rest[0]
	p.rest = p.rest[1:]
	if set, ok := escapedSets[b]; ok {
		c.props |= set.props
		c.nots |= set.nots
		return 0, false
	}
	if r, ok := escapedRunes[b]; ok {
		return r, true
	}
	switch {
	case b == 'p' || b == 'P':
		name, rest, ok := strings.Cut(strings.TrimPrefix(p.rest, "{"), "}")
		bits, known := properties[name]
		if table := unicode.Scripts[name]; ok && b == 'p' && table != nil && p.rest[0] == '{' {
			p.rest = rest
			c.script(table)
			return 0, false
		}
		if !ok || !known || p.rest[0] != '{' || b == 'P' && bits&(bits-1) != 0 {
			p.fail() // also the complement of a union, which the bits of nots do not say
			return 0, false
		}
		p.rest = rest
		if b == 'p' {
			c.props |= bits
		} else {
			c.nots |= bits
		}
		return 0, false
	case b == 'u' && len(p.rest) >= 4:
		n, err := strconv.ParseUint(p.rest[:4], 16, 16)
		if err != nil {
			p.fail()
		} else {
			p.rest = p.rest[4:]
		}
		return rune(n), err == nil
	case b < utf8.RuneSelf && !unicode.IsLetter(rune(b)) && !unicode.IsDigit(rune(b)):
		return rune(b), true
	}
	p.fail()
	return 0, false
}

// script adds the characters of a script.
func (c *class) script(table *unicode.RangeTable) {
	add := func(lo, hi, stride rune) {
		if stride == 1 {
			c.ranges = append(c.ranges, lo, hi)
			return
		}
		for r := lo; r <= hi; r += stride {
			c.ranges = append(c.ranges, r, r)
		}
	}
	for _, r := range table.R16 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
	for _, r := range table.R32 {
		add(rune(r.Lo), rune(r.Hi), rune(r.Stride))
	}
}
