package grad_test

import (
	"fmt"
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

// The gradient of a slice for each step of a sequence is made in one pass: the
// parts are stored side by side and not each in a tensor of zeros.
func TestSlicesAreLinear(t *testing.T) {
	const steps = 64
	x := tensor.NewRNG(1).Normal(2, steps, 16)
	g := grad.Of(func(x tensor.Tensor) tensor.Tensor {
		h := tensor.Zeros(2, 16)
		for i := range steps {
			h = h.Add(x.Index(tensor.All, i)).Tanh()
		}
		return h.Sum()
	})(x)
	plan := tensor.Explain(g)
	var kernels int
	var moved float64                                                                                       // KiB
	if _, err := fmt.Sscanf(plan, "%d kernels, %f KiB moved", &kernels, &moved); err != nil || moved > 64 { // x has 8
		t.Errorf("a plan that moves more than 64 KiB (%v):\n%.1000s", err, plan)
	}
}

// The steps of an LSTM, forward and back, share their programs: what differs are
// the offsets at which they read and write.
func TestStepsShareProgram(t *testing.T) {
	const steps, in, hidden = 100, 4, 8
	c := drivertest.Oracle()
	d := tensor.NewDevice(c)
	defer d.Close()
	type lstm struct{ X, H, B tensor.Tensor }
	fill := func(shape ...int) tensor.Tensor { return tensor.Full(0.1, shape...).To(d) }
	x := tensor.NewRNG(1).Normal(2, steps, in).To(d)
	if err := tensor.Eval(x); err != nil {
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
	})(lstm{fill(in, 4*hidden), fill(hidden, 4*hidden), fill(4 * hidden)})
	if err := tensor.Eval(g.X, g.H, g.B); err != nil {
		t.Fatal(err)
	}
	if n := c.Compiled - before; n >= 30 {
		t.Errorf("%d programs, want fewer than 30", n)
	}
}
