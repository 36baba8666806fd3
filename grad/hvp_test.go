package grad_test

import (
	"fmt"
	"math"
	"slices"
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

// The second derivatives of a function along a direction, and of a model.
func TestHVPProgram(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	x, v, rng := tensor.New([]float32{1, 2}), tensor.New([]float32{1, 0}), tensor.NewRNG(1)
	_, hv := grad.JVP(grad.Of(f), x, v) // forward over reverse
	got := fmt.Sprint(hv, grad.HVP(f, x, v), grad.Hessian(f)(x).MatMul(v))
	if want := "[6 0] [6 0] [6 0]"; got != want {
		t.Errorf("the Hessian's product with %v at %v, three ways: got %s, want %s", v, x, got, want)
	}
	second := grad.Of(grad.Of(tensor.Tensor.Tanh))(tensor.Scalar(2)).Item()
	if want := -0.1362187; math.Abs(second-want) > 1e-6 {
		t.Errorf("tanh'' at 2 = %v, want %v", second, want)
	}

	m, in, y := nn.NewLinear(rng, 4, 3), rng.Normal(8, 4), rng.Ints(3, 8)
	loss := func(m nn.Linear) tensor.Tensor { return nn.CrossEntropy(m.Apply(in), y).Mean() }
	dir := tree.Map(m, func(_ string, t tensor.Tensor) tensor.Tensor { return rng.Normal(t.Shape()...) })
	product := grad.HVP(loss, m, dir)
	if w := product.Weight; !slices.Equal(w.Shape(), m.Weight.Shape()) || w.Abs().Max().Item() == 0 {
		t.Errorf("the product with the Hessian of a model has the weight %v, want %v not of zeros", w, m.Weight.Shape())
	}
	// The Hessian is symmetric: u·(H·v) = v·(H·u).
	back, _ := tree.Ravel(grad.HVP(loss, m, m))
	u, _ := tree.Ravel(m)
	d, _ := tree.Ravel(dir)
	hd, _ := tree.Ravel(product)
	if a, b := u.Dot(hd), d.Dot(back); math.Abs(a.Item()-b.Item()) > 1e-5 {
		t.Errorf("u·(H·v) = %v and v·(H·u) = %v, want the same", a, b)
	}
}

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
