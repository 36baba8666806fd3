package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"
)

// A job makes a batch or an example.
type job[T any] func() (T, error)

// jobs returns the sequence of jobs, which ends, if it waits, when ctx is cancelled.
type jobs[T any] func(ctx context.Context) iter.Seq2[job[T], error]

// run yields the results of jobs in order, up to the first error: ctx's if it is cancelled.
// Workers, if any, do jobs in advance, at most one each.
func run[T any](ctx context.Context, all jobs[T], workers int) iter.Seq2[T, error] {
	if workers > 0 {
		return ahead(ctx, all, workers)
	}
	return func(yield func(T, error) bool) {
		for j, err := range all(ctx) {
			var x T
			switch {
			case ctx.Err() != nil:
				err = context.Cause(ctx)
			case err == nil:
				x, err = j()
			}
			if !yield(x, err) || err != nil {
				return
			}
		}
	}
}

// A result is a job's value, error or panic.
type result[T any] struct {
	value    T
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

// errEnd is the last result of jobs that all were done.
var errEnd = errors.New("no more jobs")

// ahead is run with workers. One more goroutine takes the jobs from their sequence. All
// have ended when it returns, as their ctx is cancelled then.
func ahead[T any](ctx context.Context, all jobs[T], workers int) iter.Seq2[T, error] {
	type task struct {
		job  job[T]
		done chan result[T]
	}
	return func(yield func(T, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		tasks := make(chan task)
		results := make(chan chan result[T], workers) // in order
		var running sync.WaitGroup
		defer running.Wait()
		defer cancel()
		running.Go(func() {
			defer close(tasks)
			end := make(chan result[T], 1)
			defer func() { offer(ctx, results, end) }()
			work(func() (none T, err error) {
				for j, err := range all(ctx) {
					done := make(chan result[T], 1)
					if err != nil {
						return none, err
					}
					if !offer(ctx, results, done) || !offer(ctx, tasks, task{j, done}) {
						return none, context.Cause(ctx)
					}
				}
				return none, errEnd
			}, end)
		})
		for range workers {
			running.Go(func() {
				for t := range tasks {
					work(t.job, t.done)
				}
			})
		}
		for {
			r := next(ctx, results)
			if r.panicked != nil {
				panic(r.panicked)
			}
			if r.err == errEnd || !yield(r.value, r.err) || r.err != nil {
				return
			}
		}
	}
}

// offer sends x, and reports whether it did before ctx was cancelled.
func offer[T any](ctx context.Context, to chan<- T, x T) bool {
	select {
	case to <- x:
		return true
	case <-ctx.Done():
		return false
	}
}

// next waits for the next result. A cancelled ctx comes before results.
func next[T any](ctx context.Context, results <-chan chan result[T]) result[T] {
	if ctx.Err() == nil {
		select {
		case done := <-results:
			select {
			case r := <-done:
				return r
			case <-ctx.Done():
			}
		case <-ctx.Done():
		}
	}
	return result[T]{err: context.Cause(ctx)}
}

// work sends the result of a job, even if the job panics or ends its goroutine.
func work[T any](j job[T], done chan<- result[T]) {
	r := result[T]{err: errors.New("a worker of the Loader was ended by runtime.Goexit")}
	defer func() {
		if p := recover(); p != nil {
			r.panicked = &workerPanic{p, debug.Stack()}
		}
		done <- r
	}()
	r.value, r.err = j()
}
