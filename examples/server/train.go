package main

import (
	"context"
	"errors"
	"io/fs"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
)

// load reads a model from a file. If that does not exist it trains one and writes it.
func load(path string) (m MLP, err error) {
	if err = safetensors.Load(path, &m); !errors.Is(err, fs.ErrNotExist) {
		return m, err
	}
	known, _, err := examples()
	if err != nil {
		return m, err
	}
	if m, err = learn(known); err != nil {
		return m, err
	}
	return m, safetensors.Save(path, m)
}

// An Example is an image and its digit. A batch has the same type: its tensors have one
// more axis, the first.
type Example struct{ X, Y tensor.Tensor }

// examples returns the digits to learn and those that are held out.
func examples() (known, held data.Set[Example], err error) {
	x, y, err := digits.Load()
	if err != nil {
		return nil, nil, err
	}
	known, held = data.Split(data.Of(Example{x.Flatten(1), y}), 0.8, 1)
	return known, held, nil
}

// learn trains a network for 20 epochs.
func learn(known data.Set[Example]) (MLP, error) {
	rng := tensor.NewRNG(1)
	l := train.Loop[MLP, Example]{
		Model:     MLP{nn.NewLinear(rng, 64, 128), nn.NewLinear(rng, 128, 10)},
		Data:      &data.Loader[Example]{Set: known, Batch: 64, Shuffle: true},
		Optimizer: optim.New(optim.AdamW{WeightDecay: 0.01}, 3e-3),
		Epochs:    20,
		Loss: func(m MLP, b Example, _ *tensor.RNG) (tensor.Tensor, MLP) {
			return nn.CrossEntropy(m.apply(b.X), b.Y).Mean(), m
		},
	}
	err := l.Run(context.Background())
	return l.Model, err
}
