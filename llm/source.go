package llm

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/tokenizer"
)

// A source is the files of a model.
type source interface {
	config() (map[string]json.RawMessage, error) // with the names of config.json
	elements() string                            // the type of most weights, where the settings do not tell
	weights() (int64, error)                     // the bytes that they take in memory
	templates() (map[string]string, error)       // of chats, by name: default, and others as tool_use
	pooling() (pooling, error)
	tokenizer() (*tokenizer.Tokenizer, error)
	stops() ([]int32, error)   // the tokens that end a text
	ids() map[string]int32     // of special tokens by role, where the tokenizer does not tell
	generation(into any) error // reads generation_config.json, where there is one
}

// sourceOf returns the files at a path: a folder, or a GGUF file of any name.
func sourceOf(path string) (source, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	if info.IsDir() {
		return folder(path), nil
	}
	return openGGUF(path)
}

// A folder is one in Hugging Face's layout.
type folder string

// config returns the settings. A model of images and text has its decoder's settings in text_config.
func (f folder) config() (raw map[string]json.RawMessage, err error) {
	ok, err := vocabulary.ReadJSON(string(f), "config.json", &raw)
	if err == nil && !ok {
		err = fmt.Errorf("%s: there is no config.json: name a folder in Hugging Face's layout, or a file .gguf", files.Name(string(f)))
	}
	var text map[string]json.RawMessage
	if side := raw["text_config"]; err == nil && side != nil {
		if err = files.JSON(side, &text); err != nil {
			err = fmt.Errorf("%s: text_config of config.json: %w", files.Name(string(f)), err)
		}
		maps.Copy(raw, text)
	}
	return raw, err
}

func (f folder) weights() (size int64, err error) {
	paths, err := filepath.Glob(filepath.Join(string(f), "model*.safetensors"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("%s: there is no model.safetensors and no shard of one", files.Name(string(f)))
	}
	for _, path := range paths {
		info, err := os.Stat(path)
		if err != nil {
			return 0, err
		}
		size += info.Size()
	}
	return size, err
}

func (f folder) elements() string                         { return "" }
func (f folder) templates() (map[string]string, error)    { return vocabulary.FolderTemplates(string(f)) }
func (f folder) pooling() (pooling, error)                { return readPooling(string(f)) }
func (f folder) tokenizer() (*tokenizer.Tokenizer, error) { return tokenizer.Open(string(f)) }
func (f folder) stops() ([]int32, error)                  { return models.StopTokens(string(f)) }
func (f folder) ids() map[string]int32                    { return nil }

func (f folder) generation(into any) error {
	_, err := vocabulary.ReadJSON(string(f), "generation_config.json", into)
	return err
}
