package tokenizer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/tokenizer/internal/protobuf"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// Types of pieces, which GGUF has too.
const (
	normalPiece = 1 + iota
	unknownPiece
	controlPiece
	userPiece
	unusedPiece
	bytePiece
)

// A sentencePiece is the contents of a model of SentencePiece.
type sentencePiece struct {
	pieces   []spPiece
	kind     uint64 // 1: Unigram, 2: BPE
	fallback bool
	suffix   bool // white space ends words
	charsmap []byte
	prefix   bool // a space is put before the text
	trim     bool // of spaces in a row one stays, and none at the ends
	addBOS   bool
	addEOS   bool
	bos, eos int
	unk, pad int
}

type spPiece struct {
	token string
	score float32
	kind  int
}

// readSentencePiece reads a tokenizer.model.
func readSentencePiece(data []byte) (*Tokenizer, error) {
	m := sentencePiece{kind: 1, prefix: true, trim: true, unk: 0, bos: 1, eos: 2, pad: -1}
	err := protobuf.Fields(data, func(field int, _ uint64, data []byte) error {
		switch field {
		case 1:
			p := spPiece{kind: normalPiece}
			if err := subword.Check(1, 0); err != nil {
				return err
			}
			err := protobuf.Fields(data, func(field int, n uint64, data []byte) error {
				switch field {
				case 1:
					p.token = string(data)
				case 2:
					p.score = math.Float32frombits(uint32(n))
				case 3:
					p.kind = int(n)
				}
				return nil
			})
			m.pieces = append(m.pieces, p)
			return err
		case 2:
			numbers := map[int]*int{40: &m.unk, 41: &m.bos, 42: &m.eos, 43: &m.pad}
			flags := map[int]*bool{24: &m.suffix, 35: &m.fallback}
			return protobuf.Fields(data, func(field int, n uint64, _ []byte) error {
				if p := numbers[field]; p != nil {
					*p = int(int32(n))
				}
				if p := flags[field]; p != nil {
					*p = n != 0
				}
				if field == 3 {
					m.kind = n
				}
				return nil
			})
		case 3:
			return protobuf.Fields(data, func(field int, n uint64, data []byte) error {
				switch field {
				case 2:
					m.charsmap = data
					return subword.Check(0, len(data))
				case 3:
					m.prefix = n != 0
				case 4:
					m.trim = n != 0
				}
				return nil
			})
		}
		return nil
	})
	if err == nil && len(m.pieces) == 0 {
		err = protobuf.ErrFields
	}
	if err != nil {
		return nil, err
	}
	return m.build()
}

// build makes the tokenizer, of the parts that Hugging Face's library has.
func (m *sentencePiece) build() (*Tokenizer, error) {
	if m.suffix {
		return nil, errors.New("white space at the end of words (treat_whitespace_as_suffix) is not supported")
	}
	s := spec{}
	names, normal, err := m.numbers(&s)
	if err != nil {
		return nil, err
	}
	var list []any
	if len(m.charsmap) > 0 {
		list = append(list, map[string]any{"type": "Precompiled", "precompiled_charsmap": base64.StdEncoding.EncodeToString(m.charsmap)})
	}
	if m.trim {
		list = append(list, map[string]any{"type": "Strip", "strip_left": true, "strip_right": true},
			map[string]any{"type": "Replace", "pattern": map[string]any{"Regex": " {2,}"}, "content": " "})
	}
	switch m.kind {
	case 1:
		s.model, err = m.unigram(names)
		scheme := "never"
		if m.prefix {
			scheme = "always"
		}
		space := map[string]any{"type": "Metaspace", "replacement": "▁", "prepend_scheme": scheme, "split": spacesFirst(normal)}
		s.section("pre_tokenizer", space)
		if m.fallback {
			s.section("decoder", map[string]any{"type": "Sequence", "decoders": []any{map[string]any{"type": "ByteFallback"}, space}})
		} else {
			s.section("decoder", space)
		}
	case 2:
		s.model, err = m.bpe(names, normal)
		decoders := []any{
			map[string]any{"type": "Replace", "pattern": map[string]any{"String": "▁"}, "content": " "},
			map[string]any{"type": "ByteFallback"}, map[string]any{"type": "Fuse"},
		}
		if m.prefix {
			list = append(list, map[string]any{"type": "Prepend", "prepend": "▁"})
			decoders = append(decoders, map[string]any{"type": "Strip", "content": " ", "start": 1, "stop": 0})
		}
		list = append(list, map[string]any{"type": "Replace", "pattern": map[string]any{"String": " "}, "content": "▁"})
		s.section("decoder", map[string]any{"type": "Sequence", "decoders": decoders})
	default:
		return nil, fmt.Errorf("the model_type %d is not supported: only Unigram (1) and BPE (2) are", m.kind)
	}
	if err != nil {
		return nil, err
	}
	s.section("normalizer", map[string]any{"type": "Sequence", "normalizers": append([]any{}, list...)})
	roles := map[string]string{}
	for role, id := range map[string]int{"unk": m.unk, "bos": m.bos, "eos": m.eos, "pad": m.pad} {
		if id >= 0 && id < len(m.pieces) {
			roles[role] = m.pieces[id].token
		}
	}
	s.ends(roles, m.addBOS, m.addEOS)
	t, err := s.build()
	if err == nil {
		t.names = roles
	}
	return t, err
}

// numbers returns the numbers of all pieces and of the normal ones, and adds the added tokens to a spec.
func (m *sentencePiece) numbers(s *spec) (names, normal map[string]int32, err error) {
	names, normal = map[string]int32{}, map[string]int32{}
	for i, p := range m.pieces {
		if !utf8.ValidString(p.token) {
			return nil, nil, fmt.Errorf("piece %d is no UTF-8", i)
		}
		if _, again := names[p.token]; again {
			return nil, nil, fmt.Errorf("piece %d, %.40q, is there twice", i, p.token)
		}
		names[p.token] = int32(i)
		switch p.kind {
		case normalPiece:
			normal[p.token] = int32(i)
		case unknownPiece, controlPiece:
			s.added = append(s.added, AddedToken{Content: p.token, Special: true})
		case userPiece:
			s.added = append(s.added, AddedToken{Content: p.token})
		case unusedPiece, bytePiece:
		default:
			return nil, nil, fmt.Errorf("piece %d, %.40q, has the type %d, which is not known", i, p.token, p.kind)
		}
	}
	return names, normal, nil
}

// ends adds a template that puts the beginning and the end of a text around it.
func (s *spec) ends(roles map[string]string, bos, eos bool) {
	sequence := func(id string, n int) any { return map[string]any{"Sequence": map[string]any{"id": id, "type_id": n}} }
	tokens := map[string]any{}
	around := func(id string, n int) (out []any) {
		special := func(role string, wanted bool) {
			token, ok := roles[role]
			if !wanted || !ok {
				return
			}
			tokens[token] = map[string]any{"id": token, "ids": []int32{s.model.Vocab().IDs[token]}, "tokens": []string{token}}
			out = append(out, map[string]any{"SpecialToken": map[string]any{"id": token, "type_id": n}})
		}
		special("bos", bos)
		out = append(out, sequence(id, n))
		special("eos", eos)
		return out
	}
	single := around("A", 0)
	if len(tokens) == 0 {
		return
	}
	s.section("post_processor", map[string]any{
		"type": "TemplateProcessing", "single": single, "pair": append(slices.Clone(single), around("B", 1)...), "special_tokens": tokens,
	})
}

// spacesFirst reports whether ▁ only begins tokens, so that text may be divided before each.
func spacesFirst(tokens map[string]int32) bool {
	for s := range tokens {
		if strings.LastIndex(s, "▁") > 0 {
			return false
		}
	}
	return true
}

func (m *sentencePiece) unigram(names map[string]int32) (subword.Model, error) {
	pieces := make([]subword.Scored, len(m.pieces))
	for i, p := range m.pieces {
		pieces[i] = subword.Scored{Token: p.token, Score: float64(p.score), Hidden: p.kind != normalPiece}
	}
	if m.unk < 0 || m.unk >= len(pieces) {
		m.unk = slices.IndexFunc(m.pieces, func(p spPiece) bool { return p.kind == unknownPiece })
	}
	return subword.NewUnigram(pieces, m.unk, m.fallback)
}

// bpe returns the model. SentencePiece merges two pieces if both together are one, the pair of the
// highest score first.
func (m *sentencePiece) bpe(names, normal map[string]int32) (subword.Model, error) {
	v, err := subword.NewVocabulary(names, len(m.pieces))
	if err != nil {
		return nil, err
	}
	out := &subword.BPE{Words: v, Fuse: true, Fallback: m.fallback}
	if m.unk >= 0 && m.unk < len(m.pieces) {
		out.Unknown = m.pieces[m.unk].token
	}
	order := make([]int, 0, len(normal))
	for i, p := range m.pieces {
		if p.kind == unusedPiece && p.token != fmt.Sprintf("[PAD%d]", i) { // llama.cpp fills files up
			return nil, fmt.Errorf("piece %d, %.40q, is marked as unused, which is not supported in a BPE model", i, p.token)
		}
		if p.kind == normalPiece {
			if p.score != p.score {
				return nil, fmt.Errorf("the score of piece %d is no number", i)
			}
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return m.pieces[order[a]].score > m.pieces[order[b]].score })
	rank := int32(-1)
	for n, i := range order {
		p := m.pieces[i]
		if n == 0 || p.score != m.pieces[order[n-1]].score {
			rank++
		}
		if len(p.token) > longestMerged {
			continue
		}
		for at := range p.token {
			left, right := p.token[:at], p.token[at:]
			if _, ok := normal[left]; !ok {
				continue
			}
			if _, ok := normal[right]; ok {
				if err := out.Join(left, right); err != nil {
					return nil, err
				}
				out.Ranks = append(out.Ranks, rank)
			}
		}
	}
	return out, nil
}

// longestMerged is the length in bytes of the longest piece that merges make: the time to find the
// merges grows with its square.
const longestMerged = 1 << 10
