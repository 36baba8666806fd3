package cpu

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/simd"
)

// sortBuckets sorts the row with memory for one copy of its pairs: it moves them to
// buckets, each of which is then sorted by one worker in its cache. The row is computed
// twice, to count the pairs of each bucket and to move them.
func (l *longSort) sortBuckets() error {
	buckets, err := l.sample()
	if err != nil {
		return err
	}
	counts := make([][simd.BucketCount]int, l.parts)
	if err := l.pairs(func(part int, pairs []uint64) { buckets.Count(&counts[part], pairs) }); err != nil {
		return err
	}
	small, large := l.groups(counts)
	pairs, err := l.memory(l.nr)
	if err != nil {
		return err
	}
	if err := l.pairs(func(part int, p []uint64) { buckets.Move(pairs, p, &counts[part]) }); err != nil {
		return err
	}
	room := 0
	for _, g := range small {
		room = max(room, g.to-g.from)
	}
	if err := l.tasks(len(small), room, func(f *vector.Activation, w *vector.Worker, i int) {
		g := small[i]
		sorted := simd.SortPairs(pairs[g.from:g.to], w.Pairs[:g.to-g.from])
		l.place(f, g.from, sorted[:min(g.to, l.places)-g.from], nil)
	}); err != nil {
		return err
	}
	for _, g := range large {
		spare, err := makePairs(g.to - g.from)
		if err != nil {
			return err
		}
		sorted, _, err := l.radix(pairs[g.from:g.to], spare)
		if err != nil {
			return err
		}
		if err := l.last(g.from, sorted, nil); err != nil {
			return err
		}
	}
	return nil
}

// pairs calls f with all pairs of the row, chunk by chunk of each part.
func (l *longSort) pairs(f func(part int, pairs []uint64)) error {
	return l.do(func(a *vector.Activation, w *vector.Worker, part int) {
		from, to := l.chunks(part)
		for c := from; c < to; c++ {
			f(part, l.chunkPairs(a, w, c))
		}
	})
}

// chunkPairs returns the pairs of a chunk.
func (l *longSort) chunkPairs(a *vector.Activation, w *vector.Worker, c int) []uint64 {
	first := l.chunk.MoveTo(a, c)
	a.Run()
	pairs := w.Pairs[:l.chunk.Size(a)]
	simd.Keys[l.typ](pairs, a.Reg[l.value], first)
	return pairs
}

// sample returns buckets for the range of the pairs in the first chunk of each part.
func (l *longSort) sample() (simd.Buckets, error) {
	least, most := make([]uint64, l.parts), make([]uint64, l.parts)
	err := l.do(func(a *vector.Activation, w *vector.Worker, part int) {
		least[part] = math.MaxUint64
		if from, to := l.chunks(part); from < to {
			pairs := l.chunkPairs(a, w, from)
			least[part], most[part] = slices.Min(pairs), slices.Max(pairs)
		}
	})
	return simd.NewBuckets(slices.Min(least), slices.Max(most)), err
}

// A group is a range of pairs that are sorted together: some buckets, or one.
type group struct{ from, to int }

// groupLen is the length up to which buckets are grouped: pairs and spare pairs fit half of a core's cache.
func (l *longSort) groupLen() int { return 2 * l.space.Tune.Panel / (2 * 8) }

// groups turns the counts of pairs, by part and bucket, into the place of the first pair
// of each part in each bucket. It returns the groups that are stored: small ones, each
// sorted by one worker, and the few that are more than a worker's share of the work.
func (l *longSort) groups(counts [][simd.BucketCount]int) (small, large []group) {
	at, most := 0, l.groupLen()
	g := group{}
	add := func() {
		switch {
		case g.from == g.to || g.from >= l.places:
		case g.to-g.from > max(l.nr/8, most):
			large = append(large, g)
		default:
			small = append(small, g)
		}
		g.from = g.to
	}
	for b := range simd.BucketCount {
		for p := range counts {
			c := counts[p][b]
			counts[p][b] = at
			at += c
		}
		if at-g.from > most {
			add() // the buckets before this one
		}
		g.to = at
	}
	add()
	return small, large
}
