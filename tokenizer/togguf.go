package tokenizer

import (
	"encoding/base64"
	"errors"
	"fmt"
	"github.com/tensorken/tensorken/internal/files"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tokenizer/internal/match"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// GGUF returns the metadata of a GGUF file by which llama.cpp finds the same tokens. It is an error if no such
// metadata means the parts of the tokenizer. Flags of added tokens and normal forms of Unicode, which the metadata
// cannot hold, are left out.
func (t *Tokenizer) GGUF() (g GGUF, err error) {
	g.IDs = map[string]int32{}
	for role := range t.names {
		if _, id, ok := t.Special(role); ok {
			g.IDs[role] = id
		}
	}
	g.listTokens(t)
	parts := t.parts()
	switch m := t.model.(type) {
	case *subword.BPE:
		if slices.ContainsFunc(parts, func(p part) bool { return p.Type == "ByteLevel" }) {
			err = g.fromByteLevel(m, parts)
		} else {
			err = g.fromMerges(m, parts)
		}
	case *subword.Unigram:
		err = g.fromUnigram(m, parts)
	case *subword.WordPiece:
		err = g.fromWordPiece(t, m, parts)
	default:
		err = fmt.Errorf("the model is a %T", m)
	}
	if err == nil {
		err = g.addEnds(t)
	}
	if err != nil {
		return GGUF{}, errorf("llama.cpp has no tokenizer like this one: %w", err)
	}
	return g, nil
}

// listTokens fills Tokens and Types.
func (g *GGUF) listTokens(t *Tokenizer) {
	v := t.model.Vocab()
	size := len(v.Tokens)
	for _, a := range t.added.list {
		size = max(size, int(a.ID)+1)
	}
	for id := range int32(size) {
		token, ok := t.IDToToken(id)
		kind := int32(normalPiece)
		switch a, added := t.added.byID[id]; {
		case added && a.Special:
			kind = controlPiece
		case added:
			kind = userPiece
		case !ok:
			token, kind = fmt.Sprintf("[PAD%d]", id), unusedPiece
		}
		g.Tokens, g.Types = append(g.Tokens, token), append(g.Types, kind)
	}
}

// A part is an object of tokenizer.json.
type part struct {
	Type          string `json:"type"`
	Normalizers   []part `json:"normalizers"`
	PreTokenizers []part `json:"pretokenizers"`
	Pattern       struct{ String, Regex string }
	Scheme        string `json:"prepend_scheme"`
	Prefix        *bool  `json:"add_prefix_space"`
	UseRegex      *bool  `json:"use_regex"`
	Each          bool   `json:"individual_digits"`
	Charsmap      string `json:"precompiled_charsmap"`
	StripAccents  *bool  `json:"strip_accents"`
	Lowercase     *bool

	Content, Behavior, Prepend string
}

// parts returns the normalizers and pre-tokenizers in order.
func (t *Tokenizer) parts() (all []part) {
	var flat func(p part)
	flat = func(p part) {
		for _, inner := range slices.Concat(p.Normalizers, p.PreTokenizers) {
			flat(inner)
		}
		if p.Type != "Sequence" && p.Type != "" {
			all = append(all, p)
		}
	}
	for _, section := range []string{"normalizer", "pre_tokenizer"} {
		var p part
		if raw := t.sections[section]; len(raw) > 0 && files.JSON(raw, &p) == nil {
			flat(p)
		}
	}
	return all
}

// fromByteLevel names the expressions that split text.
func (g *GGUF) fromByteLevel(m *subword.BPE, parts []part) error {
	g.Model = "gpt2"
	var sources []string
	space := false
	for _, p := range parts {
		switch {
		case p.Type == "NFC" || p.Type == "NFKC": // as llama.cpp's own converter, which leaves them out
		case p.Type == "Split" && p.Behavior == "Isolated" && p.Pattern.Regex != "":
			sources = append(sources, p.Pattern.Regex)
		case p.Type == "Digits" && p.Each:
			sources = append(sources, `\p{N}`)
		case p.Type == "ByteLevel":
			if space = or(p.Prefix, true); or(p.UseRegex, true) {
				sources = append(sources, match.GPT2)
			}
		default:
			return fmt.Errorf("it has the part %s", p.Type)
		}
	}
	for _, name := range slices.Concat([]string{"gpt-2", "llama-bpe", "qwen2"}, Splitters()) {
		same := slices.Equal(match.Splitters[name], sources) || len(m.List) == 0 // where nothing is merged, any will do
		if g.Pre == "" && same && wholeWords[name] == m.Whole {
			g.Pre = name
		}
	}
	if g.Pre == "" {
		return fmt.Errorf("text is split by %q", sources)
	}
	g.AddSpacePrefix = &space
	for _, pair := range m.List {
		if strings.Contains(pair[0]+pair[1], " ") {
			return fmt.Errorf("the merge of %q has a space", pair)
		}
		g.Merges = append(g.Merges, pair[0]+" "+pair[1])
	}
	return nil
}

// spaces reads the parts of SentencePiece: whether a space is put before the text.
func (g *GGUF) spaces(parts []part) error {
	prefix, trim := false, false
	for _, p := range parts {
		switch {
		case p.Type == "Prepend" && p.Prepend == "▁":
			prefix = true
		case p.Type == "Metaspace":
			prefix = p.Scheme != "never" && or(p.Prefix, true)
		case p.Type == "Replace" && p.Pattern.String == " " && p.Content == "▁":
		case p.Type == "Split" && p.Pattern.String == " ": // spaces are replaced before
		case p.Type == "Precompiled":
			g.Charsmap, _ = base64.StdEncoding.DecodeString(p.Charsmap)
		case p.Type == "Strip", p.Type == "WhitespaceSplit", p.Type == "Replace" && p.Pattern.Regex == " {2,}":
			trim = true
		case p.Type == "NFC" || p.Type == "NFKC" || p.Type == "Nmt":
		default:
			return fmt.Errorf("it has the part %s", p.Type)
		}
	}
	g.AddSpacePrefix, g.RemoveExtraWhitespaces = &prefix, &trim
	return nil
}

// byteKinds marks the tokens of bytes and the unknown token.
func (g *GGUF) byteKinds(unknown int32) {
	for b := range 256 {
		name := fmt.Sprintf("<0x%02X>", b)
		if i := slices.Index(g.Tokens, name); i >= 0 {
			g.Types[i] = bytePiece
		}
	}
	if unknown >= 0 {
		g.Types[unknown], g.IDs["unk"] = unknownPiece, unknown
	}
}

// fromMerges gives tokens scores by the ranks of merges, which have to be those that SentencePiece derives from scores.
func (g *GGUF) fromMerges(m *subword.BPE, parts []part) error {
	g.Model = "llama"
	if !m.Fallback || m.Prefix != "" || m.Suffix != "" {
		return fmt.Errorf("its BPE has no tokens of bytes")
	}
	if err := g.spaces(parts); err != nil {
		return err
	}
	unknown, ok := m.Words.IDs[m.Unknown]
	if !ok {
		unknown = -1
	}
	g.byteKinds(unknown)
	g.Scores = make([]float32, len(g.Tokens))
	for i, kind := range g.Types {
		if kind == normalPiece {
			g.Scores[i] = -math.MaxInt32 // after all merged ones
		}
	}
	rank := float32(0)
	for i, pair := range m.List {
		id, ok := m.Words.IDs[pair[0]+pair[1]]
		if !ok {
			return fmt.Errorf("the merge of %q makes no token", pair)
		}
		if g.Scores[id] == -math.MaxInt32 {
			rank--
			g.Scores[id] = rank
		} else if g.Scores[id] != rank && i > 0 {
			return fmt.Errorf("the merges that make %q have others between them", pair[0]+pair[1])
		}
	}
	back, err := FromGGUF(*g)
	if err != nil {
		return err
	}
	if n := len(back.model.(*subword.BPE).List); n != len(m.List) {
		return fmt.Errorf("it has %d merges, and %d pairs of tokens make a token", len(m.List), n)
	}
	return nil
}

func (g *GGUF) fromUnigram(m *subword.Unigram, parts []part) error {
	g.Model = "t5"
	if err := g.spaces(parts); err != nil {
		return err
	}
	g.Scores = make([]float32, len(g.Tokens))
	for i, s := range m.Scores {
		g.Scores[i] = float32(s)
	}
	g.byteKinds(m.Unknown)
	return nil
}

// fromWordPiece gives tokens the form of llama.cpp, which marks the start of words.
func (g *GGUF) fromWordPiece(t *Tokenizer, m *subword.WordPiece, parts []part) error {
	g.Model = "bert"
	if m.Prefix != "##" {
		return fmt.Errorf("tokens within words begin with %q", m.Prefix)
	}
	for _, p := range parts {
		switch p.Type {
		case "BertNormalizer":
			lower := or(p.Lowercase, true)
			strip := or(p.StripAccents, lower)
			g.Lowercase, g.StripAccents = &lower, &strip
		case "BertPreTokenizer":
		default:
			return fmt.Errorf("it has the part %s", p.Type)
		}
	}
	for i, token := range g.Tokens {
		rest, within := strings.CutPrefix(token, "##")
		switch {
		case g.Types[i] != normalPiece || strings.HasPrefix(token, "[") && strings.HasSuffix(token, "]") && len(token) > 2:
		case within:
			g.Tokens[i] = rest
		default:
			g.Tokens[i] = "▁" + token
		}
	}
	if id, ok := t.TokenToID(m.Unknown); ok {
		g.IDs["unk"] = id
	}
	return nil
}

// addEnds finds the tokens around a text.
func (g *GGUF) addEnds(t *Tokenizer) error {
	with, err := t.Encode("a", &EncodeOptions{IDsOnly: true, NoTruncation: true, NoPadding: true})
	none, errNone := t.Encode("a", &EncodeOptions{IDsOnly: true, NoTruncation: true, NoPadding: true, NoSpecial: true})
	if err := errors.Join(err, errNone); err != nil {
		return err
	}
	first := 0
	for ; first < len(with.IDs) && !slices.Equal(with.IDs[first:min(first+len(none.IDs), len(with.IDs))], none.IDs); first++ {
	}
	last := len(with.IDs) - first - len(none.IDs)
	if first > 1 || last > 1 || last < 0 {
		return fmt.Errorf("the tokens around a text are %v", with.IDs)
	}
	bos, eos := first == 1, last == 1
	begin, end := "bos", "eos"
	if g.Model == "bert" {
		begin, end = "cls", "sep"
	}
	if bos {
		g.IDs[begin] = with.IDs[0]
	}
	if eos {
		g.IDs[end] = with.IDs[len(with.IDs)-1]
	}
	if g.Model == "bert" {
		g.IDs["bos"], g.IDs["eos"] = g.IDs["cls"], g.IDs["sep"]
	}
	g.AddBOS, g.AddEOS = &bos, &eos
	return nil
}
