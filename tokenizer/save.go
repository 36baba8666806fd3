package tokenizer

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"io"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// Save writes a tokenizer.json, which Hugging Face's library reads.
func (t *Tokenizer) Save(path string) error {
	err := files.Replace(path, func(w *bufio.Writer) error { return t.Write(w) })
	if err != nil {
		return errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	return nil
}

// Write writes a tokenizer.json.
func (t *Tokenizer) Write(w io.Writer) error {
	if err := files.Given(w); err != nil {
		return errorf("%w", err)
	}
	var out struct {
		Version       string          `json:"version"`
		Truncation    json.RawMessage `json:"truncation"`
		Padding       json.RawMessage `json:"padding"`
		AddedTokens   []savedToken    `json:"added_tokens"`
		Normalizer    json.RawMessage `json:"normalizer"`
		PreTokenizer  json.RawMessage `json:"pre_tokenizer"`
		PostProcessor json.RawMessage `json:"post_processor"`
		Decoder       json.RawMessage `json:"decoder"`
		Model         any             `json:"model"`
	}
	out.Version = "1.0"
	for name, to := range map[string]*json.RawMessage{
		"truncation": &out.Truncation, "padding": &out.Padding, "normalizer": &out.Normalizer,
		"pre_tokenizer": &out.PreTokenizer, "post_processor": &out.PostProcessor, "decoder": &out.Decoder,
	} {
		if *to = t.sections[name]; len(*to) == 0 {
			*to = json.RawMessage("null")
		}
	}
	out.AddedTokens = []savedToken{}
	for _, a := range t.added.list {
		out.AddedTokens = append(out.AddedTokens, savedToken(a))
	}
	out.Model = saved(t.model)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(out); err != nil {
		return errorf("%w", err)
	}
	return nil
}

// savedToken is an AddedToken with the names of tokenizer.json.
type savedToken struct {
	ID         int32  `json:"id"`
	Content    string `json:"content"`
	SingleWord bool   `json:"single_word"`
	LStrip     bool   `json:"lstrip"`
	RStrip     bool   `json:"rstrip"`
	Normalized bool   `json:"normalized"`
	Special    bool   `json:"special"`
}

// orderedVocab is written as an object, by id.
type orderedVocab subword.Vocabulary

func (v *orderedVocab) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	b.WriteByte('{')
	for id, s := range v.Tokens {
		if !v.Has[id] {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		if err := cmp.Or(e.Encode(s), b.WriteByte(':'), e.Encode(id)); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// null is nil for "".
func null(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// saved returns the section model of tokenizer.json.
func saved(m subword.Model) any {
	switch m := m.(type) {
	case *subword.BPE:
		list := m.List
		if list == nil {
			list = [][2]string{}
		}
		return struct {
			Type     string        `json:"type"`
			Dropout  any           `json:"dropout"`
			Unknown  any           `json:"unk_token"`
			Prefix   any           `json:"continuing_subword_prefix"`
			Suffix   any           `json:"end_of_word_suffix"`
			Fuse     bool          `json:"fuse_unk"`
			Fallback bool          `json:"byte_fallback"`
			Whole    bool          `json:"ignore_merges"`
			Vocab    *orderedVocab `json:"vocab"`
			Merges   [][2]string   `json:"merges"`
		}{"BPE", nil, null(m.Unknown), null(m.Prefix), null(m.Suffix), m.Fuse, m.Fallback, m.Whole, (*orderedVocab)(m.Words), list}
	case *subword.WordPiece:
		return struct {
			Type    string        `json:"type"`
			Unknown string        `json:"unk_token"`
			Prefix  string        `json:"continuing_subword_prefix"`
			Longest int           `json:"max_input_chars_per_word"`
			Vocab   *orderedVocab `json:"vocab"`
		}{"WordPiece", m.Unknown, m.Prefix, m.LongestWord, (*orderedVocab)(m.Words)}
	case *subword.WordLevel:
		return struct {
			Type    string        `json:"type"`
			Vocab   *orderedVocab `json:"vocab"`
			Unknown string        `json:"unk_token"`
		}{"WordLevel", (*orderedVocab)(m.Words), m.Unknown}
	case *subword.Unigram:
		vocab := make([][2]any, len(m.Scores))
		for i, s := range m.Scores {
			vocab[i] = [2]any{m.Words.Tokens[i], s}
		}
		var unknown any
		if m.Unknown >= 0 {
			unknown = m.Unknown
		}
		return struct {
			Type     string   `json:"type"`
			Unknown  any      `json:"unk_id"`
			Vocab    [][2]any `json:"vocab"`
			Fallback bool     `json:"byte_fallback"`
		}{"Unigram", unknown, vocab, m.Fallback}
	}
	return nil
}
