// Package data provides data sets and a loader of shuffled mini-batches. Read set.go first,
// then loader.go.
//
// A [Set] has a length and returns examples by index. An example is a tree of tensors
// (see package tree), such as a struct of an input and a label. A batch has the same
// type; its tensors have the examples along a new axis 0. A [Stream] is a data set without
// a length. A [Loader] makes batches of either, ahead of time if it has workers.
//
//	set := data.Map(data.Slice(paths), read)                   // read runs on the workers
//	l := data.Loader[Example]{Set: set, Batch: 64, Shuffle: true, Workers: 4}
//	for batch, err := range l.All(ctx) { … }                   // an epoch
package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// A Set is a data set. At returns example i, 0 ≤ i < Len. The workers of a loader call
// it concurrently.
type Set[T any] interface {
	Len() int
	At(i int) (T, error)
}

// A batcher is a set that makes batches faster than by stacking examples.
type batcher[T any] interface {
	batch(index []int) (T, error)
}

// batchOf returns the examples with those indices as one batch.
func batchOf[T any](s Set[T], index []int) (batch T, err error) {
	if b, ok := s.(batcher[T]); ok {
		return b.batch(index)
	}
	examples, err := examplesOf(s, index)
	if err != nil {
		return batch, err
	}
	return stack(examples)
}

// examplesOf returns the examples with those indices.
func examplesOf[T any](s Set[T], index []int) (examples []T, err error) {
	examples = make([]T, len(index))
	for k, i := range index {
		if examples[k], err = s.At(i); err != nil {
			return nil, fmt.Errorf("example %d: %w", i, err)
		}
	}
	return examples, nil
}

// Map returns the set of f(e) for each example e of s. f runs each time an example is
// requested, on the loader's workers if there are any.
func Map[A, B any](s Set[A], f func(A) (B, error)) Set[B] {
	given("Map", s != nil, f != nil)
	return mapped[A, B]{s, f}
}

type mapped[A, B any] struct {
	set Set[A]
	f   func(A) (B, error)
}

func (m mapped[A, B]) Len() int { return m.set.Len() }

func (m mapped[A, B]) At(i int) (b B, err error) {
	a, err := m.set.At(i)
	if err != nil {
		return b, err
	}
	return m.f(a)
}

// Split divides a set into two at random: the first has the given fraction of the
// examples, rounded to a whole number. The same seed gives the same split. Examples
// keep their order.
func Split[T any](s Set[T], fraction float64, seed uint64) (Set[T], Set[T]) {
	if !(fraction >= 0 && fraction <= 1) {
		misuse("Split", fmt.Sprintf("the fraction %v is not between 0 and 1", fraction))
	}
	given("Split", s != nil)
	order := shuffled(lengthOf("Split", s), seed, 0)
	n := int(math.Round(fraction * float64(len(order))))
	slices.Sort(order[:n])
	slices.Sort(order[n:])
	return subset[T]{s, order[:n]}, subset[T]{s, order[n:]}
}

// A subset is some examples of a set.
type subset[T any] struct {
	set   Set[T]
	index []int
}

func (s subset[T]) Len() int { return len(s.index) }

func (s subset[T]) At(i int) (t T, err error) {
	if i < 0 || i >= len(s.index) {
		return t, outOfRange(i, len(s.index))
	}
	return s.set.At(s.index[i])
}

func (s subset[T]) batch(index []int) (T, error) {
	inner := make([]int, len(index))
	for k, i := range index {
		inner[k] = s.index[i]
	}
	return batchOf(s.set, inner)
}

// Whole returns all of a set as one batch.
func Whole[T any](s Set[T]) (T, error) {
	given("Whole", s != nil)
	return batchOf(s, numbers(lengthOf("Whole", s)))
}

// lengthOf returns the number of examples, which a set of the user's own may get wrong.
func lengthOf[T any](op string, s Set[T]) int {
	n := s.Len()
	if n < 0 {
		misuse(op, fmt.Sprintf("the Set has %d examples", n))
	}
	return n
}

// given panics on behalf of op if a set, stream or function is nil.
func given(op string, present ...bool) {
	if slices.Contains(present, false) {
		misuse(op, "a nil argument: want a Set, Stream or function")
	}
}

// numbers returns the numbers below n. It panics with a *tensor.DeviceError if the
// machine has too little memory.
func numbers(n int) []int {
	if err := hostmem.Check(n, 8); err != nil {
		panic(&tensor.DeviceError{Device: "host", Op: "an order of examples", Err: err})
	}
	return shape.All(n)
}

// shuffled returns the numbers below n in an order that depends on seed and
// epoch only.
func shuffled(n int, seed, epoch uint64) []int {
	order := numbers(n)
	rand.New(rand.NewPCG(seed, epoch)).Shuffle(n, func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

func outOfRange(i, n int) error { return fmt.Errorf("there is no example %d among %d", i, n) }

// misuse panics with a *tensor.Error.
func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, "data."+op, reason, operands...)
}
