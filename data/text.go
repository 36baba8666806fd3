package data

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/tensorken/tensorken/internal/files"
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

// Lines returns the stream of the lines of text files, one file after the other, without
// their ends. Errors name the file.
func Lines(paths ...string) Stream[string] {
	return func(context.Context, int) iter.Seq2[string, error] {
		return func(yield func(string, error) bool) {
			for _, path := range paths {
				for l, err := range linesOf(path) {
					if !yield(l.text, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// JSONLines returns the stream of values of type T that files have as JSON, one a line;
// empty lines are skipped. See package encoding/json for how fields of T are named; a
// tensor is an object of shape and values. Errors name file and line.
func JSONLines[T any](paths ...string) Stream[T] {
	return func(context.Context, int) iter.Seq2[T, error] {
		return func(yield func(T, error) bool) {
			for _, path := range paths {
				for l, err := range linesOf(path) {
					if err == nil && strings.TrimSpace(l.text) == "" {
						continue
					}
					var x T
					if err == nil {
						if err = json.Unmarshal([]byte(l.text), &x); err != nil {
							err = fmt.Errorf("%s:%d: %w", path, l.number, err)
						}
					}
					if !yield(x, err) || err != nil {
						return
					}
				}
			}
		}
	}
}

// A line is a line of a file, counted from 1.
type line struct {
	text   string
	number int
}

// linesOf yields the lines of a file.
func linesOf(path string) iter.Seq2[line, error] {
	return func(yield func(line, error) bool) {
		f, err := files.Open(path)
		if err != nil {
			yield(line{}, fmt.Errorf("%s: %w", path, files.Reason(err)))
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<16)
		for n := 1; ; n++ {
			text, err := r.ReadString('\n')
			if err == io.EOF && text == "" {
				return
			}
			if err != nil && err != io.EOF {
				yield(line{}, fmt.Errorf("%s:%d: %w", path, n, files.Reason(err)))
				return
			}
			text = strings.TrimSuffix(strings.TrimSuffix(text, "\n"), "\r")
			if !yield(line{text, n}, nil) {
				return
			}
		}
	}
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
