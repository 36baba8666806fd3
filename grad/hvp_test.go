package grad_test

import (
	"fmt"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A Hessian-vector product, three ways.
func ExampleHVP() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	x, v := tensor.New([]float32{1, 2}), tensor.New([]float32{1, 0})
	_, hv := grad.JVP(grad.Of(f), x, v) // forward over reverse
	fmt.Println(hv, grad.HVP(f, x, v), grad.Hessian(f)(x).MatMul(v))
	// Output: [6 0] [6 0] [6 0]
}

// hvp takes second derivatives along a direction, of a function and of a
// model, as a user writes it.
func hvp() {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	x, v, rng := tensor.New([]float32{1, 2}), tensor.New([]float32{1, 0}), tensor.NewRNG(1)
	_, hv := grad.JVP(grad.Of(f), x, v) // forward over reverse
	fmt.Println(hv, grad.HVP(f, x, v), grad.Hessian(f)(x).MatMul(v), grad.Of(grad.Of(tensor.Tensor.Tanh))(tensor.Scalar(2)))
	m, in, y := nn.NewLinear(rng, 4, 3), rng.Normal(8, 4), rng.Ints(3, 8) // and over a model
	loss := func(m nn.Linear) tensor.Tensor { return nn.CrossEntropy(m.Apply(in), y).Mean() }
	dir := tree.Map(m, func(_ string, t tensor.Tensor) tensor.Tensor { return rng.Normal(t.Shape()...) })
	fmt.Println(grad.HVP(loss, m, dir).Weight)
}

func TestHVPProgram(t *testing.T) { hvp() }

// The product along a direction is the change of the gradient.
func TestHVPOfModel(t *testing.T) {
	rng := tensor.NewRNG(1)
	m, in, y := nn.NewLinear(rng, 4, 3), rng.Normal(8, 4), rng.Ints(3, 8)
	m, in = tree.Cast(m, tensor.Float64), in.Cast(tensor.Float64)
	loss := func(m nn.Linear) tensor.Tensor { return nn.CrossEntropy(m.Apply(in), y).Mean() }
	dir := tree.Map(m, func(_ string, t tensor.Tensor) tensor.Tensor { return rng.Normal(t.Shape()...).Cast(tensor.Float64) })
	const h = 1e-5
	at := func(by float64) nn.Linear {
		return tree.Zip(m, dir, func(_ string, x, v tensor.Tensor) tensor.Tensor { return x.Add(v.Mul(by)) })
	}
	up, down := grad.Of(loss)(at(h)), grad.Of(loss)(at(-h))
	got := grad.HVP(loss, m, dir)
	for name, pair := range map[string][2]tensor.Tensor{
		"weight": {got.Weight, up.Weight.Sub(down.Weight).Mul(1 / (2 * h))},
		"bias":   {got.Bias, up.Bias.Sub(down.Bias).Mul(1 / (2 * h))},
	} {
		if ok, err := tensor.AllClose(pair[0], pair[1], 1e-6, 1e-8); err != nil || !ok {
			t.Errorf("%s: got %v, want %v by finite differences (%v)", name, pair[0], pair[1], err)
		}
	}
}
