package tokenizer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// readModel reads the model of tokenizer.json. Old files have no type.
func readModel(raw json.RawMessage) (subword.Model, error) {
	f := newFields("model", raw)
	if f.err != nil {
		return nil, f.err
	}
	build, ok := modelTypes[get(f, "type", f.guessModel())]
	if f.err == nil && !ok {
		f.fail("type", "there is no such model: known are %q", sortedKeys(modelTypes))
	}
	if f.err != nil {
		return nil, f.err
	}
	m := build(f, len(raw))
	return m, f.done()
}

var modelTypes = map[string]func(f *fields, size int) subword.Model{
	"BPE": readBPE, "WordPiece": readWordPiece, "WordLevel": readWordLevel, "Unigram": readUnigram,
}

// guessModel returns the type of a model by its fields.
func (f *fields) guessModel() string {
	switch {
	case f.has("merges"):
		return "BPE"
	case f.has("continuing_subword_prefix"):
		return "WordPiece"
	case bytes.HasPrefix(f.m["vocab"], []byte("[")):
		return "Unigram"
	}
	return "WordLevel"
}

// vocabulary reads the field vocab, an object of tokens and ids.
func (f *fields) vocabulary(size int) *subword.Vocabulary {
	v, err := subword.NewVocabulary(must[map[string]int32](f, "vocab"), size)
	if err != nil {
		f.fail("vocab", "%v", err)
		v = &subword.Vocabulary{}
	}
	return v
}

func readWordLevel(f *fields, size int) subword.Model {
	return &subword.WordLevel{Words: f.vocabulary(size), Unknown: must[string](f, "unk_token")}
}

func readWordPiece(f *fields, size int) subword.Model {
	v := f.vocabulary(size)
	longest := get(f, "max_input_chars_per_word", 100)
	return subword.NewWordPiece(v, must[string](f, "unk_token"), get(f, "continuing_subword_prefix", "##"), longest)
}

func readBPE(f *fields, size int) subword.Model {
	m := &subword.BPE{
		Words: f.vocabulary(size), Unknown: get(f, "unk_token", ""), Prefix: get(f, "continuing_subword_prefix", ""),
		Suffix: get(f, "end_of_word_suffix", ""), Fuse: get(f, "fuse_unk", false), Fallback: get(f, "byte_fallback", false),
		Whole: get(f, "ignore_merges", false),
	}
	f.skip("dropout") // it is for training
	raw := f.take("merges")
	var lines []string
	if !f.decode("merges", raw, &m.List) {
		m.List = nil
		if !f.decode("merges", raw, &lines) {
			f.fail("merges", `should be a list of ["a", "b"] or of "a b"`)
		}
	}
	for i, line := range lines {
		if err := m.Add(line); err != nil {
			f.fail("merges", "element %d %v", i, err)
		}
	}
	return m
}

func readUnigram(f *fields, _ int) subword.Model {
	raws := must[[]json.RawMessage](f, "vocab")
	pieces := make([]subword.Scored, len(raws))
	for i, raw := range raws {
		var pair []json.RawMessage
		if !f.decode("vocab", raw, &pair) || len(pair) != 2 || files.JSON(pair[0], &pieces[i].Token) != nil {
			f.fail("vocab", `element %d should be ["token", score], and is %.60s`, i, raw)
			continue
		}
		var ok bool
		if pieces[i].Score, ok = parseScore(string(pair[1])); !ok {
			f.fail("vocab", `element %d should be ["token", score], and is %.60s`, i, raw)
		}
	}
	m, err := subword.NewUnigram(pieces, get(f, "unk_id", -1), get(f, "byte_fallback", false))
	if err != nil {
		f.fail("", "%v", err)
	}
	return m
}

// parseScore reads a number as Hugging Face's library does, whose result may differ from the nearest one in the last
// bit: whole digits, divided by a power of ten. Ties between ways to divide a word depend on it.
func parseScore(s string) (float64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	digits, mantissa := strings.TrimPrefix(s, "-"), uint64(0)
	whole, fraction, _ := strings.Cut(digits, ".")
	if err != nil || strings.ContainsAny(digits, "eE") || len(whole)+len(fraction) > 19 {
		return v, err == nil
	}
	for _, c := range whole + fraction {
		mantissa = mantissa*10 + uint64(c-'0')
	}
	v = float64(mantissa) / math.Pow10(len(fraction))
	if s != digits {
		v = -v
	}
	return v, true
}

// readVocabText reads BERT's vocab.txt: a token a line, the id is the number of the line. Nothing
// in it says whether the model knows upper case: it does if a token has a capital letter.
func readVocabText(data []byte) (*Tokenizer, error) {
	ids := map[string]int32{}
	if err := subword.Check(bytes.Count(data, []byte("\n"))+1, len(data)); err != nil {
		return nil, err
	}
	id := int32(0)
	for line := range strings.SplitSeq(strings.TrimSuffix(string(data), "\n"), "\n") {
		line = strings.TrimSuffix(line, "\r")
		if _, ok := ids[line]; !ok {
			ids[line] = id
		}
		id++
	}
	return bertTokenizer(ids, len(data)+1, nil, nil)
}

// bertTokenizer returns the tokenizer of BERT with these tokens. Lower is nil if it depends on the tokens, strip if it
// depends on lower.
func bertTokenizer(ids map[string]int32, bound int, lower, strip *bool) (*Tokenizer, error) {
	v, err := subword.NewVocabulary(ids, bound)
	if err != nil {
		return nil, err
	}
	cased := false
	for s := range ids {
		cased = cased || !strings.HasPrefix(s, "[") && strings.ToLower(s) != s
	}
	s := spec{model: subword.NewWordPiece(v, "[UNK]", "##", 100)}
	for _, token := range []string{"[CLS]", "[SEP]", "[UNK]"} {
		if _, ok := ids[token]; !ok {
			return nil, fmt.Errorf("it is no vocabulary of BERT: it lacks the token %s", token)
		}
	}
	for _, name := range []string{"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"} {
		if _, ok := ids[name]; ok {
			s.added = append(s.added, AddedToken{Content: name, Special: true})
		}
	}
	s.section("normalizer", map[string]any{"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": strip, "lowercase": or(lower, !cased)})
	s.section("pre_tokenizer", map[string]any{"type": "BertPreTokenizer"})
	s.section("post_processor", map[string]any{"type": "BertProcessing", "sep": []any{"[SEP]", ids["[SEP]"]}, "cls": []any{"[CLS]", ids["[CLS]"]}})
	s.section("decoder", map[string]any{"type": "WordPiece", "prefix": "##", "cleanup": true})
	t, err := s.build()
	if err == nil {
		t.names = map[string]string{"unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]", "pad": "[PAD]", "mask": "[MASK]"}
	}
	return t, err
}

// readVocabJSON reads GPT-2's vocab.json and merges.txt.
func readVocabJSON(vocab, merges []byte) (*Tokenizer, error) {
	var ids map[string]int32
	if err := files.JSON(vocab, &ids); errors.Is(err, driver.ErrMemory) {
		return nil, err
	} else if err != nil || ids == nil {
		return nil, fmt.Errorf("it should be an object of tokens and ids")
	}
	v, err := subword.NewVocabulary(ids, len(vocab))
	if err != nil {
		return nil, err
	}
	m, i := &subword.BPE{Words: v}, 0
	for line := range strings.SplitSeq(string(merges), "\n") {
		i++
		line = strings.TrimSuffix(line, "\r")
		if line == "" || strings.HasPrefix(line, "#version") {
			continue
		}
		if err := m.Add(line); err != nil {
			return nil, fmt.Errorf("merges.txt:%d: %w", i, err)
		}
	}
	s := spec{model: m}
	if _, ok := ids["<|endoftext|>"]; ok {
		s.added = append(s.added, AddedToken{Content: "<|endoftext|>", Special: true})
	}
	level := map[string]any{"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": true}
	for _, name := range []string{"pre_tokenizer", "post_processor", "decoder"} {
		s.section(name, level)
	}
	t, err := s.build()
	if err == nil && len(s.added) > 0 {
		for _, role := range []string{"bos", "eos", "unk"} {
			t.names[role] = "<|endoftext|>"
		}
	}
	return t, err
}
