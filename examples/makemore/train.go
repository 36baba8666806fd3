package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

// A network is a model and how it is trained.
type network struct {
	name string
	// make returns the model with random weights: a layer from symbols, int32 [n time], to
	// the logits of the next symbol, float32 [n 27], or of each next symbol, [n time 27].
	make  func(rng *tensor.RNG, time int) nn.Layer
	time  int // symbols that the model sees; 0: whole names, with logits for each position
	batch int // examples of a step; 0: all
	steps int
	adam  bool // AdamW, otherwise gradient descent
	rate  float64
	// figures draws figures of the trained model; may be nil.
	figures func(s *session, m nn.Layer) error
}

// A result has the size and the losses of a trained network.
type result struct {
	name             string
	parameters       int
	train, dev, test float64   // losses
	losses           []float64 // of the steps
}

// trained returns the stage that trains a network.
func trained(n network) func(s *session) error {
	return func(s *session) error {
		m, losses, err := s.fit(n)
		if err != nil {
			return err
		}
		if err := s.report(n, m, losses); err != nil {
			return err
		}
		if n.figures == nil {
			return nil
		}
		return n.figures(s, m)
	}
}

// window returns the number of symbols that a network sees.
func (n network) window(d dataset) int { return cmp.Or(n.time, d.longest+1) }

// examples returns the examples of some names.
func (n network) examples(list []string, d dataset) examples {
	if n.time == 0 {
		return sequences(list, n.window(d))
	}
	return contexts(list, n.time)
}

// optimizer returns the optimizer for a number of steps. The last quarter of gradient
// descent has a tenth of the rate, as in the lectures.
func (n network) optimizer(steps int) *optim.Optimizer {
	if n.adam {
		return optim.New(optim.AdamW{WeightDecay: 0.01}, n.rate)
	}
	o := optim.New(optim.SGD{}, n.rate)
	if n.batch > 0 {
		o.Schedule = optim.MultiStep(0.1, max(steps*3/4, 1))
	}
	return o
}

// fit trains a network and returns it with the loss of each step.
func (s *session) fit(n network) (m nn.Layer, losses []float64, err error) {
	rng, steps := s.rng(), cmp.Or(s.steps, n.steps)
	return s.fitWith(n, n.make(rng, n.window(s.data)), n.optimizer(steps), steps, rng)
}

func (s *session) fitWith(n network, m nn.Layer, o *optim.Optimizer, steps int, rng *tensor.RNG) (nn.Layer, []float64, error) {
	e := n.examples(s.data.train, s.data)
	batch := min(cmp.Or(n.batch, e.X.Dim(0)), e.X.Dim(0))
	var losses []float64
	l := train.Loop[nn.Layer, examples]{
		Model:     m,
		Data:      &data.Loader[examples]{Set: data.Of(e), Batch: batch, Shuffle: n.batch > 0, DropLast: true, Seed: s.seed},
		Optimizer: o, RNG: rng, Steps: steps, Every: max(steps/5, 1), Out: io.Discard,
		Loss: func(m nn.Layer, b examples, rng *tensor.RNG) (tensor.Tensor, nn.Layer) {
			logits, next := nn.Train(m, b.X, rng)
			sum, count := loss(logits, b.Y)
			return sum.Div(count), next
		},
	}
	l.AfterStep = func(_ *train.Loop[nn.Layer, examples], loss tensor.Tensor) error {
		losses = append(losses, loss.Item())
		return nil
	}
	l.Watch = func(history []train.Metrics) error {
		_, err := fmt.Fprintf(s.w, "  step %5d, loss %.4f\n", l.Step, history[len(history)-1]["loss"])
		return err
	}
	err := l.Run(context.Background())
	return l.Model, losses, err
}

// loss returns the sum of -log p over the labels, and the number of labels.
func loss(logits, labels tensor.Tensor) (sum, count tensor.Tensor) {
	each, weight := nn.CrossEntropyWith(logits, labels, &nn.CrossEntropyOptions{Ignore: []int{padding}})
	return each.Sum(), weight.Sum()
}

// meanLoss returns the mean of -log p over all labels of examples.
func meanLoss(m nn.Layer, e examples) (float64, error) {
	var total, labels float64
	l := data.Loader[examples]{Set: data.Of(e), Batch: 4096}
	for b, err := range l.All(context.Background()) {
		if err != nil {
			return 0, err
		}
		sum, count := loss(m.Apply(b.X), b.Y)
		if err := tensor.Eval(sum, count); err != nil {
			return 0, err
		}
		total, labels = total+sum.Item(), labels+count.Item()
	}
	return total / labels, nil
}

// report prints the losses of a trained model, and names that it makes up.
func (s *session) report(n network, m nn.Layer, losses []float64) error {
	r := result{name: n.name, parameters: tree.Size(m), losses: losses}
	for _, part := range []struct {
		loss *float64
		list []string
	}{
		{&r.train, s.data.train[:min(len(s.data.train), len(s.data.dev))]},
		{&r.dev, s.data.dev},
		{&r.test, s.data.test},
	} {
		var err error
		if *part.loss, err = meanLoss(m, n.examples(part.list, s.data)); err != nil {
			return err
		}
	}
	s.results = append(s.results, r)
	drawn, err := sample(m, s.rng(), n.window(s.data), n.time == 0, 10)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.w, "  %d parameters, loss %.4f, of other names %.4f\n  %s\n", r.parameters, r.train, r.dev, strings.Join(drawn, ", "))
	return nil
}
