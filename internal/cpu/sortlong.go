package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A longSort sorts rows, one after the other, with all workers.
type longSort struct {
	*sortRunner
	x     *vector.Executor
	row   int
	parts int // of the row
	boxes int // chunks in one
	mem   []uint64
}

// longParts is the most parts of a row.
const longParts = 32

func newLongSort(r *sortRunner, x *vector.Executor) *longSort {
	l := &longSort{sortRunner: r, x: x}
	l.parts, l.boxes = vector.Split(r.chunk, longParts)
	return l
}

// run sorts a row.
func (l *longSort) run() error {
	switch {
	case l.typ == ir.Bool:
		return l.partition()
	case l.selects(l.nr / l.parts):
		return l.sel()
	case simd.KeysHigh[l.typ] != nil:
		return l.sortWide()
	}
	return l.sortBuckets()
}

// memory returns n pairs, the same for all rows.
func (l *longSort) memory(n int) (pairs []uint64, err error) {
	if l.mem == nil {
		l.mem, err = makePairs(n)
	}
	return l.mem, err
}

// do runs a task for each part, with the activation of the row.
func (l *longSort) do(task func(f *vector.Activation, w *vector.Worker, part int)) error {
	return l.tasks(l.parts, l.chunk.MaxPoints(), task)
}

// tasks runs n tasks with the activation of the row. Each worker has memory for room
// pairs.
func (l *longSort) tasks(n, room int, task func(f *vector.Activation, w *vector.Worker, i int)) error {
	return l.x.Do(rowTasks{l, room, task}, n, l.work/l.nk)
}

// A rowTasks is a job on the parts of a row.
type rowTasks struct {
	*longSort
	room int // pairs that a worker has memory for
	each func(f *vector.Activation, w *vector.Worker, i int)
}

func (j rowTasks) Begin(x *vector.Executor, w *vector.Worker) {
	size := vector.Align(j.program.Scratch)
	mem := w.Scratch(size + 8*j.room)
	w.Activations[0].Enter(j.program, x.Bind, mem, &w.Bad)
	w.Pairs = unsafe.Slice((*uint64)(unsafe.Add(mem, size)), j.room)
}

func (j rowTasks) Task(_ *vector.Executor, w *vector.Worker, i int) {
	f := &w.Activations[0]
	j.keep.MoveTo(f, j.row)
	j.each(f, w, i)
}

// chunks is the range of chunks of a part.
func (l *longSort) chunks(part int) (from, to int) {
	return part * l.boxes, min((part+1)*l.boxes, l.chunk.Count)
}

// span is the range of a part of n pairs.
func (l *longSort) span(part, n int) (from, to int) {
	each := ir.CeilDiv(n, l.parts)
	return min(part*each, n), min((part+1)*each, n)
}

// partition puts positions of false before positions of true: the falses of each part are
// counted first.
func (l *longSort) partition() error {
	falses := make([]int, l.parts+1)
	each := func(f *vector.Activation, part int, do func(first int, x unsafe.Pointer, n int)) {
		from, to := l.chunks(part)
		for c := from; c < to; c++ {
			first := l.chunk.MoveTo(f, c)
			f.Run()
			do(first, f.Reg[l.value], l.chunk.Size(f))
		}
	}
	if err := l.do(func(f *vector.Activation, _ *vector.Worker, part int) {
		each(f, part, func(_ int, x unsafe.Pointer, n int) { falses[part+1] += simd.CountFalse(x, n) })
	}); err != nil {
		return err
	}
	for p := range l.parts {
		falses[p+1] += falses[p]
	}
	return l.do(func(f *vector.Activation, w *vector.Worker, part int) {
		positions := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(w.Pairs))), l.chunk.MaxPoints()+1)
		at := falses[part]
		each(f, part, func(first int, x unsafe.Pointer, size int) {
			n := simd.FalsePositions(positions, x, size, first)
			l.positions(f, at, positions[:n])
			if all := falses[l.parts]; all < l.places { // the trues as well
				after := all + first - at
				for p, i := first, 0; p < first+size && after < l.places; p++ {
					if i < n && positions[i] == int32(p) {
						i++
						continue
					}
					l.positions(f, after, []int32{int32(p)})
					after++
				}
			}
			at += n
		})
	})
}

// positions writes positions of the row from place v on, as far as they are stored.
func (l *longSort) positions(f *vector.Activation, v int, positions []int32) {
	if v >= l.places {
		return
	}
	positions = positions[:min(len(positions), l.places-v)]
	out := unsafe.Add(f.Bind[0].P, 4*(l.to.Pos(f)+v*l.stride))
	simd.Movers[4](out, unsafe.Pointer(unsafe.SliceData(positions)), 1, 0, 0, len(positions), l.stride, 1)
}

// sel finds the least pairs of each part, then of the row.
func (l *longSort) sel() error {
	heaps := make([][]uint64, l.parts)
	if err := l.do(func(f *vector.Activation, w *vector.Worker, part int) {
		from, to := l.chunks(part)
		heaps[part] = l.least(f, from, to, make([]uint64, 0, l.places), w.Pairs)
	}); err != nil {
		return err
	}
	least := slices.Concat(heaps...)
	slices.Sort(least)
	return l.last(0, least, nil)
}

// last writes the positions of sorted pairs from place v on, as far as they are stored.
func (l *longSort) last(v int, pairs []uint64, position func(i uint32) int32) error {
	pairs = pairs[:min(len(pairs), l.places-v)]
	return l.do(func(f *vector.Activation, _ *vector.Worker, part int) {
		from, to := l.span(part, len(pairs))
		l.place(f, v+from, pairs[from:to], position)
	})
}

// sortWide sorts the row by keys of two parts, first by the lesser.
func (l *longSort) sortWide() error {
	mem, err := l.memory(3 * l.nr)
	if err != nil {
		return err
	}
	pairs, spare := mem[:l.nr], mem[l.nr:2*l.nr]
	fill := func(key simd.Keyer, pairs []uint64) error {
		return l.do(func(f *vector.Activation, _ *vector.Worker, part int) {
			from, to := l.chunks(part)
			l.fill(f, from, to, key, pairs)
		})
	}
	if err := fill(simd.Keys[l.typ], pairs); err != nil {
		return err
	}
	if pairs, spare, err = l.radix(pairs, spare); err != nil {
		return err
	}
	first, keys := pairs, mem[2*l.nr:] // the order by the lesser key
	if err := fill(simd.KeysHigh[l.typ], keys); err != nil {
		return err
	}
	if err := l.do(func(_ *vector.Activation, _ *vector.Worker, part int) {
		from, to := l.span(part, l.nr)
		for i := from; i < to; i++ {
			spare[i] = keys[uint32(first[i])]>>32<<32 | uint64(i)
		}
	}); err != nil {
		return err
	}
	if pairs, _, err = l.radix(spare, keys); err != nil {
		return err
	}
	return l.last(0, pairs, func(i uint32) int32 { return int32(uint32(first[i])) })
}

// makePairs returns n pairs, aligned to a cache line.
func makePairs(n int) ([]uint64, error) {
	data, err := hostmem.Make(8*n+63, 1)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*uint64)(vector.Base(data)), n), nil
}

// radix sorts pairs by key: for each digit, the parts count their pairs, then move
// them. It returns the sorted pairs, in pairs or in spare, and the other.
func (l *longSort) radix(pairs, spare []uint64) (sorted, other []uint64, err error) {
	counts := make([][simd.Digits]int, l.parts)
	for place := range simd.Places {
		if err := l.do(func(_ *vector.Activation, _ *vector.Worker, part int) {
			from, to := l.span(part, len(pairs))
			simd.CountDigits(&counts[part], pairs[from:to], place)
		}); err != nil {
			return nil, nil, err
		}
		if !starts(counts, len(pairs)) {
			continue
		}
		if err := l.do(func(_ *vector.Activation, _ *vector.Worker, part int) {
			from, to := l.span(part, len(pairs))
			simd.MoveByDigit(spare, pairs[from:to], &counts[part], place)
		}); err != nil {
			return nil, nil, err
		}
		pairs, spare = spare, pairs
	}
	return pairs, spare, nil
}

// starts turns the counts of n pairs, by part and digit, into the place of the first
// pair of each part with each digit. It reports false if all pairs have the same.
func starts(counts [][simd.Digits]int, n int) bool {
	at := 0
	for d := range simd.Digits {
		before := at
		for p := range counts {
			c := counts[p][d]
			counts[p][d] = at
			at += c
		}
		if at-before == n {
			return false
		}
	}
	return true
}
