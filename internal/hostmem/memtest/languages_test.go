package memtest_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/internal/jinja"
	"github.com/tensorken/tensorken/internal/llamacpp"
	"github.com/tensorken/tensorken/internal/pyvalue"
	"github.com/tensorken/tensorken/internal/vocabulary"
	"github.com/tensorken/tensorken/llm"
	"github.com/tensorken/tensorken/llm/hub"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tokenizer"
	"github.com/tensorken/tensorken/train"
)

// languageReaders are the readers of language models and of ONNX.
var languageReaders = map[string]func(path string) error{
	"onnx.Open": func(path string) error { _, err := onnx.Open(path); return err },
	"onnx.Read": func(path string) error {
		return decode(path, func(r *bytes.Reader) error { _, err := onnx.Read(r); return err })
	},
	"onnx.ReadValue": func(path string) error {
		return decode(path, func(r *bytes.Reader) error { _, err := onnx.ReadValue(r, r.Size(), onnx.Info{}); return err })
	},
	"tokenizer.json":    tokenizerOf("tokenizer.json"),
	"tokenizer.model":   tokenizerOf("tokenizer.model"),
	"vocab.txt":         tokenizerOf("vocab.txt"),
	"vocab.json":        tokenizerOf("vocab.json"),
	"merges.txt":        tokenizerOf("merges.txt"),
	"tokenizer_config":  tokenizerOf("tokenizer_config.json"),
	"special_tokens":    tokenizerOf("special_tokens_map.json"),
	"models.StopTokens": inFolder("generation_config.json", func(dir string) error { _, err := models.StopTokens(dir); return err }),
	"models.gguf":       inFolder("model.gguf", func(dir string) error { _, err := models.Load(filepath.Join(dir, "model.gguf")); return err }),
	"llm.gguf":          inFolder("model.gguf", func(dir string) error { _, err := llm.Open(filepath.Join(dir, "model.gguf"), nil); return err }),
	"stop.gguf":         inFolder("model.gguf", func(dir string) error { _, err := models.StopTokens(filepath.Join(dir, "model.gguf")); return err }),
	"train.Resume":      resume,
	"gguf.Open":         func(path string) error { f, err := gguf.Open(path); return closed(f, err) },
	"gguf.tokenizer": func(path string) error {
		f, err := gguf.Open(path)
		if err == nil {
			defer f.Close()
			_, err = vocabulary.Read(f.Meta)
		}
		return err
	},
	"imatrix":             func(path string) error { _, err := llamacpp.ReadImportance(path); return err },
	"llamacpp.OpenFolder": inFolder("config.json", func(dir string) error { f, err := llamacpp.OpenFolder(dir); return closed(f, err) }),
	"llm.Open":            inFolder("config.json", func(dir string) error { _, err := llm.Open(dir, nil); return err }),
	"chat_template.json":  inFolder("chat_template.json", func(dir string) error { _, err := vocabulary.FolderTemplates(dir); return err }),
	"jinja.Parse": func(path string) error {
		return withText(path, func(s string) error { _, err := jinja.Parse(s); return err })
	},
	"jinja.Render": func(path string) error { return withText(path, render) },
	"pyvalue.Decode": func(path string) error {
		return withText(path, func(s string) error { _, err := pyvalue.Decode([]byte(s)); return err })
	},
	"hub.Fetch": fetch,
}

// withText calls f with the text of a file.
func withText(path string, f func(text string) error) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return f(string(b))
}

// inFolder calls f with a folder in which the file has a name.
func inFolder(name string, f func(dir string) error) func(path string) error {
	return func(path string) error {
		if err := os.Rename(path, filepath.Join(filepath.Dir(path), name)); err != nil {
			return err
		}
		return f(filepath.Dir(path))
	}
}

// tokenizerOf reads a folder in which the file has a name, with the files that belong to it.
func tokenizerOf(name string) func(path string) error {
	return inFolder(name, func(dir string) error {
		beside := map[string]map[string]string{
			"vocab.json": {"merges.txt": ""}, "merges.txt": {"vocab.json": `{"a":0}`}, "tokenizer_config.json": {"vocab.txt": "[CLS]\n[SEP]\n[UNK]"},
			"special_tokens_map.json": {"vocab.txt": "[CLS]\n[SEP]\n[UNK]"},
		}
		for other, text := range beside[name] {
			if err := os.WriteFile(filepath.Join(dir, other), []byte(text), 0o600); err != nil {
				return err
			}
		}
		_, err := tokenizer.Open(dir)
		return err
	})
}

// resume goes on from a checkpoint.
func resume(path string) error {
	l := &train.Loop[tensor.Tensor, tensor.Tensor]{
		Model: tensor.Ones(1), Checkpoint: path, Resume: true, Epochs: 1, Out: io.Discard,
		Optimizer: optim.New(optim.SGD{}, 1), Data: &data.Loader[tensor.Tensor]{Set: data.Of(tensor.Ones(1)), Batch: 1},
		Loss: func(m, b tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, tensor.Tensor) { return m.Mul(b).Sum(), m },
	}
	return l.Run(context.Background())
}

// checkpoint is the start of a safetensors file with the state of a loop.
func checkpoint(state string) string {
	header := `{"__metadata__":{"train":` + strconv.Quote(state) + `}}`
	return tensors(header, uint64(len(header)))
}

// architecture is a pair of metadata.
var architecture = text("general.architecture") + "\x08\x00\x00\x00" + text("llama")

func render(text string) error {
	t, err := jinja.Parse(text)
	if err == nil {
		_, err = t.Render(nil, &jinja.Options{Memory: 1 << 18, Output: 1 << 17})
	}
	return err
}

// fetch fetches a model from a server whose list of files is the file.
func fetch(path string) error {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, path) }))
	defer s.Close()
	dir := filepath.Join(filepath.Dir(path), "cache")
	_, err := hub.Fetch(context.Background(), "a/b", &hub.Options{Server: s.URL, Cache: dir, Client: s.Client()})
	return err
}

// field is a field of a protobuf message: bytes.
func field(number int, text string) string {
	b := binary.AppendUvarint(nil, uint64(number)<<3|2)
	return string(binary.AppendUvarint(b, uint64(len(text)))) + text
}

// model is an ONNX model of a graph.
func model(graph string) string { return field(8, "\x10\x11") + field(7, graph) }

// messages nests a message n deep in fields of two numbers.
func messages(n, a, b int) (text string) {
	for range n {
		text = field(a, field(b, text))
	}
	return text
}

// graphs nests n graphs, each in an attribute of a node.
func graphs(n int) (text string) {
	for range n {
		text = field(1, field(5, field(6, text)))
	}
	return text
}

// metadata is a GGUF file of pairs.
func metadata(pairs ...string) string {
	n := le.AppendUint64([]byte("GGUF\x03\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint64(len(pairs)))
	return string(n) + strings.Join(pairs, "") + strings.Repeat("\x00", 64)
}

func text(s string) string { return string(le.AppendUint64(nil, uint64(len(s)))) + s }

// list is a pair of metadata: an array of elements of a type.
func list(key string, typ byte, n int, elements string) string {
	return text(key) + "\x09\x00\x00\x00" + string([]byte{typ, 0, 0, 0}) + string(le.AppendUint64(nil, uint64(n))) + elements
}

func tokenizerFile(model string) string { return `{"version":"1.0","model":` + model + `}` }

// splitter is a tokenizer that divides texts by a regular expression, in JSON.
func splitter(regex string) string {
	return tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"pre_tokenizer":{"type":"Split","behavior":"Isolated","invert":false,"pattern":{"Regex":"` + regex + `"}}`)
}

func joined(n int, format string) string { return strings.TrimSuffix(repeat(n, format), ",") }

// languages returns files of many empty entries, of deep nesting, of claimed counts, and of texts that could
// command a terminal.
func languages() []claim {
	const many = 60_000
	lists := strings.Repeat("[],", many) + "[]"
	objects := strings.Repeat("{},", many) + "{}"
	keys := joined(many, `"%d":0,`)
	tokens := repeat(many, "%d\n")
	ggufTokens := func(n int) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(text(fmt.Sprint(i)))
		}
		return b.String()
	}
	all := []claim{
		{"onnx.Open onnx.Read", "empty nodes", model(strings.Repeat(field(1, ""), many)), true},
		{"onnx.Open onnx.Read", "nodes with a result", model(repeat(many/4, "\x0a\x08\x12\x06%06d")), true},
		{"onnx.Open onnx.Read", "empty initializers", model(strings.Repeat(field(5, ""), many)), false},
		{"onnx.Open onnx.Read", "empty inputs", model(strings.Repeat(field(11, ""), many)), false},
		{"onnx.Open onnx.Read", "inputs", model(repeat(many/4, "\x5a\x08\x0a\x06%06d")), true},
		{"onnx.Open onnx.Read", "empty results", model(strings.Repeat(field(12, ""), many)), false},
		{"onnx.Open onnx.Read", "empty infos", model(strings.Repeat(field(13, ""), many)), true},
		{"onnx.Open onnx.Read", "empty sparse tensors", model(strings.Repeat(field(15, ""), many)), false},
		{"onnx.Open onnx.Read", "empty strings", model(field(1, strings.Repeat(field(1, ""), many))), true},
		{"onnx.Open onnx.Read", "strings that are read", model(field(1, strings.Repeat(field(1, "x"), many))), false},
		{"onnx.Open onnx.Read", "empty attributes", model(field(1, strings.Repeat(field(5, ""), many))), true},
		{"onnx.Open onnx.Read", "empty graphs", model(field(1, field(5, strings.Repeat(field(11, ""), many)))), true},
		{"onnx.Open onnx.Read", "empty tensors of an attribute", model(field(1, field(5, strings.Repeat(field(10, ""), many)))), false},
		{"onnx.Open onnx.Read", "numbers of an attribute", model(field(1, field(5, field(8, strings.Repeat("\x01", many))))), true},
		{"onnx.Open onnx.Read", "axes", model(field(5, field(1, strings.Repeat("\x01", many)))), false},
		{"onnx.Open onnx.Read", "lists of numbers", model(field(5, strings.Repeat(field(4, ""), many))), false},
		{"onnx.Open onnx.Read", "places of data", model(field(5, strings.Repeat(field(13, ""), many))), false},
		{"onnx.Open onnx.Read", "axes of a type", model(field(11, field(2, field(1, field(2, strings.Repeat(field(1, ""), many)))))), true},
		{"onnx.Open onnx.Read", "empty functions", model("") + strings.Repeat(field(25, ""), many), false},
		{"onnx.Open onnx.Read", "functions", model("") + repeat(many/8, "\xca\x01\x08\x0a\x06%06d"), true},
		{"onnx.Open onnx.Read", "empty operator sets", model("") + strings.Repeat(field(8, ""), many), false},
		{"onnx.Open onnx.Read", "operator sets", model("") + repeat(many/4, "\x42\x08\x0a\x06%06d"), true},
		{"onnx.Open onnx.Read", "empty metadata", model("") + strings.Repeat(field(14, ""), many), true},
		{"onnx.Open onnx.Read", "graphs in graphs", model(graphs(70)), false},
		{"onnx.Open onnx.Read", "sequences of sequences", model(field(11, field(2, messages(100, 4, 1)))), false},
		{"onnx.Open onnx.Read", "a sparse tensor of 2^20 elements", model(field(15, field(1, "\x08\x00\x10\x01\x42\x01x")+field(2, "\x08\x00\x10\x07")+"\x18\x80\x80\x40")), true},
		{"onnx.Open onnx.Read", "floats of 4 bits", model(field(5, "\x08"+string(binary.AppendUvarint(nil, 2*many))+"\x10\x17\x42\x01x"+field(9, strings.Repeat("x", many)))), true},
		{"onnx.ReadValue", "strings", "\x10\x08\x08" + string(binary.AppendUvarint(nil, many)) + strings.Repeat(field(6, ""), many), true},
		{"onnx.ReadValue", "numbers", "\x10\x01\x08" + string(binary.AppendUvarint(nil, many)) + strings.Repeat("\x25\x00\x00\x00\x00", many), true},

		{"tokenizer.json", "a section of lists", `{"version":"1.0","decoder":[` + lists + `],"model":{}}`, false},
		{"tokenizer.json", "sections", `{` + keys + `}`, false},
		{"tokenizer.json", "added tokens of nothing", `{"version":"1.0","added_tokens":[` + objects + `],"model":{}}`, false},
		{"tokenizer.json", "added tokens", `{"version":"1.0","model":{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"added_tokens":[` + joined(many/4, `{"id":0,"content":"%d"},`) + `]}`, true},
		{"tokenizer.json", "normalizers in normalizers", `{"version":"1.0","model":{},"normalizer":` + strings.Repeat(`{"type":"Sequence","normalizers":[`, 4000) + strings.Repeat("]}", 4000) + `}`, false},
		{"tokenizer.json", "a long text in normalizers", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"normalizer":` + strings.Repeat(`{"type":"Sequence","normalizers":[`, 15) +
			`{"type":"Prepend","prepend":"` + strings.Repeat("x", 3*many) + `"}` + strings.Repeat("]}", 15)), true},
		{"tokenizer.json", "null normalizers", tokenizerFile(`{},"normalizer":{"type":"Sequence","normalizers":[` + strings.Repeat("null,", many) + `null]}`), false},
		{"tokenizer.json", "normalizers", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"normalizer":{"type":"Sequence","normalizers":[` + strings.Repeat(`{"type":"NFC"},`, many/4) + `{"type":"NFC"}]}`), true},
		{"tokenizer.json", "words", tokenizerFile(`{"type":"WordLevel","unk_token":"0","vocab":{` + joined(many, `"%[1]d":%[1]d,`) + `}}`), true},
		{"tokenizer.json", "pieces of words", tokenizerFile(`{"type":"WordPiece","unk_token":"0","vocab":{` + joined(many, `"##%[1]d":%[1]d,`) + `}}`), true},
		{"tokenizer.json", "a token of id 2^20", tokenizerFile(`{"type":"WordLevel","unk_token":"0","vocab":{"0":1048575}}`), true},
		{"tokenizer.json", "empty merges", tokenizerFile(`{"type":"BPE","vocab":{},"merges":[` + lists + `]}`), false},
		{"tokenizer.json", "merges as texts", tokenizerFile(`{"type":"BPE","vocab":{},"merges":[` + strings.Repeat(`" ",`, many) + `" "]}`), false},
		{"tokenizer.json", "one merge again and again", tokenizerFile(`{"type":"BPE","vocab":{"a":0,"b":1,"ab":2},"merges":[` + strings.Repeat(`["a","b"],`, many) + `["a","b"]]}`), true},
		{"tokenizer.json", "scores of nothing", tokenizerFile(`{"type":"Unigram","vocab":[` + lists + `]}`), false},
		{"tokenizer.json", "scores", tokenizerFile(`{"type":"Unigram","vocab":[` + joined(many, `["%d",0],`) + `]}`), true},
		{"tokenizer.json", "templates", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"post_processor":{"type":"TemplateProcessing","single":[` + objects + `]}`), false},
		{"tokenizer.json", "a long regular expression", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"pre_tokenizer":{"type":"Split","behavior":"Isolated","pattern":{"Regex":"` + strings.Repeat("a?", many) + `"}}`), false},
		{"tokenizer.json", "padding to 2^40", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"padding":{"strategy":{"Fixed":1099511627776},"pad_id":0,"pad_token":"a"}`), false},
		{"tokenizer.model", "empty pieces", strings.Repeat(field(1, ""), many), false},
		{"tokenizer.model", "pieces", repeat(many, "\x0a\x08\x0a\x06%06d"), true},
		{"tokenizer.model", "pieces of BPE", repeat(many, "\x0a\x08\x0a\x06%06d") + field(2, "\x18\x02"), true},
		{"tokenizer.model", "a long piece", field(1, field(1, strings.Repeat("x", 2*many))), false},
		{"tokenizer.model", "a map of characters", field(1, field(1, "a")) + field(3, field(2, "\x04\x00\x00\x00"+strings.Repeat("\x00", 10*many))), true},
		{"vocab.txt", "empty lines", strings.Repeat("\n", 10*many), false},
		{"vocab.txt", "lines", "[CLS]\n[SEP]\n[UNK]\n" + tokens, true},
		{"vocab.json", "tokens", `{` + joined(many, `"%[1]d":%[1]d,`) + `}`, true},
		{"vocab.json", "lists", `[` + lists + `]`, false},
		{"merges.txt", "empty lines", strings.Repeat("\n", 10*many), true},
		{"merges.txt", "merges", strings.Repeat("a b\n", many), false},
		{"special_tokens", "settings", `{` + keys + `}`, true},
		{"special_tokens", "tokens of lists", `{"bos_token":[` + lists + `],"eos_token":{"content":[` + objects + `]}}`, true},
		{"models.StopTokens", "settings", `{` + keys + `}`, false},
		{"models.StopTokens", "tokens", `{"eos_token_id":[` + strings.Repeat("1,", many) + `1]}`, true},
		{"models.StopTokens", "tokens of lists", `{"eos_token_id":[` + lists + `]}`, false},
		{"train.Resume", "reports", checkpoint(`{"History":[` + objects + `]}`), false},
		{"train.Resume", "metrics", checkpoint(`{"History":[{` + keys + `}]}`), false},
		{"train.Resume", "lists", checkpoint(`{"History":[` + lists + `]}`), false},
		{"models.gguf llm.gguf", "empty texts", metadata(architecture, list("k", 8, many, strings.Repeat("\x00", 8*many))), false},
		{"models.gguf llm.gguf", "tokens", metadata(architecture, text("tokenizer.ggml.model")+"\x08\x00\x00\x00"+text("gpt2"), list("tokenizer.ggml.tokens", 8, many, ggufTokens(many))), false},
		{"models.gguf llm.gguf", "2^32 layers", metadata(architecture, text("llama.block_count")+"\x04\x00\x00\x00\xff\xff\xff\xff"), false},
		{"models.gguf llm.gguf stop.gguf", "tokens that end a text", metadata(architecture, list("tokenizer.ggml.eot_token_id", 4, many, strings.Repeat("\x00", 4*many))), false},
		{"tokenizer_config", "settings", `{` + keys + `}`, true},

		{"gguf.Open", "empty tensors", "GGUF\x03\x00\x00\x00" + string(le.AppendUint64(nil, many/4)) + strings.Repeat("\x00", 8) + repeat(many/4, "\x06\x00\x00\x00\x00\x00\x00\x00%06d\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"), false},
		{"gguf.Open", "pairs", metadata(strings.Split(joined(many, "\x06\x00\x00\x00\x00\x00\x00\x00%06d\x07\x00\x00\x00\x01,"), ",")...), true},
		{"gguf.Open", "empty texts", metadata(list("k", 8, many, strings.Repeat("\x00", 8*many))), true},
		{"gguf.Open", "empty lists", metadata(list("k", 9, many, strings.Repeat("\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", many))), true},
		{"gguf.Open", "bytes", metadata(list("k", 0, 10*many, strings.Repeat("\x00", 10*many))), true},
		{"gguf.tokenizer", "tokens", metadata(text("tokenizer.ggml.model")+"\x08\x00\x00\x00"+text("gpt2"), list("tokenizer.ggml.tokens", 8, many, ggufTokens(many))), true},
		{"gguf.tokenizer", "merges", metadata(text("tokenizer.ggml.model")+"\x08\x00\x00\x00"+text("gpt2"), list("tokenizer.ggml.merges", 8, many, strings.Repeat(text("a b"), many))), false},
		{"imatrix", "empty entries", string(le.AppendUint32(nil, many)) + strings.Repeat("\x00", 12*many), true},
		{"imatrix", "names", string(le.AppendUint32(nil, many)) + repeat(many, "\x06\x00\x00\x00%06d\x01\x00\x00\x00\x00\x00\x00\x00"), true},

		{"llamacpp.OpenFolder llm.Open", "settings", `{"model_type":"llama",` + keys + `}`, false},
		{"llamacpp.OpenFolder llm.Open", "a setting of lists", `{"model_type":"llama","x":[` + lists + `]}`, false},
		{"llamacpp.OpenFolder llm.Open", "a setting of objects", `{"model_type":"llama","x":[` + objects + `]}`, false},
		{"chat_template.json", "templates", `{"chat_template":[` + objects + `]}`, true},
		{"chat_template.json", "templates of lists", `{"chat_template":[` + lists + `]}`, false},
		{"jinja.Parse", "blocks", strings.Repeat("{%if a%}{%endif%}", 10_000), true},
		{"jinja.Parse", "outputs", strings.Repeat("{{a}}", 50_000), true},
		{"jinja.Parse", "names", joined(20_000, "{{a%d}},"), true},
		{"jinja.Parse", "lists", "{{[" + strings.Repeat("[],", 60_000) + "]}}", true},
		{"jinja.Parse", "loops", strings.Repeat("{%for a in b%}{%endfor%}", 10_000), true},
		{"jinja.Parse", "macros", repeat(8_000, "{%%macro a%d(b=1)%%}{%%endmacro%%}"), true},
		{"jinja.Parse", "braces", strings.Repeat("{", 100_000), false},
		{"jinja.Parse", "brackets in brackets", "{{" + strings.Repeat("(", 100_000), false},
		{"jinja.Parse", "a template of 2 MB", strings.Repeat("x", 2<<20), false},
		{"jinja.Render", "a text that doubles", "{% set n = namespace(s='x') %}{% for i in range(100) %}{% set n.s = n.s ~ n.s %}{% endfor %}", false},
		{"jinja.Render", "a list that doubles", "{% set n = namespace(s=[1]) %}{% for i in range(100) %}{% set n.s = n.s + n.s %}{% endfor %}", false},
		{"jinja.Render", "a product", "{{ 'x' * 1000000000 }}", false},
		{"jinja.Render", "an indentation", "{{ 'x\n' | indent(1000000000, true) }}", false},
		{"jinja.Render", "a padded number", "{{ '%1000000000d' % 1 }}", false},
		{"jinja.Render", "a centred text", "{{ 'x' | center(1000000000) }}", false},
		{"jinja.Render", "a replaced text", "{% set a = 'x' * 10000 %}{{ a | replace('x', a) }}", false},
		{"jinja.Render", "batches", "{{ [1] | batch(1000000000, 0) | list }}", false},
		{"jinja.Render", "outputs", "{% for i in range(100000) %}{{ i }}xxxxxxxxxxxxxxxxx{% endfor %}", false},
		{"jinja.Render", "macros that call themselves", "{% macro a() %}{{ a() }}{% endmacro %}{{ a() }}", false},
		{"pyvalue.Decode", "lists", `[` + lists + `]`, true},
		{"pyvalue.Decode", "objects", `[` + objects + `]`, true},
		{"pyvalue.Decode", "keys", `{` + keys + `}`, true},
		{"pyvalue.Decode", "numbers", `[` + strings.Repeat("1,", many) + `1]`, true},
		{"hub.Fetch", "files of nothing", `[` + objects + `]`, false},
		{"hub.Fetch", "null files", `[` + strings.Repeat("null,", many) + `null]`, false},
		{"hub.Fetch", "a list of 20 MB", strings.Repeat(" ", 20<<20), false},
	}
	const command = "\\u001b[2J\u009b2J\\nfake" // in JSON
	const raw = "\x1b[2J\nfake"
	return append(all, []claim{
		{"models.Load llm.Open llamacpp.OpenFolder", "a type that commands a terminal", `{"model_type":"` + command + `"}`, false},
		{"models.Load llm.Open llamacpp.OpenFolder", "a setting that commands a terminal", `{"model_type":"llama","` + command + `":"` + command + `"}`, false},
		{"llamacpp.OpenFolder", "an activation that commands a terminal", `{"model_type":"llama","hidden_act":"` + command + `"}`, false},
		{"tokenizer.json", "a version that commands a terminal", `{"version":"` + command + `"}`, false},
		{"tokenizer.json", "a field that commands a terminal", `{"` + command + `":0}`, false},
		{"tokenizer.json", "a component that commands a terminal", tokenizerFile(`{"type":"` + command + `","vocab":"` + command + `"}`), false},
		{"tokenizer.json", "a normalizer that commands a terminal", tokenizerFile(`{"type":"WordLevel","vocab":{"a":0},"unk_token":"a"},"normalizer":{"type":"` + command + `"}`), false},
		{"tokenizer.json", "a vocabulary that commands a terminal", tokenizerFile(`{"type":"WordLevel","vocab":{"` + command + `":-1},"unk_token":"` + command + `"}`), false},
		{"tokenizer.json", "a merge that commands a terminal", tokenizerFile(`{"type":"BPE","vocab":{},"merges":["` + command + `"]}`), false},
		{"tokenizer.json", "a regular expression that cannot be read", splitter("a" + strings.Repeat("*", 30_000)), false},
		{"tokenizer.json", "a regular expression that commands a terminal", splitter("(" + command + `\\p{` + command + "}"), false},
		{"vocab.json", "a token that commands a terminal", `{"` + command + `":-1}`, false},
		{"merges.txt", "a merge that commands a terminal", raw + " " + raw, false},
		{"tokenizer.model", "a piece that commands a terminal", strings.Repeat(field(1, field(1, raw)), 2), false},
		{"tokenizer_config", "a setting that commands a terminal", `{"add_bos_token":"` + command + `"}`, false},
		{"chat_template.json", "a template that commands a terminal", `{"chat_template":{"a":"` + command + `"}}`, false},
		{"jinja.Parse jinja.Render", "a name that commands a terminal", "{{ '" + raw + "' " + raw + " }}", false},
		{"jinja.Render", "an exception that commands a terminal", "{{ raise_exception('" + raw + "') }}", false},
		{"jinja.Render", "a key that commands a terminal", "{{ {}['" + raw + "'].x }}{{ '" + raw + "' + 1 }}", false},
		{"gguf.Open", "a key that commands a terminal", metadata(text(raw) + "\x63\x00\x00\x00"), false},
		{"gguf.tokenizer", "a model that commands a terminal", metadata(text("tokenizer.ggml.model") + "\x08\x00\x00\x00" + text(raw)), false},
		{"onnx.Open onnx.Read", "an operator that commands a terminal", model(field(1, field(1, raw)+field(3, raw)+field(4, raw)+field(7, raw))), false},
		{"onnx.Open onnx.Read", "an initializer that commands a terminal", model(field(5, field(8, raw)+"\x10\x63")), false},
		{"onnx.Open onnx.Read", "an output that commands a terminal", model(field(12, field(1, raw))), false},
		{"onnx.Open", "a file that commands a terminal", model(field(5, "\x10\x01"+field(8, "w")+field(13, field(1, "location")+field(2, raw))+"\x70\x01")), false},
		{"safetensors.Open", "a tensor that commands a terminal", tensors(`{"`+command+`":{"dtype":"`+command+`"}}`, uint64(24+2*len(command))), false},
		{"hub.Fetch", "a file that commands a terminal", `[{"type":"file","path":"` + command + `.gguf"}]`, false},
		{"pyvalue.Decode", "a number that commands a terminal", `[1e99999` + raw + `]`, false},
		{"npy.Open", "a type that commands a terminal", npyFile("{'descr': '"+raw+"', 'fortran_order': False, 'shape': (), }", uint32(52+len(raw))), false},
		{"table.Load data.ReadCSV", "a column that commands a terminal", raw + ",a,a\n", false},
	}...)
}
