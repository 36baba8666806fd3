package tensor_test

import (
	"regexp"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

type points [2]tensor.Tensor

// distances is Cdist for p = 2.
func distances(p points) tensor.Tensor { return p[0].Cdist(p[1], 2) }

// differences is distances, with the derivatives of differences.
func differences(p points) tensor.Tensor {
	x, y := p[0], p[1]
	return x.Unsqueeze(-2).Sub(y.Unsqueeze(-3)).Norm(-1).Squeeze(-1)
}

// The gradient of distances stores no differences, of which there are 3 GiB.
func TestCdistGradientMoves(t *testing.T) {
	rng := tensor.NewRNG(1)
	p := points{rng.Normal(1024, 768), rng.Normal(1024, 768)}
	if err := tensor.Eval(p); err != nil {
		t.Fatal(err)
	}
	text := tensor.Explain(grad.Of(func(p points) tensor.Tensor { return distances(p).Sum() })(p))
	if !regexp.MustCompile(`kernels, [0-9]{1,2} MiB moved`).MatchString(text) {
		t.Errorf("the gradient of distances moves 100 MiB or more:\n%s", text)
	}
}

func TestCdistDerivatives(t *testing.T) {
	rng := tensor.NewRNG(1)
	normal := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Cast(tensor.Float64) }
	weights := normal(2, 3, 4, 5)
	at := points{normal(2, 1, 4, 6), normal(3, 5, 6)}
	loss := func(f func(points) tensor.Tensor) func(points) tensor.Tensor {
		return func(p points) tensor.Tensor { return f(p).Mul(weights).Sum() }
	}
	close := func(name string, got, want tensor.Tensor, tol float64) {
		t.Helper()
		if ok, err := tensor.AllClose(got, want, tol, tol); err != nil || !ok {
			t.Errorf("%s is %v, want %v (%v)", name, got, want, err)
		}
	}
	got, want := grad.Of(loss(distances))(at), grad.Of(loss(differences))(at)
	close("the gradient by x", got[0], want[0], 1e-12)
	close("the gradient by y", got[1], want[1], 1e-12)
	gradtest.Check(t, distances, at, 3)
	gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return x.Cdist(at[1], 2) }, at[0], 2)
	gradtest.Check(t, func(y tensor.Tensor) tensor.Tensor { return at[0].Cdist(y, 2) }, at[1], 2)
	gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return x.Cdist(x.Mul(2), 2) }, at[0], 2)
	again := grad.Of(grad.Checkpoint(loss(distances)))(at)
	close("the gradient of a checkpoint", again[0], want[0], 1e-12)

	one := func(x tensor.Tensor) tensor.Tensor { return x.Cdist(at[1].Slice(0, 0, 1).Squeeze(0), 2) }
	ofOne := grad.Of(func(x tensor.Tensor) tensor.Tensor { return one(x).Square().Mul(x.Slice(0, 0, 1).Sum()).Sum() })
	batch := at[0].Squeeze(1)
	rows := batch.Unstack(0)
	close("the gradient of a batch", grad.Vmap(ofOne)(batch), tensor.Stack(0, ofOne(rows[0]), ofOne(rows[1])), 1e-12)

	// Distances that are small beside the points.
	far := points{at[0].Add(1e4).Cast(tensor.Float32), at[1].Add(1e4).Cast(tensor.Float32)}
	exact := grad.Of(loss(differences))(points{far[0].Cast(tensor.Float64), far[1].Cast(tensor.Float64)})
	weights = weights.Cast(tensor.Float32)
	near := grad.Of(loss(distances))(far)
	close("the gradient by x far away", near[0].Cast(tensor.Float64), exact[0], 1e-5)
	close("the gradient by y far away", near[1].Cast(tensor.Float64), exact[1], 1e-5)
}

// Equal points have derivatives of 0, of all orders, also among others.
func TestCdistOfEqualPoints(t *testing.T) {
	x := tensor.New([]float64{1, 2, 0, 0, 0, 4, 6, 0, 0, 0}).Reshape(2, 5)
	y := x // a constant inside functions of x
	f := func(x tensor.Tensor) tensor.Tensor { return x.Cdist(x, 2).Sum() }
	self := grad.Of(func(x tensor.Tensor) tensor.Tensor {
		return x.Cdist(y, 2).Sum()
	})
	run(t, []check{
		{"gradient", self(x), tensor.Float64, []int{2, 5}, []float64{-0.6, -0.8, 0, 0, 0, 0.6, 0.8, 0, 0, 0}},
		{"gradient by both", grad.Of(f)(x), tensor.Float64, []int{2, 5}, []float64{-1.2, -1.6, 0, 0, 0, 1.2, 1.6, 0, 0, 0}},
		{"second derivative", grad.Of(func(x tensor.Tensor) tensor.Tensor { return grad.Of(f)(x).Slice(1, 0, 1).Sum() })(x), tensor.Float64, []int{2, 5}, make([]float64, 10)},
		{"half", grad.Of(f)(x.Cast(tensor.Float16)), tensor.Float16, []int{2, 5}, []float64{-1.2001953125, -1.599609375, 0, 0, 0, 1.2001953125, 1.599609375, 0, 0, 0}},
	})
}

// Distances that no derivative is asked for hold no points.
func TestCdistHoldsNoPoints(t *testing.T) {
	x := tensor.Ones(4, 1<<16).Add(1)
	before := tensor.Info().Held
	for range 100 {
		x = tensor.Scope(func() tensor.Tensor { return computed(x.Add(x.Cdist(x, 2).Sum())) })
		tensor.Donate(x)
	}
	if held := tensor.Info().Held - before; held > 4*mib {
		t.Errorf("%d MiB are held after a loop over points of 1 MiB", held/mib)
	}
}
