package tokenizer

import (
	"unicode/utf8"
)

// A span is a range of bytes of the original text.
type span struct{ lo, hi int32 }

// A text is a string on its way to the model. Each of its bytes remembers the bytes of the original
// character that it came from.
type text struct {
	s  string
	al []span // by byte; nil if s has the characters' lengths of the original, from base on
	// base is the place of s in the original text, where al is nil.
	base int
}

// at returns the origin of byte i.
func (t *text) at(i int) span {
	if t.al != nil {
		return t.al[i]
	}
	lo := i
	for lo > 0 && !utf8.RuneStart(t.s[lo]) {
		lo--
	}
	hi := i + 1
	for hi < len(t.s) && !utf8.RuneStart(t.s[hi]) {
		hi++
	}
	return span{int32(t.base + lo), int32(t.base + hi)}
}

// origin returns the origin of the bytes lo to hi of the text, which are not empty.
func (t *text) origin(lo, hi int) span { return span{t.at(lo).lo, t.at(hi - 1).hi} }

// slice returns the part from lo to hi.
func (t *text) slice(lo, hi int) text {
	if t.al != nil {
		return text{s: t.s[lo:hi], al: t.al[lo:hi]}
	}
	return text{s: t.s[lo:hi], base: t.base + lo}
}

// spans returns the origins of all bytes.
func (t *text) spans() []span {
	if t.al != nil {
		return t.al
	}
	al := make([]span, 0, len(t.s))
	for i := 0; i < len(t.s); {
		n := 1
		if t.s[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(t.s[i:])
		}
		v := span{int32(t.base + i), int32(t.base + i + n)}
		for range n {
			al = append(al, v)
		}
		i += n
	}
	return al
}

// A builder makes a text of another one, whose characters it takes in order. Its methods are the
// ways in which Hugging Face's normalizers change text, with the origins that they give.
type builder struct {
	from *text
	pos  int // of the next byte of from that was not taken
	s    []byte
	al   []span
	same bool // whether all was kept as it is
}

func newBuilder(t *text) *builder {
	return &builder{from: t, same: true, s: make([]byte, 0, len(t.s)+len(t.s)/8+16)}
}

// spread notes origins from here on.
func (b *builder) spread() {
	if !b.same {
		return
	}
	b.same = false
	part := b.from.slice(0, b.pos)
	b.al = append(make([]span, 0, cap(b.s)), part.spans()...)
}

// keep takes the bytes up to end unchanged: whole characters.
func (b *builder) keep(end int) {
	if end <= b.pos {
		return
	}
	b.s = append(b.s, b.from.s[b.pos:end]...)
	if !b.same {
		part := b.from.slice(b.pos, end)
		if part.al != nil {
			b.al = append(b.al, part.al...)
		} else {
			b.al = appendIdentity(b.al, part.s, part.base)
		}
	}
	b.pos = end
}

// appendIdentity appends the origins of a part that was not changed.
func appendIdentity(al []span, s string, base int) []span {
	for i := 0; i < len(s); {
		n := 1
		if s[i] >= utf8.RuneSelf {
			_, n = utf8.DecodeRuneInString(s[i:])
		}
		v := span{int32(base + i), int32(base + i + n)}
		for range n {
			al = append(al, v)
		}
		i += n
	}
	return al
}

// put appends r. A change of 0 replaces the next character by r, one of -n also removes the n
// characters after it, and 1 inserts r, with the origin of the character before.
func (b *builder) put(r rune, change int) {
	b.spread()
	var v span
	switch {
	case change <= 0 && b.pos < len(b.from.s):
		v = b.from.at(b.pos)
		b.drop(1 - change)
	case b.pos > 0:
		v = b.from.at(b.pos - 1)
	case len(b.from.s) > 0:
		v = span{b.from.at(0).lo, b.from.at(0).lo}
	default:
		v = span{int32(b.from.base), int32(b.from.base)}
	}
	n := len(b.s)
	b.s = utf8.AppendRune(b.s, r)
	for range len(b.s) - n {
		b.al = append(b.al, v)
	}
}

// swap replaces the next character by one of the same length.
func (b *builder) swap(r rune) {
	if b.same {
		b.s = utf8.AppendRune(b.s, r)
		_, n := utf8.DecodeRuneInString(b.from.s[b.pos:])
		b.pos += n
		return
	}
	b.put(r, 0)
}

// drop removes the next n characters.
func (b *builder) drop(n int) {
	if n > 0 {
		b.spread()
	}
	for ; n > 0 && b.pos < len(b.from.s); n-- {
		_, size := utf8.DecodeRuneInString(b.from.s[b.pos:])
		b.pos += size
	}
}

// insert inserts a string, with the origin of the character before.
func (b *builder) insert(s string) {
	for _, r := range s {
		b.put(r, 1)
	}
}

// done returns the text.
func (b *builder) done() text {
	b.keep(len(b.from.s))
	if b.same {
		return text{s: string(b.s), al: b.from.al, base: b.from.base}
	}
	return text{s: string(b.s), al: b.al, base: b.from.base}
}
