package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

// vocabulary has two words, and the special tokens that Whisper's has after them.
const vocabulary = `{
"version": "1.0",
"added_tokens": [
	{"id": 2, "content": "<|endoftext|>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false},
	{"id": 3, "content": "<|startoftranscript|>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false},
	{"id": 4, "content": "<|0.00|>", "special": true, "single_word": false, "lstrip": false, "rstrip": false, "normalized": false}
],
"pre_tokenizer": {"type": "Whitespace"},
"model": {"type": "WordLevel", "unk_token": "hello", "vocab": {"hello": 0, "world": 1, "<|endoftext|>": 2, "<|startoftranscript|>": 3, "<|0.00|>": 4}}
}`

// models writes an encoder whose result is the loudness of each frame, 0 for silence, and a decoder: after the start
// come "hello", if it is loud, "world" and the end. Times would be more probable.
func models(t *testing.T) (encoder, decoder string) {
	scores := func(at ...[3]int) tensor.Tensor {
		data := make([]float32, 25)
		for _, a := range at {
			data[5*a[0]+a[1]] = float32(a[2])
		}
		return tensor.New(data, 5, 5)
	}
	float := func(name string, dims ...int) modeltest.Value {
		return modeltest.Value{Name: name, Elem: modeltest.Float, Dims: dims}
	}
	return modeltest.Model{
			Inputs:  []modeltest.Value{float("input_features", -1, 80, 3000)},
			Outputs: []modeltest.Value{float("last_hidden_state", -1, 3000, 1)},
			Nodes: []modeltest.Node{
				modeltest.Call("ReduceMax", "greatest", "input_features", "one").With("keepdims", 1),
				modeltest.Call("Transpose", "frames", "greatest").With("perm", []int{0, 2, 1}),
				modeltest.Call("Add", "last_hidden_state", "frames", "offset"),
			},
			Constants: map[string]tensor.Tensor{"one": tensor.New([]int64{1}, 1), "offset": tensor.New([]float32{1.5}, 1)},
		}.Write(t), modeltest.Model{
			Inputs:  []modeltest.Value{{Name: "input_ids", Elem: modeltest.Int64, Dims: []int{-1, -1}}, float("encoder_hidden_states", -1, 3000, 1)},
			Outputs: []modeltest.Value{float("logits", -1, -1, 5)},
			Nodes: []modeltest.Node{
				modeltest.Call("ReduceMean", "loud", "encoder_hidden_states", "axes").With("keepdims", 1),
				modeltest.Call("Gather", "always", "next", "input_ids"),
				modeltest.Call("Gather", "then", "loudly", "input_ids"),
				modeltest.Call("Mul", "scaled", "then", "loud"),
				modeltest.Call("Add", "logits", "always", "scaled"),
			},
			Constants: map[string]tensor.Tensor{
				"axes":   tensor.New([]int64{1, 2}, 2),
				"next":   scores([3]int{3, 2, 1}, [3]int{3, 4, 9}, [3]int{0, 1, 1}, [3]int{0, 4, 9}, [3]int{1, 2, 1}),
				"loudly": scores([3]int{3, 0, 1000}),
			},
		}.Write(t)
}

// Half a minute of silence has no words, a tone after it has them.
func TestRun(t *testing.T) {
	x := make([]float32, piece+2*rate)
	for i := piece; i < len(x); i++ {
		x[i] = float32(math.Sin(float64(i)))
	}
	dir := t.TempDir()
	*words, *file = filepath.Join(dir, "tokenizer.json"), filepath.Join(dir, "sound.wav")
	if err := os.WriteFile(*words, []byte(vocabulary), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := wav.Save(*file, tensor.New(x, 1, len(x)), rate, nil); err != nil {
		t.Fatal(err)
	}
	*encoder, *decoder = models(t)
	*prompt = "<|startoftranscript|>"
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "   30 s  hello world\n"; out.String() != want {
		t.Errorf("the program writes %q, want %q", out.String(), want)
	}
	*prompt = "<|startoftranscript|><|xx|>"
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "-prompt") {
		t.Errorf("of an unknown token: %v", err)
	}
	*decoder = *encoder
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "want input_ids and encoder_hidden_states") {
		t.Errorf("of another model: %v", err)
	}
}

// A tone of 1000 Hz, which is 15 of the 45.25 mel up to 8000 Hz, is in filter 26, the 27th of 80: 81·15/45.25 is 26.9.
// Silence is -1.5.
func TestSpectra(t *testing.T) {
	x := make([]float32, piece)
	for i := range x {
		x[i] = float32(math.Sin(2 * math.Pi * 1000 / rate * float64(i)))
	}
	s := spectra(tensor.New(x, piece), 80)
	if d := s.Shape(); d[1] != 80 || d[2] != 3000 {
		t.Fatalf("spectra are %v", d)
	}
	if m := s.At(0).Slice(1, 1000, 1001).Squeeze(1).ArgMax(0).Item(); m != 26 {
		t.Errorf("the tone is in filter %v", m)
	}
	if s := spectra(tensor.Zeros(piece), 80); s.Min().Item() != -1.5 || s.Max().Item() != -1.5 {
		t.Errorf("silence is from %v to %v", s.Min().Item(), s.Max().Item())
	}
}
