package data

import (
	"context"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/tensorken/tensorken/tensor"
)

// A Stream is a data set without a length: a function that returns the examples of an
// epoch, in order. It must return the same examples for the same epoch, so that a [Loader]
// can resume; it does so by reading the first ones again. An error ends the stream. A
// stream that waits should watch ctx. It may be without end.
//
// With workers, a loader reads a stream in a goroutine of its own.
type Stream[T any] func(ctx context.Context, epoch int) iter.Seq2[T, error]

// StreamOf returns the stream of a set's examples in the set's order.
func StreamOf[T any](s Set[T]) Stream[T] {
	given("StreamOf", s != nil)
	return func(context.Context, int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for i := range s.Len() {
				if x, err := s.At(i); !yield(x, err) || err != nil {
					return
				}
			}
		}
	}
}

// MapStream returns the stream of f(e) for each example e of s, in the order of s. Workers,
// if there are any, call f in advance and concurrently. Misuse of tensors in f ends the
// stream with a [*tensor.Error].
func MapStream[A, B any](s Stream[A], workers int, f func(A) (B, error)) Stream[B] {
	if workers < 0 || workers > maxWorkers {
		misuse("MapStream", fmt.Sprintf("%d workers: want 0 to %d", workers, maxWorkers))
	}
	given("MapStream", s != nil, f != nil)
	return func(ctx context.Context, epoch int) iter.Seq2[B, error] {
		return run(ctx, func(ctx context.Context) iter.Seq2[job[B], error] {
			return func(yield func(job[B], error) bool) {
				for a, err := range s(ctx, epoch) {
					call := func() (b B, err error) {
						defer tensor.Catch(&err)
						return f(a)
					}
					if !yield(call, err) || err != nil {
						return
					}
				}
			}
		}, workers)
	}
}

// ShuffleStream returns a stream of the examples of s in another order, which depends on
// seed and epoch. It holds a window of examples, and returns one of them at random each
// time it reads the next. An example is returned at most window places early; the larger
// the window, the better the order.
func ShuffleStream[T any](s Stream[T], window int, seed uint64) Stream[T] {
	if window < 1 {
		misuse("ShuffleStream", "want a window of at least 1 example", window)
	}
	given("ShuffleStream", s != nil)
	return func(ctx context.Context, epoch int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			rng := rand.New(rand.NewPCG(seed, uint64(epoch)+1))
			var held []T
			for x, err := range s(ctx, epoch) {
				if err != nil {
					yield(x, err)
					return
				}
				if len(held) < window {
					held = append(held, x)
					continue
				}
				i := rng.IntN(window)
				out := held[i]
				held[i] = x
				if !yield(out, nil) {
					return
				}
			}
			rng.Shuffle(len(held), func(i, j int) { held[i], held[j] = held[j], held[i] })
			for _, x := range held {
				if !yield(x, nil) {
					return
				}
			}
		}
	}
}
