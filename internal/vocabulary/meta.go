package vocabulary

import (
	"errors"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/tokenizer"
)

const (
	prefix      = "tokenizer.ggml."
	jsonKey     = "tokenizer.huggingface.json"
	templateKey = "tokenizer.chat_template"
)

// noVocabulary is the model of a file without tokens.
const noVocabulary = "no_vocab"

// fields returns where the values of keys, after prefix, are kept.
func fields(g *tokenizer.GGUF) []field {
	return []field{
		{"model", &g.Model}, {"pre", &g.Pre}, {"tokens", &g.Tokens}, {"scores", &g.Scores}, {"token_type", &g.Types}, {"merges", &g.Merges},
		{"add_bos_token", &g.AddBOS}, {"add_eos_token", &g.AddEOS}, {"add_space_prefix", &g.AddSpacePrefix},
		{"remove_extra_whitespaces", &g.RemoveExtraWhitespaces}, {"precompiled_charsmap", &g.Charsmap},
		{"normalizer.lowercase", &g.Lowercase}, {"normalizer.strip_accents", &g.StripAccents},
	}
}

type field struct {
	key   string
	value any // a pointer
}

// ids are the keys of special tokens by role; the name of sep is llama.cpp's.
var ids = map[string]string{"bos": "bos", "eos": "eos", "unk": "unknown", "sep": "seperator", "pad": "padding", "cls": "cls", "mask": "mask"}

func idKey(role string) string { return prefix + ids[role] + "_token_id" }

// Special returns the special tokens of metadata by role.
func Special(m gguf.Meta) map[string]int32 {
	all := map[string]int32{}
	for role := range ids {
		if id, err := gguf.Get[int32](m, idKey(role)); err == nil {
			all[role] = id
		}
	}
	return all
}

// Open returns the tokenizer of a GGUF file, or of another file or folder that package tokenizer opens.
func Open(path string) (*tokenizer.Tokenizer, error) {
	if !llamacpp.IsGGUF(path) {
		return tokenizer.Open(path)
	}
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := Read(f.Meta)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name(path), err)
	}
	return t, nil
}

// Read returns the tokenizer of metadata: the file tokenizer.json that it may have, which says more, or the tokens of
// llama.cpp. It is errNone without one.
func Read(m gguf.Meta) (*tokenizer.Tokenizer, error) {
	if text, err := gguf.Get[string](m, jsonKey); err == nil {
		return tokenizer.Read(strings.NewReader(text))
	}
	var g tokenizer.GGUF
	for _, f := range fields(&g) {
		key := prefix + f.key
		if m.Value(key) == nil {
			continue
		}
		if err := read(m, key, f.value); err != nil {
			return nil, err
		}
	}
	if g.IDs = Special(m); g.Model == "" || g.Model == noVocabulary {
		return nil, errNone
	}
	return tokenizer.FromGGUF(g)
}

var errNone = errors.New("the file has no tokenizer: continue tokens by GenerateIDs")

func read(m gguf.Meta, key string, to any) (err error) {
	switch to := to.(type) {
	case *string:
		*to, err = gguf.Get[string](m, key)
	case *[]string:
		*to, err = gguf.Get[[]string](m, key)
	case *[]float32:
		*to, err = gguf.Get[[]float32](m, key)
	case *[]int32:
		*to, err = gguf.Get[[]int32](m, key)
	case *[]byte:
		*to, err = gguf.Get[[]byte](m, key)
	case **bool:
		*to = new(bool)
		**to, err = gguf.Get[bool](m, key)
	}
	return err
}

// write returns metadata with a value, unless it is empty.
func write(m gguf.Meta, key string, from any) gguf.Meta {
	switch v := from.(type) {
	case *string:
		if *v != "" {
			return m.With(key, *v)
		}
	case *[]string:
		if *v != nil {
			return m.With(key, *v)
		}
	case *[]float32:
		if *v != nil {
			return m.With(key, *v)
		}
	case *[]int32:
		if *v != nil {
			return m.With(key, *v)
		}
	case *[]byte:
		if *v != nil {
			return m.With(key, *v)
		}
	case **bool:
		if *v != nil {
			return m.With(key, **v)
		}
	}
	return m
}

// Templates returns the chat templates of metadata by name: default, and others as tool_use.
func Templates(m gguf.Meta) map[string]string {
	all := map[string]string{}
	for _, p := range m {
		text, ok := p.Value.(string)
		name, found := strings.CutPrefix(p.Key, templateKey)
		if name == "" {
			name = ".default"
		}
		if found && ok && name[0] == '.' {
			all[name[1:]] = text
		}
	}
	return all
}
