package main

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"strings"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
)

// An mlpModel gives each symbol of a context a vector, its embedding, and computes logits
// from all of them by a hidden layer.
//
// Source: Bengio et al., "A Neural Probabilistic Language Model", 2003.
type mlpModel struct {
	Embedding   nn.Embedding
	Hidden, Out nn.Linear
}

// Apply maps symbols [n 3] to logits [n 27].
func (m mlpModel) Apply(x tensor.Tensor) tensor.Tensor {
	return m.Out.Apply(m.Hidden.Apply(m.Embedding.Apply(x).Flatten(1)).Tanh())
}

// mlp has embeddings of two numbers, which can be drawn.
var mlp = network{
	name: "mlp", time: 3, batch: 32, steps: 2000, rate: 0.1,
	make: func(rng *tensor.RNG, time int) nn.Layer {
		const width, hidden = 2, 100
		return mlpModel{nn.NewEmbedding(rng, symbols, width), nn.NewLinear(rng, time*width, hidden), nn.NewLinear(rng, hidden, symbols)}
	},
	figures: func(s *session, m nn.Layer) error {
		return s.draw("embeddings", func() *plot.Figure { return embeddings(m.(mlpModel).Embedding.Weight) })
	},
}

// embeddings draws the vectors of letters, [27 2]: a model that confuses vowels for each other
// has them side by side.
func embeddings(weight tensor.Tensor) *plot.Figure {
	at := weight.T()
	f := plot.Scatter(plot.Series{X: at.At(0), Y: at.At(1), Labels: strings.Split(names.Alphabet, "")})
	f.Title = "The embeddings of the letters"
	return f
}

// rates searches for the learning rate of mlp: the rate grows by a factor from step to step,
// and the best is a little below where the loss begins to jump.
func rates(s *session) error {
	steps, rng := cmp.Or(s.steps, 500), s.rng()
	o := mlp.optimizer(steps)
	o.LR = 1
	exponent := func(step int) float64 { return -3 + 3*float64(step)/float64(steps) }
	o.Schedule = func(step int) float64 { return math.Pow(10, exponent(step)) }
	_, losses, err := s.fitWith(mlp, mlp.make(rng, mlp.time), o, steps, rng)
	if err != nil {
		return err
	}
	k := max(steps/25, 1)
	smooth := means(losses, k)
	best := 0
	for i, x := range smooth {
		if x < smooth[best] {
			best = i
		}
	}
	fmt.Fprintf(s.w, "  least loss %.4f near the rate %.3f\n", smooth[best], math.Pow(10, exponent(best*k+k/2)))
	return s.draw("rates", func() *plot.Figure {
		x := make([]float64, len(losses))
		for i := range x {
			x[i] = math.Pow(10, exponent(i))
		}
		f := plot.Lines(
			plot.Series{Name: "of a step", X: tensor.New(x), Y: tensor.New(losses), Color: color.Gray{Y: 0xc0}},
			plot.Series{Name: "mean", X: tensor.New(means(x, k)), Y: tensor.New(smooth)})
		f.Title, f.X.Label, f.Y.Label, f.X.Log = "Loss by learning rate", "rate", "loss", true
		return f
	})
}

// means returns the means of each k numbers, without the last ones if they are fewer.
func means(xs []float64, k int) (m []float64) {
	for ; len(xs) >= k; xs = xs[k:] {
		sum := 0.0
		for _, x := range xs[:k] {
			sum += x
		}
		m = append(m, sum/float64(k))
	}
	return m
}
