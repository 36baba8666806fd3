package data

import (
	"context"
	"fmt"
	"iter"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A Loader makes batches of a Set or of a Stream. With a Set, an epoch has every example
// once, in an order that depends only on Seed and Epoch; a Stream or a Sampler decides
// itself what an epoch is. A Loader is for one goroutine.
//
// Epoch and Next are its position. A Loader with the same fields, position included,
// yields the same batches from there.
type Loader[T any] struct {
	Set      Set[T]
	Stream   Stream[T] // instead of Set
	Batch    int       // examples in a batch
	Shuffle  bool      // a new order each epoch; false: the set's order
	DropLast bool      // leave out a last batch that is smaller
	Seed     uint64    // of the order
	Workers  int       // goroutines that make batches in advance; 0: none
	Epoch    int       // the epoch of the next batch, from 0
	Next     int       // the index in the epoch of the next batch

	// Sampler, unless nil, chooses the examples of each batch, in place of Batch, Shuffle,
	// DropLast and Seed.
	Sampler Sampler
	// Collate makes a batch of examples. Nil stacks their tensors, which must have equal
	// shapes, along a new axis 0; [Pad] returns a function for other shapes.
	Collate func(examples []T) (T, error)
	// Device, unless nil, is where batches are copied to. Workers copy them in advance.
	Device *tensor.Device
}

// A Sampler returns the examples of each batch of an epoch, by their indices in a Set. It
// must return the same for the same epoch.
type Sampler func(epoch int) [][]int

// All yields the rest of the epoch's batches; the number of workers does not change
// their order. Next counts a batch when it is yielded; after the last one Epoch is the
// next epoch and Next is 0. An error, such as a cancelled ctx or a Next of more than the
// epoch's batches, is yielded without a batch and ends the loop.
//
// All returns, also after a break or an error, only when all its goroutines have ended, so
// a Set or Stream that waits should watch ctx itself. A panic of theirs panics in the
// loop; in a worker it does with an error that has the worker's stack and wraps the
// panic's value if that is an error.
func (l *Loader[T]) All(ctx context.Context) iter.Seq2[T, error] {
	l.check("Loader.All")
	return func(yield func(T, error) bool) {
		for batch, err := range run(ctx, l.jobs, l.Workers) {
			if err != nil {
				yield(batch, err)
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

// Steps returns the number of batches in the epoch, -1 for a Stream, whose length is
// unknown.
func (l *Loader[T]) Steps() int {
	l.check("Loader.Steps")
	switch {
	case l.Stream != nil:
		return -1
	case l.Sampler != nil:
		return len(l.Sampler(l.Epoch))
	case l.DropLast:
		return l.Set.Len() / l.Batch
	}
	return ir.CeilDiv(l.Set.Len(), l.Batch)
}

// check panics on behalf of op unless the fields fit together.
func (l *Loader[T]) check(op string) {
	ordered := l.Shuffle || l.DropLast
	for _, c := range []struct {
		bad  bool
		want string
	}{
		{l.Set == nil && l.Stream == nil, "want a Set or a Stream"},
		{l.Set != nil && l.Stream != nil, "want a Set or a Stream, not both"},
		{l.Sampler == nil && l.Batch < 1, fmt.Sprintf("Batch is %d, want at least 1", l.Batch)},
		{l.Next < 0 || l.Epoch < 0 || l.Workers < 0,
			fmt.Sprintf("want no negative field; have Next %d, Epoch %d, Workers %d", l.Next, l.Epoch, l.Workers)},
		{l.Stream != nil && l.Shuffle, "a Stream cannot be shuffled as a whole: use ShuffleStream"},
		{l.Stream != nil && l.Sampler != nil, "a Sampler needs a Set: a Stream has no indices"},
		{l.Sampler != nil && (l.Batch != 0 || ordered), "the Sampler chooses the batches: leave Batch, Shuffle and DropLast zero"},
	} {
		if c.bad {
			misuse(op, c.want)
		}
	}
}

// jobs yields a job for each of the epoch's batches from l.Next on.
func (l *Loader[T]) jobs(ctx context.Context) iter.Seq2[job[T], error] {
	if l.Stream != nil {
		return l.streamed(ctx)
	}
	batches := l.order()
	if l.Next > len(batches) {
		err := l.beyond(len(batches))
		return func(yield func(job[T], error) bool) { yield(nil, err) }
	}
	batches = batches[l.Next:]
	return func(yield func(job[T], error) bool) {
		for _, index := range batches {
			if !yield(func() (T, error) { return l.gather(index) }, nil) {
				return
			}
		}
	}
}

// beyond returns the error that Next is more than an epoch's number of batches. As many are
// no error: it is the position of a loop that ended with the last batch by a break.
func (l *Loader[T]) beyond(batches int) error {
	return fmt.Errorf("data: Loader.Next is %d: want at most %d, the number of batches of epoch %d", l.Next, batches, l.Epoch)
}

// order returns the examples of each batch of the epoch.
func (l *Loader[T]) order() [][]int {
	if l.Sampler != nil {
		return l.Sampler(l.Epoch)
	}
	n := l.Set.Len()
	var order []int
	if l.Shuffle {
		order = shuffled(n, l.Seed, uint64(l.Epoch)+1) // 0 is Split's
	} else {
		order = numbers(n)
	}
	if l.DropLast {
		order = order[:n-n%l.Batch]
	}
	return chunks(order, l.Batch)
}

// chunks cuts an order into batches, of which the last may be smaller.
func chunks(order []int, size int) (batches [][]int) {
	for len(order) > 0 {
		n := min(size, len(order))
		batches, order = append(batches, order[:n]), order[n:]
	}
	return batches
}

// streamed yields the jobs of a Stream. It reads the examples of batches before l.Next
// again, and drops them.
func (l *Loader[T]) streamed(ctx context.Context) iter.Seq2[job[T], error] {
	epoch, skip := l.Epoch, l.Next
	return func(yield func(job[T], error) bool) {
		var examples []T
		flush := func() bool {
			batch := examples
			examples = nil
			if skip > 0 {
				skip--
				return true
			}
			return yield(func() (T, error) { return l.collate(batch) }, nil)
		}
		for e, err := range l.Stream(ctx, epoch) {
			if err != nil {
				yield(nil, err)
				return
			}
			if ctx.Err() != nil {
				yield(nil, context.Cause(ctx))
				return
			}
			if examples = append(examples, e); len(examples) == l.Batch && !flush() {
				return
			}
		}
		if len(examples) > 0 && !l.DropLast {
			flush()
		}
		if skip > 0 {
			yield(nil, l.beyond(l.Next-skip))
		}
	}
}

// gather returns a batch of a set, or as an error a *tensor.Error that the set panics with.
func (l *Loader[T]) gather(index []int) (batch T, err error) {
	defer tensor.Catch(&err)
	if l.Collate == nil {
		if batch, err = batchOf(l.Set, index); err != nil {
			return batch, err
		}
		return l.send(batch)
	}
	examples, err := examplesOf(l.Set, index)
	if err != nil {
		return batch, err
	}
	return l.collate(examples)
}

// collate returns a batch of examples.
func (l *Loader[T]) collate(examples []T) (batch T, err error) {
	defer tensor.Catch(&err)
	collate := l.Collate
	if collate == nil {
		collate = stack[T]
	}
	if batch, err = collate(examples); err != nil {
		return batch, err
	}
	return l.send(batch)
}

// send copies a batch to the device.
func (l *Loader[T]) send(batch T) (T, error) {
	if l.Device == nil {
		return batch, nil
	}
	batch = tree.To(batch, l.Device)
	return batch, tensor.Eval(batch)
}
