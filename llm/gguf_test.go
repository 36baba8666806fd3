package llm_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
)

// convert writes the model of a folder as a GGUF file, with changed metadata.
func convert(t *testing.T, dir string, change func(gguf.Meta) gguf.Meta) string {
	t.Helper()
	f, err := llamacpp.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	meta, _, err := vocabulary.Pack(f.Meta, dir, 259)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.gguf")
	if err := gguf.Write(path, change(meta), f.Sources); err != nil {
		t.Fatal(err)
	}
	return path
}

// ends adds the special tokens, and tokens adds the tokenizer as llama.cpp has it, too.
func ends(m gguf.Meta) gguf.Meta {
	return m.With("tokenizer.ggml.bos_token_id", uint32(256)).With("tokenizer.ggml.eos_token_id", uint32(258))
}

func tokens(t *testing.T) func(gguf.Meta) gguf.Meta {
	tok, err := tokenizer.Open("testdata/chat")
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	var types []int32
	for id := range int32(tok.VocabSize()) {
		token, _ := tok.IDToToken(id)
		if list, types = append(list, token), append(types, 1); id >= 256 {
			types[id] = 3
		}
	}
	return func(m gguf.Meta) gguf.Meta {
		m = slices.DeleteFunc(slices.Clone(m), func(p gguf.Pair) bool { return p.Key == "tokenizer.huggingface.json" })
		return ends(m).With("tokenizer.ggml.model", "gpt2").With("tokenizer.ggml.pre", "gpt-2").With("tokenizer.ggml.tokens", list).
			With("tokenizer.ggml.token_type", types).With("tokenizer.ggml.merges", []string{}).With("tokenizer.ggml.add_bos_token", true)
	}
}

// A GGUF file writes the same texts as its folder.
func TestGGUF(t *testing.T) {
	ctx := context.Background()
	messages := []llm.Message{{Role: "user", Content: "What is a tensor?"}}
	for name, change := range map[string]func(gguf.Meta) gguf.Meta{"tokenizer.json": ends, "tokens": tokens(t)} {
		path := filepath.Join(t.TempDir(), "sha256-0a") // a name as in stores of other programs
		if err := os.Rename(convert(t, "testdata/chat", change), path); err != nil {
			t.Fatal(err)
		}
		if _, err := vocabulary.Open(path); err != nil {
			t.Error(err)
		}
		m, f := open(t, path, nil), open(t, "testdata/chat", nil)
		if m.Context() != 128 {
			t.Errorf("%s: the context is %d, want 128", name, m.Context())
		}
		got, ids := collect(t, m.Chat(ctx, messages, nil))
		if want, wantIDs := collect(t, f.Chat(ctx, messages, nil)); !slices.Equal(got, want) || !slices.Equal(ids[0], wantIDs[0]) {
			t.Errorf("%s: %q %v, want %q %v", name, got, ids, want, wantIDs)
		}
		o := &llm.GenerateOptions{End: []int32{256}}
		if got, _ := collect(t, m.Generate(ctx, "Größe", o)); got[0] != ": 3 °C, naïve café ☕.|stop" {
			t.Errorf("%s: %q", name, got)
		}
	}
	plain := func(m gguf.Meta) gguf.Meta { return tokens(t)(m).With("tokenizer.ggml.eos_token_id", uint32(256)) }
	if end := open(t, convert(t, "testdata/chat", plain), nil).Defaults().End; !slices.Contains(end, 258) {
		t.Errorf("a file that names <|endoftext|> alone ends answers by %v, want <|im_end|> too", end)
	}
	// Tokens that end answers in some vocabularies, as other tokens of this one.
	for _, c := range []struct {
		names map[int]string // of tokens
		types map[int]int32
		ends  []int32 // beside 256 and 258
	}{
		{map[int]string{65: "</s>", 66: "<eos>"}, nil, nil},
		{map[int]string{65: "</s>", 66: "<eos>"}, map[int]int32{65: 4, 66: 3}, []int32{66}},
		{map[int]string{65: "<|end|>"}, nil, []int32{65}},
		{map[int]string{65: "<|end|>", 66: "<|return|>", 67: "<|call|>"}, nil, []int32{66, 67}},
	} {
		named := func(m gguf.Meta) gguf.Meta {
			m = plain(m)
			list, types := slices.Clone(m.Value("tokenizer.ggml.tokens").([]string)), slices.Clone(m.Value("tokenizer.ggml.token_type").([]int32))
			for id, name := range c.names {
				list[id] = name
			}
			for id, t := range c.types {
				types[id] = t
			}
			return m.With("tokenizer.ggml.tokens", list).With("tokenizer.ggml.token_type", types)
		}
		end := open(t, convert(t, "testdata/chat", named), nil).Defaults().End
		slices.Sort(end)
		if want := append(c.ends, 256, 258); !slices.Equal(end, want) {
			t.Errorf("%v of types %v: answers end by %v, want %v", c.names, c.types, end, want)
		}
	}
	two := func(m gguf.Meta) gguf.Meta {
		return ends(m).With("tokenizer.chat_template.tool_use", "tools").With("tokenizer.chat_template", "{{ bos_token }}{{ messages[0].content }}")
	}
	m := open(t, convert(t, "testdata/chat", two), nil)
	if prompt, err := m.ChatPrompt(messages, nil); err != nil || prompt != "<|endoftext|>What is a tensor?" {
		t.Errorf("%q, %v", prompt, err)
	}
	if prompt, err := m.ChatPrompt(messages, &llm.ChatOptions{Tools: []json.RawMessage{json.RawMessage(`{}`)}}); err != nil || prompt != "tools" {
		t.Errorf("%q, %v", prompt, err)
	}
	_, ids := collect(t, open(t, "../gguf/testdata/llama_gqa.gguf", nil).GenerateIDs(ctx, []int32{5, 6, 7}, &llm.GenerateOptions{MaxTokens: 24}))
	_, want := collect(t, open(t, "../models/testdata/llama_gqa", nil).GenerateIDs(ctx, []int32{5, 6, 7}, &llm.GenerateOptions{MaxTokens: 24}))
	if !slices.Equal(ids[0], want[0]) {
		t.Errorf("%v, want %v", ids, want)
	}
}

func errorOf[T any](_ T, err error) error { return err }

// Next to quantised weights the cache takes two bytes a number.
func TestEstimateQuantised(t *testing.T) {
	const plain = "../gguf/testdata/llama_gqa.gguf"
	f, err := gguf.Open(plain)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var sources []gguf.Source
	for _, info := range f.Tensors() {
		typ := info.Type
		if len(info.Shape) > 1 {
			typ = gguf.Q8_0
		}
		sources = append(sources, gguf.Source{Name: info.Name, Type: typ, Shape: info.Shape, Tensor: func() (tensor.Tensor, error) { return f.Tensor(info.Name) }})
	}
	path := filepath.Join(t.TempDir(), "q.gguf")
	if err := gguf.Write(path, f.Meta, sources); err != nil {
		t.Fatal(err)
	}
	wide, err := llm.Estimate(plain, nil)
	if err != nil {
		t.Fatal(err)
	}
	narrow, err := llm.Estimate(path, nil)
	if err != nil || narrow.PerToken == 0 || 2*narrow.PerToken != wide.PerToken || 3*narrow.Weights > wide.Weights {
		t.Errorf("%+v, %v, beside %+v in float32", narrow, err, wide)
	}
	o := &llm.Options{CacheType: nn.CacheQ8}
	codes, err := llm.Estimate(path, o)
	if err != nil || codes.PerToken*2*8 != narrow.PerToken*(8+2) || codes != open(t, path, o).Memory() { // heads of 8 with a scale
		t.Errorf("%+v, %v, beside %+v in float16", codes, err, narrow)
	}
	for _, err := range []error{errorOf(llm.Estimate(path, &llm.Options{CacheType: "int4"})), errorOf(llm.Open(path, &llm.Options{CacheType: "int4"}))} {
		if err == nil || !strings.Contains(err.Error(), `the type of a cache is "int4"`) {
			t.Errorf("a type that there is not: %v", err)
		}
	}
}

func TestGGUFErrors(t *testing.T) {
	whole := tokens(t)
	for _, c := range []struct {
		key   string
		value any
		want  string
	}{
		{"general.architecture", "mamba", `"mamba"`},
		{"llama.pooling_type", uint32(9), `"llama.pooling_type" is 9`},
		{"tokenizer.ggml.model", "odd", `tokenizer.ggml.model is "odd"`},
		{"tokenizer.ggml.tokens", "odd", `"tokenizer.ggml.tokens" is a string`},
		{"tokenizer.ggml.add_bos_token", "odd", `"tokenizer.ggml.add_bos_token" is a string`},
	} {
		path := convert(t, "testdata/chat", func(m gguf.Meta) gguf.Meta { return whole(m).With(c.key, c.value) })
		m, err := llm.Open(path, nil)
		if err == nil {
			err = failure(m.Generate(context.Background(), "a", nil))
		}
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s %v: %v, want %q", c.key, c.value, err, c.want)
		}
	}
	if _, err := llm.Open("testdata/none.gguf", nil); err == nil || !strings.Contains(err.Error(), "none.gguf") {
		t.Errorf("a file that does not exist: %v", err)
	}
}

// Poolings of a file; embeddings equal the embeddings of its folder.
func TestGGUFEmbed(t *testing.T) {
	texts := []string{"a cat", "the quick brown fox"}
	want, err := open(t, "testdata/embed", nil).Embed(texts)
	if err != nil {
		t.Fatal(err)
	}
	for kind, same := range map[int]bool{1: true, 2: false, 3: false} {
		path := convert(t, "testdata/embed", func(m gguf.Meta) gguf.Meta { return m.With("bert.pooling_type", uint32(kind)) })
		got, err := open(t, path, nil).Embed(texts)
		if err != nil {
			t.Fatal(err)
		}
		if d := got[1][3] - want[1][3]; (d < 1e-5 && d > -1e-5) != same {
			t.Errorf("pooling %d: element 3 is %v, want %v: %v", kind, got[1][3], want[1][3], same)
		}
	}
}
