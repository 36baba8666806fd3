package data_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/tensor"
)

// The parts of ranks are together the batches of one loader: each example once, changed as it would be there.
func TestParts(t *testing.T) {
	numbers := make([]float32, 23)
	for i := range numbers {
		numbers[i] = float32(i)
	}
	for name, loader := range map[string]data.Loader[tensor.Tensor]{
		"set":     {Set: data.Of(tensor.New(numbers)), Batch: 10, Shuffle: true, Seed: 2},
		"workers": {Set: data.Of(tensor.New(numbers)), Batch: 10, Shuffle: true, Seed: 2, Workers: 2},
		"stream":  {Stream: data.StreamOf(data.Of(tensor.New(numbers))), Batch: 10},
		"augment": {Set: data.Of(tensor.New(numbers)), Batch: 10, Augment: func(x tensor.Tensor, rng *rand.Rand) (tensor.Tensor, error) {
			return x.Add(rng.Float32()), nil
		}},
	} {
		all := func(rank, ranks int) (batches [][]float32) {
			l := loader
			l.Rank, l.Ranks = rank, ranks
			for x, err := range l.All(context.Background()) {
				if err != nil {
					t.Fatal(err)
				}
				got, err := tensor.Data[float32](x)
				if err != nil {
					t.Fatal(err)
				}
				mine, whole := l.Share()
				if n := []int{10, 10, 3}[len(batches)]; whole != n || len(got) != max(mine, 1) {
					t.Errorf("%s: rank %d of %d has %d examples, of which %d count, of %d; want %d", name, rank, ranks, len(got), mine, whole, n)
				}
				batches = append(batches, got[:mine])
			}
			return batches
		}
		want := all(0, 0)
		for _, ranks := range []int{1, 3, 4} {
			got := make([][]float32, len(want))
			for rank := range ranks {
				for i, part := range all(rank, ranks) {
					got[i] = append(got[i], part...)
				}
			}
			for i := range want {
				if !slices.Equal(got[i], want[i]) {
					t.Errorf("%s: batch %d of %d ranks is %v, want %v", name, i, ranks, got[i], want[i])
				}
			}
		}
	}
	defer func() {
		if text := fmt.Sprint(recover()); text == "<nil>" {
			t.Error("rank 3 of 3 is accepted")
		}
	}()
	l := data.Loader[tensor.Tensor]{Set: data.Of(tensor.New(numbers)), Batch: 10, Rank: 3, Ranks: 3}
	l.Steps()
}
