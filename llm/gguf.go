package llm

import (
	"encoding/json"
	"fmt"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tokenizer"
)

// A ggufFile is a file of llama.cpp.
type ggufFile struct {
	path     string
	meta     gguf.Meta
	infos    []gguf.Info
	settings map[string]json.RawMessage
}

func openGGUF(path string) (*ggufFile, error) {
	m, err := llamacpp.Open(path)
	if err != nil {
		return nil, err
	}
	return &ggufFile{path, m.Meta(), m.Tensors(), m.Settings}, m.Close()
}

func (f *ggufFile) config() (map[string]json.RawMessage, error) { return f.settings, nil }

func (f *ggufFile) elements() string {
	bytes := map[string]int{}
	most := ""
	for _, t := range f.infos {
		name := inBlocks
		switch t.Type {
		case gguf.F32, gguf.F16, gguf.BF16:
			name = t.DType().String()
		}
		if bytes[name] += t.Bytes; bytes[name] > bytes[most] {
			most = name
		}
	}
	return most
}

func (f *ggufFile) weights() (size int64, err error) {
	for _, t := range f.infos {
		size += int64(t.Bytes) // blocks stay as they are
	}
	return size, nil
}

func (f *ggufFile) templates() (map[string]string, error) { return vocabulary.Templates(f.meta), nil }

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

func (f *ggufFile) tokenizer() (*tokenizer.Tokenizer, error) { return vocabulary.Read(f.meta) }
func (f *ggufFile) ids() map[string]int32                    { return vocabulary.Special(f.meta) }

func (f *ggufFile) stops() (ids []int32, err error) {
	if raw, ok := f.settings["eos_token_id"]; ok {
		err = files.JSON(raw, &ids)
	}
	return ids, err
}

// generation finds nothing: files of llama.cpp have no settings of their makers.
func (f *ggufFile) generation(any) error { return nil }
