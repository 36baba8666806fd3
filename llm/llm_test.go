package llm_test

import (
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/models/sample"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func open(t *testing.T, path string, o *llm.Options) *llm.Model {
	t.Helper()
	m, err := llm.Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// collect returns the texts of answers with their ends, and the tokens.
func collect(t *testing.T, tokens func(func(llm.Token, error) bool)) (texts []string, ids [][]int32) {
	t.Helper()
	for token, err := range tokens {
		if err != nil {
			t.Fatal(err)
		}
		for len(texts) <= token.Index {
			texts, ids = append(texts, ""), append(ids, nil)
		}
		if !utf8.ValidString(token.Text) {
			t.Errorf("a token has the text %q", token.Text)
		}
		if texts[token.Index] += token.Text; token.ID >= 0 {
			ids[token.Index] = append(ids[token.Index], token.ID)
		}
		if token.End != "" {
			texts[token.Index] += "|" + string(token.End)
		}
	}
	return texts, ids
}

func TestGenerate(t *testing.T) {
	m := open(t, "testdata/chat", nil)
	ctx := context.Background()
	end := m.Defaults().End
	if !slices.Equal(end, []int32{256, 258}) {
		t.Errorf("the answers end by %v", end)
	}
	const fox = " brown fox jumps over the lazy dog. The end.|stop"
	for _, c := range []struct {
		prompt string
		o      *llm.GenerateOptions
		want   []string
	}{
		{"The quick", nil, []string{fox}},
		{"The quick", &llm.GenerateOptions{End: end, N: 2}, []string{fox, fox}},
		{"The quick", &llm.GenerateOptions{End: end, NGram: 2}, []string{fox}},
		{"The quick", &llm.GenerateOptions{End: end, Draft: m}, []string{fox}},
		{"The quick", &llm.GenerateOptions{End: end, LogProbs: 2, Settings: sample.Settings{Temperature: 0.01, Typical: 0.9}}, []string{fox}},
		{"The quick", &llm.GenerateOptions{End: end, MaxTokens: 6}, []string{" brown|length"}},
		{"The quick", &llm.GenerateOptions{End: end, Stop: []string{"over", "jumps"}}, []string{" brown fox |stop"}},
		{"The quick", &llm.GenerateOptions{End: end, Stop: []string{"dog. The END", "dog. T"}}, []string{" brown fox jumps over the lazy |stop"}},
		{"The quick", &llm.GenerateOptions{End: end, Stop: []string{"end.!"}}, []string{fox}},
		{"The quick", &llm.GenerateOptions{End: end, Stop: []string{" brown"}}, []string{"|stop"}},
		{"Größe", nil, []string{": 3 °C, naïve café ☕.|stop"}},
		{"Größe", &llm.GenerateOptions{End: end, Stop: []string{"☕"}}, []string{": 3 °C, naïve café |stop"}},
		{"Größe", &llm.GenerateOptions{End: end, MaxTokens: 6}, []string{": 3 °|length"}},
		{"Größe", &llm.GenerateOptions{End: end, MaxTokens: 5}, []string{": 3 \ufffd|length"}},
		{"The quick", &llm.GenerateOptions{End: end, Settings: sample.Settings{Bias: map[int32]float64{'b': -1000}}, MaxTokens: 2}, nil},
	} {
		got, ids := collect(t, m.Generate(ctx, c.prompt, c.o))
		if c.want == nil {
			if slices.Contains(ids[0], 'b') {
				t.Errorf("a forbidden token is written: %v", ids)
			}
		} else if !slices.Equal(got, c.want) {
			t.Errorf("%q with %+v: %q, want %q", c.prompt, c.o, got, c.want)
		}
	}
}

// The same seed writes the same text; another one, another text.
func TestSeed(t *testing.T) {
	m := open(t, "testdata/chat", nil)
	for _, s := range []sample.Settings{{Temperature: 3}, {Temperature: 3, PresencePenalty: 0.1}} {
		write := func(seed uint64) []string {
			got, _ := collect(t, m.Generate(context.Background(), "The", &llm.GenerateOptions{Settings: s, Seed: seed, MaxTokens: 20, N: 2}))
			return got
		}
		a, b, other, none, none2 := write(1), write(1), write(2), write(0), write(0)
		if !slices.Equal(a, b) || slices.Equal(a, other) || slices.Equal(none, none2) || a[0] == a[1] {
			t.Errorf("%+v: %q %q, %q, %q %q", s, a, b, other, none, none2)
		}
	}
}

func TestChat(t *testing.T) {
	m := open(t, "testdata/chat", nil)
	ctx := context.Background()
	user := llm.Message{Role: "user", Content: "Hello"}
	for _, c := range []struct {
		messages []llm.Message
		o        *llm.ChatOptions
		prompt   string
		answer   string
	}{
		{[]llm.Message{user}, nil, "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", "Hi! How can I help you?|stop"},
		{[]llm.Message{{Role: "system", Content: "Be brief."}, user}, nil, "<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", "Hi.|stop"},
		{[]llm.Message{user}, &llm.ChatOptions{Continue: true}, "<|im_start|>user\nHello<|im_end|>\n", ""},
		{[]llm.Message{user}, &llm.ChatOptions{Tools: []json.RawMessage{json.RawMessage(`{"b": 1, "a": {"c": 1.0}}`)}},
			"<|im_start|>user\nHello<|im_end|>\n<|im_start|>tools\n[{\"b\": 1, \"a\": {\"c\": 1.0}}]<|im_end|>\n<|im_start|>assistant\n", ""},
		{[]llm.Message{user}, &llm.ChatOptions{Template: "{{ bos_token }}{{ messages[0].content }}{{ extra }}", Vars: map[string]any{"extra": 7}}, "<|endoftext|>Hello7", ""},
	} {
		prompt, err := m.ChatPrompt(c.messages, c.o)
		if err != nil || prompt != c.prompt {
			t.Errorf("the prompt is %q, error %v, want %q", prompt, err, c.prompt)
		}
		if c.answer != "" {
			if got, _ := collect(t, m.Chat(ctx, c.messages, c.o)); got[0] != c.answer {
				t.Errorf("the answer is %q, want %q", got[0], c.answer)
			}
		}
	}
	for template, want := range map[string]string{
		"{% frob %}": "chat template",
		"{{ raise_exception('no system role') }}": "no system role",
	} {
		if _, err := m.ChatPrompt([]llm.Message{user}, &llm.ChatOptions{Template: template}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("the template %s: %v", template, err)
		}
	}
}

// Tokens need no tokenizer, and are those that package models chooses.
func TestGenerateIDs(t *testing.T) {
	const dir = "../models/testdata/llama_gqa"
	m := open(t, dir, nil)
	_, got := collect(t, m.GenerateIDs(context.Background(), []int32{5, 6, 7}, &llm.GenerateOptions{MaxTokens: 24}))
	decoder, err := models.LoadLlama(dir)
	if err != nil {
		t.Fatal(err)
	}
	want, err := (&models.Generator{Model: decoder, MaxTokens: 24}).Generate([][]int32{{5, 6, 7}})
	if err != nil || !slices.Equal(got[0], want[0]) {
		t.Errorf("%v, want %v, %v", got, want, err)
	}
	if _, full := collect(t, m.GenerateIDs(context.Background(), []int32{5, 6, 7}, &llm.GenerateOptions{})); len(full[0]) != 61 {
		t.Errorf("%d tokens to the end of the context, want 61", len(full[0]))
	}
}

// Where the context is full, half of the text after the first tokens is forgotten, and the rest goes on as a text of its
// own.
func TestShift(t *testing.T) {
	for _, typ := range []nn.CacheType{"", nn.CacheQ8} {
		t.Run(string(typ), func(t *testing.T) { testShift(t, typ) })
	}
}

func testShift(t *testing.T, typ nn.CacheType) {
	m := open(t, "../models/testdata/llama_gqa", &llm.Options{Context: 16, CacheType: typ})
	ctx := context.Background()
	prompt := []int32{5, 6, 7, 8, 9, 10}
	_, first := collect(t, m.GenerateIDs(ctx, prompt, &llm.GenerateOptions{}))
	text := slices.Concat(prompt, first[0]) // 16 tokens
	_, second := collect(t, m.GenerateIDs(ctx, slices.Concat(text[:3], text[9:]), &llm.GenerateOptions{}))
	var ids []int32
	forgotten := map[int]int{}
	for token, err := range m.GenerateIDs(ctx, prompt, &llm.GenerateOptions{MaxTokens: 14, Shift: true, Keep: 3}) {
		if err != nil {
			t.Fatal(err)
		}
		if token.Forgotten > 0 {
			forgotten[len(ids)] = token.Forgotten
		}
		if token.ID >= 0 {
			ids = append(ids, token.ID)
		} else if token.End != llm.EndLength {
			t.Errorf("the end is %s", token.End)
		}
	}
	if want := slices.Concat(first[0], second[0])[:14]; !slices.Equal(ids, want) || len(first[0]) != 10 || len(forgotten) != 1 || forgotten[10] != 6 {
		t.Errorf("%v, forgotten %v, want %v", ids, forgotten, want)
	}
	for want, o := range map[string]llm.GenerateOptions{
		"Shift is for one answer": {Shift: true, N: 2}, "Keep is 3 without Shift": {Keep: 3}, "nothing is left to forget": {Shift: true, Keep: 15},
	} {
		if err := failure(m.GenerateIDs(ctx, prompt, &o)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want %q", o, err, want)
		}
	}
}

// A T5 reads the prompt by its encoder, from both kinds of files.
func TestT5(t *testing.T) {
	const dir = "../models/testdata/t5_gated"
	prompt, want := []int32{3, 5, 7, 9, 1}, []int32{}
	model, err := models.LoadT5(dir)
	if err != nil {
		t.Fatal(err)
	}
	for range 8 {
		ids := tensor.New(append([]int32{0}, want...), 1, len(want)+1)
		next := model.Apply(tensor.New(prompt, 1, len(prompt)), tensor.Tensor{}, ids).Index(0, -1).ArgMax(-1)
		want = append(want, int32(next.Item()))
	}
	f, err := llamacpp.OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	file := filepath.Join(t.TempDir(), "t5.gguf")
	if err := gguf.Write(file, f.Meta, f.Sources); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		m := open(t, path, &llm.Options{Context: 16})
		_, got := collect(t, m.GenerateIDs(context.Background(), prompt, &llm.GenerateOptions{MaxTokens: 8, N: 2}))
		if !slices.Equal(got[0], want) || !slices.Equal(got[1], want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
		for text, ids := range map[string][]int32{"the prompt has 17 tokens, and the context 16": make([]int32, 17), "token 1 of the prompt is 999": {1, 999}, "the prompt is empty": nil} {
			if err := failure(m.GenerateIDs(context.Background(), ids, nil)); err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%v: %v, want %q", ids, err, text)
			}
		}
	}
}

func failure(tokens func(func(llm.Token, error) bool)) (err error) {
	for _, e := range tokens {
		err = errors.Join(err, e)
	}
	return err
}

func TestGenerateErrors(t *testing.T) {
	m, embed, ids := open(t, "testdata/chat", nil), open(t, "testdata/embed", nil), open(t, "../models/testdata/llama_gqa", nil)
	ctx := context.Background()
	done, cancel := context.WithCancel(ctx)
	cancel()
	for want, err := range map[string]error{
		"the prompt has 151 tokens, and the context 128": failure(m.Generate(ctx, strings.Repeat("a", 150), nil)),
		"MaxTokens is -1":       failure(m.Generate(ctx, "a", &llm.GenerateOptions{MaxTokens: -1})),
		"Stop has an empty":     failure(m.Generate(ctx, "a", &llm.GenerateOptions{Stop: []string{""}})),
		"TopP is 2":             failure(m.Generate(ctx, "a", &llm.GenerateOptions{Settings: sample.Settings{TopP: 2}})),
		"Temperature is -1":     failure(m.Generate(ctx, "a", &llm.GenerateOptions{Settings: sample.Settings{Temperature: -1}})),
		"context canceled":      failure(m.Generate(done, "a", nil)),
		"is an encoder":         failure(embed.Generate(ctx, "a", nil)),
		"none of tokenizer":     failure(ids.Generate(ctx, "a", nil)),
		"Stop needs a token":    failure(ids.GenerateIDs(ctx, []int32{1}, &llm.GenerateOptions{Stop: []string{"a"}})),
		"no chat template":      failure(embed.Chat(ctx, []llm.Message{{Role: "user"}}, nil)),
		"token 0 of prompt 0":   failure(ids.GenerateIDs(ctx, []int32{96}, nil)),
		"prompt 0 is empty":     failure(ids.GenerateIDs(ctx, nil, nil)),
		"the draft: llm: the m": failure(m.Generate(ctx, "a", &llm.GenerateOptions{Draft: embed})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	var long *llm.ContextError
	if err := failure(m.Generate(ctx, strings.Repeat("a", 150), nil)); !errors.As(err, &long) || long.Prompt != 151 || long.Context != 128 {
		t.Errorf("%v", err)
	}
}

// Several goroutines write texts, and one within another.
func TestConcurrent(t *testing.T) {
	m := open(t, "testdata/chat", nil)
	want, _ := collect(t, m.Generate(context.Background(), "The quick", nil))
	var group sync.WaitGroup
	for range 3 {
		group.Go(func() {
			for token, err := range m.Generate(context.Background(), "The quick", nil) {
				if err != nil {
					t.Error(err)
				}
				if token.Text == "x" {
					if got, _ := collect(t, m.Generate(context.Background(), "The quick", nil)); got[0] != want[0] {
						t.Errorf("%q, want %q", got, want)
					}
				}
			}
		})
	}
	group.Wait()
}

// change copies a model and changes one of its files; an empty text removes it.
func change(t *testing.T, dir, name, text string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(to, name)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err == nil && text != "" {
		err = os.WriteFile(path, []byte(text), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return to
}

func TestOpenErrors(t *testing.T) {
	_, missing := os.Stat("testdata/none") // in the system's words
	for _, c := range []struct{ dir, want string }{
		{"testdata/none", "testdata/none: " + errors.Unwrap(missing).Error()},
		{"testdata/make.go", "not a GGUF file"},
		{change(t, "testdata/chat", "config.json", ""), "there is no config.json"},
		{change(t, "testdata/chat", "model.safetensors", ""), "there is no model.safetensors"},
		{change(t, "testdata/chat", "config.json", `{"model_type": "mamba", "hidden_size": 1}`), `model_type is "mamba"`},
		{change(t, "testdata/chat", "config.json", `{"model_type": "llama", "hidden_size": "1"}`), `the setting "hidden_size" has another type`},
		{change(t, "testdata/chat", "generation_config.json", `{"do_sample": true, "top_p": 3}`), "TopP is 3"},
		{change(t, "testdata/chat", "generation_config.json", `{`), "unexpected end of JSON"},
		{change(t, "testdata/chat", "tokenizer_config.json", `{"chat_template": 3}`), "chat_template is neither"},
		{change(t, "testdata/embed", "modules.json", `[{"type": "sentence_transformers.models.Dense"}]`), `"sentence_transformers.models.Dense" is not known`},
		{change(t, "testdata/embed", "modules.json", `[{"type": "sentence_transformers.models.Pooling", "path": "../x"}]`), "is not in the folder"},
		{change(t, "testdata/embed", "1_Pooling/config.json", `{"pooling_mode_weightedmean_tokens": true}`), "weightedmean"},
		{"../models/testdata/vit", "which neither writes nor embeds"},
		{"hf:../x", "is no name of a model"},
	} {
		if _, err := llm.Open(c.dir, nil); err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "nil") {
			t.Errorf("%s: %v, want %q", c.dir, err, c.want)
		}
	}
	dir := change(t, "testdata/chat", "tokenizer.json", `{"model": {"type": "Odd"}}`)
	if err := failure(open(t, dir, nil).Generate(context.Background(), "a", nil)); err == nil || !strings.Contains(err.Error(), "model.type") {
		t.Errorf("a tokenizer of an unknown kind: %v", err)
	}
	for _, c := range []struct {
		o    llm.Options
		want string
	}{
		{llm.Options{Context: 129}, "Context is 129: the model has 128"}, {llm.Options{Context: -1}, "Context is -1"},
		{llm.Options{Memory: 112000}, "a context of 128, and 109.4 KiB are free: it does not fit, with a Context of 8 it would"},
		{llm.Options{Memory: 80000}, "a file of the model with 8.0 bits where this one has 16 would"}, {llm.Options{Memory: 100}, "a smaller model would"},
	} {
		if _, err := llm.Open("testdata/chat", &c.o); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.o, err, c.want)
		} else if c.o.Memory > 0 && !errors.Is(err, driver.ErrMemory) {
			t.Errorf("%v is no ErrMemory", err)
		}
	}
	m := open(t, "testdata/chat", &llm.Options{Context: 20})
	if got, _ := collect(t, m.Generate(context.Background(), "The quick", nil)); got[0] != " brown fox|length" {
		t.Errorf("with a context of 20: %q", got)
	}
}

// A name is fetched from a server.
func TestOpenName(t *testing.T) {
	var list []map[string]any
	err := fs.WalkDir(os.DirFS("testdata/chat"), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(filepath.Join("testdata/chat", path))
		list = append(list, map[string]any{"type": "file", "path": path, "size": len(data), "oid": fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data)))})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/tiny/chat/resolve/main/", http.StripPrefix("/tiny/chat/resolve/main", http.FileServer(http.Dir("testdata/chat"))))
	mux.HandleFunc("/api/models/tiny/chat/tree/main", func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(list) })
	server := httptest.NewServer(mux)
	defer server.Close()
	m := open(t, "hf:tiny/chat", &llm.Options{Hub: server.URL, Cache: filepath.Join(t.TempDir(), "models")})
	if got, _ := collect(t, m.Generate(context.Background(), "The quick", &llm.GenerateOptions{MaxTokens: 6})); got[0] != " brown|length" {
		t.Errorf("%q", got)
	}
}

// The settings of the model's makers are the defaults.
func TestDefaults(t *testing.T) {
	dir := change(t, "testdata/chat", "generation_config.json", `{"do_sample": true, "temperature": 0.6, "top_p": 0.9, "eos_token_id": 256, "repetition_penalty": 1.1}`)
	got := open(t, dir, nil).Defaults()
	if want := (sample.Settings{Temperature: 0.6, TopK: 50, TopP: 0.9, RepetitionPenalty: 1.1}); fmt.Sprint(got.Settings) != fmt.Sprint(want) || !slices.Equal(got.End, []int32{256, 258}) {
		t.Errorf("%+v", got)
	}
}

func TestEmbed(t *testing.T) {
	m := open(t, "testdata/embed", nil)
	texts := []string{"a cat", "the quick brown fox", "x", "Zebra"}
	got, err := m.Embed(texts)
	if err != nil {
		t.Fatal(err)
	}
	bert, err := models.LoadBERT("testdata/embed")
	if err != nil {
		t.Fatal(err)
	}
	tok, err := m.Tokenizer()
	if err != nil {
		t.Fatal(err)
	}
	for i, text := range texts {
		e, err := tok.Encode(text, nil)
		if err != nil {
			t.Fatal(err)
		}
		x := bert.Apply(tensor.New(e.IDs, 1, len(e.IDs)), tensor.Tensor{}).Mean(1).Reshape(-1)
		x = x.Div(x.Square().Sum().Sqrt())
		want, err := tensor.Data[float32](x)
		if err != nil {
			t.Fatal(err)
		}
		for k := range want {
			if d := got[i][k] - want[k]; d > 1e-5 || d < -1e-5 {
				t.Fatalf("%q: element %d is %v, want %v", text, k, got[i][k], want[k])
			}
		}
	}
	long := strings.Repeat("cat ", 30)
	if _, err := m.Embed([]string{"a", long}); err == nil || !strings.Contains(err.Error(), "text 1: llm: the prompt has 92 tokens, and the context 32") {
		t.Errorf("a long text: %v", err)
	}
	if e, err := open(t, "testdata/embed", &llm.Options{Truncate: true}).Embed([]string{long}); err != nil || len(e[0]) != 32 {
		t.Errorf("a long text that is cut: %v", err)
	}
	// The last token of a decoder, whatever the others in its batch.
	last := change(t, "testdata/chat", "modules.json", `[{"type": "a.Pooling", "path": "1_Pooling"}]`)
	if err := os.Mkdir(filepath.Join(last, "1_Pooling"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(last, "1_Pooling", "config.json"), []byte(`{"pooling_mode_lasttoken": true}`), 0o600); err != nil {
		t.Fatal(err)
	}
	d := open(t, last, nil)
	both, err := d.Embed([]string{"The quick", "The quick brown fox"})
	if err != nil {
		t.Fatal(err)
	}
	alone, err := d.Embed([]string{"The quick"})
	if err != nil || len(both[0]) != 48 || both[0][0] == both[1][0] {
		t.Fatal(err, both)
	}
	for k := range alone[0] {
		if diff := alone[0][k] - both[0][k]; diff > 0.05 || diff < -0.05 {
			t.Errorf("element %d is %v in a batch, and %v alone", k, both[0][k], alone[0][k])
		}
	}
}
