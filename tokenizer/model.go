package tokenizer

import (
	"fmt"
	"unicode/utf8"
)

// A tok is a token of a word: the bytes lo to hi of it.
type tok struct{ id, lo, hi int32 }

// A model divides words into tokens.
type model interface {
	// tokenize appends the tokens of a word, which is not empty.
	tokenize(st *state, word string, toks []tok) ([]tok, error)
	vocab() *vocabulary
	// surface is the id whose tokens show the text that they stand for; -1 if none does.
	surface() int32
	// saved returns the section model of tokenizer.json.
	saved() any
}

// A vocabulary numbers tokens.
type vocabulary struct {
	ids    map[string]int32
	tokens []string // by id; "" for an unused id
	has    []bool   // whether an id has a token, nil if all have one
	size   int
}

// maxSparse is the number of ids that a small vocabulary may leave out.
const maxSparse = 1 << 20

// maxToken is the greatest length of a token in bytes.
const maxToken = 1 << 16

var errToken = fmt.Errorf("a token has more than %d bytes", maxToken)

// newVocabulary returns the vocabulary of ids, which bound limits: a file has no token for most ids
// beyond its size.
func newVocabulary(ids map[string]int32, bound int) (*vocabulary, error) {
	v := &vocabulary{ids: ids, size: len(ids)}
	top := int32(-1)
	for s, id := range ids {
		if id < 0 || int(id) >= max(bound, maxSparse) {
			return nil, fmt.Errorf("token %q has the id %d: ids must be from 0 to %d here", s, id, max(bound, maxSparse)-1)
		}
		if len(s) > maxToken {
			return nil, errToken
		}
		top = max(top, id)
	}
	v.tokens = make([]string, top+1)
	v.has = make([]bool, top+1)
	for s, id := range ids {
		if v.has[id] && v.tokens[id] > s { // of two with one id the first in order counts
			continue
		}
		v.tokens[id], v.has[id] = s, true
	}
	return v, nil
}

// token returns the token of an id.
func (v *vocabulary) token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(v.tokens) || !v.has[id] {
		return "", false
	}
	return v.tokens[id], true
}

// byteTokens returns the ids of <0x00> to <0xFF>, -1 for those that are missing.
func (v *vocabulary) byteTokens() (ids [256]int32) {
	for b := range ids {
		ids[b] = -1
		if id, ok := v.ids[fmt.Sprintf("<0x%02X>", b)]; ok {
			ids[b] = id
		}
	}
	return ids
}

// wordLevel takes each word for a token.
type wordLevel struct {
	words   *vocabulary
	unknown string
}

func (m *wordLevel) vocab() *vocabulary { return m.words }
func (m *wordLevel) surface() int32     { return -1 }

func (m *wordLevel) tokenize(_ *state, word string, toks []tok) ([]tok, error) {
	id, ok := m.words.ids[word]
	if !ok {
		if id, ok = m.words.ids[m.unknown]; !ok {
			return nil, fmt.Errorf("the word %.40q is not in the vocabulary, which lacks the unk_token %q too", word, m.unknown)
		}
	}
	return append(toks, tok{id, 0, int32(len(word))}), nil
}

// wordPiece takes the longest token that a word begins with, and goes on with tokens that have a
// prefix.
type wordPiece struct {
	words       *vocabulary
	unknown     string
	prefix      string
	first, rest *trie // tokens that may begin a word; others, without their prefix
	longest     int   // of words, in characters: longer ones are unknown
}

func newWordPiece(words *vocabulary, unknown, prefix string, longest int) *wordPiece {
	m := &wordPiece{words: words, unknown: unknown, prefix: prefix, longest: longest}
	rest := map[string]int32{}
	for s, id := range words.ids {
		if len(s) > len(prefix) && s[:len(prefix)] == prefix {
			rest[s[len(prefix):]] = id
		}
	}
	m.first, m.rest = trieOf(words.ids), trieOf(rest)
	return m
}

func (m *wordPiece) vocab() *vocabulary { return m.words }
func (m *wordPiece) surface() int32     { return -1 }

func (m *wordPiece) tokenize(_ *state, word string, toks []tok) ([]tok, error) {
	start, known := len(toks), utf8.RuneCountInString(word) <= m.longest
	for pos, t := 0, m.first; known && pos < len(word); t = m.rest {
		id, n := t.longest(word[pos:])
		if known = n > 0; known {
			toks = append(toks, tok{id, int32(pos), int32(pos + n)})
			pos += n
		}
	}
	if known {
		return toks, nil
	}
	id, ok := m.words.ids[m.unknown]
	if !ok {
		return nil, fmt.Errorf("the word %.40q needs the unk_token %q, which the vocabulary lacks", word, m.unknown)
	}
	return append(toks[:start], tok{id, 0, int32(len(word))}), nil
}

// unigram divides a word so that the sum of its tokens' scores is greatest.
type unigram struct {
	words    *vocabulary
	scores   []float64
	trie     *trie
	unknown  int32 // -1: none
	least    float64
	fallback bool // bytes that have tokens stand for unknown characters
	bytes    [256]int32
}

// unknownPenalty is how much less than the worst token an unknown character scores.
const unknownPenalty = 10

func (m *unigram) vocab() *vocabulary { return m.words }
func (m *unigram) surface() int32     { return m.unknown }

// A step is the best way to a place in a word.
type step struct {
	score    float64
	from, id int32 // from: -1 if there is no way
}

func (m *unigram) tokenize(st *state, word string, toks []tok) ([]tok, error) {
	steps := st.steps[:0]
	for range len(word) + 1 {
		steps = append(steps, step{from: -1})
	}
	st.steps = steps
	nodes, unknown := m.trie.nodes, m.least-unknownPenalty
	for pos := 0; pos < len(word); {
		size := 1
		if word[pos] >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(word[pos:])
		}
		here, single := steps[pos].score, false
		node := int32(0)
		for i := pos; i < len(word); i++ {
			n := nodes[node].base + int32(word[i])
			if nodes[n].check != node || n == 0 {
				break
			}
			node = n
			id := nodes[n].value
			if id < 0 {
				continue
			}
			if to, score := &steps[i+1], here+m.scores[id]; to.from < 0 || score > to.score {
				*to = step{score, int32(pos), id}
			}
			single = single || i+1 == pos+size
		}
		if !single {
			to, score := &steps[pos+size], here+unknown
			if to.from < 0 || score > to.score {
				if m.unknown < 0 {
					return nil, fmt.Errorf("the character %q is unknown, and the model has no unk_id", word[pos:pos+size])
				}
				*to = step{score, int32(pos), m.unknown}
			}
		}
		pos += size
	}
	start := len(toks)
	for end := int32(len(word)); end > 0; {
		s := steps[end]
		if n := len(toks); s.id == m.unknown && n > start && toks[n-1].id == m.unknown {
			toks[n-1].lo = s.from // unknown characters in a row are one token
		} else {
			toks = append(toks, tok{s.id, s.from, end})
		}
		end = s.from
	}
	for i, j := start, len(toks)-1; i < j; i, j = i+1, j-1 {
		toks[i], toks[j] = toks[j], toks[i]
	}
	return m.known(word, toks, start), nil
}

// known replaces unknown tokens: by the token that their text is, or by the tokens of its
// bytes.
func (m *unigram) known(word string, toks []tok, start int) []tok {
	unknown := false
	for _, t := range toks[start:] {
		unknown = unknown || t.id == m.unknown
	}
	if !unknown {
		return toks
	}
	old := append([]tok(nil), toks[start:]...)
	toks = toks[:start]
	for _, t := range old {
		s := word[t.lo:t.hi]
		if id, ok := m.words.ids[s]; t.id != m.unknown || ok {
			if ok {
				t.id = id
			}
			toks = append(toks, t)
			continue
		}
		n := len(toks)
		for i := range len(s) {
			if id := m.bytes[s[i]]; m.fallback && id >= 0 {
				toks = append(toks, tok{id, t.lo, t.hi})
			}
		}
		if len(toks)-n < len(s) {
			toks = append(toks[:n], t)
		}
	}
	return toks
}
