package sorts

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// Lists are sorted as by package slices, and equal elements keep their order.
func TestStable(t *testing.T) {
	type pair struct{ key, number int }
	compare := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 100 {
		list := make([]pair, n)
		for i := range list {
			list[i] = pair{r.IntN(1 + n/3), i}
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, compare)
		if Stable(list, compare); !slices.Equal(list, want) {
			t.Errorf("%d elements: %v, want %v", n, list, want)
		}
	}
}
