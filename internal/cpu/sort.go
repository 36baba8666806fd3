package cpu

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A sortRunner runs the routine Sort: on pairs of keys and positions, by counting the
// digits of the keys, or for few places by a heap. A task sorts a row, unless there
// are few and long rows, which all workers sort one after the other.
type sortRunner struct {
	space         *vector.Space
	kept, reduced []int
	nk, nr        int
	keep, chunk   *vector.Tiling // of single rows, and of their points
	program       *vector.Program
	value         int // register of the elements
	typ           ir.DType
	to            vector.Affine // position of the first place of a row
	places        int           // that are stored
	stride        int           // of them
	rowsPerTask   int
	work          int
}

func newSort(s *vector.Space) *sortRunner {
	at := len(s.Body) - 1
	in := &s.Body[at]
	r := &sortRunner{space: s, kept: s.List(ir.Parallel), reduced: s.List(ir.Reduced), places: in.View.Len, stride: in.View.Stride}
	r.nk, r.nr, r.typ = s.Size(r.kept), s.Size(r.reduced), s.Body[in.Src[0]].Type
	r.keep, r.chunk = vector.NewTiling(s, r.kept, 1, 1), vector.NewTiling(s, r.reduced, s.Tune.MinBlock, s.Tune.MaxBlock)
	a := vector.Assemble(s, vector.Schedule{Lanes: r.chunk.LongAxes(), Extent: s.Extents(r.chunk), Roots: []int{in.Src[0]}, Value: true})
	r.program, r.value, r.to = a.Program, a.Root, a.Affine(in.View.Off, in.View.Coef, 0)
	r.work = s.Work([]int{at})
	r.rowsPerTask = s.Tune.Grain(r.nk, r.work)
	return r
}

// longRow is the number of elements from which on all workers sort a row together, however many rows there
// are, because one worker's pairs would take too much memory.
const longRow = 1 << 18

func (r *sortRunner) Run(x *vector.Executor) error {
	t := r.space.Tune
	small := r.work/max(1, r.nk) < longParts*t.ParallelThreshold // to wake workers takes longer than a part of a row
	if r.nr < longRow && (small || r.nk*t.SharedSort >= t.Threads) {
		return x.Do(rowsJob{r}, ir.CeilDiv(r.nk, r.rowsPerTask), r.work)
	}
	l := newLongSort(r, x)
	for l.row = range r.nk {
		if err := l.run(); err != nil {
			return err
		}
	}
	return nil
}

// place writes the positions of a row, from place v on.
func (r *sortRunner) place(f *vector.Activation, v int, pairs []uint64, position func(i uint32) int32) {
	arg := r.space.Body[len(r.space.Body)-1].Arg
	out := unsafe.Add(f.Bind[arg].P, 4*(r.to.Pos(f)+v*r.stride))
	for i, p := range pairs {
		at := int32(uint32(p))
		if position != nil {
			at = position(uint32(p))
		}
		*(*int32)(unsafe.Add(out, 4*i*r.stride)) = at
	}
}

// A rowsJob sorts some rows per task.
type rowsJob struct{ *sortRunner }

func (j rowsJob) Begin(x *vector.Executor, w *vector.Worker) {
	size, pairs := vector.Align(j.program.Scratch), 2*j.nr
	if simd.KeysHigh[j.typ] != nil {
		pairs += j.nr
	}
	mem := w.Scratch(size + 8*pairs)
	w.Activations[0].Enter(j.program, x.Bind, mem, &w.Bad)
	w.Pairs = unsafe.Slice((*uint64)(unsafe.Add(mem, size)), pairs)
}

func (j rowsJob) Task(_ *vector.Executor, w *vector.Worker, i int) {
	f := &w.Activations[0]
	for row := i * j.rowsPerTask; row < min((i+1)*j.rowsPerTask, j.nk); row++ {
		j.keep.MoveTo(f, row)
		if j.selects(j.nr) {
			least := j.least(f, 0, j.chunk.Count, w.Pairs[:0:j.places], w.Pairs[j.nr:])
			slices.Sort(least)
			j.place(f, 0, least, nil)
		} else {
			j.sortRow(f, w.Pairs)
		}
	}
}

// selects reports whether a heap of the least of n pairs is faster than sorting them. Of pairs in random order about
// places·log(n/places) enter the heap, past log(places) others each; sorting counts and moves all pairs for each digit.
func (r *sortRunner) selects(n int) bool {
	entries := r.places * bits.Len(uint(n/max(1, r.places)))
	steps, moves := entries*bits.Len(uint(r.places)), 2*simd.Places*(n+simd.Digits)
	return r.places <= n && steps*r.space.Tune.HeapStep <= moves && simd.KeysHigh[r.typ] == nil
}

// least adds the pairs of chunks of a row to a heap.
func (r *sortRunner) least(f *vector.Activation, from, to int, heap, mem []uint64) []uint64 {
	for c := from; c < to; c++ {
		first := r.chunk.MoveTo(f, c)
		f.Run()
		pairs := mem[:r.chunk.Size(f)]
		simd.Keys[r.typ](pairs, f.Reg[r.value], first)
		heap = simd.Least(heap, pairs)
	}
	return heap
}

// sortRow sorts the row of an activation.
func (r *sortRunner) sortRow(f *vector.Activation, mem []uint64) {
	pairs, spare := mem[:r.nr], mem[r.nr:2*r.nr]
	r.fill(f, 0, r.chunk.Count, simd.Keys[r.typ], pairs)
	pairs = simd.SortPairs(pairs, spare)
	high := simd.KeysHigh[r.typ]
	if high == nil {
		r.place(f, 0, pairs[:r.places], nil)
		return
	}
	first := mem[2*r.nr:] // the order by the lesser key
	copy(first, pairs)
	keys := mem[:r.nr]
	r.fill(f, 0, r.chunk.Count, high, keys)
	spare = mem[r.nr : 2*r.nr]
	for i, p := range first {
		spare[i] = keys[uint32(p)]>>32<<32 | uint64(i)
	}
	pairs = simd.SortPairs(spare, keys)
	r.place(f, 0, pairs[:r.places], func(i uint32) int32 { return int32(uint32(first[i])) })
}

// fill makes the pairs of some chunks of a row, each at its position.
func (r *sortRunner) fill(f *vector.Activation, from, to int, key simd.Keyer, pairs []uint64) {
	for c := from; c < to; c++ {
		first := r.chunk.MoveTo(f, c)
		f.Run()
		key(pairs[first:][:r.chunk.Size(f)], f.Reg[r.value], first)
	}
}
