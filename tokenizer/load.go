package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// maxFile is the greatest size of a file. Files of models have 1 to 40 MB.
const maxFile = 1 << 30

// Open reads a tokenizer: a file tokenizer.json, tokenizer.model (SentencePiece), vocab.txt (BERT) or
// vocab.json with merges.txt beside it (GPT-2), or a folder that has one of them. Names of special
// tokens come from tokenizer_config.json and special_tokens_map.json beside the file.
func Open(path string) (*Tokenizer, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return openFolder(path)
	}
	t, err := open(path)
	if err != nil {
		return nil, errorf("%s: %w", files.Name(path), files.Reason(err))
	}
	if err := t.readNames(filepath.Dir(path), filepath.Ext(path) == ".model"); err != nil {
		return nil, err
	}
	return t, nil
}

// layouts are the files that a folder may have, the best first.
var layouts = []string{"tokenizer.json", "tokenizer.model", "spiece.model", "sentencepiece.bpe.model", "vocab.json", "vocab.txt"}

func openFolder(path string) (*Tokenizer, error) {
	for _, name := range layouts {
		if _, err := os.Stat(filepath.Join(path, name)); err == nil {
			return Open(filepath.Join(path, name))
		}
	}
	return nil, errorf("%s: the folder has none of %s", files.Name(path), strings.Join(layouts, ", "))
}

func open(path string) (*Tokenizer, error) {
	data, err := files.ReadAll(path, maxFile)
	if err != nil {
		return nil, err
	}
	switch filepath.Ext(path) {
	case ".model":
		return readSentencePiece(data)
	case ".txt":
		return readVocabText(data)
	}
	if filepath.Base(path) == "vocab.json" {
		merges, err := files.ReadAll(filepath.Join(filepath.Dir(path), "merges.txt"), maxFile)
		if err != nil {
			return nil, fmt.Errorf("merges.txt beside it: %w", files.Reason(err))
		}
		return readVocabJSON(data, merges)
	}
	return parse(data)
}

// Read reads a tokenizer.json.
func Read(r io.Reader) (*Tokenizer, error) {
	data, err := files.ReadFrom(r, 0, maxFile)
	if err != nil {
		return nil, errorf("%w", err)
	}
	t, err := parse(data)
	if err != nil {
		return nil, errorf("%w", err)
	}
	return t, nil
}

// A spec has the parts of a tokenizer: the sections of tokenizer.json.
type spec struct {
	sections map[string]json.RawMessage
	model    subword.Model
	added    []AddedToken
}

// section adds a part of tokenizer.json.
func (s *spec) section(name string, v any) {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err) // v is made of maps, slices and strings
	}
	if s.sections == nil {
		s.sections = map[string]json.RawMessage{}
	}
	s.sections[name] = raw
}

// parse reads the contents of tokenizer.json.
func parse(data []byte) (*Tokenizer, error) {
	if i := bytes.IndexFunc(data, func(r rune) bool { return !strings.ContainsRune(" \t\r\n", r) }); i < 0 || data[i] != '{' {
		return nil, errors.New("it is no tokenizer.json: it should begin with {")
	}
	f := newFields("", data)
	if errors.Is(f.err, driver.ErrMemory) {
		return nil, f.err
	}
	if f.err != nil {
		return nil, errors.New("it is no tokenizer.json: its JSON cannot be read")
	}
	if v := get(f, "version", "1.0"); v != "1.0" {
		f.fail("version", "is %.20q: only 1.0 is known", v)
	}
	s := spec{sections: map[string]json.RawMessage{}}
	for _, name := range []string{"truncation", "padding", "normalizer", "pre_tokenizer", "post_processor", "decoder"} {
		if raw := f.take(name); raw != nil {
			s.sections[name] = raw
		}
	}
	model := f.take("model")
	if model == nil {
		f.fail("model", "is missing")
	}
	raws := get[[]json.RawMessage](f, "added_tokens", nil)
	for i, raw := range raws {
		g := newFields(fmt.Sprintf("added_tokens[%d]", i), raw)
		special := get(g, "special", false)
		s.added = append(s.added, AddedToken{
			must[int32](g, "id"), must[string](g, "content"), get(g, "single_word", false), get(g, "lstrip", false),
			get(g, "rstrip", false), get(g, "normalized", !special), special,
		})
		if err := g.done(); err != nil {
			return nil, err
		}
	}
	if err := f.done(); err != nil {
		return nil, err
	}
	var err error
	if s.model, err = readModel(model); err != nil {
		return nil, err
	}
	return s.build()
}

// build makes the tokenizer.
func (s *spec) build() (t *Tokenizer, err error) {
	t = &Tokenizer{model: s.model, sections: s.sections, names: map[string]string{}}
	if t.normalizer, err = readNormalizer("normalizer", s.sections["normalizer"], 0); err != nil {
		return nil, err
	}
	if t.preTokenizer, err = readPreTokenizer("pre_tokenizer", s.sections["pre_tokenizer"], 0); err != nil {
		return nil, err
	}
	if t.processor, err = readProcessor("post_processor", s.sections["post_processor"], 0); err != nil {
		return nil, err
	}
	if t.decoder, err = readDecoder("decoder", s.sections["decoder"], 0); err != nil {
		return nil, err
	}
	if err = t.readLimits(s.sections); err != nil {
		return nil, err
	}
	if m, ok := t.model.(*subword.BPE); ok {
		last := lastByteLevel(t.preTokenizer)
		if err = m.Init(last != nil); err != nil {
			return nil, err
		}
		if last != nil {
			last.raw = m.Raw
		}
	}
	t.added, err = newAddedTokens(s.numbered(), t.normalizer)
	return t, err
}

// lastByteLevel returns the last pre-tokenizer if it is a byte-level one.
func lastByteLevel(p preTokenizer) *byteLevel {
	switch p := p.(type) {
	case *byteLevel:
		return p
	case preTokenizers:
		if len(p) > 0 {
			return lastByteLevel(p[len(p)-1])
		}
	}
	return nil
}

// numbered returns the added tokens with their ids: the vocabulary's if it has the token, else the
// next after all others, as Hugging Face's library numbers them whatever the file says.
func (s *spec) numbered() (out []AddedToken) {
	v := s.model.Vocab()
	ids := map[string]int32{}
	top := int32(-1)
	place := map[int32]int{}
	for _, a := range s.added {
		if a.Content == "" {
			continue // as Hugging Face's library does
		}
		id, ok := v.IDs[a.Content]
		if known, again := ids[a.Content]; again {
			id = known
		} else if !ok {
			id = max(int32(v.Size), top+1)
		}
		a.ID = id
		ids[a.Content] = id
		top = max(top, id)
		if i, again := place[id]; again {
			a.Special = a.Special || out[i].Special // once special, always
			out[i] = a
			continue
		}
		place[id] = len(out)
		out = append(out, a)
	}
	return out
}

// readLimits reads truncation and padding.
func (t *Tokenizer) readLimits(sections map[string]json.RawMessage) error {
	sides := map[string]Side{"Right": Right, "Left": Left}
	if raw := sections["truncation"]; raw != nil {
		f := newFields("truncation", raw)
		t.truncation = &Truncation{
			MaxLength: must[int](f, "max_length"), Stride: get(f, "stride", 0), Side: choice(f, "direction", "Right", sides),
			Strategy: choice(f, "strategy", "LongestFirst", map[string]Strategy{"LongestFirst": LongestFirst, "OnlyFirst": OnlyFirst, "OnlySecond": OnlySecond}),
		}
		if t.truncation.MaxLength < 0 || t.truncation.Stride < 0 {
			f.fail("", "lengths should not be negative")
		}
		if err := f.done(); err != nil {
			return err
		}
	}
	if raw := sections["padding"]; raw != nil {
		f := newFields("padding", raw)
		p := &Padding{
			MultipleOf: get(f, "pad_to_multiple_of", 0), Side: choice(f, "direction", "Right", sides),
			ID: must[int32](f, "pad_id"), TypeID: get(f, "pad_type_id", int32(0)), Token: must[string](f, "pad_token"),
		}
		var strategy struct{ Fixed int }
		name := ""
		switch raw := f.take("strategy"); {
		case files.JSON(raw, &name) == nil && name == "BatchLongest":
		case name == "" && files.JSON(raw, &strategy) == nil && strategy.Fixed > 0:
			p.Length = strategy.Fixed
		default:
			f.fail("strategy", `should be "BatchLongest" or {"Fixed": length}, and is %.40s`, raw)
		}
		if p.MultipleOf < 0 || p.MultipleOf > maxPadded || p.length(p.Length) > maxPadded {
			f.fail("", "lengths should be from 0 to %d", maxPadded)
		}
		if err := f.done(); err != nil {
			return err
		}
		t.padding = p
	}
	return nil
}

// maxPadded is the greatest length to which a file may ask to pad each text.
const maxPadded = 1 << 20

// roles are the special tokens that configurations name.
var roles = []string{"bos", "eos", "unk", "sep", "pad", "cls", "mask"}

// readNames reads the names of special tokens beside a tokenizer. For models of SentencePiece, which do
// not say whether a text begins and ends with tokens, it reads that too.
func (t *Tokenizer) readNames(dir string, ends bool) error {
	var add [2]bool
	for _, name := range []string{"special_tokens_map.json", "tokenizer_config.json"} {
		path := filepath.Join(dir, name)
		data, err := files.ReadAll(path, maxFile)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return errorf("%s: %w", files.Name(path), files.Reason(err))
		}
		var m map[string]json.RawMessage
		if err := files.JSON(data, &m); err != nil {
			return errorf("%s: its JSON cannot be read: %w", files.Name(path), err)
		}
		for _, role := range roles {
			var token string
			var object struct{ Content string }
			raw := m[role+"_token"]
			if files.JSON(raw, &token) != nil && files.JSON(raw, &object) == nil {
				token = object.Content
			}
			if token != "" {
				t.names[role] = token
			}
		}
		for i, role := range []string{"add_bos_token", "add_eos_token"} {
			if raw := m[role]; raw != nil && files.JSON(raw, &add[i]) != nil {
				return errorf("%s: %s should be true or false", files.Name(path), role)
			}
		}
	}
	if !ends || !add[0] && !add[1] {
		return nil
	}
	s := spec{sections: t.sections, model: t.model}
	s.ends(t.names, add[0], add[1])
	var err error
	t.processor, err = readProcessor("post_processor", s.sections["post_processor"], 0)
	return err
}
