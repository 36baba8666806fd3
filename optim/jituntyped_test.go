package optim_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// Untyped constants in a batch and in a model have the digits that they have without Jit.
func TestJitUntyped(t *testing.T) {
	type model struct{ W, Bias tensor.Tensor }
	type batch struct{ X, Factor tensor.Tensor }
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		loss := func(m model, b batch, _ *tensor.RNG) (tensor.Tensor, model) {
			return b.X.Mul(m.W).Mul(b.Factor).Add(m.Bias.Cast(d)).Sub(1).Square().Sum(), m
		}
		var runs, plain int
		count := func(n *int) func(model, batch, *tensor.RNG) (tensor.Tensor, model) {
			return func(m model, b batch, r *tensor.RNG) (tensor.Tensor, model) { *n++; return loss(m, b, r) }
		}
		newModel := func() model { return model{tensor.OnesOf(d, 2), tensor.Full(0.1, 2)} }
		x := tensor.New([]float64{1, 3}).Cast(d)
		steps := func(step func(m *model, b batch, rng *tensor.RNG) (tensor.Tensor, error)) (text string) {
			m := newModel()
			for i := range 6 {
				l, err := step(&m, batch{x, tensor.Full(0.1 / float64(i+1))}, nil)
				if err != nil {
					t.Fatal(err)
				}
				text += fmt.Sprintf("%v %v %v: %v %v %v\n", l.DType(), m.W.DType(), m.Bias.DType(), exact(t, l), exact(t, m.W), exact(t, m.Bias))
			}
			return text
		}
		a := optim.Optimizer{Rule: optim.Adam{}, LR: 0.1}
		got := steps(optim.Jit(&a, count(&runs)))
		b := optim.Optimizer{Rule: optim.Adam{}, LR: 0.1}
		want := steps(func(m *model, x batch, rng *tensor.RNG) (tensor.Tensor, error) {
			l, next, g := optim.ValueAndGradAux(&b, func(m model) (tensor.Tensor, model) { return count(&plain)(m, x, rng) })(*m)
			err := b.Step(&next, g)
			*m = next
			return l, err
		})
		if got != want {
			t.Errorf("%v: steps of Jit\n%s, without\n%s", d, got, want)
		}
		if runs >= plain {
			t.Errorf("%v: the loss ran %d times in %d steps", d, runs, plain)
		}
	}
}

// exact returns the elements of x in its own type.
func exact(t *testing.T, x tensor.Tensor) []float64 {
	data, err := tensor.Data[float64](x.Cast(x.DType()).Cast(tensor.Float64))
	if err != nil {
		t.Fatal(err)
	}
	return data
}
