package tokenizer

import (
	"hash/maphash"
	"unicode/utf8"
)

// A state is one goroutine's memory for encoding: buffers that are used again, and the words that it
// has met.
type state struct {
	in      input
	all     []tok // of the text
	steps   []step
	symbols []symbol
	heap    []candidate
	dead    []uint64
	follows [1 << followBits]uint64 // by hash of a pair: the pair, and in the highest bit the answer
	words   wordCache
}

const followBits = 15

// deadEnds returns n bits, all 0.
func (st *state) deadEnds(n int) []uint64 {
	words := n/64 + 1
	if cap(st.dead) < words {
		st.dead = make([]uint64, words*2)
	}
	d := st.dead[:words]
	clear(d)
	return d
}

// tokenize appends the tokens of a word.
func (st *state) tokenize(m model, word string, toks []tok) ([]tok, error) {
	if len(word) > longestCached {
		return m.tokenize(st, word, toks)
	}
	hash := maphash.String(st.words.seed, word)
	if found, ok := st.words.get(hash, word); ok {
		return append(toks, found...), nil
	}
	n := len(toks)
	toks, err := m.tokenize(st, word, toks)
	if err == nil {
		st.words.put(hash, word, toks[n:])
	}
	return toks, err
}

// The bounds of a cache: the longest word in bytes, entries, and their tokens.
const (
	longestCached = 64
	cacheBits     = 16
	cachedTokens  = 1 << 18
)

// A wordCache has the tokens of words. It forgets all when it is full.
type wordCache struct {
	seed  maphash.Seed
	slots []cacheSlot
	text  []byte
	toks  []tok
	used  int
}

type cacheSlot struct {
	hash       uint64
	text, toks int32
	length     uint16 // of the word; 0: free
	count      uint16
}

func newWordCache() wordCache { return wordCache{seed: maphash.MakeSeed()} }

func (c *wordCache) get(hash uint64, word string) ([]tok, bool) {
	if c.slots == nil {
		return nil, false
	}
	for i := hash & (1<<cacheBits - 1); ; i = (i + 1) & (1<<cacheBits - 1) {
		s := &c.slots[i]
		if s.length == 0 {
			return nil, false
		}
		if s.hash == hash && string(c.text[s.text:s.text+int32(s.length)]) == word {
			return c.toks[s.toks : s.toks+int32(s.count)], true
		}
	}
}

func (c *wordCache) put(hash uint64, word string, toks []tok) {
	if c.slots == nil {
		c.slots = make([]cacheSlot, 1<<cacheBits)
	}
	if c.used > 1<<cacheBits*3/4 || len(c.toks)+len(toks) > cachedTokens {
		clear(c.slots)
		c.text, c.toks, c.used = c.text[:0], c.toks[:0], 0
	}
	i := hash & (1<<cacheBits - 1)
	for c.slots[i].length != 0 {
		i = (i + 1) & (1<<cacheBits - 1)
	}
	c.slots[i] = cacheSlot{hash, int32(len(c.text)), int32(len(c.toks)), uint16(len(word)), uint16(len(toks))}
	c.text = append(c.text, word...)
	c.toks = append(c.toks, toks...)
	c.used++
}

// runeSize returns the number of bytes of the first character.
func runeSize(s string) int {
	if s[0] < utf8.RuneSelf {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s)
	return n
}

// A piece is a part of a text: an added token, or text if id is negative.
type piece struct{ lo, hi, id int32 }

// An input is a text and its pieces, in order.
type input struct {
	text   text
	pieces []piece
	next   []piece
}

// split replaces each piece of text by those that f adds, without empty ones.
func (in *input) split(f func(s string, add func(lo, hi int)) error) error {
	in.next = in.next[:0]
	base := int32(0)
	add := func(lo, hi int) {
		if lo < hi {
			in.next = append(in.next, piece{base + int32(lo), base + int32(hi), -1})
		}
	}
	for _, p := range in.pieces {
		if p.id >= 0 {
			in.next = append(in.next, p)
			continue
		}
		base = p.lo
		if err := f(in.text.s[p.lo:p.hi], add); err != nil {
			return err
		}
	}
	in.pieces, in.next = in.next, in.pieces
	return nil
}

// extract makes pieces of the added tokens that f finds.
func (in *input) extract(a *addedTokens, f *finder) {
	if f == nil {
		return
	}
	in.next = in.next[:0]
	for _, p := range in.pieces {
		if p.id >= 0 {
			in.next = append(in.next, p)
			continue
		}
		a.split(f, in.text.s[p.lo:p.hi], func(lo, hi int, id int32) {
			in.next = append(in.next, piece{p.lo + int32(lo), p.lo + int32(hi), id})
		})
	}
	in.pieces, in.next = in.next, in.pieces
}

// rewrite changes each piece of text by f.
func (in *input) rewrite(f func(t text) (text, error)) error {
	if len(in.pieces) == 1 && in.pieces[0].id < 0 {
		t, err := f(in.text.slice(int(in.pieces[0].lo), int(in.pieces[0].hi)))
		if err != nil {
			return err
		}
		in.text = t
		in.pieces[0] = piece{0, int32(len(t.s)), -1}
		if t.s == "" {
			in.pieces = in.pieces[:0]
		}
		return nil
	}
	parts := make([]text, len(in.pieces))
	size := 0
	for i, p := range in.pieces {
		parts[i] = in.text.slice(int(p.lo), int(p.hi))
		if p.id < 0 {
			var err error
			if parts[i], err = f(parts[i]); err != nil {
				return err
			}
		}
		size += len(parts[i].s)
	}
	all := text{}
	s := make([]byte, 0, size)
	out := in.pieces[:0]
	for i, p := range in.pieces {
		lo := len(s)
		s = append(s, parts[i].s...)
		all.runs, _ = appendRuns(all.runs, lo, &parts[i], 0, len(parts[i].s), 0)
		if lo < len(s) {
			out = append(out, piece{int32(lo), int32(len(s)), p.id})
		}
	}
	all.s = string(s)
	in.text, in.pieces = all, out
	return nil
}
