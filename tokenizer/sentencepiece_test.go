package tokenizer

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tokenizer/internal/subword"
)

// proto appends a field: bytes, or a number.
func proto(b []byte, field int, v any) []byte {
	switch v := v.(type) {
	case string:
		b = binary.AppendUvarint(b, uint64(field)<<3|2)
		return append(binary.AppendUvarint(b, uint64(len(v))), v...)
	case int:
		return binary.AppendUvarint(binary.AppendUvarint(b, uint64(field)<<3), uint64(v))
	case float32:
		return binary.LittleEndian.AppendUint32(binary.AppendUvarint(b, uint64(field)<<3|5), math.Float32bits(v))
	}
	panic("no such field")
}

// testModel is a small model of SentencePiece, of kind 1, Unigram, or 2, BPE.
func testModel(kind int) []byte {
	var b []byte
	piece := func(s string, score float32, kind int) {
		p := proto(proto(nil, 1, s), 2, score)
		if kind != normalPiece {
			p = proto(p, 3, kind)
		}
		b = proto(b, 1, string(p))
	}
	piece("<unk>", 0, unknownPiece)
	piece("<s>", 0, controlPiece)
	piece("</s>", 0, controlPiece)
	piece("<sep>", 0, userPiece)
	for i := range 256 {
		piece("<0x"+strings.ToUpper(string("0123456789abcdef"[i>>4])+string("0123456789abcdef"[i&15]))+">", 0, bytePiece)
	}
	for i, s := range strings.Fields("▁t he ▁the in er ▁a re on th ▁ e t a o i n s h r l d") {
		piece(s, float32(-i-1), normalPiece)
	}
	b = proto(b, 2, string(proto(proto(nil, 3, kind), 35, 1)))
	return proto(b, 3, string(proto(proto(nil, 3, 1), 4, 0)))
}

func TestSentencePiece(t *testing.T) {
	for kind, want := range map[int]string{
		1: "<s> ▁the ▁a n t <sep> ▁ he re <0xE2> <0x82> <0xAC> </s>",
		2: "<s> ▁the ▁a n t <sep> ▁ he re <0xE2> <0x82> <0xAC> </s>",
	} {
		dir := t.TempDir()
		for name, data := range map[string]string{
			"tokenizer.model":       string(testModel(kind)),
			"tokenizer_config.json": `{"add_bos_token": true, "add_eos_token": true, "bos_token": {"content": "<s>"}, "eos_token": "</s>"}`,
		} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		tok, err := Open(dir)
		if err != nil {
			t.Fatal(err)
		}
		const text = "the ant<sep>here€"
		e, err := tok.Encode(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(e.Tokens, " "); got != want {
			t.Errorf("kind %d: %s, want %s", kind, got, want)
		}
		if got := tok.Decode(e.IDs, false); strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(text, " ", "") {
			t.Errorf("kind %d: decoded %q", kind, got)
		}
		if token, id, ok := tok.Special("eos"); token != "</s>" || id != 2 || !ok {
			t.Errorf("the end is %q, %d, %v", token, id, ok)
		}
	}
}

// The metadata of a GGUF file say what tokenizer.json says.
func TestGGUF(t *testing.T) {
	for name, g := range map[string]GGUF{
		"llama3_bpe":     {Model: "gpt2", Pre: "llama-bpe", IDs: map[string]int32{"bos": 0, "eos": 1}},
		"gpt2_bpe":       {Model: "gpt2", Pre: "gpt-2"},
		"bert_wordpiece": {Model: "bert", IDs: map[string]int32{"cls": 2, "sep": 3}},
	} {
		tok := load(t, name)
		g.Tokens = slices.Clone(tok.model.Vocab().Tokens)
		for i, s := range g.Tokens {
			kind := int32(normalPiece)
			if _, ok := tok.added.byID[int32(i)]; ok {
				kind = controlPiece
			}
			g.Types = append(g.Types, kind)
			if rest, ok := strings.CutPrefix(s, "##"); g.Model == "bert" && kind == normalPiece {
				if g.Tokens[i] = rest; !ok {
					g.Tokens[i] = "▁" + s
				}
			}
		}
		if m, ok := tok.model.(*subword.BPE); ok {
			for _, pair := range m.List {
				g.Merges = append(g.Merges, pair[0]+" "+pair[1])
			}
		}
		same, err := FromGGUF(g)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{hostile, mixedText(3000), "", " ", "<|eot_id|>[MASK]<|endoftext|>"} {
			a, err := tok.Encode(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			b, err := same.Encode(text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(a.IDs, b.IDs) {
				t.Errorf("%s: %.60q gave %.40q, want %.40q", name, text, b.Tokens, a.Tokens)
			}
		}
	}
	llama := GGUF{Model: "llama", Tokens: strings.Fields("<unk> <s> </s> <0x0A> ▁ a b ▁a ab"), Scores: make([]float32, 9), Types: []int32{2, 3, 3, 6, 1, 1, 1, 1, 1}, IDs: map[string]int32{"bos": 1}}
	for i := range llama.Scores {
		llama.Scores[i] = float32(-i)
	}
	tok, err := FromGGUF(llama)
	if err != nil {
		t.Fatal(err)
	}
	e, err := tok.Encode("ab a\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(e.Tokens, " "); got != "<s> ▁a b ▁a <0x0A>" {
		t.Errorf("llama: %s", got)
	}
	for want, g := range map[string]GGUF{
		"tokenizer.ggml.model is \"rwkv\"":             {Model: "rwkv"},
		"tokenizer.ggml.pre is \"x\"":                  {Model: "gpt2", Pre: "x"},
		"token_type has 1 elements":                    {Model: "gpt2", Types: []int32{1}},
		"the bos token has the id 5":                   {Model: "gpt2", IDs: map[string]int32{"bos": 5}},
		"scores has 0 elements":                        {Model: "llama", Tokens: []string{"a"}},
		"it lacks the token [CLS]":                     {Model: "bert", Tokens: []string{"a"}},
		"merge 0 should be two tokens":                 {Model: "gpt2", Tokens: []string{"a"}, Merges: []string{"a"}},
		"token 1, \"a\", is there twice":               {Model: "gpt2", Tokens: []string{"a", "a"}},
		"merge 0 joins \"b\", which the vocabulary la": {Model: "gpt2", Tokens: []string{"a"}, Merges: []string{"a b"}},
	} {
		if _, err := FromGGUF(g); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
}

// Splitters of llama.cpp say more than how text is split, and tokens without text have its names.
func TestGGUFCustoms(t *testing.T) {
	g := GGUF{Model: "gpt2", Tokens: []string{"a", "b", "ab", "", "<s>", ""}, Types: []int32{1, 1, 1, 1, 3, 1}, IDs: map[string]int32{"bos": 4}}
	for pre, want := range map[string][]int32{
		"llama-bpe": {4, 2}, "lfm2": {4, 2}, "falcon-h1": {4, 2}, "midm-2.0": {4, 2}, "jina-v5-nano": {4, 2}, "tekken": {4, 2}, "qwen2": {0, 1},
	} {
		g.Pre = pre
		tok, err := FromGGUF(g)
		if err != nil {
			t.Errorf("%s: %v", pre, err)
			continue
		}
		e, err := tok.Encode("ab", nil)
		if name, _ := tok.IDToToken(5); err != nil || !slices.Equal(e.IDs, want) || name != "[EMPTY_5]" {
			t.Errorf("%s: %v, %q, %v, want %v", pre, e.IDs, name, err, want)
		}
	}
}
