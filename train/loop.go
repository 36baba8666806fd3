package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/walk"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Metrics are measures by name.
type Metrics map[string]float64

// A Loop trains a model of type M on batches of type B.
type Loop[M, B any] struct {
	// Model is what is trained; Best is the model after the epoch that
	// Monitor liked most, the last one if Monitor is "".
	Model, Best M
	Data        *data.Loader[B]
	Optimizer   *optim.Optimizer
	RNG         *tensor.RNG // what Loss draws from; nil trains as at inference
	Epochs      int         // at least 1
	// Loss is the mean loss of a batch, and m with its new state: a model
	// without one of m's tensors is an error.
	Loss func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)
	// Validate measures the model after each epoch; nil measures nothing.
	Validate func(m M) (Metrics, error)
	// Monitor is the metric that Best follows, the greatest or, if it is
	// written "-loss", the least. "loss" is the epoch's mean training loss,
	// unless Validate gives another.
	Monitor string
	// Out is where the loop shows itself: live where it is a terminal, a line
	// an epoch elsewhere. Nil is standard error.
	Out io.Writer
	// History has one element for each finished epoch: what Validate gave,
	// and "loss".
	History []Metrics

	best float64
}

// readEvery is how long losses may stay unread, so that a device is not made
// to wait for the host at every step.
const readEvery = 100 * time.Millisecond

// maxUnread is how many losses may stay unread.
const maxUnread = 256

// Run trains for l.Epochs epochs, or until ctx is cancelled, which ends it
// after a step with ctx's error. A loss that is not finite ends it too, and so
// does a panic that [tensor.Catch] takes. Where no epoch was finished, Best is
// the model after the last step.
func (l *Loop[M, B]) Run(ctx context.Context) (err error) {
	defer tensor.Catch(&err)
	if err := l.check(); err != nil {
		return err
	}
	show := newDisplay(l.Out, l.Epochs, l.perEpoch())
	defer show.close()
	stepped := false
	for epoch := len(l.History) + 1; epoch <= l.Epochs; epoch++ {
		mean, err := l.epoch(ctx, epoch, show, &stepped)
		if err != nil {
			if stepped && len(l.History) == 0 {
				l.Best = l.Model
			}
			return err
		}
		m := Metrics{"loss": mean}
		if l.Validate != nil {
			measured, err := l.Validate(l.Model)
			if err != nil {
				return err
			}
			maps.Copy(m, measured)
		}
		l.History = append(l.History, m)
		if err := l.keepBest(m); err != nil {
			return err
		}
		show.epochDone(epoch, m)
	}
	return nil
}

func (l *Loop[M, B]) check() error {
	var missing []string
	for _, f := range []struct {
		name string
		ok   bool
	}{{"Data", l.Data != nil && l.Data.Set != nil}, {"Optimizer", l.Optimizer != nil}, {"Loss", l.Loss != nil}} {
		if !f.ok {
			missing = append(missing, f.name)
		}
	}
	if missing != nil {
		return fmt.Errorf("train: Loop without %s", strings.Join(missing, ", "))
	}
	if l.Epochs < 1 {
		return fmt.Errorf("train: Loop of %d Epochs: want at least 1", l.Epochs)
	}
	return nil
}

// perEpoch is how many examples an epoch has.
func (l *Loop[M, B]) perEpoch() int {
	n := l.Data.Set.Len()
	if l.Data.DropLast {
		n -= n % max(l.Data.Batch, 1)
	}
	return n
}

// epoch trains on every batch once and returns the mean loss of an example.
func (l *Loop[M, B]) epoch(ctx context.Context, epoch int, show *display, stepped *bool) (float64, error) {
	var sum meter
	lastRead := time.Now()
	read := func() error {
		mean, err := sum.read()
		if err != nil {
			return err
		}
		if math.IsNaN(mean) || math.IsInf(mean, 0) {
			return fmt.Errorf("train: the loss is %v in epoch %d: a smaller learning rate may help", mean, epoch)
		}
		show.progress(epoch, sum.examples, mean)
		lastRead = time.Now()
		return nil
	}
	for batch, err := range l.Data.All(ctx) {
		if err != nil {
			return 0, err
		}
		loss, next, g := grad.ValueAndGradAux(func(m M) (tensor.Tensor, M) {
			return l.Loss(m, batch, l.RNG)
		})(l.Model)
		if names := missing(l.Model, next); names != nil {
			return 0, fmt.Errorf("train: Loss returned a model without %s: want the model that Loss was given, with its new state", walk.Titles(names))
		}
		if err := l.Optimizer.Step(&next, g); err != nil {
			return 0, err
		}
		l.Model, *stepped = next, true
		sum.add(loss, examples(batch))
		if len(sum.unread) >= maxUnread || time.Since(lastRead) >= readEvery {
			if err := read(); err != nil {
				return 0, err
			}
		}
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
	}
	if sum.examples == 0 {
		return 0, errors.New("train: the loader has no batch: the set is empty, or smaller than a batch that DropLast drops")
	}
	err := read()
	return sum.mean, err
}

// missing lists the tensors of a model that the next one lacks.
func missing(model, next any) (names []string) {
	var present []string // in the order of model's, as a rule
	for name := range tree.All(next) {
		present = append(present, name)
	}
	i := 0
	for name := range tree.All(model) {
		if i < len(present) && present[i] == name {
			i++
		} else if !slices.Contains(present, name) {
			names = append(names, name)
		}
	}
	return names
}

// keepBest sets Best if m is the best so far.
func (l *Loop[M, B]) keepBest(m Metrics) error {
	if l.Monitor == "" {
		l.Best = l.Model
		return nil
	}
	name, less := strings.CutPrefix(l.Monitor, "-")
	v, ok := m[name]
	if !ok {
		return fmt.Errorf("train: Monitor is %q, and the metrics are %v", l.Monitor, names(m))
	}
	if less {
		v = -v
	}
	if len(l.History) == 1 || v > l.best || math.IsNaN(l.best) {
		l.Best, l.best = l.Model, v
	}
	return nil
}

// examples is how many examples a batch has: axis 0 of its first tensor.
func examples(batch any) int {
	for _, t := range tree.All(batch) {
		if t.Rank() > 0 {
			return t.Dim(0)
		}
	}
	return 1
}

// A meter is a running mean of losses that are read some time after they were
// asked for.
type meter struct {
	unread   []weighed
	total    float64
	mean     float64
	examples int
}

type weighed struct {
	loss   tensor.Tensor
	weight int
}

func (m *meter) add(loss tensor.Tensor, weight int) {
	m.unread = append(m.unread, weighed{loss, weight})
	m.examples += weight
}

// read reads what was added and returns the mean of all.
func (m *meter) read() (mean float64, err error) {
	defer tensor.Catch(&err)
	for _, w := range m.unread {
		m.total += w.loss.Item() * float64(w.weight)
	}
	m.unread = m.unread[:0]
	m.mean = m.total / float64(max(m.examples, 1))
	return m.mean, nil
}
