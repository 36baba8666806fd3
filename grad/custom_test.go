package grad_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func TestCheckpoint(t *testing.T) {
	w := f64(0.5, -0.25)
	layer := func(x tensor.Tensor) tensor.Tensor { return x.Mul(x).Sin().Mul(w).Tanh() }
	plain := func(x tensor.Tensor) tensor.Tensor { return layer(layer(layer(x))).Sum() }
	piece := grad.Checkpoint(layer)
	for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
		"pieces": func(x tensor.Tensor) tensor.Tensor { return piece(piece(piece(x))).Sum() },
		"whole":  grad.Checkpoint(plain),
		"nested": grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor {
			return piece(grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return piece(piece(x)) })(x)).Sum()
		}),
	} {
		x := f64(1, 2)
		check(t, name+": value", f(x), plain(x).Item())
		check(t, name+": gradient", grad.Of(f)(x), data(t, grad.Of(plain)(x))...)
		check(t, name+": second", derivative(f, 2)(x), data(t, derivative(plain, 2)(x))...)
		check(t, name+": hessian", grad.Hessian(f)(x), data(t, grad.Hessian(plain)(x))...)
		check(t, name+": jacfwd", grad.JacFwd(grad.JacFwd(f))(x), data(t, grad.Hessian(plain)(x))...)
		xs := tensor.New([]float64{1, 2, 3, 4, 5, 6}).Reshape(3, 2)
		check(t, name+": vmap", grad.Vmap(grad.Of(f))(xs), data(t, grad.Vmap(grad.Of(plain))(xs))...)
	}
	// Captured tensors are differentiated.
	captured := func(w tensor.Tensor) tensor.Tensor {
		return grad.Checkpoint(func(x tensor.Tensor) tensor.Tensor { return x.Mul(w).Sin().Sum() })(f64(1, 2))
	}
	check(t, "captured", grad.Of(captured)(w), math.Cos(0.5), 2*math.Cos(-0.5))
}

func TestCustom(t *testing.T) {
	log1pexp := grad.CustomJVP(
		func(x tensor.Tensor) tensor.Tensor { return x.Exp().Log1p() },
		func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
			return x.Exp().Log1p(), v.Mul(x.Neg().Exp().Add(1).Reciprocal())
		})
	x := f64(0, 1000)
	sum := func(x tensor.Tensor) tensor.Tensor { return log1pexp(x).Sum() }
	check(t, "CustomJVP reverse", grad.Of(sum)(x), 0.5, 1)
	_, d := grad.JVP(log1pexp, x, f64(2, 3))
	check(t, "CustomJVP forward", d, 1, 3)
	check(t, "CustomJVP second", derivative(log1pexp, 2)(f64(0)), 0.25)
	check(t, "CustomJVP vmap", grad.Vmap(grad.Of(sum))(tensor.New([]float64{0, 1000}).Reshape(2, 1)), 0.5, 1)

	type in struct{ A, B tensor.Tensor }
	f := grad.Custom(
		func(p in) tensor.Tensor { return p.A.Mul(p.B) },
		func(at in, out, ct tensor.Tensor) in { return in{ct.Mul(at.B).Mul(10), ct.Mul(at.A).Mul(100)} })
	at := in{f64(2, 3), f64(5, 7)}
	g := grad.Of(func(p in) tensor.Tensor { return f(p).Sum() })(at)
	check(t, "Custom.A", g.A, 50, 70)
	check(t, "Custom.B", g.B, 200, 300)
	b := f64(5, 7)
	shared := grad.Of(func(b tensor.Tensor) tensor.Tensor {
		return grad.Vmap(func(a tensor.Tensor) tensor.Tensor { return f(in{a, b}).Sum() })(tensor.New([]float64{1, 2, 3, 4}).Reshape(2, 2)).Sum()
	})
	check(t, "Custom of one batched argument", shared(b), 400, 600)
	err := tensor.Try(func() { grad.JVP(f, at, at) })
	if err == nil {
		t.Error("forward mode over Custom: no error")
	} else {
		t.Log(err)
	}
	stop := func(x tensor.Tensor) tensor.Tensor { return x.Mul(grad.StopGradient(x)).Sum() }
	check(t, "StopGradient", grad.Of(stop)(f64(3, 4)), 3, 4)
	_, d = grad.JVP(stop, f64(3, 4), f64(1, 1))
	check(t, "StopGradient forward", d, 7)
	check(t, "StopGradient vmap", grad.Vmap(grad.Of(stop))(tensor.New([]float64{3, 4}).Reshape(2, 1)), 3, 4)
}
