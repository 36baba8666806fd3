package main

import (
	"cmp"
	"os"
	"testing"

	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

func TestOutput(t *testing.T) { exampletest.Check(t, main) }

// open returns the device that TENSORKEN_DEVICE names, by default the CPU.
func open(t *testing.T) *tensor.Device {
	d, _, err := device.Open(cmp.Or(os.Getenv("TENSORKEN_DEVICE"), "cpu"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { d.Close() })
	return d
}

// noise is a signal of n channels, or for several lengths batches of them.
func noise(d *tensor.Device, lengths ...int) signal {
	rng := tensor.NewRNG(7)
	return tree.To(signal{rng.Uniform(lengths...), rng.Normal(lengths...)}, d)
}

// scanned is recur by grad.Scan, step by step.
func scanned(s signal) tensor.Tensor {
	_, h := grad.Scan(func(h tensor.Tensor, s signal) (tensor.Tensor, tensor.Tensor) {
		h = s.Decay.Mul(h).Add(s.Input)
		return h, h
	}, tensor.ZerosOf(tensor.Float32, s.Input.Dim(1)), s, nil)
	return h
}

func recurred(s signal) tensor.Tensor { return recur(s.Decay, s.Input) }

// near fails where two trees of tensors differ by more than rounding.
func near(t *testing.T, what string, a, b any) {
	t.Helper()
	x, _ := tree.Ravel(a)
	y, _ := tree.Ravel(b)
	if ok, err := tensor.AllClose(x, y, 1e-4, 1e-4); !ok || err != nil {
		t.Errorf("%s: %v and %v, error %v", what, x, y, err)
	}
}

func TestRecur(t *testing.T) {
	d := open(t)
	for _, lengths := range [][]int{{1, 1}, {9, 3}, {40, 130}} {
		near(t, "recur", recurred(noise(d, lengths...)), scanned(noise(d, lengths...)))
	}
	s := noise(d, 9, 3)
	loss := func(f func(signal) tensor.Tensor) func(signal) tensor.Tensor {
		return func(s signal) tensor.Tensor { return f(s).Sin().Sum() }
	}
	near(t, "the gradient", grad.Of(loss(recurred))(s), grad.Of(loss(scanned))(s))
	gradtest.Check(t, loss(recurred), s, 2)

	batch := noise(d, 4, 9, 3)
	near(t, "the gradients of a batch", grad.Vmap(grad.Of(loss(recurred)))(batch), grad.Vmap(grad.Of(loss(scanned)))(batch))

	jitted := grad.Jit(grad.Of(loss(recurred)))
	for range 3 {
		near(t, "the gradient, recorded", jitted(s), grad.Of(loss(scanned))(s))
	}
	scan := func(c tensor.Tensor, x signal) (tensor.Tensor, tensor.Tensor) {
		return recur(x.Decay, x.Input.Add(c)), x.Input
	}
	c := tensor.ZerosOf(tensor.Float32, 9, 3)
	got, _ := grad.Scan(scan, c, batch, nil)
	for i := range 4 {
		c = scanned(signal{batch.Decay.Index(i), batch.Input.Index(i).Add(c)})
	}
	near(t, "in a scan", got, c)
}
