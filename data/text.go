package data

import (
	"fmt"

	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Slice returns the set of the elements of a Go slice, without a copy.
func Slice[T any](examples []T) Set[T] { return slice[T](examples) }

type slice[T any] []T

func (s slice[T]) Len() int { return len(s) }

func (s slice[T]) At(i int) (t T, err error) {
	if i < 0 || i >= len(s) {
		return t, outOfRange(i, len(s))
	}
	return s[i], nil
}

// A Window is an example of a language model: the tokens X [length], and Y [length], each
// the token after the one in X.
type Window struct{ X, Y tensor.Tensor }

// Windows returns the set of windows of a text, tokens of shape [n]: window i has the tokens
// from i·stride on. It panics if the text is shorter than length + 1.
func Windows(tokens tensor.Tensor, length, stride int) Set[Window] {
	switch {
	case tokens.Rank() != 1:
		misuse("Windows", "want tokens of one axis", tokens.Shape())
	case length < 1 || stride < 1:
		misuse("Windows", fmt.Sprintf("want a length and a stride of at least 1, not %d and %d", length, stride))
	case tokens.Dim(0) <= length:
		misuse("Windows", fmt.Sprintf("a window of %d tokens and the one after it need a longer text", length), tokens.Shape())
	}
	return windows{&column{tensor: tokens}, length, stride}
}

type windows struct {
	tokens         *column
	length, stride int
}

func (w windows) Len() int { return ir.CeilDiv(w.tokens.tensor.Dim(0)-w.length, w.stride) }

func (w windows) At(i int) (Window, error) {
	if i < 0 || i >= w.Len() {
		return Window{}, outOfRange(i, w.Len())
	}
	return w.cut([]int{i}, []int{w.length})
}

func (w windows) batch(index []int) (Window, error) {
	for _, i := range index {
		if i < 0 || i >= w.Len() {
			return Window{}, outOfRange(i, w.Len())
		}
	}
	return w.cut(index, []int{len(index), w.length})
}

// cut copies windows to new tensors on the host.
func (w windows) cut(index, shape []int) (out Window, err error) {
	starts := make([]int, len(index))
	for k, i := range index {
		starts[k] = i * w.stride
	}
	if out.X, err = w.tokens.rows(starts, w.length, shape); err != nil {
		return out, err
	}
	for k := range starts {
		starts[k]++
	}
	out.Y, err = w.tokens.rows(starts, w.length, shape)
	return out, err
}
