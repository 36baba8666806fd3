package tokenizer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// GGUF is the metadata of a GGUF file about its tokenizer, under the names tokenizer.ggml.*.
type GGUF struct {
	// Model is gpt2, llama, bert or t5.
	Model string
	// Pre names the expressions that split text for gpt2: see [Splitters].
	Pre    string
	Tokens []string
	Scores []float32
	// Types has token_type: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte.
	Types  []int32
	Merges []string
	// IDs has the ids of special tokens by role: bos, eos, unk, sep, pad, cls and mask.
	IDs map[string]int32
	// AddBOS, AddEOS, AddSpacePrefix and RemoveExtraWhitespaces are nil where the file says nothing: then
	// the model's custom counts.
	AddBOS, AddEOS, AddSpacePrefix, RemoveExtraWhitespaces *bool
	// Lowercase and StripAccents, of bert, are nil in older files: then it depends on the tokens.
	Lowercase, StripAccents *bool
	// Charsmap is precompiled_charsmap.
	Charsmap []byte
}

// Splitters returns the names that GGUF.Pre may have.
func Splitters() []string { return sortedKeys(match.Splitters) }

// wholeWords are the splitters of models in which a word that is a token is not divided, and texts begin with bos.
var wholeWords = map[string]bool{
	"llama-bpe": true, "llama3": true, "llama-v3": true, "falcon3": true, "falcon-h1": true, "pixtral": true, "midm-2.0": true, "lfm2": true,
	"jina-v5-nano": true, "tekken": true,
}

func or(p *bool, absent bool) bool {
	if p == nil {
		return absent
	}
	return *p
}

// FromGGUF returns the tokenizer of a GGUF file.
func FromGGUF(g GGUF) (*Tokenizer, error) {
	build, ok := map[string]func(*GGUF) (*Tokenizer, error){
		"gpt2": (*GGUF).byteLevel, "llama": (*GGUF).sentencePiece, "t5": (*GGUF).sentencePiece, "bert": (*GGUF).bert,
	}[g.Model]
	if !ok {
		return nil, errorf("tokenizer.ggml.model is %.40q: known are bert, gpt2, llama and t5", g.Model)
	}
	for role, id := range g.IDs {
		if id < 0 || int(id) >= len(g.Tokens) {
			return nil, errorf("the %s token has the id %d, and there are %d tokens", role, id, len(g.Tokens))
		}
	}
	if len(g.Types) != 0 && len(g.Types) != len(g.Tokens) {
		return nil, errorf("tokenizer.ggml.token_type has %d elements, and there are %d tokens", len(g.Types), len(g.Tokens))
	}
	if err := subword.Check(len(g.Tokens), len(g.Charsmap)); err != nil {
		return nil, errorf("%w", err)
	}
	g.Tokens = slices.Clone(g.Tokens)
	for i, s := range g.Tokens {
		if s == "" {
			g.Tokens[i] = fmt.Sprintf("[EMPTY_%d]", i) // as in llama.cpp
		}
	}
	t, err := build(&g)
	if err != nil {
		return nil, errorf("%w", err)
	}
	for role, id := range g.IDs {
		t.names[role] = g.Tokens[id]
	}
	return t, nil
}

// kind returns the type of a token.
func (g *GGUF) kind(i int) int {
	if len(g.Types) == 0 {
		return normalPiece
	}
	return int(g.Types[i])
}

// roles returns the special tokens by role.
func (g *GGUF) roles() map[string]string {
	roles := map[string]string{}
	for role, id := range g.IDs {
		roles[role] = g.Tokens[id]
	}
	return roles
}

// numbered returns the ids of the tokens.
func (g *GGUF) numbered() (map[string]int32, error) {
	ids := make(map[string]int32, len(g.Tokens))
	for i, s := range g.Tokens {
		if _, again := ids[s]; again {
			return nil, fmt.Errorf("token %d, %.40q, is there twice", i, s)
		}
		ids[s] = int32(i)
	}
	return ids, nil
}

func (g *GGUF) byteLevel() (*Tokenizer, error) {
	sources, ok := match.Splitters[g.Pre]
	if !ok && g.Pre != "" {
		return nil, fmt.Errorf("tokenizer.ggml.pre is %.40q: known are %s", g.Pre, strings.Join(Splitters(), ", "))
	}
	if !ok {
		sources = match.Splitters["default"]
	}
	ids, err := g.numbered()
	if err != nil {
		return nil, err
	}
	v, err := subword.NewVocabulary(ids, len(g.Tokens))
	if err != nil {
		return nil, err
	}
	m := &subword.BPE{Words: v, Whole: wholeWords[g.Pre]}
	for i, line := range g.Merges {
		if err := m.Add(line); err != nil {
			return nil, fmt.Errorf("merge %d %w", i, err)
		}
	}
	s := spec{model: m}
	for i, token := range g.Tokens {
		if k := g.kind(i); k == controlPiece || k == userPiece || k == unknownPiece {
			s.added = append(s.added, AddedToken{Content: token, Special: k != userPiece})
		}
	}
	var steps []any
	for _, source := range sources {
		steps = append(steps, map[string]any{"type": "Split", "pattern": map[string]any{"Regex": source}, "behavior": "Isolated", "invert": false})
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": or(g.AddSpacePrefix, false), "trim_offsets": false, "use_regex": false}
	s.section("pre_tokenizer", map[string]any{"type": "Sequence", "pretokenizers": append(steps, level)})
	s.section("decoder", level)
	s.ends(g.roles(), or(g.AddBOS, wholeWords[g.Pre]), or(g.AddEOS, false))
	return s.build()
}

func (g *GGUF) sentencePiece() (*Tokenizer, error) {
	if len(g.Scores) != len(g.Tokens) {
		return nil, fmt.Errorf("tokenizer.ggml.scores has %d elements, and there are %d tokens", len(g.Scores), len(g.Tokens))
	}
	t5 := g.Model == "t5"
	m := sentencePiece{
		kind: 2, charsmap: g.Charsmap, prefix: or(g.AddSpacePrefix, true), trim: or(g.RemoveExtraWhitespaces, t5),
		addBOS: or(g.AddBOS, !t5), addEOS: or(g.AddEOS, t5), unk: -1, bos: -1, eos: -1, pad: -1,
	}
	if t5 {
		m.kind = 1
	}
	for role, to := range map[string]*int{"unk": &m.unk, "bos": &m.bos, "eos": &m.eos, "pad": &m.pad} {
		if id, ok := g.IDs[role]; ok {
			*to = int(id)
		}
	}
	for i, token := range g.Tokens {
		p := spPiece{token, g.Scores[i], g.kind(i)}
		m.fallback = m.fallback || p.kind == bytePiece
		if p.kind == unknownPiece && m.unk < 0 {
			m.unk = i
		}
		m.pieces = append(m.pieces, p)
	}
	return m.build()
}

// bert gives tokens back the form of vocab.txt: GGUF marks the start of words, BERT the rest of them.
func (g *GGUF) bert() (*Tokenizer, error) {
	tokens := make([]string, len(g.Tokens))
	for i, s := range g.Tokens {
		switch rest, first := strings.CutPrefix(s, "▁"); {
		case first:
			tokens[i] = rest
		case g.kind(i) != normalPiece || strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
			tokens[i] = s
		default:
			tokens[i] = "##" + s
		}
	}
	g.Tokens = tokens
	ids, err := g.numbered()
	if err != nil {
		return nil, err
	}
	return bertTokenizer(ids, len(tokens), g.Lowercase, g.StripAccents)
}
