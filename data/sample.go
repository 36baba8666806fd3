package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
)

// Weighted returns a [Sampler] whose epochs have n examples drawn at random with
// replacement, example i with a probability proportional to weights[i], in batches of at
// most the given size. It panics unless weights are finite, none negative and one
// positive.
func Weighted(weights []float64, n, batch int, seed uint64) Sampler {
	checkBatch("Weighted", batch)
	if n < 0 {
		misuse("Weighted", "a negative number of examples", n)
	}
	sums := make([]float64, len(weights))
	total, last := 0.0, 0 // last has a weight above 0
	for i, w := range weights {
		if !(w >= 0) || math.IsInf(w, 1) {
			misuse("Weighted", fmt.Sprintf("the weight of example %d is %v, want a finite number that is not negative", i, w))
		}
		if total += w; w > 0 {
			last = i
		}
		sums[i] = total
	}
	if !(total > 0) || math.IsInf(total, 1) {
		misuse("Weighted", fmt.Sprintf("the sum of the weights is %v, want a finite number above 0", total))
	}
	return func(epoch int) [][]int {
		rng := rand.New(rand.NewPCG(seed, uint64(epoch)+1))
		order := numbers(n)
		for k := range order {
			x := rng.Float64() * total
			i := sort.Search(len(sums), func(i int) bool { return sums[i] > x })
			order[k] = min(i, last) // x may be rounded up to total
		}
		return chunks(order, batch)
	}
}

// bucketBatches is the number of batches that ByLength sorts by length together.
const bucketBatches = 50

// ByLength returns a [Sampler] whose batches have examples of similar lengths, so that
// little is wasted on padding: it shuffles the examples, sorts 50 batches at a time by
// length, and shuffles the batches. lengths has the length of each example.
func ByLength(lengths []int, batch int, seed uint64) Sampler {
	checkBatch("ByLength", batch)
	for i, n := range lengths {
		if n < 0 {
			misuse("ByLength", fmt.Sprintf("the length of example %d is %d", i, n))
		}
	}
	lengths = slices.Clone(lengths)
	return func(epoch int) [][]int {
		order := shuffled(len(lengths), seed, uint64(epoch)+1)
		var batches [][]int
		for _, bucket := range chunks(order, bucketBatches*min(batch, len(order))) {
			slices.SortStableFunc(bucket, func(i, j int) int { return lengths[i] - lengths[j] })
			batches = append(batches, chunks(bucket, batch)...)
		}
		rng := rand.New(rand.NewPCG(^seed, uint64(epoch)+1))
		rng.Shuffle(len(batches), func(i, j int) { batches[i], batches[j] = batches[j], batches[i] })
		return batches
	}
}

func checkBatch(op string, batch int) {
	if batch < 1 {
		misuse(op, "want a batch of at least 1 example", batch)
	}
}

// A Fold is a division of a set for cross-validation.
type Fold[T any] struct{ Train, Test Set[T] }

// KFold divides a set into k parts at random, of sizes that differ by 1 at most, and
// returns k folds: each has one part as its Test and the others as its Train. Examples keep
// their order. It panics unless 2 ≤ k ≤ the number of examples.
func KFold[T any](s Set[T], k int, seed uint64) []Fold[T] {
	given("KFold", s != nil)
	n := lengthOf("KFold", s)
	if k < 2 || k > n {
		misuse("KFold", fmt.Sprintf("%d folds of %d examples: want at least 2, and no more than there are examples", k, n))
	}
	order := shuffled(n, seed, 0)
	folds := make([]Fold[T], k)
	for i := range folds {
		from, to := i*n/k, (i+1)*n/k
		test := slices.Clone(order[from:to])
		train := slices.Concat(order[:from], order[to:])
		slices.Sort(test)
		slices.Sort(train)
		folds[i] = Fold[T]{Train: subset[T]{s, train}, Test: subset[T]{s, test}}
	}
	return folds
}
