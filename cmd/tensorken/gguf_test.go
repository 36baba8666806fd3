package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/models"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

const ggufData, modelData = "../../gguf/testdata/", "../../models/testdata/"

// succeed runs the command and returns its output.
func succeed(t *testing.T, args ...string) string {
	t.Helper()
	status, stdout, stderr := command(args...)
	if status != 0 {
		t.Fatalf("%v: status %d, %s", args, status, stderr)
	}
	return stdout
}

// Decoded tensors equal ggml's, to the last bit.
func TestGGUFDecode(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.safetensors")
	succeed(t, "gguf", "convert", ggufData+"all_types.gguf", out, "--type", "f32")
	var got, want map[string]tensor.Tensor
	if err := safetensors.Load(out, &got); err != nil {
		t.Fatal(err)
	}
	if err := safetensors.Load(ggufData+"all_types.safetensors", &want); err != nil {
		t.Fatal(err)
	}
	for name, x := range want {
		a, err := got[name].Bytes()
		if err != nil {
			t.Fatal(err)
		}
		if b, err := x.Bytes(); err != nil || !bytes.Equal(a, b) {
			t.Errorf("%s is %v, want %v", name, got[name], x)
		}
	}
}

// The tokenizer and the templates go with a model, to GGUF and back.
func TestGGUFTokenizer(t *testing.T) {
	dir := t.TempDir()
	file, folder := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "m")
	const chat = "../../llm/testdata/chat"
	succeed(t, "gguf", "convert", chat, file)
	succeed(t, "gguf", "convert", file, folder)
	f, err := gguf.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for key, want := range map[string]any{"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "gpt-2", "tokenizer.ggml.eos_token_id": uint32(258), "tokenizer.ggml.eot_token_id": uint32(256)} {
		if v := f.Meta.Value(key); v != want {
			t.Errorf("%s is %v, want %v", key, v, want)
		}
	}
	var want []string
	for _, path := range []string{chat, file, folder} {
		out := succeed(t, "run", path, "What is a tensor?", "--json", "--device=cpu")
		if want = append(want, out); out != want[0] || !strings.Contains(out, "An array of numbers with a shape.") {
			t.Errorf("%s writes %s", path, out)
		}
	}
	status, _, notes := command("gguf", "convert", modelData+"llama_gqa", filepath.Join(dir, "other.gguf"))
	if status != 0 || !strings.Contains(notes, "llama.cpp reads tokens and no texts with") {
		t.Errorf("a folder without a tokenizer: %d, %s", status, notes)
	}
}

// A folder becomes a GGUF file, is quantised and becomes a folder again.
func TestGGUFConvert(t *testing.T) {
	dir := t.TempDir()
	whole, small, folder := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "q.gguf"), filepath.Join(dir, "Model-1.5")
	for _, name := range []string{"llama_gqa", "mixtral", "gpt2_gen", "bert", "t5", "gemma3"} {
		succeed(t, "gguf", "convert", modelData+name, whole)
		if out := succeed(t, "gguf", "quantise", whole, small, "--type", "q8_0"); !strings.Contains(out, " before\n") {
			t.Errorf("quantise prints %q", out)
		}
		succeed(t, "gguf", "convert", small, folder)
		m, err := models.Load(folder)
		if err != nil {
			t.Fatal(err)
		}
		if llama, ok := m.(*models.Llama); ok {
			want, err := models.LoadLlama(modelData + name)
			if err != nil {
				t.Fatal(err)
			}
			ids := tensor.New([]int32{1, 2, 3}, 1, 3)
			if e := llama.Apply(ids).Sub(want.Apply(ids)).Abs().Max().Item(); !(e < 0.3) {
				t.Errorf("%s: logits of 8 bits differ by %v", name, e)
			}
		}
		out := succeed(t, "gguf", "info", small)
		if name != "t5" && !strings.Contains(out, "Q8_0") || !strings.Contains(out, "memory: ") {
			t.Errorf("%s: info prints\n%s", name, out)
		}
	}
	var info modelInfo
	if err := json.Unmarshal([]byte(succeed(t, "gguf", "info", "--json", small)), &info); err != nil || info.Parameters == 0 || info.Types["Q8_0"].Tensors == 0 {
		t.Errorf("info --json has %v, %v", info, err)
	}
	succeed(t, "gguf", "convert", modelData+"llama_gqa/model.safetensors", whole, "--type", "bf16")
	if out := succeed(t, "gguf", "info", whole); !strings.Contains(out, "model.embed_tokens.weight") || !strings.Contains(out, "BF16") {
		t.Errorf("a file without folder: info prints\n%s", out)
	}
}

// An importance matrix is used, in both formats.
func TestGGUFImportance(t *testing.T) {
	dir := t.TempDir()
	in, weights, out := filepath.Join(dir, "m.gguf"), filepath.Join(dir, "w.gguf"), filepath.Join(dir, "q.gguf")
	x := tensor.NewRNG(1).Normal(64, 256)
	const name = "blk.0.attn_q.weight"
	if err := gguf.Save(in, map[string]tensor.Tensor{name: x}, gguf.Meta{{Key: "general.architecture", Value: "llama"}}, nil); err != nil {
		t.Fatal(err)
	}
	even := tensor.Arange(256).Mod(2).Mul(100).Add(1).Cast(tensor.Float32)
	tree := map[string]tensor.Tensor{name + ".in_sum2": even.Mul(4).Reshape(1, 256), name + ".counts": tensor.Full(4, 1, 1).Cast(tensor.Float32)}
	if err := gguf.Save(weights, tree, nil, nil); err != nil {
		t.Fatal(err)
	}
	dat := &bytes.Buffer{}
	for _, s := range []string{"\x01\x00\x00\x00", "\x13\x00\x00\x00", name, "\x01\x00\x00\x00", "\x00\x01\x00\x00"} {
		dat.WriteString(s)
	}
	b, err := even.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	dat.Write(b)
	older := write(t, "w.dat", dat.String())
	for _, w := range []string{weights, older} {
		succeed(t, "gguf", "quantise", in, out, "--type", "iq2_xxs", "--pure", "--imatrix", w)
		f, err := gguf.Open(out)
		if err != nil {
			t.Fatal(err)
		}
		y, err := f.Tensor(name)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tensors()[0].Type != gguf.IQ2_XXS {
			t.Errorf("the type is %v", f.Tensors()[0].Type)
		}
		if err := f.Close(); err != nil { // Windows replaces no file that is open
			t.Fatal(err)
		}
		e := y.Sub(x).Square().Reshape(64, 128, 2).Mean(0, 1).Reshape(2)
		if odd, even := e.At(1).Item(), e.At(0).Item(); odd > 0.7*even {
			t.Errorf("%s: the error of important columns is %v, of others %v", w, odd, even)
		}
	}
}

func TestGGUFVerify(t *testing.T) {
	data, err := os.ReadFile(ggufData + "all_types.gguf")
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(data)
	if out := succeed(t, "gguf", "verify", ggufData+"all_types.gguf"); out != "22 tensors, sha256 "+hex.EncodeToString(sum[:])+"\n" {
		t.Errorf("verify prints %q", out)
	}
	f, err := gguf.Open(ggufData + "all_types.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	at := f.Tensors()[0].Offset + 18
	data[at], data[at+1] = 0, 0x7c // an infinity
	status, out, stderr := command("gguf", "verify", write(t, "m.gguf", string(data)))
	if status != 1 || !strings.Contains(out, `"Q4_0": a scale of block 1, at byte `) || !strings.Contains(stderr, "1 of 22 tensors are damaged") {
		t.Errorf("verify of a damaged file: status %d, %s%s", status, out, stderr)
	}
}

func TestGGUFErrors(t *testing.T) {
	out := filepath.Join(t.TempDir(), "m.gguf")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"info", "main.go"}, "gguf: main.go: it begins with"},
		{[]string{"info", "none.gguf"}, "none.gguf: "},
		{[]string{"convert", "none", out}, "none: "},
		{[]string{"convert", ggufData + "quants.gguf", out, "--type", "q9"}, `--type: gguf: no type is named "q9": want one of F32`},
		{[]string{"convert", ggufData + "quants.gguf", "m.safetensors", "--type", "q8_0"}, "--type: there are no tensors of type Q8_0 in safetensors files"},
		{[]string{"convert", ggufData + "quants.gguf", out, "--type", "q6_k"}, `"t.F32" of shape [3 8] cannot be of type Q6_K`},
		{[]string{"convert", ggufData + "quants.gguf", t.TempDir()}, `general.architecture is "test": want one of llama, qwen2`},
		{[]string{"quantise", ggufData + "quants.gguf", out, "--type", "q9"}, `--type: there is no type "q9": want one of F32`},
		{[]string{"quantise", ggufData + "quants.gguf", out}, "no matrix that can be quantised"},
		{[]string{"quantise", ggufData + "llama_gqa.gguf", "m.bin"}, "m.bin: the name of the result should end in .gguf"},
		{[]string{"quantise", ggufData + "llama_gqa.gguf", out, "--imatrix", "main.go"}, "--imatrix: main.go: it is neither a GGUF file nor an importance matrix"},
		{[]string{"quantise", ggufData + "llama_gqa.gguf", out, "--imatrix", ggufData + "quants.gguf"}, "it has no importance of any tensor"},
	} {
		status, _, stderr := command(append([]string{"gguf"}, c.args...)...)
		if status != 1 || !strings.Contains(stderr, c.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: status %d, %q, want %s", c.args, status, stderr, c.want)
		}
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("an error leaves a file")
	}
}

// Weights of columns that a text gives are equal in a file of their own and at once, and from both kinds of models.
func TestGGUFImatrix(t *testing.T) {
	dir := t.TempDir()
	const chat = "../../llm/testdata/chat"
	path := func(name string) string { return filepath.Join(dir, name) }
	text := path("text.txt")
	if err := os.WriteFile(text, []byte(strings.Repeat("The quick brown fox jumps over the lazy dog. ", 12)), 0o600); err != nil {
		t.Fatal(err)
	}
	succeed(t, "gguf", "convert", chat, path("m.gguf"))
	succeed(t, "gguf", "imatrix", chat, text, path("i.gguf"))
	var all [][]byte
	for _, args := range [][]string{{chat, "--imatrix", path("i.gguf")}, {chat, "--imatrix-text", text}, {path("m.gguf"), "--imatrix-text", text}, {chat}} {
		succeed(t, append([]string{"gguf", "quantise", args[0], path("q.gguf"), "--type", "q4_0"}, args[1:]...)...)
		f, err := gguf.Open(path("q.gguf"))
		if err != nil {
			t.Fatal(err)
		}
		raw, err := f.Raw("blk.0.ffn_down.weight")
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, raw)
	}
	if !bytes.Equal(all[0], all[1]) || !bytes.Equal(all[0], all[2]) || bytes.Equal(all[0], all[3]) {
		t.Error("the weights differ by their way, or have no effect")
	}
	empty := path("empty.txt")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"there is no text":                     {"gguf", "imatrix", chat, empty, path("o.gguf")},
		"the text cannot be read by the model": {"gguf", "imatrix", modelData + "llama_gqa", text, path("o.gguf")},
		"leave one out":                        {"gguf", "quantise", chat, path("q.gguf"), "--imatrix", path("i.gguf"), "--imatrix-text", text},
	} {
		if status, _, notes := command(args...); status != 1 || !strings.Contains(notes, want) {
			t.Errorf("%v: %d, %s, want %s", args, status, notes, want)
		}
	}
}
