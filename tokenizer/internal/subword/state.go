package subword

import (
	"hash/maphash"
)

// A State is one goroutine's memory for encoding: buffers that are used again, and the words that it has
// met.
type State struct {
	steps   []step
	symbols []symbol
	heap    []candidate
	dead    []uint64
	follows [1 << followBits]uint64 // by hash of a pair: the pair, and in the highest bit the answer
	words   wordCache
}

const followBits = 15

// deadEnds returns n bits, all 0.
func (st *State) deadEnds(n int) []uint64 {
	words := n/64 + 1
	if cap(st.dead) < words {
		st.dead = make([]uint64, words*2)
	}
	d := st.dead[:words]
	clear(d)
	return d
}

// Tokenize appends the tokens of a word.
func (st *State) Tokenize(m Model, word string, toks []Tok) ([]Tok, error) {
	if len(word) > longestCached {
		return m.Tokenize(st, word, toks)
	}
	hash := maphash.String(st.words.seed, word)
	if found, ok := st.words.get(hash, word); ok {
		return append(toks, found...), nil
	}
	n := len(toks)
	toks, err := m.Tokenize(st, word, toks)
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
	toks  []Tok
	used  int
}

type cacheSlot struct {
	hash       uint64
	text, toks int32
	length     uint16 // of the word; 0: free
	count      uint16
}

func newWordCache() wordCache { return wordCache{seed: maphash.MakeSeed()} }

func (c *wordCache) get(hash uint64, word string) ([]Tok, bool) {
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

func (c *wordCache) put(hash uint64, word string, toks []Tok) {
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

// NewState returns a state that has met no words.
func NewState() *State { return &State{words: newWordCache()} }
