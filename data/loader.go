package data

import (
	"context"
	"encoding/binary"
	"fmt"
	"iter"
	"math/rand/v2"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A Loader makes batches of a Set or of a Stream. With a Set, an epoch has every example
// once, in an order that depends only on Seed and Epoch; a Stream or a Sampler defines its
// own epochs. A Loader is for one goroutine.
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

	// Rank and Ranks are for ranks that train together: Batch, Next and the order are of batches of all
	// Ranks, 0 is 1, of which this loader yields the part of Rank. A rank without an example in a small last
	// batch gets the first one of it, which does not count, see [Loader.Share].
	Rank, Ranks int

	// Sampler, unless nil, chooses the examples of each batch, in place of Batch, Shuffle,
	// DropLast and Seed.
	Sampler Sampler
	// Collate makes a batch of examples. Nil stacks their tensors, which must have equal
	// shapes, along a new axis 0; [Pad] returns a function for other shapes.
	Collate func(examples []T) (T, error)
	// Augment, unless nil, changes each example at random before it is collated, on the workers
	// if there are any. Its rng depends on Seed, Epoch and the example's place in the epoch
	// alone, so that it draws the same for any number of workers, and after resuming.
	Augment func(example T, rng *rand.Rand) (T, error)
	// Device, unless nil, is where batches are copied to. Workers copy them in advance.
	Device *tensor.Device

	share share // of the batch that was yielded last
}

// A share is the numbers of examples of a batch.
type share struct{ mine, all int }

// A part is a rank's part of a batch.
type part[T any] struct {
	batch T
	share
}

// Share returns how many examples of the last batch this rank has, and how many all ranks have. The mean
// of a loss over all examples is the mean over the ranks of the loss of each part, times mine·Ranks/all.
func (l *Loader[T]) Share() (mine, all int) { return l.share.mine, l.share.all }

// bounds returns the rank's part of a batch of n examples.
func (l *Loader[T]) bounds(n int) (from, to int) {
	ranks := max(l.Ranks, 1)
	return l.Rank * n / ranks, (l.Rank + 1) * n / ranks
}

// partOf returns the rank's part of the examples of a batch and the place of the first.
func partOf[E any, T any](l *Loader[T], all []E) (examples []E, first int, s share) {
	from, to := l.bounds(len(all))
	s = share{to - from, len(all)}
	if from == to && len(all) > 0 {
		return all[:1], 0, s
	}
	return all[from:to], from, s
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
		for p, err := range run(ctx, l.jobs, l.Workers) {
			if err != nil {
				yield(p.batch, err)
				return
			}
			l.Next++
			l.share = p.share
			if !yield(p.batch, nil) {
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
		return lengthOf("Loader.Steps", l.Set) / l.Batch
	}
	return ir.CeilDiv(lengthOf("Loader.Steps", l.Set), l.Batch)
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
		{l.Ranks < 0 || l.Rank < 0 || l.Rank >= max(l.Ranks, 1), fmt.Sprintf("Rank is %d of Ranks %d, want a rank below it", l.Rank, l.Ranks)},
		{l.Workers > maxWorkers, fmt.Sprintf("Workers is %d, want at most %d", l.Workers, maxWorkers)},
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
func (l *Loader[T]) jobs(ctx context.Context) iter.Seq2[job[part[T]], error] {
	if l.Stream != nil {
		return l.streamed(ctx)
	}
	batches := l.order()
	if l.Next > len(batches) {
		err := l.beyond(len(batches))
		return func(yield func(job[part[T]], error) bool) { yield(nil, err) }
	}
	epoch, next := l.Epoch, l.Next
	return func(yield func(job[part[T]], error) bool) {
		for i, index := range batches[next:] {
			examples, first, s := partOf(l, index)
			if !yield(func() (part[T], error) {
				batch, err := l.gather(examples, place{epoch, next + i, first})
				return part[T]{batch, s}, err
			}, nil) {
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
	n := lengthOf("Loader.All", l.Set)
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

// chunks cuts an order into batches; the last may be smaller.
func chunks(order []int, size int) (batches [][]int) {
	for len(order) > 0 {
		n := min(size, len(order))
		batches, order = append(batches, order[:n]), order[n:]
	}
	return batches
}

// streamed yields the jobs of a Stream. It reads the examples of batches before l.Next
// again, and drops them.
func (l *Loader[T]) streamed(ctx context.Context) iter.Seq2[job[part[T]], error] {
	epoch, skip := l.Epoch, l.Next
	return func(yield func(job[part[T]], error) bool) {
		var examples []T
		count := 0 // of batches
		flush := func() bool {
			batch, first, s := partOf(l, examples)
			at := place{epoch, count, first}
			examples = nil
			count++
			if skip > 0 {
				skip--
				return true
			}
			return yield(func() (part[T], error) {
				b, err := l.collate(batch, at)
				return part[T]{b, s}, err
			}, nil)
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

// maxWorkers bounds the number of goroutines.
const maxWorkers = 1 << 16

// A place is the position of a batch, and in it of the first example of the rank.
type place struct{ epoch, batch, first int }

// gather returns a batch of a set, or as an error a *tensor.Error that the set panics with.
func (l *Loader[T]) gather(index []int, at place) (batch T, err error) {
	defer tensor.Catch(&err)
	if err := l.checkIndex(index, at); err != nil {
		return batch, err
	}
	if l.Collate == nil && l.Augment == nil {
		if batch, err = batchOf(l.Set, index); err != nil {
			return batch, err
		}
		return l.send(batch)
	}
	examples, err := examplesOf(l.Set, index)
	if err != nil {
		return batch, err
	}
	return l.collate(examples, at)
}

// checkIndex checks the indices that a Sampler has chosen.
func (l *Loader[T]) checkIndex(index []int, at place) error {
	if l.Sampler == nil {
		return nil
	}
	if len(index) == 0 {
		return fmt.Errorf("data: the Sampler's batch %d of epoch %d is empty", at.batch, at.epoch)
	}
	for _, i := range index {
		if n := l.Set.Len(); i < 0 || i >= n {
			return fmt.Errorf("data: the Sampler's batch %d of epoch %d: %w", at.batch, at.epoch, outOfRange(i, n))
		}
	}
	return nil
}

// collate returns a batch of examples, each changed by Augment.
func (l *Loader[T]) collate(examples []T, at place) (batch T, err error) {
	defer tensor.Catch(&err)
	if l.Augment != nil {
		changed := make([]T, len(examples)) // the examples may be another's
		for k, e := range examples {
			if changed[k], err = l.Augment(e, l.random(at, k)); err != nil {
				return batch, fmt.Errorf("augmenting example %d of a batch: %w", k, err)
			}
		}
		examples = changed
	}
	collate := l.Collate
	if collate == nil {
		collate = stack[T]
	}
	if batch, err = collate(examples); err != nil {
		return batch, err
	}
	return l.send(batch)
}

// random returns the generator of example k of a batch.
func (l *Loader[T]) random(at place, k int) *rand.Rand {
	var seed [32]byte
	for i, n := range []uint64{l.Seed, uint64(at.epoch), uint64(at.batch), uint64(at.first + k)} {
		binary.LittleEndian.PutUint64(seed[8*i:], n)
	}
	return rand.New(rand.NewChaCha8(seed))
}

// send copies a batch to the device.
func (l *Loader[T]) send(batch T) (T, error) {
	if l.Device == nil {
		return batch, nil
	}
	batch = tree.To(batch, l.Device)
	return batch, tensor.Eval(batch)
}
