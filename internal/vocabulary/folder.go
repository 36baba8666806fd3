package vocabulary

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer"
)

// maxJSON is the most bytes of a file of settings.
const maxJSON = 64 << 20

// ReadJSON reads a file of a folder; ok is false if it does not exist.
func ReadJSON(dir, name string, into any) (ok bool, err error) {
	path := filepath.Join(dir, name)
	err = files.ReadJSON(path, maxJSON, into)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("%s: %w", files.Name(path), err)
	}
	return true, nil
}

// FolderTemplates returns the chat templates of a folder by name.
func FolderTemplates(dir string) (map[string]string, error) {
	if all, err := templateFiles(dir); err != nil || len(all) > 0 {
		return all, err
	}
	for _, name := range []string{"chat_template.json", "tokenizer_config.json"} {
		var c struct {
			Template json.RawMessage `json:"chat_template"`
		}
		ok, err := ReadJSON(dir, name, &c)
		if err != nil {
			return nil, err
		}
		if !ok || len(c.Template) == 0 || string(c.Template) == "null" {
			continue
		}
		var one string
		if files.JSON(c.Template, &one) == nil {
			return map[string]string{"default": one}, nil
		}
		var many []struct{ Name, Template string }
		if err := files.JSON(c.Template, &many); err != nil {
			return nil, fmt.Errorf("%s: chat_template is neither a text nor a list of {name, template}", files.Name(filepath.Join(dir, name)))
		}
		all := map[string]string{}
		for _, t := range many {
			all[t.Name] = t.Template
		}
		return all, nil
	}
	return nil, nil
}

// templateFiles returns the templates that have files of their own, as transformers writes them.
func templateFiles(dir string) (map[string]string, error) {
	paths := map[string]string{"default": filepath.Join(dir, "chat_template.jinja")}
	others := filepath.Join(dir, "additional_chat_templates")
	if info, err := os.Stat(others); err == nil && info.IsDir() {
		entries, err := os.ReadDir(others)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", files.Name(others), files.Reason(err))
		}
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ".jinja"); ok && name != "" {
				paths[name] = filepath.Join(others, e.Name())
			}
		}
	}
	all := map[string]string{}
	for name, path := range paths {
		data, err := files.ReadAll(path, maxJSON)
		if err == nil {
			all[name] = string(data)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("%s: %w", files.Name(path), files.Reason(err))
		}
	}
	return all, nil
}

// Pack adds the tokenizer and the templates of a folder to metadata, for a model of some number of tokens. Lacking says
// why llama.cpp cannot read texts with the file, if it cannot; the file has tokenizer.json all the same.
func Pack(m gguf.Meta, dir string, tokens int) (packed gguf.Meta, lacking, err error) {
	templates, err := FolderTemplates(dir)
	if err != nil {
		return nil, nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(templates)) {
		key := templateKey + "." + name
		if name == "default" {
			key = templateKey
		}
		m = m.With(key, templates[name])
	}
	t, lacking := tokenizer.Open(dir)
	if lacking != nil {
		return m.With(prefix+"model", noVocabulary), lacking, nil
	}
	var text bytes.Buffer
	if err := t.Write(&text); err != nil {
		return nil, nil, err
	}
	m = m.With(jsonKey, text.String())
	if _, id, ok := t.Special("eos"); ok {
		m = withEnds(m, dir, uint32(id))
	}
	g, lacking := t.GGUF()
	if lacking == nil && len(g.Tokens) > tokens {
		lacking = fmt.Errorf("the tokenizer has %d tokens, and the model %d", len(g.Tokens), tokens)
	}
	if lacking != nil {
		return m.With(prefix+"model", noVocabulary), lacking, nil
	}
	for id := len(g.Tokens); id < tokens; id++ {
		const unused = 5
		g.Tokens, g.Types = append(g.Tokens, fmt.Sprintf("[PAD%d]", id)), append(g.Types, unused)
		if g.Scores != nil {
			g.Scores = append(g.Scores, -1000)
		}
	}
	for _, f := range fields(&g) {
		m = write(m, prefix+f.key, f.value)
	}
	for _, role := range slices.Sorted(maps.Keys(g.IDs)) {
		m = m.With(idKey(role), uint32(g.IDs[role]))
	}
	return m, nil, nil
}

// withEnds adds the tokens that end answers: the tokenizer's token and the tokens of generation_config.json, of which a
// file holds three.
func withEnds(m gguf.Meta, dir string, eos uint32) gguf.Meta {
	ends := []uint32{eos}
	for _, name := range []string{"generation_config.json", "config.json"} {
		var c struct {
			EOS json.RawMessage `json:"eos_token_id"`
		}
		if _, err := ReadJSON(dir, name, &c); err != nil {
			continue // it is read, and found damaged, elsewhere
		}
		var one uint32
		var list []uint32
		if files.JSON(c.EOS, &one) == nil && len(c.EOS) > 0 && string(c.EOS) != "null" {
			list = []uint32{one}
		} else if files.JSON(c.EOS, &list) != nil {
			continue
		}
		for _, id := range list {
			if !slices.Contains(ends, id) {
				ends = append(ends, id)
			}
		}
	}
	for i, key := range []string{"eos_token_id", "eot_token_id", "eom_token_id"} {
		if i < len(ends) {
			m = m.With(prefix+key, ends[i])
		}
	}
	return m
}

// Unpack writes the tokenizer and the templates of metadata to a folder: tokenizer.json and tokenizer_config.json. It
// does nothing without a tokenizer.
func Unpack(m gguf.Meta, dir string) error {
	t, err := Read(m)
	if err == errNone {
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.Save(filepath.Join(dir, "tokenizer.json")); err != nil {
		return err
	}
	about := map[string]any{"tokenizer_class": "PreTrainedTokenizerFast"}
	for role, id := range Special(m) {
		if token, ok := t.IDToToken(id); ok {
			about[role+"_token"] = token
		}
	}
	templates := Templates(m)
	if text, ok := templates["default"]; ok && len(templates) == 1 {
		about["chat_template"] = text
	} else if len(templates) > 0 {
		list := []map[string]string{}
		for _, name := range slices.Sorted(maps.Keys(templates)) {
			list = append(list, map[string]string{"name": name, "template": templates[name]})
		}
		about["chat_template"] = list
	}
	return files.Replace(filepath.Join(dir, "tokenizer_config.json"), func(w *bufio.Writer) error {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(about)
	})
}
