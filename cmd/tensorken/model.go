package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// An architecture describes a kind of network.
type architecture struct {
	// shape returns the shape of an example of width numbers.
	shape func(width int) ([]int, error)
	build func(rng *tensor.RNG, shape []int, classes int) nn.Sequential
	// together means that all numbers of an example share one scaling, as pixels of
	// an image do.
	together bool
	epochs   int // the defaults of flags
	lr       float64
}

var architectures = map[string]architecture{
	"mlp": {shape: flat, build: buildMLP, epochs: 40, lr: 2e-2},
	"cnn": {shape: square, build: buildCNN, together: true, epochs: 15, lr: 3e-3},
}

// findArchitecture returns an architecture by name.
func findArchitecture(name string) (architecture, error) {
	a, ok := architectures[name]
	if !ok {
		names := slices.Sorted(maps.Keys(architectures))
		return a, fmt.Errorf("no model %q: want one of %s", name, strings.Join(names, ", "))
	}
	return a, nil
}

func flat(width int) ([]int, error) { return []int{width}, nil }

func square(width int) ([]int, error) {
	side := int(math.Sqrt(float64(width)) + 0.5)
	if side*side != width || side < 2 {
		return nil, fmt.Errorf("cnn needs square images: %d numbers are not a square", width)
	}
	return []int{1, side, side}, nil
}

// buildMLP returns a network with one hidden layer.
func buildMLP(rng *tensor.RNG, shape []int, classes int) nn.Sequential {
	const hidden = 256
	return nn.Sequential{
		nn.NewLinear(rng, shape[0], hidden), nn.Func(tensor.Tensor.ReLU), nn.Dropout{P: 0.3},
		nn.NewLinear(rng, hidden, classes),
	}
}

// buildCNN returns a network with two convolutions, the second at half the resolution.
func buildCNN(rng *tensor.RNG, shape []int, classes int) nn.Sequential {
	const first, second = 16, 32
	padded := &tensor.ConvOptions{Padding: []int{1}}
	side := shape[1] / 2
	return nn.Sequential{
		nn.NewConv2D(rng, shape[0], first, 3, padded), nn.NewBatchNorm(first), nn.Func(tensor.Tensor.ReLU), nn.MaxPool{Size: 2},
		nn.NewConv2D(rng, first, second, 3, padded), nn.NewBatchNorm(second), nn.Func(tensor.Tensor.ReLU),
		nn.Flatten{}, nn.Dropout{P: 0.3}, nn.NewLinear(rng, second*side*side, classes),
	}
}
