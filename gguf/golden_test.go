package gguf_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/gguf"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
)

// Files that ggml wrote have the values that ggml decodes, to the last bit.
func TestGolden(t *testing.T) {
	for _, name := range []string{"all_types", "quants"} {
		f, err := gguf.Open("testdata/" + name + ".gguf")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var want map[string]tensor.Tensor
		if err := safetensors.Load("testdata/"+name+".safetensors", &want); err != nil {
			t.Fatal(err)
		}
		if len(f.Names()) != len(want) {
			t.Errorf("%s has %d tensors, want %d", name, len(f.Names()), len(want))
		}
		for _, n := range f.Names() {
			x, err := f.Tensor(n)
			if err != nil {
				t.Fatal(err)
			}
			got, err := x.Cast(tensor.Float32).Bytes()
			if err != nil {
				t.Fatal(err)
			}
			values, err := want[n].Bytes()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, values) {
				t.Errorf("%s: %s is %v, want %v", name, n, x, want[n])
			}
		}
	}
}

func TestMeta(t *testing.T) {
	f, err := gguf.Open("testdata/llama_gqa.gguf")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if n, err := gguf.Get[int](f.Meta, "llama.block_count"); n != 2 || err != nil {
		t.Errorf("llama.block_count is %d, %v, want 2", n, err)
	}
	if x, err := gguf.Get[float64](f.Meta, "llama.rope.freq_base"); x != 5e5 || err != nil {
		t.Errorf("llama.rope.freq_base is %v, %v, want 500000", x, err)
	}
	tokens, err := gguf.Get[[]string](f.Meta, "tokenizer.ggml.tokens")
	if err != nil || len(tokens) != 96 || tokens[3] != "▁" {
		t.Errorf("the tokens are %q, %v", tokens, err)
	}
	if kinds, err := gguf.Get[[]int](f.Meta, "tokenizer.ggml.token_type"); err != nil || kinds[0] != 2 {
		t.Errorf("the types of tokens are %v, %v", kinds, err)
	}
	if _, err := gguf.Get[int](f.Meta, "general.name"); err == nil || !strings.Contains(err.Error(), `"general.name" is a string, want a int`) {
		t.Errorf("general.name as an int: %v", err)
	}
}

func TestGet(t *testing.T) {
	m := gguf.Meta{
		{"u64", uint64(1) << 63}, {"minus", int8(-1)}, {"third", float32(1) / 3}, {"two", float64(2)},
		{"half", 0.5}, {"big", uint32(3e9)}, {"deep", []any{[]uint8{1}, []uint8{}}},
	}
	get[int](t, m, "u64", 0, false)
	get[uint64](t, m, "minus", 0, false)
	get[int64](t, m, "minus", -1, true)
	get[int](t, m, "two", 2, true)
	get[int](t, m, "half", 0, false)
	get[int32](t, m, "big", 0, false)
	get[float64](t, m, "third", float64(float32(1)/3), true)
	get[float32](t, m, "u64", 1<<63, true)
	get[string](t, m, "two", "", false)
	get[bool](t, m, "none", false, false)
	if deep, err := gguf.Get[[][]int](m, "deep"); err != nil || len(deep) != 2 || deep[0][0] != 1 {
		t.Errorf("arrays of arrays are %v, %v", deep, err)
	}
}

func get[T comparable](t *testing.T, m gguf.Meta, key string, want T, ok bool) {
	t.Helper()
	if got, err := gguf.Get[T](m, key); (err == nil) != ok || ok && got != want {
		t.Errorf("Get[%T](%q) = %v, %v, want %v", got, key, got, err, want)
	}
}
