package main

import (
	"bytes"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/wav"
)

// loudness writes a model of Silero's form: the state becomes the half of itself and the mean of the samples'
// squares, and the result is 1 / (1 + exp(4 - 400·state)).
func loudness(t *testing.T, samples int) string {
	scalar := func(x float32) tensor.Tensor { return tensor.New([]float32{x}).Reshape() }
	return modeltest.Model{
		Inputs: []modeltest.Value{
			{Name: "input", Elem: modeltest.Float, Dims: []int{-1, samples}},
			{Name: "state", Elem: modeltest.Float, Dims: []int{2, -1, 4}},
			{Name: "sr", Elem: modeltest.Int64, Dims: nil},
		},
		Outputs: []modeltest.Value{{Name: "output", Elem: modeltest.Float, Dims: []int{-1, 1}}, {Name: "stateN", Elem: modeltest.Float, Dims: []int{2, -1, 4}}},
		Nodes: []modeltest.Node{
			modeltest.Call("Mul", "squares", "input", "input"),
			modeltest.Call("ReduceMean", "power", "squares", "one").With("keepdims", 1),
			modeltest.Call("Mul", "old", "state", "half"),
			modeltest.Call("Add", "stateN", "old", "power"),
			modeltest.Call("ReduceMean", "level", "stateN", "ends").With("keepdims", 0),
			modeltest.Call("Unsqueeze", "column", "level", "one"),
			modeltest.Call("Mul", "scaled", "column", "gain"),
			modeltest.Call("Sub", "score", "scaled", "bias"),
			modeltest.Call("Sigmoid", "output", "score"),
		},
		Constants: map[string]tensor.Tensor{
			"half": scalar(0.5), "gain": scalar(400), "bias": scalar(4),
			"one": tensor.New([]int64{1}, 1), "ends": tensor.New([]int64{0, 2}, 2),
		},
	}.Write(t)
}

// sound writes a second of silence, a second of a tone, and half a second of silence.
func sound(t *testing.T, rate int) string {
	x := make([]float32, rate*5/2)
	for i := rate; i < 2*rate; i++ {
		x[i] = 0.5 * float32(math.Sin(float64(i)))
	}
	path := filepath.Join(t.TempDir(), "sound.wav")
	if err := wav.Save(path, tensor.New(x, 1, len(x)), rate, nil); err != nil {
		t.Fatal(err)
	}
	return path
}

// The tone is found where it is, in steps of 32 ms: it begins in step 31 and ends in the middle of step 62. The state
// goes from step to step: it is 0.194 then, and halved until 400·0.0061 - 4 gives a probability below 0.35, in step 67.
func TestRun(t *testing.T) {
	*model, *file = loudness(t, 576), sound(t, 16000)
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if want := "    0.99 s to     2.14 s\n1.15 of 2.50 s are speech\n"; out.String() != want {
		t.Errorf("the program writes\n%swant\n%s", out.String(), want)
	}
	*file = sound(t, 8000)
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "has 8000 samples a second, want 16000") {
		t.Errorf("of another rate: %v", err)
	}
	*file = sound(t, 16000)
	*before = 0
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "576") {
		t.Errorf("of steps that the model does not take: %v", err)
	}
}
