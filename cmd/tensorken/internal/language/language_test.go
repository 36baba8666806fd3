package language

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/tensorken/tensorken/llm"
)

const (
	chatModel  = "../../../../llm/testdata/chat"
	embedModel = "../../../../llm/testdata/embed"
	idsModel   = "../../../../models/testdata/llama_gqa"
)

// call runs a command on the CPU.
func call(ctx context.Context, c *cobra.Command, in string, args ...string) (out, notes string, err error) {
	var o, n bytes.Buffer
	c.SetIn(strings.NewReader(in))
	c.SetOut(&o)
	c.SetErr(&n)
	c.SetArgs(append(args, "--device=cpu"))
	c.SilenceUsage, c.SilenceErrors = true, true
	err = c.ExecuteContext(ctx)
	return o.String(), n.String(), err
}

func TestRun(t *testing.T) {
	for _, c := range []struct {
		in   string
		args []string
		want string
	}{
		{"", []string{chatModel, "What is a tensor?"}, "An array of numbers with a shape.\n"},
		{"Hello\n", []string{chatModel}, "Hi! How can I help you?\n"},
		{"", []string{chatModel, "Hello", "--system", "Be brief."}, "Hi.\n"},
		{"", []string{chatModel, "The quick", "--raw", "--stop", "lazy"}, " brown fox jumps over the \n"},
		{"", []string{chatModel, "The quick", "--raw", "--draft", chatModel, "--tokens", "6"}, " brown\n"},
		{"", []string{chatModel, "The quick", "--raw", "--context", "20", "--bias", "98=-inf,66=100"}, " Bown fox\n"},
		{"", []string{idsModel, "--ids", "5,6,7", "--tokens", "4", "--greedy", "--json"}, `{"index":0,"ids":[7,7,69,69],"text":"","end":"length"}` + "\n"},
		{"", []string{idsModel, "--ids", "5,6,7", "--tokens", "4", "--greedy", "--json", "--cache-type", "q8_0"}, `{"index":0,"ids":[7,7,69,69],"text":"","end":"length"}` + "\n"},
		{"", []string{chatModel, "Größe", "--raw", "--tokens", "6", "--json", "--n", "2"},
			`{"index":0,"ids":[58,32,51,32,194,176],"text":": 3 \u00b0","end":"length"}` + "\n" + `{"index":1,"ids":[58,32,51,32,194,176],"text":": 3 \u00b0","end":"length"}` + "\n"},
	} {
		out, notes, err := call(context.Background(), RunCommand(), c.in, c.args...)
		if err != nil || out != c.want && !strings.Contains(c.want, "Bown") || out == "" {
			t.Errorf("%q: %q, %v, %q, want %q", c.args, out, err, notes, c.want)
		}
		if json := slices.Contains(c.args, "--json"); strings.Contains(notes, "tokens:") == json {
			t.Errorf("%q prints the notes %q", c.args, notes)
		}
	}
	out, _, err := call(context.Background(), RunCommand(), "", chatModel, "Hello", "--json", "--logprobs=2", "--tokens=1")
	var r result
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || len(r.LogProbs) != 1 || len(r.LogProbs[0].Top) != 2 || r.LogProbs[0].LogProb > 0 {
		t.Errorf("--logprobs: %s, %v", out, err)
	}
}

// --shift goes on where the context is full, and reports it.
func TestRunShift(t *testing.T) {
	args := []string{chatModel, "The quick", "--raw", "--context", "20", "--ignore-end", "--tokens", "40", "--shift", "--keep", "2"}
	_, notes, err := call(context.Background(), RunCommand(), "", args...)
	if err != nil || !strings.Contains(notes, "tokens: 40") || !strings.Contains(notes, "the context was full: 36 tokens were forgotten") {
		t.Errorf("%s, %v", notes, err)
	}
	out, _, err := call(context.Background(), RunCommand(), "", append(args, "--json")...)
	var r result
	if err != nil || json.Unmarshal([]byte(out), &r) != nil || r.Forgotten != 36 || len(r.IDs) != 40 || r.End != llm.EndLength {
		t.Errorf("%s, %v", out, err)
	}
}

// An interrupted answer ends cleanly.
func TestRunInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if out, _, err := call(ctx, RunCommand(), "", chatModel, "Hello"); out != "" || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, _, err := call(ctx, RunCommand(), "", chatModel, "Hello", "--json"); !strings.Contains(out, `"end":"interrupted"`) || err != nil {
		t.Errorf("%q, %v", out, err)
	}
	if out, _, err := call(ctx, ChatCommand(), "Hello\nHello\n", chatModel); strings.Contains(out, "Hi") || err != nil {
		t.Errorf("%q, %v", out, err)
	}
}

func TestRunErrors(t *testing.T) {
	_, missing := os.Stat("none") // in the system's words
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"none", "a"}, "none: " + errors.Unwrap(missing).Error()},
		{[]string{chatModel}, "there is no prompt"},
		{[]string{chatModel, "a", "--ids=1"}, "--ids is the whole prompt"},
		{[]string{chatModel, "--ids=1,x"}, `--ids has "x"`},
		{[]string{chatModel, "a", "--n=2"}, "--n needs --json"},
		{[]string{chatModel, "a", "--logprobs=2"}, "--logprobs needs --json"},
		{[]string{chatModel, "a", "--raw", "--system=b"}, "--system needs"},
		{[]string{chatModel, "a", "--greedy", "--temperature=1"}, "leave one out"},
		{[]string{chatModel, "a", "--bias=x=1"}, `--bias has "x"`},
		{[]string{chatModel, "a", "--bias=5=nan"}, "the Bias of token 5 is NaN"},
		{[]string{chatModel, "a", "--context=200"}, "the model has 128 positions"},
		{[]string{chatModel, strings.Repeat("a", 200)}, "the prompt has 219 tokens, and the context 128"},
		{[]string{chatModel, "a", "--xtc-threshold=0.1"}, "its Probability is 0"},
		{[]string{chatModel, "a", "--ngram=2", "--draft", chatModel}, "choose one"},
		{[]string{chatModel, "a", "--cache-type=q4_0"}, "the type of a cache is \"q4_0\": want f32, f16, bf16, q8_0 or f8_e4m3"},
		{[]string{idsModel, "a"}, "none of tokenizer.json"},
		{[]string{embedModel, "a"}, "is an encoder"},
	} {
		out, _, err := call(context.Background(), RunCommand(), "", c.args...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %q, %v, want %q", c.args, out, err, c.want)
		}
	}
}

func TestChat(t *testing.T) {
	in := strings.Join([]string{
		"Hello", "/new", `"""`, "Hello", `"""`, "", "/undo", "/system Be brief.", "Hello", "/retry", "/show", "/system", "/undo", "What is a tensor?", "/set tokens 3", "/retry", "/set", "/help", "/quit", "Hello",
	}, "\n")
	out, notes, err := call(context.Background(), ChatCommand(), in, chatModel)
	const hi, tensor = "Hi! How can I help you?\n", "An array of numbers with a shape.\n"
	if want := hi + hi + "Hi.\nHi.\n" + tensor + "An \n"; out != want || err != nil {
		t.Errorf("%q, %v, want %q", out, err, want)
	}
	for _, want := range []string{"<|im_start|>system\nBe brief.<|im_end|>\n<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\nHi.<|im_end|>", "  /retry", "  temperature          0 ", "  tokens               3 "} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes have no %q: %s", want, notes)
		}
	}
	for in, want := range map[string]string{
		"/frob": "no command /frob", "/retry": "no message yet", "/set frob 1": `no setting "frob"`, "/set top-p 2": "/set top-p: it is 2", "/set xtc-threshold 0.1": "its Probability is 0",
		strings.Repeat("a", 200): "and the context 128",
	} {
		if _, _, err := call(context.Background(), ChatCommand(), in+"\n/quit\n", chatModel); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v, want %q", in, err, want)
		}
	}
	if _, _, err := call(context.Background(), ChatCommand(), "", idsModel); err == nil || !strings.Contains(err.Error(), "no chat template") {
		t.Errorf("without a template: %v", err)
	}
}

func TestEmbed(t *testing.T) {
	one, _, err := call(context.Background(), EmbedCommand(), "", embedModel, "a cat", "the dog")
	if err != nil || strings.Count(one, "\n") != 2 {
		t.Fatal(one, err)
	}
	for line := range strings.Lines(one) {
		var e struct{ Embedding []float32 }
		if err := json.Unmarshal([]byte(line), &e); err != nil || len(e.Embedding) != 32 {
			t.Errorf("%s: %v", line, err)
		}
	}
	two, _, err := call(context.Background(), EmbedCommand(), "a cat\nthe dog", embedModel)
	if err != nil || one != two {
		t.Errorf("from standard input %s, %v, want %s", two, err, one)
	}
	long := strings.Repeat("cat ", 30)
	if _, _, err := call(context.Background(), EmbedCommand(), "", embedModel, long); err == nil || !strings.Contains(err.Error(), "the context 32") {
		t.Errorf("a long text: %v", err)
	}
	if _, _, err := call(context.Background(), EmbedCommand(), "", embedModel, long, "--truncate"); err != nil {
		t.Error(err)
	}
}

func TestBench(t *testing.T) {
	var out, notes bytes.Buffer
	if err := Bench(context.Background(), chatModel, BenchOptions{Device: "cpu", CacheType: "q8_0"}, &out, &notes); err != nil || strings.Count(out.String(), "\n") != 3 || !strings.Contains(out.String(), "decode") {
		t.Errorf("%s, %v", &out, err)
	}
	out.Reset()
	var r struct{ Speeds []speed }
	if err := Bench(context.Background(), chatModel, BenchOptions{Device: "cpu", JSON: true}, &out, &notes); err != nil || json.Unmarshal(out.Bytes(), &r) != nil || len(r.Speeds) != 2 || r.Speeds[1].Speed <= 0 {
		t.Errorf("%s, %v", &out, err)
	}
	if err := Bench(context.Background(), embedModel, BenchOptions{Device: "cpu"}, &out, &notes); err == nil || !strings.Contains(err.Error(), "is an encoder") {
		t.Errorf("an encoder: %v", err)
	}
}

func TestModels(t *testing.T) {
	cache := t.TempDir()
	list := func() (string, string) {
		var out, notes bytes.Buffer
		if err := listModels(cache, &out, &notes); err != nil {
			t.Fatal(err)
		}
		return out.String(), notes.String()
	}
	if out, notes := list(); out != "" || !strings.Contains(notes, "no models") {
		t.Errorf("%q, %q", out, notes)
	}
	dir := filepath.Join(cache, "owner--name@v1")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{".complete": "", "config.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, _ := list(); out != "hf:owner/name@v1  2 B  "+dir+"\n" {
		t.Errorf("%q", out)
	}
}

// Keys edit the line, and bring back older ones.
func TestEditor(t *testing.T) {
	const left, right, up, down, del = "\x1b[D", "\x1b[C", "\x1b[A", "\x1b[B", "\x1b[3~"
	for keys, want := range map[string]string{
		"abc\r":                               "abc",
		"größe 日本\x7f\r":                      "größe 日",
		"abc" + left + left + "X\r":           "aXbc",
		"abc\x01X\x05Y" + right + "Z\r":       "XabcYZ",
		"abc\x02\x02" + del + "\r":            "ac",
		"abc\x01\x04\r":                       "bc",
		"one two \x17three\r":                 "one three",
		"one two\x1bb\x0bX\r":                 "one X",
		"one two\x1b[1;5D\x15\r":              "two",
		"one\x01\x1bf!\r":                     "one!",
		"new" + up + "\r":                     "second",
		"new" + up + up + up + "\r":           "first",
		"new" + up + up + down + down + "!\r": "new!",
		"abc\x03def\n":                        "def",
		"a\tb\x1b[99~\x00c\r":                 "a bc",
		"\x03":                                "quit", "\x04": "EOF", "abc": "EOF",
	} {
		var out strings.Builder
		e := &editor{in: bufio.NewReader(strings.NewReader(keys)), out: &out, columns: func() int { return 30 }, history: []string{"first", "second"}}
		got, err := e.readLine("> ")
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", keys, got, want)
		}
	}
	// A long line shows the part around the cursor, and commands for a terminal are escaped.
	var out strings.Builder
	e := &editor{in: bufio.NewReader(strings.NewReader(strings.Repeat("日", 40) + "\u009b\r")), out: &out, columns: func() int { return 30 }}
	if _, err := e.readLine("> "); err != nil && err != io.EOF {
		t.Fatal(err)
	}
	for line := range strings.SplitSeq(out.String(), "\r") {
		text, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\x1b[K")
		if w := width([]rune(text)); w > 30 || strings.Contains(text, "\u009b") {
			t.Errorf("%q takes %d columns", text, w)
		}
	}
}
