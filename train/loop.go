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
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Metrics are values by name, such as "loss".
type Metrics map[string]float64

// A Loop trains a model of type M on batches of type B.
type Loop[M, B any] struct {
	// Model is trained. Best is the model after the epoch with the best value of
	// Monitor, after the last epoch if Monitor is "".
	Model, Best M
	Data        *data.Loader[B]
	Optimizer   *optim.Optimizer
	RNG         *tensor.RNG // passed to Loss; nil means inference
	Epochs      int         // at least 1
	// Loss returns the mean loss of a batch, and m with its new state. A returned
	// model that lacks one of m's tensors is an error.
	Loss func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)
	// Validate returns metrics of the model after each epoch; nil returns none.
	Validate func(m M) (Metrics, error)
	// Monitor names the metric that Best maximizes, or minimizes if a minus precedes
	// the name: "-loss". "loss" is the epoch's mean training loss, unless Validate
	// returns another.
	Monitor string
	// Out receives the progress: a live line on a terminal, otherwise a line an
	// epoch. Nil is standard error.
	Out io.Writer
	// History has the metrics of each finished epoch: those of Validate, and "loss". A
	// Loop with the Model, Best and History of another one continues it.
	History []Metrics
	// Watch, unless nil, is called with History after each epoch. Its error ends Run.
	Watch func(history []Metrics) error
}

// Losses are read in groups, because reading one makes the device wait for the host:
// after an interval, or after a number of steps, which bounds the memory they hold.
const (
	readEvery = 100 * time.Millisecond
	maxUnread = 256
)

// Run trains for l.Epochs epochs. When ctx is cancelled, Run returns ctx's error after
// the current step. It also ends with an error if a loss is not finite, or on a panic
// that [tensor.Catch] catches. If no epoch was finished, Best is the model after the
// last step.
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
		if err := l.keepBest(); err != nil {
			return err
		}
		show.epochDone(epoch, m)
		if l.Watch == nil {
			continue
		}
		if err := l.Watch(l.History); err != nil {
			return err
		}
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

// perEpoch returns the number of examples of an epoch.
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
			return 0, fmt.Errorf("train: Loss returned a model without %s: want the model that Loss was given, with its new state", pytree.Titles(names))
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

// missing returns the names of model's tensors that next lacks.
func missing(model, next any) (names []string) {
	var present []string // usually in the order of model's
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

// keepBest sets Best if the last epoch is the best so far.
func (l *Loop[M, B]) keepBest() error {
	if l.Monitor == "" {
		l.Best = l.Model
		return nil
	}
	name, negated := strings.CutPrefix(l.Monitor, "-")
	last := len(l.History) - 1
	if _, ok := l.History[last][name]; !ok {
		return fmt.Errorf("train: Monitor is %q, and the metrics are %v", l.Monitor, names(l.History[last]))
	}
	best, bestEpoch := math.NaN(), 0
	for epoch, m := range l.History {
		v, ok := m[name]
		if negated {
			v = -v
		}
		if ok && (v > best || math.IsNaN(best)) {
			best, bestEpoch = v, epoch
		}
	}
	if bestEpoch == last {
		l.Best = l.Model
	}
	return nil
}

// examples returns the number of examples of a batch, the length of axis 0 of its
// first tensor.
func examples(batch any) int {
	for _, t := range tree.All(batch) {
		if t.Rank() > 0 {
			return t.Dim(0)
		}
	}
	return 1
}

// A meter computes the mean of losses, which it reads later than they are added.
type meter struct {
	unread   []weightedLoss
	total    float64
	mean     float64
	examples int
}

type weightedLoss struct {
	loss   tensor.Tensor
	weight int
}

func (m *meter) add(loss tensor.Tensor, weight int) {
	m.unread = append(m.unread, weightedLoss{loss, weight})
	m.examples += weight
}

// read reads the losses added since the last call and returns the mean of all.
func (m *meter) read() (mean float64, err error) {
	defer tensor.Catch(&err)
	for _, w := range m.unread {
		m.total += w.loss.Item() * float64(w.weight)
	}
	m.unread = m.unread[:0]
	m.mean = m.total / float64(max(m.examples, 1))
	return m.mean, nil
}
