package tokenizer

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
)

// Tokenizers by the metadata of GGUF files find the tokens of Hugging Face's library. So does llama.cpp with the same
// metadata.
func TestToGGUF(t *testing.T) {
	for _, name := range goldenNames {
		g, err := load(t, name).GGUF()
		if name == "llama2_bpe" {
			if err == nil || !strings.Contains(err.Error(), "it has 1420 merges, and 2024 pairs of tokens make a token") {
				t.Errorf("merges that are not SentencePiece's: %v", err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		tok, err := FromGGUF(g)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		data, err := os.ReadFile("testdata/" + name + ".cases.json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Text string
			IDs  []int32
		}
		if err := json.Unmarshal(data, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if name == "unigram" && strings.ContainsAny(c.Text, "\u00a0ﬁ①½") { // llama.cpp has no NFKC
				continue
			}
			if e, err := tok.Encode(c.Text, nil); err != nil || !slices.Equal(e.IDs, c.IDs) {
				t.Errorf("%s: %q: %v, want %v, %v", name, c.Text, e.IDs, c.IDs, err)
			}
		}
	}
}

// A model of SentencePiece keeps its tokens, whatever the scores were.
func TestToGGUFScores(t *testing.T) {
	g := GGUF{Model: "llama", IDs: map[string]int32{"bos": 1, "eos": 2}, Tokens: []string{"<unk>", "<s>", "</s>"}, Types: []int32{2, 3, 3}, Scores: make([]float32, 3)}
	for b := range 256 {
		g.Tokens, g.Types, g.Scores = append(g.Tokens, "<0x"+strings.ToUpper(string("0123456789abcdef"[b>>4]))+strings.ToUpper(string("0123456789abcdef"[b&15]))+">"), append(g.Types, 6), append(g.Scores, 0)
	}
	for i, token := range []string{"ab", "▁a", "bab", "abab", "a", "b", "▁"} {
		g.Tokens, g.Types, g.Scores = append(g.Tokens, token), append(g.Types, 1), append(g.Scores, -float32(i*7))
	}
	want, err := FromGGUF(g)
	if err != nil {
		t.Fatal(err)
	}
	again, err := want.GGUF()
	if err != nil {
		t.Fatal(err)
	}
	got, err := FromGGUF(again)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"abab", "babab a ab", "Größe", "bbbbabaaba ba"} {
		a, errA := got.Encode(text, nil)
		b, errB := want.Encode(text, nil)
		if errA != nil || errB != nil || !slices.Equal(a.IDs, b.IDs) {
			t.Errorf("%q: %v, want %v", text, a.IDs, b.IDs)
		}
	}
	if again.IDs["bos"] != 1 || again.Types[0] != 2 || !*again.AddBOS || *again.AddEOS {
		t.Errorf("%+v", again)
	}
	// An expression of its own cannot be named.
	const odd = `{"model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}, "pre_tokenizer": {"type": "Sequence", "pretokenizers": [
		{"type": "Split", "pattern": {"Regex": "x+"}, "behavior": "Isolated", "invert": false}, {"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": false, "use_regex": false}]}}`
	tok, err := Read(strings.NewReader(odd))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tok.GGUF(); err == nil || !strings.Contains(err.Error(), `text is split by ["x+"]`) {
		t.Errorf("an expression without a name: %v", err)
	}
}
