package norm

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
)

// A Charsmap is SentencePiece's table of replacements: a double array whose values are places of
// strings that end with a 0.
type Charsmap struct {
	units   []uint32
	strings string
}

func NewCharsmap(data []byte) (*Charsmap, error) {
	if len(data) < 4 {
		return nil, fmt.Errorf("the table has %d bytes, and needs 4 at least", len(data))
	}
	size := int(uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16 | uint32(data[3])<<24)
	if size < 4 || size%4 != 0 || size > len(data)-4 {
		return nil, fmt.Errorf("its index should have %d bytes, and %d follow", size, len(data)-4)
	}
	c := &Charsmap{units: make([]uint32, size/4), strings: string(data[4+size:])}
	for i := range c.units {
		b := data[4+4*i:]
		c.units[i] = uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
	}
	if !utf8.ValidString(c.strings) {
		return nil, fmt.Errorf("its strings are no UTF-8")
	}
	return c, nil
}

// find returns the replacement of the shortest key that s begins with.
func (c *Charsmap) find(s string) (string, bool) {
	offset := func(unit uint32) uint32 { return unit >> 10 << (unit & (1 << 9) >> 6) }
	at := offset(c.units[0])
	for i := range len(s) {
		if s[i] == 0 {
			break
		}
		at ^= uint32(s[i])
		if int(at) >= len(c.units) {
			break
		}
		unit := c.units[at]
		if unit&(1<<31|0xff) != uint32(s[i]) {
			break
		}
		at ^= offset(unit)
		if int(at) >= len(c.units) {
			break
		}
		if unit>>8&1 == 0 {
			continue
		}
		place := c.units[at] &^ (1 << 31)
		if int(place) > len(c.strings) {
			return "", false
		}
		to, _, _ := strings.Cut(c.strings[place:], "\x00")
		return to, true
	}
	return "", false
}

// Normalize replaces the characters that the table has. As in Hugging Face's library, a character with
// its marks is looked up as one if it has fewer than 6 bytes.
func (c *Charsmap) Normalize(t Text) (Text, error) {
	var b *builder
	lost := 0 // characters at the start that were removed: that library loses count of them
	pos := 0
	keep := func(end int) {
		if lost == 0 {
			b.keep(end)
		}
		for _, r := range t.S[pos:end] {
			if lost > 0 {
				b.put(r, 0)
			}
		}
		pos = end
	}
	change := func(at int, old, to string) {
		if b == nil {
			b = newBuilder(&t)
		}
		keep(at)
		pos += len(old)
		before, after := utf8.RuneCountInString(old), utf8.RuneCountInString(to)
		i := 0
		for _, r := range to {
			i++
			switch {
			case i > before:
				b.put(r, 1)
			case i == after && after < before:
				b.put(r, after-before)
			default:
				b.put(r, 0)
			}
		}
		if after == 0 && len(b.s) > 0 {
			b.drop(before)
		} else if after == 0 {
			lost += before
		}
	}
	for pos := 0; pos < len(t.S); {
		if r := t.S[pos]; ' ' <= r && r < 0x7f && (pos+1 == len(t.S) || t.S[pos+1] < utf8.RuneSelf) && !c.ascii(r) {
			pos++
			continue
		}
		g := grapheme(t.S[pos:])
		if g < 6 {
			if to, ok := c.find(t.S[pos : pos+g]); ok {
				if to != t.S[pos:pos+g] {
					change(pos, t.S[pos:pos+g], to)
				}
				pos += g
				continue
			}
		}
		for end := pos + g; pos < end; {
			n := match.RuneSize(t.S[pos:])
			if to, ok := c.find(t.S[pos : pos+n]); ok && to != t.S[pos:pos+n] {
				change(pos, t.S[pos:pos+n], to)
			}
			pos += n
		}
	}
	if b == nil {
		return t, nil
	}
	keep(len(t.S))
	b.pos = len(t.S)
	return b.done(), nil
}

// ascii reports whether the table has keys that begin with a character of ASCII.
func (c *Charsmap) ascii(b byte) bool {
	_, ok := c.find(string(rune(b)))
	return ok
}

// grapheme returns the length of the first grapheme cluster of s, as far as clusters of fewer than 6
// bytes go: marks and joiners belong to the character before them, and CR to LF.
func grapheme(s string) int {
	r, n := utf8.DecodeRuneInString(s)
	if r == '\r' && strings.HasPrefix(s[n:], "\n") {
		return 2
	}
	if unicode.IsControl(r) || r == 0x2028 || r == 0x2029 || r != 0x200c && r != 0x200d && unicode.Is(unicode.Cf, r) && !unicode.Is(unicode.Prepended_Concatenation_Mark, r) {
		return n
	}
	for n < len(s) {
		r, size := utf8.DecodeRuneInString(s[n:])
		if !unicode.Is(unicode.M, r) && r != 0x200c && r != 0x200d && (r < 0x1f3fb || r > 0x1f3ff) && r != 0xff9e && r != 0xff9f {
			break
		}
		n += size
	}
	return n
}
