package grad_test

import (
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// Gradients of slices are right where they meet, leave gaps and go along several
// axes.
func TestSlices(t *testing.T) {
	x := tensor.NewRNG(1).Normal(3, 10)
	type slice struct{ axis, start, stop int }
	for name, slices := range map[string][]slice{
		"all parts":    {{1, 0, 4}, {1, 4, 7}, {1, 7, 10}},
		"any order":    {{1, 7, 10}, {1, 0, 4}, {1, 4, 7}},
		"gaps":         {{1, 1, 2}, {1, 4, 5}, {1, 7, 9}},
		"overlaps":     {{1, 0, 6}, {1, 4, 8}, {1, 5, 10}, {1, 0, 2}},
		"the same":     {{1, 2, 5}, {1, 2, 5}, {1, 2, 5}},
		"two axes":     {{0, 0, 1}, {1, 0, 4}, {0, 1, 3}, {1, 4, 10}},
		"and the rest": {{1, 0, 3}, {1, 0, 10}, {1, 3, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor {
				sum := tensor.Scalar(0)
				for i, s := range slices {
					sum = sum.Add(x.Slice(s.axis, s.start, s.stop).Mul(float64(i + 1)).Sin().Sum())
				}
				return sum
			}, x, 2)
		})
	}
}

// So they are where slices are of several axes or have steps.
func TestSlicesOfSeveralAxes(t *testing.T) {
	x := tensor.NewRNG(1).Normal(5, 6)
	all, end, span := tensor.All, tensor.End, tensor.Span
	for name, slices := range map[string][][]any{
		"cells":                {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {4, 5}},
		"a diagonal":           {{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}},
		"tiles":                {{span(0, 2), span(0, 3)}, {span(0, 2), span(3, 6)}, {span(2, 4), span(0, 3)}, {span(2, 4), span(3, 6)}},
		"a wall":               {{span(0, 2), span(0, 3)}, {span(0, 2), span(3, 6)}, {span(2, 5), span(0, 2)}, {span(2, 5), span(2, 6)}},
		"tiles that overlap":   {{span(0, 3), span(0, 4)}, {span(1, 4), span(2, 6)}, {span(2, 5), span(0, 4)}, {span(3, 5), span(4, 6)}},
		"triangles":            {{0, span(0, 1)}, {1, span(0, 2)}, {2, span(0, 3)}, {span(0, 1), 4}, {span(0, 2), 5}},
		"even and odd columns": {{all, span(0, end, 2)}, {all, span(1, end, 2)}},
		"every fourth column":  {{all, span(0, end, 4)}, {all, span(1, end, 4)}, {all, span(2, end, 4)}, {all, span(3, end, 4)}},
		"steps along both":     {{span(0, end, 2), span(0, end, 3)}, {span(1, end, 2), span(0, end, 3)}, {span(1, end, 2), span(2, end, 3)}},
		"several steps":        {{all, span(0, end, 2)}, {all, span(1, end, 3)}, {span(1, end, 2)}, {1}, {all, span(3, end, 2)}},
		"back":                 {{all, span(-1, end, -2)}, {all, span(-2, end, -2)}},
		"with nothing":         {{span(2, 2)}, {0}, {1}, {all, span(3, 3)}},
	} {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor {
				sum := tensor.Scalar(0)
				for i, s := range slices {
					sum = sum.Add(x.Index(s...).Mul(float64(i + 1)).Sin().Sum())
				}
				return sum
			}, x, 2)
		})
	}
}

// The gradients of slices that do not overlap are stored side by side and not each in a
// tensor of zeros: with the slices themselves they cost a few passes over the whole.
func TestSlicesAreLinear(t *testing.T) {
	if testing.Short() {
		t.Skip("times many slices")
	}
	const n, width = 128, 16
	type slicing struct {
		shape []int
		slice func(x tensor.Tensor, i int) tensor.Tensor // the i-th of n
	}
	span := tensor.Span
	for name, c := range map[string]slicing{
		"steps of a sequence": {
			[]int{2, n, width},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(tensor.All, i) },
		},
		"a ring of eight": {
			[]int{8, n, width},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(i%8, i) },
		},
		"every n-th": {
			[]int{2, n * width},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(tensor.All, span(i, tensor.End, n)) },
		},
		"every n-th, of a length that n does not divide": {
			[]int{2, n*width - 1},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(tensor.All, span(i, n*(width-1), n)) },
		},
		"every other of a row": {
			[]int{n, 2 * width},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(i, span(1, tensor.End, 2)) },
		},
		"tiles": {
			[]int{8 * 4, n / 8 * 4},
			func(x tensor.Tensor, i int) tensor.Tensor {
				r, c := 4*(i%8), 4*(i/8)
				return x.Index(span(r, r+4), span(c, c+4))
			},
		},
		"cells": {
			[]int{8, n / 8},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.At(i%8, i/8) },
		},
		"a diagonal of tiles": {
			[]int{4 * 8, 4 * 8, n / 8, 2},
			func(x tensor.Tensor, i int) tensor.Tensor {
				d := 4 * (i % 8)
				return x.Index(span(d, d+4), span(d, d+4), i/8)
			},
		},
		"columns that grow": { // of 8
			[]int{8, 8, n},
			func(x tensor.Tensor, i int) tensor.Tensor { return x.Index(span(0, i%8+1), i%8, span(i-i%8, i-i%8+8)) },
		},
	} {
		x := tensor.NewRNG(1).Normal(c.shape...)
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		trace := tensor.Profile(func() {
			h := tensor.Scalar(0)
			g := grad.Of(func(x tensor.Tensor) tensor.Tensor {
				for i := range n {
					h = h.Add(c.slice(x, i).Sin().Sum()).Tanh()
				}
				return h
			})(x)
			if err := tensor.Eval(g); err != nil {
				t.Fatal(err)
			}
		})
		var operations, bytes int
		for _, k := range trace.Kernels {
			operations += int(k.FLOPs)
			bytes += int(k.Bytes)
		}
		perElement, passes := float64(operations)/float64(x.Len()), float64(bytes)/float64(4*x.Len())
		t.Logf("%s of %v: %d kernels, %.1f operations for each element, %.1f passes", name, x.Shape(), len(trace.Kernels), perElement, passes)
		if perElement > 10 || passes > 10 {
			t.Errorf("%s of %v: %.1f operations for each element and %.1f passes, want at most 10", name, x.Shape(), perElement, passes)
		}
	}
}

// The steps of an LSTM, forward and back, share their programs: they differ only in the
// offsets at which they read and write.
func TestStepsShareProgram(t *testing.T) {
	const steps, in, hidden = 100, 4, 8
	c := drivertest.Oracle()
	d := tensor.NewDevice(c)
	defer d.Close()
	type lstm struct{ X, H, B tensor.Tensor }
	rng := tensor.NewRNG(1)
	draw := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).To(d) }
	x, m := draw(2, steps, in), lstm{draw(in, 4*hidden), draw(hidden, 4*hidden), draw(4 * hidden)}
	if err := tensor.Eval(x, m); err != nil {
		t.Fatal(err)
	}
	before := c.Compiled
	g := grad.Of(func(m lstm) tensor.Tensor {
		h, s := tensor.Zeros(2, hidden), tensor.Zeros(2, hidden)
		var out []tensor.Tensor
		for i := range steps {
			z := x.Index(tensor.All, i).MatMul(m.X).Add(h.MatMul(m.H)).Add(m.B).Split(1, hidden, hidden, hidden, hidden)
			s = z[0].Sigmoid().Mul(s).Add(z[1].Sigmoid().Mul(z[2].Tanh()))
			h = z[3].Sigmoid().Mul(s.Tanh())
			out = append(out, h)
		}
		return tensor.Stack(1, out...).Square().Sum()
	})(m)
	if err := tensor.Eval(g.X, g.H, g.B); err != nil {
		t.Fatal(err)
	}
	if n := c.Compiled - before; n >= 30 {
		t.Errorf("%d programs, want fewer than 30", n)
	}
}
