package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A runner is a Loop that runs.
type runner[M, B any] struct {
	*Loop[M, B]
	show     *display
	log      *stepLog
	stepped  bool
	patient  bool // false once Patience has ended the run
	lastRead time.Time
	seen     int // examples whose losses were read
	perEpoch int // batches in an epoch, -1 if unknown
	jitted   func(*M, input[M, B], *tensor.RNG) (tensor.Tensor, error)
	replays  *optim.Optimizer // of jitted
	at       position         // after the last step
	vote     vote
}

// A position is a state of data and randomness. They are ahead of the model while batches
// of a step are accumulated.
type position struct {
	epoch, next int
	count       uint64 // of the RNG
}

func (r *runner[M, B]) position() position {
	p := position{epoch: r.Data.Epoch, next: r.Data.Next}
	if r.RNG != nil {
		p.count = r.RNG.Count
	}
	return p
}

// rewind goes back to the position after the last step.
func (r *runner[M, B]) rewind() {
	r.Data.Epoch, r.Data.Next = r.at.epoch, r.at.next
	if r.RNG != nil {
		r.RNG.Count = r.at.count
	}
}

func (r *runner[M, B]) run(ctx context.Context) (err error) {
	r.at, r.lastRead = r.position(), time.Now()
	if r.patient, err = r.isPatient(); err != nil {
		return err
	}
	for !r.isDone() && r.patient {
		err := r.epoch(ctx)
		if err == nil {
			continue
		}
		r.rewind()
		if r.stepped && len(r.History) == 0 {
			r.Best = r.Model
		}
		if ctx.Err() != nil {
			if failed := r.checkpoint(); failed != nil {
				err = errors.Join(err, failed)
			}
		}
		return err
	}
	return nil
}

// epoch runs the rest of an epoch, or less if the run is done before.
func (r *runner[M, B]) epoch(ctx context.Context) error {
	start, batches := r.Data.Next, 0
	var pending accumulator[M]
	for batch, err := range r.Data.All(r.dataContext(ctx)) {
		if err != nil {
			return err
		}
		batches++
		if r.isReplayed() && r.isEven() {
			err = r.replay(batch)
		} else {
			if err := r.add(&pending, batch); err != nil {
				return err
			}
			if pending.batches < r.Accumulate {
				continue
			}
			err = r.update(&pending)
		}
		if err := r.afterStep(ctx, err); err != nil {
			return err
		}
		if r.isDone() || !r.patient {
			return nil
		}
	}
	if start+batches == 0 {
		return errors.New("train: the loader has no batch: the set is empty, or smaller than a batch that DropLast drops")
	}
	if pending.batches > 0 {
		if err := r.afterStep(ctx, r.update(&pending)); err != nil {
			return err
		}
	}
	r.at, r.replays = r.position(), nil // an epoch may change variables that Loss reads
	r.Epoch++
	if !r.sum.isEmpty() && (r.Every == 0 || r.Epoch == r.Epochs) {
		return r.report()
	}
	return nil
}

// afterStep makes the report or checkpoint that is due after a step, unless the step failed.
// It returns the step's error, or ctx's.
func (r *runner[M, B]) afterStep(ctx context.Context, err error) error {
	switch {
	case err != nil:
		return err
	case r.Every > 0 && r.Step%r.Every == 0 || r.Step == r.Steps:
		err = r.report()
	case r.CheckpointEvery > 0 && r.Step%r.CheckpointEvery == 0:
		err = r.checkpoint()
	}
	if err == nil {
		err = r.agree(ctx)
	}
	if err == nil && r.isStopped(ctx) {
		err = context.Cause(ctx)
	}
	return err
}

// update steps the model by the gradients of a pending step, and empties it.
func (r *runner[M, B]) update(p *accumulator[M]) error {
	loss, next, g := p.mean()
	rate, n := r.rate(), p.examples
	if err := r.Optimizer.Step(&next, g); err != nil {
		return err
	}
	*p = accumulator[M]{}
	loss, err := r.meanLoss(loss)
	if err != nil {
		return err
	}
	return r.stepDone(next, loss, n, rate)
}

// rate is the learning rate of the next step, for the log.
func (r *runner[M, B]) rate() float64 {
	if r.Optimizer.Schedule == nil {
		return r.Optimizer.LR
	}
	return r.Optimizer.LR * r.Optimizer.Schedule(r.Step)
}

// stepDone takes over the model of a step, and its loss of a number of examples.
func (r *runner[M, B]) stepDone(m M, loss tensor.Tensor, n int, rate float64) error {
	r.Model, r.stepped = m, true
	r.Step++
	r.at = r.position()
	r.sum.unread = append(r.sum.unread, entry{loss: loss, weight: n, step: r.Step, epoch: r.Epoch, rate: rate})
	if r.AfterStep != nil {
		if err := r.AfterStep(r.Loop, loss); err != nil {
			return err
		}
	}
	if len(r.sum.unread) >= maxUnread || time.Since(r.lastRead) >= readEvery {
		return r.read()
	}
	return nil
}

// Losses are read in groups, because reading one makes the device wait for the host:
// after an interval, or after a number of steps, which bounds the memory they hold.
const (
	readEvery = 100 * time.Millisecond
	maxUnread = 256
)

// read reads and logs the losses of the steps since the last call, and shows the progress.
func (r *runner[M, B]) read() error {
	for _, e := range r.sum.unread {
		loss, err := r.sum.read(e)
		if err != nil {
			return err
		}
		r.seen += e.weight
		r.log.step(e, loss)
		if math.IsNaN(loss) || math.IsInf(loss, 0) {
			return fmt.Errorf("train: the loss is %v in step %d of epoch %d: a smaller learning rate may help", loss, e.step, e.epoch+1)
		}
	}
	r.lastRead = time.Now()
	if len(r.sum.unread) > 0 {
		r.show.progress(r.progress(), r.sum.mean())
	}
	r.sum.unread = r.sum.unread[:0]
	return r.log.flush()
}

// report makes a report and a checkpoint.
func (r *runner[M, B]) report() error {
	if err := r.read(); err != nil {
		return err
	}
	m, err := r.Loop.report(r.sum.mean())
	if err != nil {
		return err
	}
	r.sum, r.replays = meter{}, nil // Validate and Watch may change variables that Loss reads
	if r.patient, err = r.isPatient(); err != nil {
		return err
	}
	r.show.report(r.progress(), m)
	r.log.report(r.Step, r.Epoch, m)
	if r.Watch != nil { // before the checkpoint, which includes Watch's changes
		err = r.Watch(r.History)
	}
	if failed := r.checkpoint(); err == nil {
		err = failed
	}
	return err
}

// checkpoint writes a checkpoint, if the Loop has a file for it.
func (r *runner[M, B]) checkpoint() error {
	if r.Checkpoint == "" {
		return nil
	}
	if err := r.read(); err != nil {
		return err
	}
	full, err := r.Optimizer.FullState(r.Model) // of all ranks
	if err == nil {
		err = tensor.Eval(r.Model, r.Best) // which all ranks gather with ZeRO 3
	}
	if err != nil || r.isQuiet() {
		return err
	}
	err = r.save(r.at, r.log.size, full)
	r.saved = r.saved || err == nil
	return err
}

// progress says how far the run is.
func (r *runner[M, B]) progress() progress {
	p := progress{seen: r.seen, unit: "epoch", done: r.Epoch, total: r.Epochs}
	within := 0.0
	if r.perEpoch > 0 && r.Data.Next > 0 {
		within = min(float64(r.Data.Next)/float64(r.perEpoch), 1)
	}
	if r.Epochs > 0 {
		p.share = (float64(r.Epoch) + within) / float64(r.Epochs)
		p.done += int(math.Ceil(within))
		p.within = within
	}
	if r.Steps > 0 {
		share := float64(r.Step) / float64(r.Steps)
		if r.Epochs == 0 || share > p.share {
			p = progress{seen: p.seen, unit: "step", done: r.Step, total: r.Steps, share: share}
		}
	}
	return p
}

// checkNext fails if next, the model that Loss returned for model, lacks a tensor.
func checkNext(model, next any) error {
	was, err := pytree.Flatten[tensor.Tensor](model)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	is, err := pytree.Flatten[tensor.Tensor](next)
	if err != nil {
		return fmt.Errorf("train: %w", err)
	}
	if lost := pytree.Missing(was, is); lost != nil {
		return fmt.Errorf("train: Loss returned a model without %s: want the model that it was given, with its new state", pytree.Titles(lost))
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
	unread   []entry
	total    float64
	examples int // of the losses that were read
}

// An entry is the loss of a step.
type entry struct {
	loss        tensor.Tensor
	weight      int // its examples
	step, epoch int
	rate        float64
}

func (m *meter) isEmpty() bool { return m.examples == 0 && len(m.unread) == 0 }

// read returns the loss of an entry and adds it to the mean.
func (m *meter) read(e entry) (loss float64, err error) {
	defer tensor.Catch(&err)
	loss = e.loss.Item()
	m.total += loss * float64(e.weight)
	m.examples += e.weight
	return loss, nil
}

func (m *meter) mean() float64 { return m.total / float64(max(m.examples, 1)) }
