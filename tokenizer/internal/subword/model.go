// Package subword divides words into the tokens of a vocabulary, and makes vocabularies. Read model.go
// first: it has the interface of models, and all but BPE, which is in bpe.go and merge.go.
package subword

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
)

// A Tok is a token of a word: the bytes lo to hi of it.
type Tok struct{ ID, Lo, Hi int32 }

// A Model divides words into tokens.
type Model interface {
	// Tokenize appends the tokens of a word, which is not empty.
	Tokenize(st *State, word string, toks []Tok) ([]Tok, error)
	Vocab() *Vocabulary
	// Surface is the id whose tokens show the text that they stand for; -1 if none does.
	Surface() int32
}

// A Vocabulary numbers tokens.
type Vocabulary struct {
	IDs    map[string]int32
	Tokens []string // by id; "" for an unused id
	Has    []bool   // whether an id has a token, nil if all have one
	Size   int
}

// maxSparse is the number of ids that a small vocabulary may leave out.
const maxSparse = 1 << 20

// MaxToken is the greatest length of a token in bytes.
const MaxToken = 1 << 16

// ErrToken is the error for a longer one.
var ErrToken = fmt.Errorf("a token has more than %d bytes", MaxToken)

// Memory of a vocabulary: of a token in maps, lists and the order of a trie, of a byte in the trie, and of a
// merge in its list, which append grows, and in the table of pairs.
const (
	perToken = 640
	perByte  = 64
	perMerge = 256
)

// Check fails if there is too little memory for so many tokens of some bytes together.
func Check(tokens, bytes int) error {
	if err := hostmem.Check(bytes, perByte); err != nil {
		return err
	}
	return hostmem.Check(tokens, perToken)
}

// NewVocabulary returns the vocabulary of ids, which bound limits: a file has no token for most ids
// beyond its size.
func NewVocabulary(ids map[string]int32, bound int) (*Vocabulary, error) {
	v := &Vocabulary{IDs: ids, Size: len(ids)}
	top, size := int32(-1), 0
	for s, id := range ids {
		if id < 0 || int(id) >= max(bound, maxSparse) {
			return nil, fmt.Errorf("token %q has the id %d: ids must be from 0 to %d here", s, id, max(bound, maxSparse)-1)
		}
		if len(s) > MaxToken {
			return nil, ErrToken
		}
		top, size = max(top, id), size+len(s)
	}
	if err := Check(len(ids), size); err != nil {
		return nil, err
	}
	if err := hostmem.Check(int(top)+1, 17); err != nil { // a string and a bool
		return nil, err
	}
	v.Tokens = make([]string, top+1)
	v.Has = make([]bool, top+1)
	for s, id := range ids {
		if v.Has[id] && v.Tokens[id] > s { // of two with one id the first in order counts
			continue
		}
		v.Tokens[id], v.Has[id] = s, true
	}
	return v, nil
}

// Token returns the token of an id.
func (v *Vocabulary) Token(id int32) (string, bool) {
	if id < 0 || int(id) >= len(v.Tokens) || !v.Has[id] {
		return "", false
	}
	return v.Tokens[id], true
}

// byteTokens returns the ids of <0x00> to <0xFF>, -1 for those that are missing.
func (v *Vocabulary) byteTokens() (ids [256]int32) {
	for b := range ids {
		ids[b] = -1
		if id, ok := v.IDs[fmt.Sprintf("<0x%02X>", b)]; ok {
			ids[b] = id
		}
	}
	return ids
}

// WordLevel takes each word for a token.
type WordLevel struct {
	Words   *Vocabulary
	Unknown string
}

func (m *WordLevel) Vocab() *Vocabulary { return m.Words }
func (m *WordLevel) Surface() int32     { return -1 }

func (m *WordLevel) Tokenize(_ *State, word string, toks []Tok) ([]Tok, error) {
	id, ok := m.Words.IDs[word]
	if !ok {
		if id, ok = m.Words.IDs[m.Unknown]; !ok {
			return nil, fmt.Errorf("the word %.40q is not in the vocabulary, which lacks the unk_token %q too", word, m.Unknown)
		}
	}
	return append(toks, Tok{id, 0, int32(len(word))}), nil
}

// WordPiece takes the longest token that a word begins with, and goes on with tokens that have a
// prefix.
type WordPiece struct {
	Words       *Vocabulary
	Unknown     string
	Prefix      string
	first, rest *Trie // tokens that may begin a word; others, without their prefix
	LongestWord int   // of words, in characters: longer ones are unknown
}

func NewWordPiece(words *Vocabulary, unknown, prefix string, longest int) *WordPiece {
	m := &WordPiece{Words: words, Unknown: unknown, Prefix: prefix, LongestWord: longest}
	rest := map[string]int32{}
	for s, id := range words.IDs {
		if len(s) > len(prefix) && s[:len(prefix)] == prefix {
			rest[s[len(prefix):]] = id
		}
	}
	m.first, m.rest = TrieOf(words.IDs), TrieOf(rest)
	return m
}

func (m *WordPiece) Vocab() *Vocabulary { return m.Words }
func (m *WordPiece) Surface() int32     { return -1 }

func (m *WordPiece) Tokenize(_ *State, word string, toks []Tok) ([]Tok, error) {
	start, known := len(toks), utf8.RuneCountInString(word) <= m.LongestWord
	for pos, t := 0, m.first; known && pos < len(word); t = m.rest {
		id, n := t.Longest(word[pos:])
		if known = n > 0; known {
			toks = append(toks, Tok{id, int32(pos), int32(pos + n)})
			pos += n
		}
	}
	if known {
		return toks, nil
	}
	id, ok := m.Words.IDs[m.Unknown]
	if !ok {
		return nil, fmt.Errorf("the word %.40q needs the unk_token %q, which the vocabulary lacks", word, m.Unknown)
	}
	return append(toks[:start], Tok{id, 0, int32(len(word))}), nil
}

// Unigram divides a word so that the sum of its tokens' scores is greatest.
type Unigram struct {
	Words    *Vocabulary
	Scores   []float64
	trie     *Trie
	Unknown  int32 // -1: none
	least    float64
	Fallback bool // bytes that have tokens stand for unknown characters
	bytes    [256]int32
}

// unknownPenalty is how much less than the worst token an unknown character scores.
const unknownPenalty = 10

func (m *Unigram) Vocab() *Vocabulary { return m.Words }
func (m *Unigram) Surface() int32     { return m.Unknown }

// A step is the best way to a place in a word.
type step struct {
	score    float64
	from, id int32 // from: -1 if there is no way
}

func (m *Unigram) Tokenize(st *State, word string, toks []Tok) ([]Tok, error) {
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
			if to, score := &steps[i+1], here+m.Scores[id]; to.from < 0 || score > to.score {
				*to = step{score, int32(pos), id}
			}
			single = single || i+1 == pos+size
		}
		if !single {
			to, score := &steps[pos+size], here+unknown
			if to.from < 0 || score > to.score {
				if m.Unknown < 0 {
					return nil, fmt.Errorf("the character %q is unknown, and the model has no unk_id", word[pos:pos+size])
				}
				*to = step{score, int32(pos), m.Unknown}
			}
		}
		pos += size
	}
	start := len(toks)
	for end := int32(len(word)); end > 0; {
		s := steps[end]
		if n := len(toks); s.id == m.Unknown && n > start && toks[n-1].ID == m.Unknown {
			toks[n-1].Lo = s.from // unknown characters in a row are one token
		} else {
			toks = append(toks, Tok{s.id, s.from, end})
		}
		end = s.from
	}
	for i, j := start, len(toks)-1; i < j; i, j = i+1, j-1 {
		toks[i], toks[j] = toks[j], toks[i]
	}
	return m.known(word, toks, start), nil
}

// known replaces unknown tokens: by the token that their text is, or by the tokens of its bytes.
func (m *Unigram) known(word string, toks []Tok, start int) []Tok {
	unknown := false
	for _, t := range toks[start:] {
		unknown = unknown || t.ID == m.Unknown
	}
	if !unknown {
		return toks
	}
	old := append([]Tok(nil), toks[start:]...)
	toks = toks[:start]
	for _, t := range old {
		s := word[t.Lo:t.Hi]
		if id, ok := m.Words.IDs[s]; t.ID != m.Unknown || ok {
			if ok {
				t.ID = id
			}
			toks = append(toks, t)
			continue
		}
		n := len(toks)
		for i := range len(s) {
			if id := m.bytes[s[i]]; m.Fallback && id >= 0 {
				toks = append(toks, Tok{id, t.Lo, t.Hi})
			}
		}
		if len(toks)-n < len(s) {
			toks = append(toks[:n], t)
		}
	}
	return toks
}

// A Scored token is an entry of a Unigram vocabulary.
type Scored struct {
	Token  string
	Score  float64
	Hidden bool // not found in text
}

// NewUnigram returns a model; unknown is -1 if it has no unknown token. Of equal tokens the last counts.
func NewUnigram(pieces []Scored, unknown int, fallback bool) (*Unigram, error) {
	if unknown >= len(pieces) || unknown < -1 {
		return nil, fmt.Errorf("unk_id is %d, and there are %d tokens", unknown, len(pieces))
	}
	size := 0
	for _, p := range pieces {
		size += len(p.Token)
	}
	if err := Check(len(pieces), size); err != nil {
		return nil, err
	}
	m := &Unigram{
		Words:   &Vocabulary{IDs: map[string]int32{}, Tokens: make([]string, len(pieces)), Has: make([]bool, len(pieces)), Size: len(pieces)},
		Unknown: int32(unknown), Fallback: fallback, Scores: make([]float64, len(pieces)), least: math.Inf(1),
	}
	for i, p := range pieces {
		if math.IsNaN(p.Score) || math.IsInf(p.Score, 0) {
			return nil, fmt.Errorf("the score of token %d is %v", i, p.Score)
		}
		if len(p.Token) > MaxToken {
			return nil, ErrToken
		}
		m.Words.IDs[p.Token] = int32(i)
		m.Words.Tokens[i], m.Words.Has[i] = p.Token, true
		m.Scores[i] = p.Score
		m.least = min(m.least, p.Score)
	}
	found := m.Words.IDs
	if slices.ContainsFunc(pieces, func(p Scored) bool { return p.Hidden }) {
		found = map[string]int32{}
		for i, p := range pieces {
			if !p.Hidden {
				found[p.Token] = int32(i)
			}
		}
	}
	m.trie = TrieOf(found)
	m.bytes = m.Words.byteTokens()
	return m, nil
}
