package llm

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tokenizer"
)

// A ggufFile is a file of llama.cpp.
type ggufFile struct {
	path  string
	meta  gguf.Meta
	infos []gguf.Info
}

func openGGUF(path string) (*ggufFile, error) {
	f, err := gguf.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return &ggufFile{path, f.Meta, f.Tensors()}, nil
}

func (f *ggufFile) config() (map[string]json.RawMessage, error) {
	m, err := llamacpp.Open(f.path)
	if err != nil {
		return nil, err
	}
	return m.Settings, m.Close()
}

func (f *ggufFile) weights() (size int64, err error) {
	for _, t := range f.infos {
		size += int64(t.Len()) * int64(t.DType().Size()) // blocks become float32
	}
	return size, nil
}

// templates are under tokenizer.chat_template, and others under tokenizer.chat_template.NAME.
func (f *ggufFile) templates() (map[string]string, error) {
	all := map[string]string{}
	for _, p := range f.meta {
		text, ok := p.Value.(string)
		name, found := strings.CutPrefix(p.Key, "tokenizer.chat_template")
		if name == "" {
			name = ".default"
		}
		if found && ok && name[0] == '.' {
			all[name[1:]] = text
		}
	}
	return all, nil
}

// pooling is normalized, as llama.cpp does without a word in the file.
func (f *ggufFile) pooling() (p pooling, err error) {
	architecture, _ := gguf.Get[string](f.meta, "general.architecture")
	key := architecture + ".pooling_type"
	p = pooling{apply: models.MeanPooling.Apply, normalize: true}
	if f.meta.Value(key) == nil {
		return p, nil
	}
	kind, err := gguf.Get[int](f.meta, key)
	if err != nil {
		return p, err
	}
	apply, ok := ggufPoolings[kind]
	if !ok {
		return p, fmt.Errorf("%s: %q is %d: want 0 to 3, for none, mean, cls or the last token", files.Name(f.path), key, kind)
	}
	p.apply = apply
	return p, nil
}

// tokenizer reads the metadata tokenizer.ggml, or a tokenizer.json as a text.
func (f *ggufFile) tokenizer() (t *tokenizer.Tokenizer, err error) {
	const prefix, text = "tokenizer.ggml.", "tokenizer.huggingface.json"
	get := func(key string, read func(key string) error) {
		if err == nil && f.meta.Value(key) != nil {
			err = read(key)
		}
	}
	var g tokenizer.GGUF
	for key, read := range map[string]func(key string) error{
		"model": into(f.meta, &g.Model), "pre": into(f.meta, &g.Pre), "tokens": into(f.meta, &g.Tokens), "scores": into(f.meta, &g.Scores),
		"token_type": into(f.meta, &g.Types), "merges": into(f.meta, &g.Merges), "precompiled_charsmap": into(f.meta, &g.Charsmap),
		"add_bos_token": intoPointer(f.meta, &g.AddBOS), "add_eos_token": intoPointer(f.meta, &g.AddEOS),
		"add_space_prefix": intoPointer(f.meta, &g.AddSpacePrefix), "remove_extra_whitespaces": intoPointer(f.meta, &g.RemoveExtraWhitespaces),
	} {
		get(prefix+key, read)
	}
	if g.IDs = f.ids(); err != nil {
		return nil, err
	}
	if g.Model != "" && g.Model != "no_vocab" {
		return tokenizer.FromGGUF(g)
	}
	err = errNoTokens
	if json, jsonErr := gguf.Get[string](f.meta, text); jsonErr == nil {
		t, err = tokenizer.Read(strings.NewReader(json))
	}
	return t, err
}

// ids returns the special tokens by role.
func (f *ggufFile) ids() map[string]int32 {
	ids := map[string]int32{}
	for role, key := range map[string]string{"bos": "bos", "eos": "eos", "unk": "unknown", "sep": "seperator", "pad": "padding", "cls": "cls", "mask": "mask"} {
		if id, err := gguf.Get[int32](f.meta, "tokenizer.ggml."+key+"_token_id"); err == nil {
			ids[role] = id
		}
	}
	return ids
}

// into returns a function that reads the value of a key.
func into[T any](m gguf.Meta, to *T) func(key string) error {
	return func(key string) (err error) {
		*to, err = gguf.Get[T](m, key)
		return err
	}
}

func intoPointer(m gguf.Meta, to **bool) func(key string) error {
	return func(key string) error {
		*to = new(bool)
		return into(m, *to)(key)
	}
}

// generation finds nothing: files of llama.cpp have no settings of their makers.
func (f *ggufFile) generation(any) error { return nil }
