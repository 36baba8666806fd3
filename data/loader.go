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

// A Loader makes batches of a set. An epoch has every example once, in an order that
// depends only on Seed and Epoch. A Loader is for one goroutine.
//
// Epoch and Next are its position. A Loader with the same fields, position included,
// yields the same batches from there.
type Loader[T any] struct {
	Set      Set[T]
	Batch    int    // examples in a batch
	Shuffle  bool   // a new order each epoch; false: the set's order
	DropLast bool   // leave out a last batch that is smaller
	Seed     uint64 // of the order
	Workers  int    // goroutines that make batches in advance; 0: none
	Epoch    int    // the epoch of the next batch, from 0
	Next     int    // the index in the epoch of the next batch
}

// All yields the rest of the epoch's batches; the number of workers does not change
// their order. Next counts a batch when it is yielded; after the last one Epoch is the
// next epoch and Next is 0. An error, such as a cancelled ctx, is yielded without a
// batch and ends the loop.
//
// All returns, also after a break or an error, only when all calls of Set.At have
// returned, so a Set that waits should watch ctx itself. A panic of Set.At panics in
// the loop; a worker's panic does with an error that has the worker's stack and wraps
// the panic's value if that is an error.
func (l *Loader[T]) All(ctx context.Context) iter.Seq2[T, error] {
	if l.Set == nil || l.Batch < 1 || l.Next < 0 || l.Epoch < 0 || l.Workers < 0 {
		misuse("Loader.All", fmt.Sprintf("want a Set, a Batch of at least 1 and no negative field; have Batch %d, Next %d, Epoch %d, Workers %d",
			l.Batch, l.Next, l.Epoch, l.Workers))
	}
	return func(yield func(T, error) bool) {
		batches := l.order()
		next, stop := l.inTurn(batches)
		if l.Workers > 0 {
			next, stop = l.ahead(ctx, batches)
		}
		defer stop()
		for l.Next < len(batches) {
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

// order returns the examples of each batch of the epoch.
func (l *Loader[T]) order() [][]int {
	n := l.Set.Len()
	var order []int
	if l.Shuffle {
		order = shuffled(n, l.Seed, uint64(l.Epoch)+1) // 0 is Split's
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

// make returns a batch, or as an error a *tensor.Error that the set panics with.
func (l *Loader[T]) make(index []int) (batch T, err error) {
	defer tensor.Catch(&err)
	return batchOf(l.Set, index)
}

// inTurn makes each batch when it is asked for.
func (l *Loader[T]) inTurn(batches [][]int) (next func() (T, error), stop func()) {
	return func() (T, error) { return l.make(batches[l.Next]) }, func() {}
}

// A result is a batch, or the error or panic of making it.
type result[T any] struct {
	batch    T
	err      error
	panicked *workerPanic
}

// A workerPanic is a worker's panic, passed on to the goroutine of the loop.
type workerPanic struct {
	value any
	stack []byte
}

func (p *workerPanic) Error() string {
	return fmt.Sprintf("%v\n\nin a worker of a data.Loader, %s", p.value, p.stack)
}

// Unwrap returns the panic's value if it is an error.
func (p *workerPanic) Unwrap() error {
	err, _ := p.value.(error)
	return err
}

// ahead starts workers that make the batches from l.Next on, at most Workers of them
// in advance. stop ends the workers.
func (l *Loader[T]) ahead(ctx context.Context, batches [][]int) (next func() (T, error), stop func()) {
	type job struct {
		index []int
		done  chan result[T]
	}
	ctx, cancel := context.WithCancel(ctx)
	batches = batches[min(l.Next, len(batches)):]
	jobs := make(chan job)
	results := make(chan chan result[T], l.Workers) // in order
	var running sync.WaitGroup
	running.Go(func() {
		defer close(jobs)
		for _, index := range batches {
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

// work sends the result of make, even if Set.At panics or ends its goroutine.
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
