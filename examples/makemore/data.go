package main

import (
	"math/rand/v2"
	"strings"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/tensor"
)

// symbols is the number of letters and the dot, which starts and ends a name.
const symbols = len(names.Alphabet)

// padding is the label of positions after the end of a name. It has no loss.
const padding = -1

// A dataset is a list of names, in the lectures' parts: 80 % to train with, 10 % to
// choose settings by, 10 % for the last test.
type dataset struct {
	train, dev, test []string
	longest          int // letters of the longest name
}

// split shuffles a list of at least three names, and splits it.
func split(list []string, seed uint64) dataset {
	shuffled := make([]string, len(list))
	d := dataset{}
	for i, k := range rand.New(rand.NewPCG(seed, 0)).Perm(len(list)) {
		shuffled[i] = list[k]
		d.longest = max(d.longest, len(list[k]))
	}
	part := max(len(list)/10, 1)
	d.train, d.dev, d.test = shuffled[2*part:], shuffled[:part], shuffled[part:2*part]
	return d
}

// examples are the data that a model learns from, or a batch of them.
type examples struct {
	X tensor.Tensor // symbols, int32 [n time]
	Y tensor.Tensor // the symbol after them, int32 [n]; or the one after each, [n time]
}

// contexts returns an example for each symbol of the names: the symbols before it, as many
// as a model sees. Dots fill up the first contexts of a name. With three symbols "eve" has
// the examples ... e, ..e v, .ev e and eve . (with e, v, e and the dot as labels).
func contexts(list []string, time int) examples {
	var x, y []int32
	for _, name := range list {
		context := make([]int32, time)
		for _, s := range append(numbers(name), 0) {
			x, y = append(x, context...), append(y, s)
			context = append(context[1:], s)
		}
	}
	return examples{tensor.New(x, len(y), time), tensor.New(y)}
}

// sequences returns an example for each name. The labels are the name and a dot, the
// inputs are the same, one position later, and both are filled up to a length of time.
func sequences(list []string, time int) examples {
	var x, y []int32
	for _, name := range list {
		input, label := make([]int32, time), make([]int32, time)
		n := copy(label, append(numbers(name), 0))
		copy(input[1:], numbers(name))
		for i := n; i < time; i++ {
			label[i] = padding
		}
		x, y = append(x, input...), append(y, label...)
	}
	return examples{tensor.New(x, len(list), time), tensor.New(y, len(list), time)}
}

// numbers returns the numbers of a name's letters.
func numbers(name string) []int32 {
	n := make([]int32, len(name))
	for i := range n {
		n[i] = int32(strings.IndexByte(names.Alphabet, name[i]))
	}
	return n
}
