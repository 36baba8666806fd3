package tokenizer

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

var goldenNames = []string{"gpt2_bpe", "llama3_bpe", "llama2_bpe", "bert_wordpiece", "unigram"}

func load(t testing.TB, name string) *Tokenizer {
	t.Helper()
	tok, err := Open("testdata/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	return tok
}

// Cases made by Hugging Face's library.
func TestGolden(t *testing.T) {
	for _, name := range goldenNames {
		tok := load(t, name)
		data, err := os.ReadFile("testdata/" + name + ".cases.json")
		if err != nil {
			t.Fatal(err)
		}
		var cases []struct {
			Text, Decoded string
			Keep          string `json:"decoded_keep_special"`
			IDs           []int32
			Tokens        []string
		}
		if err := json.Unmarshal(data, &cases); err != nil || len(cases) != 13 {
			t.Fatalf("%s: %d cases, %v", name, len(cases), err)
		}
		for _, c := range cases {
			e, err := tok.Encode(c.Text, nil)
			if err != nil {
				t.Errorf("%s: %q: %v", name, c.Text, err)
				continue
			}
			if !slices.Equal(e.IDs, c.IDs) || !slices.Equal(e.Tokens, c.Tokens) {
				t.Errorf("%s: %q gave\n%v %q, want\n%v %q", name, c.Text, e.IDs, e.Tokens, c.IDs, c.Tokens)
			}
			if got := tok.Decode(c.IDs, false); got != c.Decoded {
				t.Errorf("%s: %v decodes to %q, want %q", name, c.IDs, got, c.Decoded)
			}
			if got := tok.Decode(c.IDs, true); got != c.Keep {
				t.Errorf("%s: %v with special tokens decodes to %q, want %q", name, c.IDs, got, c.Keep)
			}
		}
	}
}
