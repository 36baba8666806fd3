package train

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Metrics are values by name, such as "loss".
type Metrics map[string]float64

// A Loop trains a model of type M on batches of type B.
//
// After each epoch, or after Every steps, a report is made: the model is validated, and its
// metrics are added to History, shown and logged.
type Loop[M, B any] struct {
	// Model is trained. Best is the model of the report with the best value of Monitor, of
	// the last report if Monitor is "".
	Model, Best M
	Data        *data.Loader[B]
	Optimizer   *optim.Optimizer // its Precision is the type of the model and the batch in Loss
	RNG         *tensor.RNG      // passed to Loss; nil means inference
	// Epochs and Steps are the totals at which Run ends: whichever comes first, or the one
	// that is not 0.
	Epochs, Steps int
	// Loss returns the mean loss of a batch, and m with its new state. A returned
	// model that lacks one of m's tensors is an error.
	//
	// Between reports and epochs, Run records a step on batches of equal shapes and replays
	// it, as [optim.Jit] does: Loss cannot look at values then, and a variable that it reads
	// stays at its first value. Each report and each epoch starts anew.
	Loss func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)
	// Parallel, unless nil, is the ranks that train the model together, such as a *dist.Group. All run this
	// Loop, with equal models, and each gets its part of a batch; gradients, losses and the metrics of
	// Validate are averaged over them. RNG's draws differ by rank. Rank 0 alone writes Out, Log and
	// Checkpoint, which all ranks read to resume, also if there were more or fewer of them before.
	Parallel optim.Ranks
	// Eager runs Loss in each step: for one that prints, counts, or reads variables that
	// change. The host takes longer for a step. So it is with AfterStep, FindNaN and
	// Accumulate.
	Eager bool
	// Accumulate is the number of batches whose gradients make a step; 0 is 1. The step
	// equals a step of one large batch: gradients are averaged over the examples. The last
	// batches of an epoch make one too, though they may be fewer.
	Accumulate int
	// Validate returns metrics of the model for each report; nil returns none.
	Validate func(m M) (Metrics, error)
	// Every is the number of steps between reports; 0 is an epoch. There is always a
	// report at the end.
	Every int
	// Monitor names the metric that Best maximizes, or minimizes if a minus precedes
	// the name: "-loss". "loss" is the mean training loss of an example since the report
	// before, unless Validate returns another.
	Monitor string
	// Patience ends Run early, after that many reports without a better value of Monitor;
	// 0 never does.
	Patience int

	// Checkpoint is a file from which a run can go on, "" for none: Model, Best, the state
	// of Optimizer, RNG and Data, History and Extra, replaced atomically. It is written at
	// each report, when ctx is cancelled, and every CheckpointEvery steps unless that is 0.
	Checkpoint      string
	CheckpointEvery int
	// Resume goes on from Checkpoint if that exists. On the CPU the run then ends with the
	// bits of one that was not interrupted. If Resume is false, a Checkpoint that exists is
	// an error.
	Resume bool
	// Extra, unless nil, is a pointer to a tree (see package tree), or a map of pointers,
	// that belongs in the checkpoint too, such as the State of a second optimizer, an
	// [optim.Plateau] or an [optim.Averaged] model.
	Extra any

	// Out receives the progress: a live line on a terminal, otherwise a line for each
	// report. Nil is standard error.
	Out io.Writer
	// Log is a file of JSON lines, "" for none: {"step", "epoch", "loss", "lr"} of each step
	// and {"step", "epoch", "time", "metrics"} of each report. Numbers that JSON lacks are
	// the strings "NaN", "Inf" and "-Inf". A run that resumes goes on in the file.
	Log string
	// History has the metrics of each report: Validate's, and "loss".
	History []Metrics
	// Epoch and Step count the epochs and steps that are done. A Loop with the Model, Best,
	// Data, Optimizer, RNG, History, Epoch and Step of another one continues it.
	Epoch, Step int
	// Watch, unless nil, is called with History after each report, before the checkpoint is
	// written. Its error ends Run.
	Watch func(history []Metrics) error
	// AfterStep, unless nil, is called after each step with the Loop, whose fields it may
	// change, and the loss of the step. To read the loss waits for the device. An error ends
	// Run.
	AfterStep func(l *Loop[M, B], loss tensor.Tensor) error
	// FindNaN checks losses and gradients for numbers that are not finite before each step.
	// The error names the operation that made the first one, and the line that called it:
	// see the function FindNaN. A run is slower with it.
	FindNaN bool

	sum     meter // of the losses since the last report
	started bool  // Run was called
	saved   bool  // Checkpoint has been written or read
	logged  int64 // bytes of Log
}

// Run trains until l.Epochs or l.Steps are done. When ctx is cancelled, Run returns ctx's
// error after the current step: signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM) does so
// at Ctrl-C, and when a console window of Windows is closed. Run also ends with an error if a loss is not finite, or on a
// panic that [tensor.Catch] catches. If there was no report, Best is the model after the last
// step. The last line on Out says why the run ended, which report was best and where it is saved.
func (l *Loop[M, B]) Run(ctx context.Context) (err error) {
	defer tensor.Catch(&err)
	if err := l.check(); err != nil {
		return err
	}
	if err := l.start(); err != nil {
		return err
	}
	end, err := l.distribute()
	if err != nil {
		return err
	}
	defer end()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	r := &runner[M, B]{Loop: l, show: newDisplay(l.progressTo()), perEpoch: l.Data.Steps(), vote: vote{stop: stop, last: time.Now()}}
	if r.log, err = openLog(l.logTo(), l.logged); err != nil {
		return err
	}
	defer func() {
		var failed error
		if l.logged, failed = r.log.close(); err == nil {
			err = failed
		}
	}()
	r.show.header(l.Model, r.progress().share)
	var failed error
	if err = tensor.Try(func() { failed = r.run(ctx) }); err == nil {
		err = failed
	}
	r.show.close()
	fmt.Fprintln(r.show.out, r.ending(ctx, err))
	return err
}

func (l *Loop[M, B]) check() error {
	var missing []string
	for _, f := range []struct {
		name string
		ok   bool
	}{{"Data", l.Data != nil && (l.Data.Set != nil || l.Data.Stream != nil)}, {"Optimizer", l.Optimizer != nil}, {"Loss", l.Loss != nil}} {
		if !f.ok {
			missing = append(missing, f.name)
		}
	}
	if missing != nil {
		return fmt.Errorf("train: Loop without %s", strings.Join(missing, ", "))
	}
	for _, f := range []struct {
		name  string
		value int
	}{{"Epochs", l.Epochs}, {"Steps", l.Steps}, {"Accumulate", l.Accumulate}, {"Every", l.Every}, {"Patience", l.Patience}, {"CheckpointEvery", l.CheckpointEvery}} {
		if f.value < 0 {
			return fmt.Errorf("train: Loop of %d %s: want at least 0", f.value, f.name)
		}
	}
	switch {
	case l.Epochs == 0 && l.Steps == 0:
		return errors.New("train: Loop of 0 Epochs and 0 Steps: want at least 1 of either")
	case l.Patience > 0 && l.Monitor == "":
		return errors.New("train: Loop with Patience and no Monitor: name the metric to watch, such as \"-loss\"")
	case l.CheckpointEvery > 0 && l.Checkpoint == "":
		return errors.New("train: Loop with CheckpointEvery and no Checkpoint: name the file")
	case l.isParallel() && l.FindNaN:
		return errParallel
	case l.Resume && l.Checkpoint == "":
		return errors.New("train: Loop with Resume and no Checkpoint: name the file")
	}
	return nil
}

// isDone reports whether the epochs or the steps are done.
func (l *Loop[M, B]) isDone() bool {
	return l.Epochs > 0 && l.Epoch >= l.Epochs || l.Steps > 0 && l.Step >= l.Steps
}

// isPatient reports whether Patience lets the run go on.
func (l *Loop[M, B]) isPatient() (bool, error) {
	if l.Patience == 0 || len(l.History) == 0 {
		return true, nil
	}
	best, err := l.bestReport()
	return len(l.History)-1-best < l.Patience, err
}

// bestReport returns the index in History of the report that is best: the last without a
// Monitor, the first of equal ones.
func (l *Loop[M, B]) bestReport() (int, error) {
	last := len(l.History) - 1
	if l.Monitor == "" || last < 0 {
		return last, nil
	}
	name, negated := strings.CutPrefix(l.Monitor, "-")
	if _, ok := l.History[last][name]; !ok {
		return 0, fmt.Errorf("train: Monitor is %q, and the metrics are %v", l.Monitor, names(l.History[last]))
	}
	best, at := math.NaN(), -1
	for i, m := range l.History {
		v, ok := m[name]
		if negated {
			v = -v
		}
		if ok && (at < 0 || v > best || math.IsNaN(best) && !math.IsNaN(v)) {
			best, at = v, i
		}
	}
	return at, nil
}

// report validates the model and adds its metrics to History.
func (l *Loop[M, B]) report(mean float64) (Metrics, error) {
	m := Metrics{"loss": mean}
	if l.Validate != nil {
		measured, err := l.Validate(l.Model)
		if err == nil {
			measured, err = l.meanMetrics(measured)
		}
		if err != nil {
			return nil, err
		}
		maps.Copy(m, measured)
	}
	l.History = append(l.History, m)
	best, err := l.bestReport()
	if err == nil && best == len(l.History)-1 {
		l.Best = tree.Copy(l.Model) // the next step donates the model
	}
	return m, err
}
