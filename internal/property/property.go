// Package property checks properties in tests: a property is a function that draws its input, and
// Check calls it with a hundred inputs. The input of a failure is printed.
//
// It is a package of ours so that programs that import tensor and grad have no module in
// their go.sum that only tests need.
package property

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// T is a test of one input.
type T struct {
	testing.TB
	source *rand.Rand
	drawn  strings.Builder
}

// Check calls a property with a hundred inputs, with -short a third of them, the same ones each time. It stops
// at the first input that fails.
func Check(t testing.TB, property func(t *T)) {
	t.Helper()
	inputs := uint64(100)
	if testing.Short() {
		inputs /= 3
	}
	for seed := range inputs {
		if check(t, seed, property); t.Failed() {
			return
		}
	}
}

// Fuzz is a property for a fuzz test, whose input is the seed of the draws.
func Fuzz(property func(t *T)) func(t *testing.T, seed uint64) {
	return func(t *testing.T, seed uint64) { check(t, seed, property) }
}

func check(t testing.TB, seed uint64, property func(t *T)) {
	d := &T{TB: t, source: rand.New(rand.NewPCG(seed, 0))}
	defer func() {
		if d.Failed() {
			t.Logf("seed %d drew%s", seed, d.drawn.String())
		}
	}()
	property(d)
}

// A Source is a distribution of inputs.
type Source[V any] func(r *rand.Rand) V

// Draw returns the next input, which has a name where a failure is printed.
func (s Source[V]) Draw(t *T, name string) V {
	v := s(t.source)
	fmt.Fprintf(&t.drawn, " %s=%v", name, v)
	return v
}

// IntRange has the integers from least to most.
func IntRange(least, most int) Source[int] {
	return func(r *rand.Rand) int { return least + r.IntN(most-least+1) }
}

// Bool has false and true.
func Bool() Source[bool] { return SampledFrom([]bool{false, true}) }

// SampledFrom has the elements of a slice.
func SampledFrom[V any](values []V) Source[V] {
	return func(r *rand.Rand) V { return values[r.IntN(len(values))] }
}

// SliceOfN has slices of least to most elements.
func SliceOfN[V any](element Source[V], least, most int) Source[[]V] {
	return func(r *rand.Rand) []V {
		values := make([]V, IntRange(least, most)(r))
		for i := range values {
			values[i] = element(r)
		}
		return values
	}
}

// Permutation has the orders of a slice.
func Permutation[V any](values []V) Source[[]V] {
	return func(r *rand.Rand) []V {
		order := slices.Clone(values)
		r.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		return order
	}
}
