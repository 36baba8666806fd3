package main

import (
	"context"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

const golden = "../../internal/golden/testdata/gpt2_tiny"

// namesFile writes a text of a few KB.
func namesFile(t *testing.T) string {
	t.Helper()
	list, err := names.Read("")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "names.txt")
	if err := os.WriteFile(path, []byte(strings.Join(list, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestOutput trains a small model, and generates with the saved one.
func TestOutput(t *testing.T) {
	exampletest.SetFlags(t, map[string]string{
		"device": "cpu", "text": namesFile(t), "dir": t.TempDir(), "length": "16", "batch": "2", "accumulate": "2",
		"steps": "10", "every": "5", "prompt": "Names: ", "n": "9", "temperature": "0.5", "dropout": "0.2",
	})
	exampletest.Check(t, main)
}

// TestPublished compares the logits of a model in the published layout with PyTorch's: of all
// tokens at once, and of one token after the other with caches.
func TestPublished(t *testing.T) {
	exampletest.OpenDevice(t)
	m, err := load(golden)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		In  struct{ InputIDs tensor.Tensor }
		Out struct{ Logits tensor.Tensor }
	}
	if err := safetensors.Load(golden+"/io.safetensors", &file); err != nil {
		t.Fatal(err)
	}
	ids, err := tensor.Data[int64](file.In.InputIDs)
	if err != nil {
		t.Fatal(err)
	}
	var narrow []int32
	for _, id := range ids {
		narrow = append(narrow, int32(id))
	}
	x := tensor.New(narrow, 2, 12)
	caches := []nn.KVCache{nn.NewKVCache(2, 4, 12, 8), nn.NewKVCache(2, 4, 12, 8)}
	var parts []tensor.Tensor
	for _, part := range x.Split(1, 10, 1, 1) {
		parts = append(parts, m.apply(part, caches, nil))
	}
	for name, got := range map[string]tensor.Tensor{"at once": m.apply(x, nil, nil), "in parts": tensor.Cat(1, parts...)} {
		if ok, err := tensor.AllClose(got, file.Out.Logits, 1e-4, 1e-5); !ok || err != nil {
			t.Errorf("the logits %s differ from PyTorch's: %v", name, err)
		}
	}
}

// TestGenerate compares each greedy token with the argmax of the logits of the text before it.
func TestGenerate(t *testing.T) {
	m, err := load(golden)
	if err != nil {
		t.Fatal(err)
	}
	text := []int32{5, 17, 80}
	out, err := m.generate(tensor.NewRNG(1), text, 6, 40, 0)
	if err != nil {
		t.Fatal(err)
	}
	for range 6 {
		next := m.apply(tensor.New(text, 1, len(text)), nil, nil).Index(0, -1).ArgMax(0)
		text = append(text, int32(next.Item()))
	}
	if !slices.Equal(out, text[3:]) {
		t.Errorf("greedy tokens are %v, want %v", out, text[3:])
	}
	for _, n := range []int{0, 60} {
		if _, err := m.generate(tensor.NewRNG(1), make([]int32, n), 10, 1, 1); err == nil {
			t.Errorf("10 tokens after %d of a model with 64 positions: no error", n)
		}
	}
}

// TestSave compares a model that is saved and loaded with the original, also under changed
// settings in its config.
func TestSave(t *testing.T) {
	c := defaults
	c.Vocabulary, c.Positions, c.Layers, c.Width, c.Heads = 11, 8, 2, 8, 2
	m, dir := newGPT2(tensor.NewRNG(1), c), t.TempDir()
	if err := m.save(dir); err != nil {
		t.Fatal(err)
	}
	ids := tensor.New([]int32{1, 2, 3, 10}, 1, 4)
	want := m.apply(ids, nil, nil)
	change := func(old, new string) gpt2 {
		path := filepath.Join(dir, "config.json")
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(b), old) {
			t.Fatalf("config.json has no %s:\n%s", old, b)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(b), old, new, 1)), 0o666); err != nil {
			t.Fatal(err)
		}
		m, err := load(dir)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	if ok, err := tensor.AllClose(change("{", "{").apply(ids, nil, nil), want, 0, 0); !ok || err != nil {
		t.Errorf("a model that was saved gives other logits: %v", err)
	}
	// Layer 1 now divides scores by 2, which queries twice as large undo.
	other := tree.Map(change(`inverse_layer_idx": false`, `inverse_layer_idx": true`), func(name string, x tensor.Tensor) tensor.Tensor {
		if strings.HasPrefix(name, "h.1.attn.c_attn.") {
			return x.Mul(tensor.Cat(0, tensor.Full(2, 8), tensor.Ones(16)))
		}
		return x
	})
	if ok, err := tensor.AllClose(other.apply(ids, nil, nil), want, 1e-5, 1e-6); !ok || err != nil {
		t.Errorf("with scores divided by the number of the layer the logits differ: %v", err)
	}
	if ok, _ := tensor.AllClose(change(`"gelu_new"`, `"relu"`).apply(ids, nil, nil), want, 1e-5, 1e-6); ok {
		t.Error("with relu the logits are the same")
	}
}

// TestTrains overfits one batch.
func TestTrains(t *testing.T) {
	exampletest.OpenDevice(t)
	c := defaults
	c.Vocabulary, c.Positions, c.Layers, c.Width, c.Heads, c.Dropout = 11, 8, 1, 16, 2, 0
	m, opt := newGPT2(tensor.NewRNG(1), c), optim.New(optim.AdamW{}, 0.01)
	ids := tensor.New([]int32{1, 2, 3, 10, 9, 8, 7, 0, 0}, 1, 9)
	loss := func(m gpt2) tensor.Tensor {
		return nn.CrossEntropy(m.apply(ids.Slice(1, 0, 8), nil, nil), ids.Slice(1, 1, 9)).Mean()
	}
	for range 30 {
		value, g := optim.ValueAndGrad(opt, loss)(m)
		if err := opt.Step(&m, g); err != nil {
			t.Fatal(err)
		}
		value.Item()
	}
	if got := loss(m).Item(); !(got < 0.2) {
		t.Errorf("after 30 steps on one text the loss is %v", got)
	}
}

func TestReadTokens(t *testing.T) {
	path := filepath.Join(t.TempDir(), "train.bin")
	if err := os.WriteFile(path, binary.LittleEndian.AppendUint16([]byte{1, 2}, 50000), 0o666); err != nil {
		t.Fatal(err)
	}
	tokens, size, err := readTokens(path)
	got, _ := tensor.Data[int32](tokens)
	if err != nil || size != 50257 || !slices.Equal(got, []int32{513, 50000}) {
		t.Errorf("readTokens = %v, %d, %v", got, size, err)
	}
}

func TestErrors(t *testing.T) {
	folder := func(config string) string {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config.json"), []byte(config), 0o666); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, c := range []struct {
		values map[string]string
		want   string
	}{
		{map[string]string{"dir": folder("")}, "config.json"},
		{map[string]string{"dir": folder(`{"model_type": "gptj"}`)}, "gptj"},
		{map[string]string{"dir": folder(`{"n_head": 5}`)}, "n_head"},
		{map[string]string{"dir": folder(`{"activation_function": "sine"}`)}, "sine"},
		{map[string]string{"dir": folder(`{}`)}, "model.safetensors"},
		{map[string]string{"dir": golden, "prompt": "1,96"}, `"96": want token ids below 96`},
		{map[string]string{"dir": golden, "prompt": "1,2"}, "100 tokens after 2: the model has 64 positions"},
		{map[string]string{"dir": t.TempDir(), "text": namesFile(t), "length": "1000"}, "want more than 10000"},
		{map[string]string{"dir": t.TempDir(), "text": namesFile(t), "size": "big"}, `no size "big"`},
	} {
		t.Run(c.want, func(t *testing.T) {
			exampletest.SetFlags(t, c.values)
			if err := run(context.Background(), io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v: error %v, want one with %q", c.values, err, c.want)
			}
		})
	}
}
