package subword

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tokenizer/internal/norm"
)

// BPE merges pairs of tokens, the pairs of the lowest rank first, until no pair of a word is in its list
// (R. Sennrich and others, Neural Machine Translation of Rare Words with Subword Units, 2016).
type BPE struct {
	Words          *Vocabulary
	merges         pairs
	List           [][2]string // of merges, by rank
	Ranks          []int32     // of the list; nil if they go up from 0
	Unknown        string
	unknownID      int32 // -1: none
	Prefix, Suffix string
	Fuse           bool // unknown characters in a row are one token
	Fallback       bool // bytes that have tokens stand for unknown characters
	Whole          bool // a word that is a token is not divided
	bytes          [256]int32

	// single is set if merges involve no token of bytes and no unknown one, no character is left out,
	// and words have neither prefix nor suffix: then cover finds the result of merging.
	single bool
	trie   *Trie
	prefer []int32 // by id: the longest other token that this one begins with, or -1

	// Raw is set if words are bytes, and tokens are their characters in norm.ByteRunes.
	Raw bool
	// names are the tokens' bytes if raw is set, else the tokens.
	names []string
}

func (m *BPE) Vocab() *Vocabulary { return m.Words }
func (m *BPE) Surface() int32     { return -1 }

// Add adds a merge, of two tokens with a space between them.
func (m *BPE) Add(line string) error {
	a, b, ok := strings.Cut(line, " ")
	if !ok || strings.Contains(b, " ") {
		return fmt.Errorf("should be two tokens with a space between them, and is %.60q", line)
	}
	return m.Join(a, b)
}

// Join adds a merge of two tokens.
func (m *BPE) Join(a, b string) error {
	err := hostmem.Check(1, perMerge)
	m.List = append(m.List, [2]string{a, b})
	return err
}

// Init fills the fields that follow from the exported ones. raw asks for words of bytes, for which the
// vocabulary must have all 256.
func (m *BPE) Init(raw bool) error {
	m.bytes = m.Words.byteTokens()
	m.unknownID = -1
	if id, ok := m.Words.IDs[m.Unknown]; ok && m.Unknown != "" {
		m.unknownID = id
	}
	m.merges = newPairs(len(m.List))
	m.single = m.Prefix == "" && m.Suffix == ""
	odd := map[int32]bool{m.unknownID: true}
	for _, id := range m.bytes {
		odd[id] = true
	}
	for rank, pair := range m.List {
		var ids [2]int32
		for i, s := range pair {
			id, ok := m.Words.IDs[s]
			if !ok {
				return fmt.Errorf("merge %d joins %q, which the vocabulary lacks", rank, s)
			}
			ids[i] = id
			m.single = m.single && !odd[id]
		}
		joined := pair[0] + strings.TrimPrefix(pair[1], m.Prefix)
		id, ok := m.Words.IDs[joined]
		if !ok {
			return fmt.Errorf("merge %d makes %q, which the vocabulary lacks", rank, joined)
		}
		if m.Ranks != nil {
			rank = int(m.Ranks[rank])
		}
		m.merges.set(ids[0], ids[1], int32(rank), id)
	}
	if m.setRaw(raw && m.single); !m.Raw && m.Unknown == "" {
		for _, id := range m.bytes {
			m.single = m.single && m.Fallback && id >= 0
		}
	}
	return nil
}

// setRaw chooses between words of bytes and words of the characters that stand for them.
func (m *BPE) setRaw(raw bool) {
	for b := 0; raw && b < 256; b++ {
		_, raw = m.Words.IDs[string(norm.ByteRunes[b])]
	}
	m.Raw, m.names = raw, m.Words.Tokens
	ids := m.Words.IDs
	if raw {
		ids = make(map[string]int32, len(m.Words.IDs))
		m.names = make([]string, len(m.Words.Tokens))
		for s, id := range m.Words.IDs {
			if name, ok := norm.RawBytes(s); ok && m.Words.Tokens[id] == s {
				m.names[id] = name
				ids[name] = id
			}
		}
	}
	if !m.single {
		return
	}
	m.trie = TrieOf(ids)
	m.prefer = make([]int32, len(m.names))
	for i := range m.prefer {
		m.prefer[i] = -1
	}
	for _, id := range ids {
		if s := m.names[id]; s != "" {
			m.prefer[id], _ = m.trie.Longest(s[:len(s)-1])
		}
	}
}

func (m *BPE) Tokenize(st *State, word string, toks []Tok) ([]Tok, error) {
	if m.Whole {
		if m.Raw {
			if id, n := m.trie.Longest(word); n == len(word) {
				return append(toks, Tok{id, 0, int32(n)}), nil
			}
		} else if id, ok := m.Words.IDs[word]; ok {
			return append(toks, Tok{id, 0, int32(len(word))}), nil
		}
	}
	if m.Raw {
		return m.cover(st, word, 0, toks), nil
	}
	if m.single {
		return m.runs(st, word, toks)
	}
	symbols, err := m.symbols(st.symbols[:0], word)
	if err != nil {
		return nil, err
	}
	symbols = m.merge(st, symbols)
	st.symbols = symbols
	pos, end := int32(0), int32(len(word))
	for _, s := range symbols { // bytes of a prefix or suffix stand for the last byte of the word
		toks = append(toks, Tok{s.id, min(pos, end-1), min(pos+s.size, end)})
		pos += s.size
	}
	return toks, nil
}

// runs divides a word at its unknown characters and covers the parts between.
func (m *BPE) runs(st *State, word string, toks []Tok) ([]Tok, error) {
	f := filler{m: m}
	pos := 0
	for pos < len(word) {
		end := pos
		for end < len(word) {
			_, size := utf8.DecodeRuneInString(word[end:])
			if m.singleRune(word[end:end+size]) < 0 {
				break
			}
			end += size
		}
		if end > pos {
			toks = f.flush(toks)
			toks = m.cover(st, word[pos:end], f.pos, toks)
			f.pos += end - pos
			pos = end
			continue
		}
		_, size := utf8.DecodeRuneInString(word[pos:])
		var err error
		if toks, err = f.unknown(toks, word[pos:pos+size], size); err != nil {
			return nil, err
		}
		pos += size
	}
	return f.flush(toks), nil
}

// singleRune returns the token that is one character, or -1.
func (m *BPE) singleRune(s string) int32 {
	nodes, node := m.trie.nodes, int32(0)
	for i := range len(s) {
		n := nodes[node].base + int32(s[i])
		if nodes[n].check != node || n == 0 {
			return -1
		}
		node = n
	}
	return nodes[node].value
}

// A filler makes tokens of unknown characters, one after the other.
type filler struct {
	m       *BPE
	pos     int // the sum of the lengths of all tokens so far, as they follow one another
	pending int // length of an unknown token that is not written yet
}

// flush writes the unknown token.
func (f *filler) flush(toks []Tok) []Tok {
	if f.pending > 0 {
		toks = append(toks, Tok{f.m.unknownID, int32(f.pos), int32(f.pos + f.pending)})
		f.pos += f.pending
		f.pending = 0
	}
	return toks
}

// unknown takes a character of size bytes without a token; s is it, with its prefix or suffix. As in Hugging Face's library, tokens of bytes do not end
// a row of unknown characters, which follows them then; and without unk_token it is left out.
func (f *filler) unknown(toks []Tok, s string, size int) ([]Tok, error) {
	if f.m.Fallback {
		complete := true
		for i := range len(s) {
			complete = complete && f.m.bytes[s[i]] >= 0
		}
		if complete {
			for i := range len(s) {
				toks = append(toks, Tok{f.m.bytes[s[i]], int32(f.pos), int32(f.pos + 1)})
				f.pos++
			}
			return toks, nil
		}
	}
	if f.m.Unknown == "" {
		return toks, nil
	}
	if f.m.unknownID < 0 {
		return nil, fmt.Errorf("the character %q needs the unk_token %q, which the vocabulary lacks", s, f.m.Unknown)
	}
	if !f.m.Fuse {
		toks = f.flush(toks)
	}
	f.pending += size
	return toks, nil
}

// A symbol is a token while a word is merged. Symbols form a list.
type symbol struct {
	id, size   int32
	prev, next int32
}

// symbols appends the characters of a word.
func (m *BPE) symbols(list []symbol, word string) ([]symbol, error) {
	f := filler{m: m}
	var toks []Tok
	for i, r := range word {
		size := utf8.RuneLen(r)
		s := word[i : i+size]
		if i > 0 {
			s = m.Prefix + s
		}
		if i+size == len(word) {
			s += m.Suffix
		}
		if id, ok := m.Words.IDs[s]; ok {
			toks = f.flush(toks)
			toks = append(toks, Tok{id, 0, int32(size)})
			continue
		}
		var err error
		if toks, err = f.unknown(toks, s, size); err != nil {
			return nil, err
		}
	}
	toks = f.flush(toks)
	for i, t := range toks {
		list = append(list, symbol{t.ID, t.Hi - t.Lo, int32(i - 1), int32(i + 1)})
	}
	return list, nil
}

const noRank = math.MaxInt32
