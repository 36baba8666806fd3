package cpu

import (
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/simd"
	"github.com/tensorken/tensorken/ir"
)

// A longSort sorts one row with all workers.
type longSort struct {
	*sortRunner
	x     *executor
	row   int
	parts int // of the row
	boxes int // chunks in one
}

// longParts is the most parts of a row.
const longParts = 32

// shared sorts a row with all workers.
func (r *sortRunner) shared(x *executor, row int) error {
	l := &longSort{sortRunner: r, x: x, row: row}
	l.parts, l.boxes = split(r.chunk, longParts)
	switch {
	case r.typ == ir.Bool:
		return l.partition()
	case r.selects():
		return l.sel()
	}
	return l.sort()
}

// do runs a task for each part, with the activation of the row.
func (l *longSort) do(task func(f *activation, w *worker, part int)) error {
	return l.x.do(rowTasks{l, task}, l.parts, l.work/l.nk)
}

// A rowTasks is a job on the parts of a row.
type rowTasks struct {
	*longSort
	each func(f *activation, w *worker, part int)
}

func (j rowTasks) begin(x *executor, w *worker) {
	size := align(j.program.scratch)
	mem := w.scratch(size + 8*j.chunk.maxPoints())
	w.activations[0].enter(j.program, x.bind, mem, &w.bad)
	w.pairs = unsafe.Slice((*uint64)(unsafe.Add(mem, size)), j.chunk.maxPoints())
}

func (j rowTasks) task(_ *executor, w *worker, i int) {
	f := &w.activations[0]
	j.keep.moveTo(f, j.row)
	j.each(f, w, i)
}

// chunks is the range of chunks of a part.
func (l *longSort) chunks(part int) (from, to int) {
	return part * l.boxes, min((part+1)*l.boxes, l.chunk.count)
}

// span is the range of points of a part.
func (l *longSort) span(part int) (from, to int) {
	n := loopnest.CeilDiv(l.nr, l.parts)
	return min(part*n, l.nr), min((part+1)*n, l.nr)
}

// partition puts the positions of false before those of true: the falses of each part
// are counted first.
func (l *longSort) partition() error {
	falses := make([]int, l.parts+1)
	each := func(f *activation, part int, do func(first int, x unsafe.Pointer, n int)) {
		from, to := l.chunks(part)
		for c := from; c < to; c++ {
			first := l.chunk.moveTo(f, c)
			f.run()
			do(first, f.reg[l.value], l.chunk.size(f))
		}
	}
	if err := l.do(func(f *activation, _ *worker, part int) {
		each(f, part, func(_ int, x unsafe.Pointer, n int) { falses[part+1] += simd.CountFalse(x, n) })
	}); err != nil {
		return err
	}
	for p := range l.parts {
		falses[p+1] += falses[p]
	}
	return l.do(func(f *activation, w *worker, part int) {
		positions := unsafe.Slice((*int32)(unsafe.Pointer(unsafe.SliceData(w.pairs))), l.chunk.maxPoints()+1)
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
func (l *longSort) positions(f *activation, v int, positions []int32) {
	if v >= l.places {
		return
	}
	positions = positions[:min(len(positions), l.places-v)]
	out := unsafe.Add(f.bind[0].p, 4*(l.to.pos(f)+v*l.stride))
	simd.Movers[4](out, unsafe.Pointer(unsafe.SliceData(positions)), 1, 0, 0, len(positions), l.stride, 1)
}

// sel finds the least pairs of each part, then of the row.
func (l *longSort) sel() error {
	heaps := make([][]uint64, l.parts)
	if err := l.do(func(f *activation, w *worker, part int) {
		from, to := l.chunks(part)
		heaps[part] = l.least(f, from, to, make([]uint64, 0, l.places), w.pairs)
	}); err != nil {
		return err
	}
	least := slices.Concat(heaps...)
	slices.Sort(least)
	return l.last(least, nil)
}

// last writes the positions of sorted pairs.
func (l *longSort) last(pairs []uint64, position func(i uint32) int32) error {
	return l.do(func(f *activation, _ *worker, part int) {
		from, to := l.span(part)
		to = min(to, l.places)
		if from < to {
			l.place(f, from, pairs[from:to], position)
		}
	})
}

// sort sorts the row by all digits of the keys.
func (l *longSort) sort() error {
	high := simd.KeysHigh[l.typ]
	n := 2
	if high != nil {
		n = 3
	}
	data, err := hostmem.Make(8*n*l.nr+63, 1)
	if err != nil {
		return err
	}
	mem := unsafe.Slice((*uint64)(base(data)), n*l.nr)
	pairs, spare := mem[:l.nr], mem[l.nr:2*l.nr]
	fill := func(key simd.Keyer, pairs []uint64) error {
		return l.do(func(f *activation, _ *worker, part int) {
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
	if high == nil {
		return l.last(pairs, nil)
	}
	first, keys := pairs, mem[2*l.nr:] // the order by the lesser key
	if err := fill(high, keys); err != nil {
		return err
	}
	if err := l.do(func(_ *activation, _ *worker, part int) {
		from, to := l.span(part)
		for i := from; i < to; i++ {
			spare[i] = keys[uint32(first[i])]>>32<<32 | uint64(i)
		}
	}); err != nil {
		return err
	}
	if pairs, _, err = l.radix(spare, keys); err != nil {
		return err
	}
	return l.last(pairs, func(i uint32) int32 { return int32(uint32(first[i])) })
}

// radix sorts pairs by key: for each digit, the parts count their pairs, then move
// them. It returns the sorted pairs, in pairs or in spare, and the other.
func (l *longSort) radix(pairs, spare []uint64) (sorted, other []uint64, err error) {
	counts := make([][simd.Digits]int, l.parts)
	for place := range simd.Places {
		if err := l.do(func(_ *activation, _ *worker, part int) {
			from, to := l.span(part)
			simd.CountDigits(&counts[part], pairs[from:to], place)
		}); err != nil {
			return nil, nil, err
		}
		if !starts(counts, l.nr) {
			continue
		}
		if err := l.do(func(_ *activation, _ *worker, part int) {
			from, to := l.span(part)
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
