// Command digits is the program of the page on which a network learns handwritten digits.
package main

import (
	"context"
	"iter"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/examples/web/internal/page"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// An example is an image and its digit. A batch has one more axis.
type example struct{ X, Y tensor.Tensor }

// A trainer trains a network for the page.
type trainer struct {
	port  *page.Port
	net   nn.Sequential
	step  func(net *nn.Sequential, b example, rng *tensor.RNG) (tensor.Tensor, error)
	batch func() (example, error, bool)
	count int
}

func main() {
	serve(page.Open())
}

// serve answers the page until it is gone.
func serve(port *page.Port) {
	t := &trainer{port: port}
	page.On(port, "train", t.start)
	port.Serve(t.work)
}

func (t *trainer) start(struct{}) error {
	x, y, err := digits.Load()
	if err != nil {
		return err
	}
	rng := tensor.NewRNG(1)
	t.net = nn.Sequential{nn.NewLinear(rng, 64, 128), nn.Func(tensor.Tensor.ReLU), nn.NewLinear(rng, 128, 10)}
	t.step = optim.Jit(optim.New(optim.AdamW{WeightDecay: 0.01}, 3e-3), func(net nn.Sequential, b example, _ *tensor.RNG) (tensor.Tensor, nn.Sequential) {
		return nn.CrossEntropy(net.Apply(b.X), b.Y).Mean(), net
	})
	loader := &data.Loader[example]{Set: data.Of(example{x.Flatten(1), y}), Batch: 64, Shuffle: true, DropLast: true}
	t.batch, _ = iter.Pull2(forever(loader))
	return nil
}

// forever yields the batches of one epoch after the other.
func forever(l *data.Loader[example]) iter.Seq2[example, error] {
	return func(yield func(example, error) bool) {
		for {
			for b, err := range l.All(context.Background()) {
				if !yield(b, err) {
					return
				}
			}
		}
	}
}

func (t *trainer) work() (more bool, err error) {
	if t.step == nil {
		return false, nil
	}
	b, err, _ := t.batch()
	if err != nil {
		return false, err
	}
	loss, err := t.step(&t.net, b, nil)
	if err != nil {
		return false, err
	}
	if t.count++; t.count%20 == 0 {
		t.port.Send("progress", map[string]any{"step": t.count, "loss": loss.Item()})
	}
	return t.count < 2000, nil
}
