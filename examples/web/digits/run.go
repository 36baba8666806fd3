package main

import (
	"context"
	"fmt"
	"iter"
	"math"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/internal/digits"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// An example is an image, float32 [64] from 0 to 1, and its digit, int32. A batch has one
// more axis.
type example struct{ X, Y tensor.Tensor }

// A dataset is the digits to learn and all those that are held out.
type dataset struct {
	known data.Set[example]
	held  example
}

func load() (d dataset, err error) {
	x, y, err := digits.Load()
	if err != nil {
		return d, err
	}
	known, held := data.Split(data.Of(example{x.Flatten(1), y}), 0.8, 1)
	if d.held, err = data.Whole(held); err != nil {
		return d, err
	}
	all, err := data.Whole(known)
	if err != nil {
		return d, err
	}
	all, err = distort(all)
	d.known = data.Of(all)
	return d, err
}

// A network has one hidden layer.
type network struct{ Hidden, Out nn.Linear }

func (n network) apply(x tensor.Tensor) tensor.Tensor { return n.Out.Apply(n.Hidden.Apply(x).ReLU()) }

func loss(n network, b example, _ *tensor.RNG) (tensor.Tensor, network) {
	return nn.CrossEntropy(n.apply(b.X), b.Y).Mean(), n
}

// A snapshot is the network after some steps, on the host.
type snapshot struct {
	step int
	tensors
}

// tensors are the tensors that a step changes: the parameters, and two averages for each.
type tensors struct {
	Net   network
	State optim.State
}

// untrained returns a network with random weights.
func untrained(seed uint64) snapshot {
	rng := tensor.NewRNG(seed)
	return snapshot{tensors: tensors{Net: network{nn.NewLinear(rng, 64, 128), nn.NewLinear(rng, 128, 10)}}}
}

// classify returns the probability of each digit.
func (s snapshot) classify(image []float32) (p []float32, err error) {
	defer tensor.Catch(&err)
	return tensor.Data[float32](s.Net.apply(tensor.New(image, 1, 64)).Softmax(-1))
}

// A run trains on one device.
type run struct {
	settings settings
	step     int
	net      network
	opt      *optim.Optimizer
	update   func(*network, example, *tensor.RNG) (tensor.Tensor, error)
	batches  func() (example, error, bool)
	stop     func() // ends batches
	held     example
	loss     tensor.Tensor // of the last batch
}

// newRun returns a run from s on a device. Call stop when it ends.
func newRun(d dataset, s snapshot, dev *tensor.Device, set settings) *run {
	opt := optim.New(optim.AdamW{WeightDecay: 0.01}, set.Rate)
	opt.State = s.State
	opt.State.Slots = tree.To(s.State.Slots, dev)
	loader := &data.Loader[example]{Set: d.known, Batch: set.Batch, Shuffle: true, DropLast: true, Device: dev, Seed: uint64(s.step)}
	batches, stop := iter.Pull2(epochs(loader))
	return &run{
		settings: set, step: s.step, net: tree.To(s.Net, dev), opt: opt, update: optim.Jit(opt, loss),
		batches: batches, stop: stop, held: tree.To(d.held, dev),
	}
}

// epochs yields the batches of one epoch after the other, without end.
func epochs(l *data.Loader[example]) iter.Seq2[example, error] {
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

// next makes a training step. A GPU computes it later.
func (r *run) next() error {
	batch, err, _ := r.batches()
	if err != nil {
		return err
	}
	if r.loss, err = r.update(&r.net, batch, nil); err == nil {
		r.step++
	}
	return err
}

// done reports whether the run is at its end.
func (r *run) done() bool { return r.settings.Until > 0 && r.step >= r.settings.Until }

// measure returns a snapshot, and reports the last batch's loss and the share of held-out
// digits that are recognised. There must have been a step. It fails if the network overflows.
func (r *run) measure() (s snapshot, _ report, err error) {
	outputs := r.net.apply(r.held.X)
	right := outputs.ArgMax(-1).Eq(r.held.Y).Cast(tensor.Float32).Mean()
	s = snapshot{r.step, tree.Copy(tree.To(tensors{r.net, r.opt.State}, tensor.CPU()))} // the next step donates them
	if err := tensor.Eval(s.tensors); err != nil {
		return s, report{}, err
	}
	loss, sum := r.loss.Item(), outputs.Sum().Item()
	if math.IsNaN(0 * (loss + sum)) {
		return s, report{}, fmt.Errorf("the loss is %.3g at step %d and the sum of the outputs %.3g: choose a smaller learning rate", loss, r.step, sum)
	}
	return s, report{Device: r.settings.Device, Step: r.step, Loss: loss, Accuracy: right.Item()}, nil
}
