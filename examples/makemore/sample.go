package main

import (
	"slices"
	"strings"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// maxLen is the number of symbols at which sample cuts a name of a model that sees only a
// part of it.
const maxLen = 30

// sample draws n names, all together, a symbol at a time. A model with logits for each
// position reads the symbols so far, filled up to its length of time, so that all steps
// have one shape; any other reads the last symbols.
func sample(m nn.Layer, rng *tensor.RNG, time int, positions bool, n int) ([]string, error) {
	limit := maxLen
	if positions {
		limit = time
	}
	rows := make([][]int32, n) // the symbols so far, after as many dots as a context has
	list := make([]string, n)
	for i := range rows {
		rows[i] = make([]int32, time)
	}
	unfinished := func(name string) bool { return !strings.Contains(name, ".") }
	for at := 0; at < limit && slices.ContainsFunc(list, unfinished); at++ {
		var x []int32
		for _, row := range rows {
			if positions { // the last dot before the name, the name, anything
				row = append(slices.Clone(row[time-1:]), make([]int32, time)...)[:time]
			} else {
				row = row[len(row)-time:]
			}
			x = append(x, row...)
		}
		logits := m.Apply(tensor.New(x, n, time))
		if positions {
			logits = logits.Take(1, tensor.New([]int32{int32(at)})).Squeeze(1) // a tensor: one plan for all positions
		}
		next, err := tensor.Data[int32](rng.Categorical(logits.Softmax(-1)))
		if err != nil {
			return nil, err
		}
		for i, s := range next {
			rows[i] = append(rows[i], s)
			list[i] += names.Alphabet[s : s+1]
		}
	}
	for i := range list { // cut the symbols drawn after the end
		list[i], _, _ = strings.Cut(list[i], ".")
	}
	return list, nil
}
