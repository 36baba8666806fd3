package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"

	"github.com/tensorken/tensorken/tensor"
)

// A Loader makes batches of a set, epoch by epoch: every example once, in an
// order that depends on Seed and Epoch alone. It is for one goroutine.
//
// Epoch and Next say where it stands. A loader of the same other fields that
// is given them goes on from there with the same batches.
type Loader[T any] struct {
	Set      Set[T]
	Batch    int    // examples in a batch
	Shuffle  bool   // a new order each epoch; otherwise the set's
	DropLast bool   // leave out a last batch that is smaller
	Seed     uint64 // of the order
	Workers  int    // goroutines that make batches ahead; 0: none, made when asked for
	Epoch    int    // the epoch that All goes through, from 0
	Next     int    // the number in the epoch of the batch that All begins with
}

// All yields the rest of the epoch's batches, in the same order whatever the
// number of workers. Each counts as done, in Next, when it is yielded; when
// all are, Epoch is the next epoch and Next is 0. An error, also that of a
// cancelled ctx, is yielded with no batch and is the last.
//
// A call of Set.At is never cut short: All returns, after a break or an error
// too, when the calls under way have returned, so a Set that waits for long
// should watch ctx itself. A panic of Set.At reaches the goroutine that loops. A
// worker's panic reaches it as an error that holds the worker's stack and wraps
// the value if that is an error.
func (l *Loader[T]) All(ctx context.Context) iter.Seq2[T, error] {
	if l.Set == nil || l.Batch < 1 || l.Next < 0 || l.Epoch < 0 || l.Workers < 0 {
		misuse("Loader.All", fmt.Sprintf("want a Set and a Batch of at least 1, and nothing negative; have Batch %d, Next %d, Epoch %d, Workers %d",
			l.Batch, l.Next, l.Epoch, l.Workers))
	}
	return func(yield func(T, error) bool) {
		plan := l.plan()
		next, stop := l.inTurn(plan)
		if l.Workers > 0 {
			next, stop = l.ahead(ctx, plan)
		}
		defer stop()
		for l.Next < len(plan) {
			var none T
			if ctx.Err() != nil {
				yield(none, context.Cause(ctx))
				return
			}
			batch, err := next()
			if err != nil {
				yield(none, err)
				return
			}
			l.Next++
			if !yield(batch, nil) {
				return
			}
		}
		l.Epoch, l.Next = l.Epoch+1, 0
	}
}

// plan returns the examples of each batch of the epoch.
func (l *Loader[T]) plan() [][]int {
	n := l.Set.Len()
	var order []int
	if l.Shuffle {
		order = shuffled(n, l.Seed, uint64(l.Epoch)+1) // Split's order is that of 0
	} else {
		order = numbers(n)
	}
	var batches [][]int
	for len(order) >= l.Batch {
		batches = append(batches, order[:l.Batch])
		order = order[l.Batch:]
	}
	if len(order) > 0 && !l.DropLast {
		batches = append(batches, order)
	}
	return batches
}

// make returns a batch; misuse of tensors by a set or its Map is an error.
func (l *Loader[T]) make(index []int) (batch T, err error) {
	defer tensor.Catch(&err)
	return batchOf(l.Set, index)
}

// inTurn makes each batch when it is asked for.
func (l *Loader[T]) inTurn(plan [][]int) (next func() (T, error), stop func()) {
	return func() (T, error) { return l.make(plan[l.Next]) }, func() {}
}

// A result is a batch or why there is none.
type result[T any] struct {
	batch    T
	err      error
	panicked *workerPanic
}

// A workerPanic is the panic of a worker, for the goroutine that loops.
type workerPanic struct {
	value any
	stack []byte
}

func (p *workerPanic) Error() string {
	return fmt.Sprintf("%v\n\nin a worker of a data.Loader, %s", p.value, p.stack)
}

// Unwrap returns the value that the worker panicked with, if it is an error.
func (p *workerPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// ahead has workers make the batches from l.Next on, at most Workers more
// than were asked for. stop ends them.
func (l *Loader[T]) ahead(ctx context.Context, plan [][]int) (next func() (T, error), stop func()) {
	type job struct {
		index []int
		done  chan result[T]
	}
	ctx, cancel := context.WithCancel(ctx)
	plan = plan[min(l.Next, len(plan)):]
	jobs := make(chan job)
	results := make(chan chan result[T], l.Workers) // in order
	var running sync.WaitGroup
	running.Go(func() {
		defer close(jobs)
		for _, index := range plan {
			j := job{index, make(chan result[T], 1)}
			select {
			case results <- j.done:
			case <-ctx.Done():
				return
			}
			select {
			case jobs <- j:
			case <-ctx.Done():
				return
			}
		}
	})
	for range l.Workers {
		running.Go(func() {
			for j := range jobs {
				l.work(j.index, j.done)
			}
		})
	}
	next = func() (T, error) {
		var r result[T]
		select {
		case done := <-results:
			select {
			case r = <-done:
			case <-ctx.Done():
				r.err = context.Cause(ctx)
			}
		case <-ctx.Done():
			r.err = context.Cause(ctx)
		}
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.batch, r.err
	}
	return next, func() {
		cancel()
		running.Wait()
	}
}

// work sends what make gives, also where Set.At panics or ends its goroutine.
func (l *Loader[T]) work(index []int, done chan<- result[T]) {
	r := result[T]{err: errors.New("Set.At ended a worker of the Loader by runtime.Goexit")}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = &workerPanic{p, debug.Stack()}
		}
		done <- r
	}()
	r.batch, r.err = l.make(index)
}
