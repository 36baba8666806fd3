package main

import (
	"fmt"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/examples/internal/gpt"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// newLoop returns a loop that trains on nine tenths of the text, and validates on the rest.
func newLoop(characters gpt.Vocabulary, text string) (*train.Loop[gpt.Model, data.Window], error) {
	ids, err := characters.Encode(text)
	if err != nil {
		return nil, err
	}
	cut := len(ids) * 9 / 10
	if len(ids)-cut <= *length {
		return nil, fmt.Errorf("the text has %d characters, want more than %d", len(ids), 10**length)
	}
	held := tensor.New(ids[cut:])
	test, err := data.Whole(data.Windows(held, *length, max(*length, held.Len()/32)))
	if err != nil {
		return nil, err
	}
	rng := tensor.NewRNG(1)
	l := &train.Loop[gpt.Model, data.Window]{
		Model: gpt.New(rng, gpt.Size{
			Vocabulary: len(characters), Length: *length, Layers: *layers, Width: *width, Heads: *heads, Dropout: *dropout,
		}),
		Data: &data.Loader[data.Window]{
			Set: data.Windows(tensor.New(ids[:cut]), *length, 1), Batch: *batch, Shuffle: true, DropLast: true,
		},
		Optimizer: optim.New(optim.AdamW{Beta2: 0.99, WeightDecay: 0.1}, *rate),
		RNG:       rng, Steps: *steps, Every: *every, Checkpoint: *checkpoint, Resume: *checkpoint != "",
		Loss: func(m gpt.Model, b data.Window, rng *tensor.RNG) (tensor.Tensor, gpt.Model) {
			return nn.CrossEntropy(m.Train(b.X, rng), b.Y).Mean(), m
		},
		Validate: func(m gpt.Model) (train.Metrics, error) {
			return train.Metrics{"test": nn.CrossEntropy(m.Train(test.X, nil), test.Y).Mean().Item()}, nil
		},
	}
	l.Optimizer.ClipNorm, l.Optimizer.Schedule = 1, optim.Warmup(100, optim.Cosine(*steps, 0.1))
	return l, nil
}
