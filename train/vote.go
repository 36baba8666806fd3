package train

import (
	"context"
	"errors"
	"time"
)

// A vote is the state of ranks that agree on when to stop: all stop after one step, so that none waits for
// another that has gone.
type vote struct {
	stop    context.CancelCauseFunc
	steps   int // until the next vote
	every   int // steps between the last two
	last    time.Time
	decided bool
}

// Ranks vote after a number of steps, equal on all of them, that takes about an interval.
const (
	voteEvery = 100 * time.Millisecond
	voteSteps = 1000 // at most between two votes
)

var errStopped = errors.New("train: another rank was told to stop")

// agree lets the ranks vote, if it is time.
func (r *runner[M, B]) agree(ctx context.Context) error {
	v := &r.vote
	if v.steps--; !r.isParallel() || v.steps > 0 {
		return nil
	}
	told := 0.0
	if ctx.Err() != nil {
		told = 1
	}
	mean, err := r.mean([]float64{told, time.Since(v.last).Seconds() / float64(max(v.every, 1))})
	if err != nil {
		return err
	}
	if v.decided = mean[0] > 0; v.decided {
		v.stop(errStopped) // which has no effect on a rank that was told
	}
	v.every = int(min(max(voteEvery.Seconds()/max(mean[1], 1e-9), 1), voteSteps))
	v.steps, v.last = v.every, time.Now()
	return nil
}

// isStopped reports whether the run ends after this step.
func (r *runner[M, B]) isStopped(ctx context.Context) bool {
	if r.isParallel() {
		return r.vote.decided
	}
	return ctx.Err() != nil
}

// dataContext is the context of a loader, which does not end before the ranks have agreed.
func (r *runner[M, B]) dataContext(ctx context.Context) context.Context {
	if r.isParallel() {
		return context.WithoutCancel(ctx)
	}
	return ctx
}
