package tokenizer

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// A component is a tokenizer of testdata with other sections, and the results of Hugging Face's
// library, 0.23, for texts.
type componentCases struct {
	Name, Base      string
	Sections, Model map[string]json.RawMessage
	Cases           []struct {
		Text, Decoded, Keep string
		Pair                *string
		AddSpecial          *bool `json:"add_special"`
		Error               bool
		IDs, Types, Offsets []int32
		Tokens              []string
	}
}

// with returns the text of a tokenizer with other sections.
func (c *componentCases) with(t *testing.T) string {
	data, err := os.ReadFile("testdata/" + c.Base + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var all, model map[string]json.RawMessage
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all["model"], &model); err != nil {
		t.Fatal(err)
	}
	for k, v := range c.Sections {
		all[k] = v
	}
	for k, v := range c.Model {
		model[k] = v
	}
	if all["model"], err = json.Marshal(model); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestComponents(t *testing.T) {
	data, err := os.ReadFile("testdata/components.json")
	if err != nil {
		t.Fatal(err)
	}
	var all []componentCases
	if err := json.Unmarshal(data, &all); err != nil || len(all) < 100 {
		t.Fatalf("%d components, %v", len(all), err)
	}
	for i, c := range all {
		if testing.Short() && i%3 != 0 {
			continue
		}
		tok, err := Read(strings.NewReader(c.with(t)))
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for _, q := range c.Cases {
			o := &EncodeOptions{NoSpecial: q.AddSpecial != nil && !*q.AddSpecial}
			e, err := tok.Encode(q.Text, o)
			if q.Pair != nil {
				e, err = tok.EncodePair(q.Text, *q.Pair, o)
			}
			if (err != nil) != q.Error {
				t.Errorf("%s: %q: %v", c.Name, q.Text, err)
			}
			if err != nil {
				continue
			}
			var offsets []int32
			for _, p := range e.Offsets {
				offsets = append(offsets, p[:]...)
			}
			if !slices.Equal(e.IDs, q.IDs) || !slices.Equal(e.Tokens, q.Tokens) || !slices.Equal(offsets, q.Offsets) || !slices.Equal(e.TypeIDs, q.Types) {
				t.Errorf("%s: %q gave\n%v %q %v %v, want\n%v %q %v %v", c.Name, q.Text, e.IDs, e.Tokens, offsets, e.TypeIDs, q.IDs, q.Tokens, q.Offsets, q.Types)
			}
			if got := tok.Decode(q.IDs, false); got != q.Decoded {
				t.Errorf("%s: %v decodes to %q, want %q", c.Name, q.IDs, got, q.Decoded)
			}
			if got := tok.Decode(q.IDs, true); got != q.Keep {
				t.Errorf("%s: %v with special tokens decodes to %q, want %q", c.Name, q.IDs, got, q.Keep)
			}
		}
	}
}

// A section that cannot be read is an error that names it.
func TestErrors(t *testing.T) {
	change := func(old, new string) string {
		if strings.Count(small, old) < 1 {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(small, old, new, 1)
	}
	for want, text := range map[string]string{
		"it is no tokenizer.json: it should begin with {":  "vocab",
		"it is no tokenizer.json: its JSON cannot be read": "{",
		"model: is missing":        `{}`,
		"version: is \"2.0\"":      change(`"version":"1.0"`, `"version":"2.0"`),
		"extra: is no known field": change(`"version"`, `"extra":1,"version"`),
		"normalizer.normalizers[0].type: there is no normalizer \"NFX\"":               change("NFKC", "NFX"),
		"normalizer.normalizers[2].strip: is no known field":                           change(`"strip_left"`, `"strip":true,"strip_left"`),
		"normalizer.normalizers[3].clean_text: should be true or false, and is 1":      change(`"clean_text":true`, `"clean_text":1`),
		"normalizer.normalizers[1].pattern.Regex: the regular expression \"a(?=b\"":    change("a(?=b)", "a(?=b"),
		"pre_tokenizer.pretokenizers[0].behavior: should be one of":                    change("MergedWithNext", "Merged"),
		"pre_tokenizer.pretokenizers[2].replacement: should be one character":          change(`"replacement":"_"`, `"replacement":"__"`),
		"post_processor.processors[1].single[0].SpecialToken.id: special_tokens has n": change(`{"id":"<pad>","type_id":0}`, `{"id":"<bad>","type_id":0}`),
		"decoder.decoders[2].start: is missing":                                        change(`"start":1,`, ``),
		"model: unk_id is 9":                                                           change(`"unk_id":1`, `"unk_id":9`),
		"model.type: there is no such model":                                           change("Unigram", "Bigram"),
		"model.vocab: element 1 should be":                                             change(`["<unk>",-1.5]`, `["<unk>"]`),
		"padding: lengths should be from 0 to 1048576":                                 change(`"Fixed":8`, `"Fixed":99999999`),
		"truncation.direction: should be one of":                                       change(`"Right"`, `"Up"`),
		"added_tokens[0].id: should be a whole number":                                 change(`"id":0,"content"`, `"id":-1.5,"content"`),
	} {
		_, err := Read(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	dir := t.TempDir()
	if _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "has none of tokenizer.json") {
		t.Errorf("an empty folder: %v", err)
	}
	if _, err := Open(filepath.Join(dir, "none.json")); err == nil || !strings.Contains(err.Error(), "none.json: ") {
		t.Errorf("no file: %v", err)
	}
	tok, err := Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.Encode("a b", &EncodeOptions{Truncation: &Truncation{MaxLength: 0}}); err == nil {
		t.Error("no place for special tokens is no error")
	}
	if _, err := tok.Encode("a b", &EncodeOptions{Truncation: &Truncation{MaxLength: 9, Strategy: OnlySecond}}); err != nil {
		t.Errorf("a short text: %v", err)
	}
	if _, err := tok.Encode("a b a b a b", &EncodeOptions{Truncation: &Truncation{MaxLength: 2, Strategy: OnlySecond}}); err == nil {
		t.Error("there is no second text to cut, and no error")
	}
}

// Files in the formats of BERT and GPT-2 give the same tokens as tokenizer.json.
func TestVocabFiles(t *testing.T) {
	for _, name := range []string{"bert_wordpiece", "gpt2_bpe"} {
		tok, dir := load(t, name), t.TempDir()
		write := func(file, text string) {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		switch m := tok.model.(type) {
		case *subword.WordPiece:
			write("vocab.txt", strings.Join(m.Words.Tokens, "\n")+"\n")
		case *subword.BPE:
			ids, err := json.Marshal(m.Words.IDs)
			if err != nil {
				t.Fatal(err)
			}
			write("vocab.json", string(ids))
			merges := "#version: 0.2\n"
			for _, p := range m.List {
				merges += p[0] + " " + p[1] + "\n"
			}
			write("merges.txt", merges)
		}
		same, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{hostile, mixedText(2000), "<|endoftext|>[SEP]", ""} {
			a, err := tok.Encode(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := same.Encode(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(a.IDs, a.Offsets) != fmt.Sprint(b.IDs, b.Offsets) || tok.Decode(a.IDs, false) != same.Decode(a.IDs, false) {
				t.Errorf("%s: %.40q differs", name, text)
			}
		}
	}
}

func TestTrain(t *testing.T) {
	texts := slices.Values([]string{"abc abd"})
	for want, train := range map[string]func() error{
		"VocabSize is -1":             func() error { _, err := BPETrainer{VocabSize: -1}.Train(texts); return err },
		"VocabSize is 9.2":            func() error { _, err := UnigramTrainer{VocabSize: math.MaxInt}.Train(texts); return err },
		"MinFrequency is -1":          func() error { _, err := BPETrainer{MinFrequency: -1}.Train(texts); return err },
		"LimitAlphabet is -1":         func() error { _, err := BPETrainer{LimitAlphabet: -1}.Train(texts); return err },
		"MaxTokenLength is -2":        func() error { _, err := BPETrainer{MaxTokenLength: -2}.Train(texts); return err },
		"SubIterations is -1":         func() error { _, err := UnigramTrainer{SubIterations: -1}.Train(texts); return err },
		"MaxPieceLength is -2":        func() error { _, err := UnigramTrainer{MaxPieceLength: -2}.Train(texts); return err },
		"SeedSize is -1":              func() error { _, err := UnigramTrainer{SeedSize: -1}.Train(texts); return err },
		"ShrinkingFactor is NaN":      func() error { _, err := UnigramTrainer{ShrinkingFactor: math.NaN()}.Train(texts); return err },
		"ShrinkingFactor is 1":        func() error { _, err := UnigramTrainer{ShrinkingFactor: 1}.Train(texts); return err },
		"the texts are nil":           func() error { _, err := BPETrainer{}.Train(nil); return err },
		"train on: the texts are nil": func() error { _, err := UnigramTrainer{}.Train(nil); return err },
	} {
		if err := train(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Train: %v, want an error that %s", err, want)
		}
	}
	text, err := os.ReadFile("testdata/train.txt")
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile("testdata/train.json")
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Vocab   []string `json:"bpe_vocab"`
		Merges  [][2]string
		Unigram [][2]any
	}
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	tok, err := BPETrainer{}.Train(strings.Lines(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	if m := tok.model.(*subword.BPE); !slices.Equal(m.Words.Tokens, want.Vocab) || !slices.Equal(m.List, want.Merges) {
		t.Errorf("BPE: %d tokens, %d merges, want %d, %d", len(m.Words.Tokens), len(m.List), len(want.Vocab), len(want.Merges))
	}
	tok, err = UnigramTrainer{}.Train(strings.Lines(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	m := tok.model.(*subword.Unigram)
	if len(m.Scores) != len(want.Unigram) {
		t.Errorf("Unigram: %d tokens, want %d", len(m.Scores), len(want.Unigram))
	}
	for _, p := range want.Unigram { // characters that are rare have scores in no certain order there
		id, ok := m.Words.IDs[p[0].(string)]
		if !ok || math.Abs(m.Scores[id]-p[1].(float64)) > 0.01 {
			t.Errorf("Unigram: %q, %v is missing, or is %v", p[0], p[1], m.Scores[id])
		}
	}
	small, err := BPETrainer{VocabSize: 300, SpecialTokens: []string{"<s>"}, InitialAlphabet: ByteAlphabet(), MinFrequency: 3}.Train(strings.Lines(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "tokenizer.json")
	if err := small.Save(path); err != nil {
		t.Fatal(err)
	}
	again, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	e, err := again.Encode("<s>"+string(text), nil)
	if err != nil || again.VocabSize() != 300 || e.IDs[0] != 0 || again.Decode(e.IDs, false) != string(text) {
		t.Errorf("a trained vocabulary of %d tokens loses text, %v", again.VocabSize(), err)
	}
	pruned, err := UnigramTrainer{VocabSize: 120, UnknownToken: "<unk>", SpecialTokens: []string{"<s>"}}.Train(strings.Lines(string(text)))
	if err != nil || pruned.VocabSize() != 122 {
		t.Errorf("a small Unigram vocabulary: %v", err)
	}
}

// A batch has the encodings of its texts, of one length if there is padding.
func TestEncodeBatch(t *testing.T) {
	tok := load(t, "bert_wordpiece")
	texts := strings.Split(mixedText(20000), "\n")
	padding := &Padding{Token: "[PAD]", MultipleOf: 8}
	batch, err := tok.EncodeBatch(texts, &EncodeOptions{Padding: padding})
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		e, err := tok.Encode(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		n, got := e.Len(), batch[i]
		if got.Len() != batch[0].Len() || got.Len()%8 != 0 || !slices.Equal(got.IDs[:n], e.IDs) || !slices.Equal(got.Offsets[:n], e.Offsets) {
			t.Errorf("text %d differs", i)
		}
		for j := n; j < got.Len(); j++ {
			if got.Tokens[j] != "[PAD]" || got.AttentionMask[j] != 0 || got.SpecialMask[j] != 1 {
				t.Errorf("text %d has the token %q at %d", i, got.Tokens[j], j)
			}
		}
		ids, err := tok.Encode(text, &EncodeOptions{IDsOnly: true, NoSpecial: true})
		if err != nil || ids.Tokens != nil || !slices.Equal(ids.IDs, e.IDs[1:n-1]) {
			t.Errorf("text %d: the ids alone differ, %v", i, err)
		}
	}
}
