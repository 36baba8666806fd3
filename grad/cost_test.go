package grad_test

import (
	"math"
	"testing"
	"time"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// network is n layers of a width, on the host's device.
func network(n, width int) deep {
	rng := tensor.NewRNG(1)
	net := make(deep, n)
	for i := range net {
		net[i] = nn.NewLinear(rng, width, width)
	}
	return net
}

// The nodes of a gradient are a fixed number for each of the function's.
func TestGradientIsLinear(t *testing.T) {
	x := tensor.NewRNG(1).Normal(8, 16)
	count := func(layers int) (forward, backward int) {
		net := network(layers, 16)
		loss, g := grad.ValueAndGrad(func(d deep) tensor.Tensor { return d.apply(x).Square().Mean() })(net)
		ns := []*graph.Node{}
		for _, l := range g {
			ns = append(ns, node(l.Weight), node(l.Bias))
		}
		return len(graph.Sorted([]*graph.Node{node(loss)})), len(graph.Sorted(ns))
	}
	f1, b1 := count(50)
	f2, b2 := count(100)
	if ratio := float64(b1) / float64(f1); ratio > 4 {
		t.Errorf("the gradient of %d nodes has %d, %.1f times as many", f1, b1, ratio)
	}
	if 10*b2 > 21*b1 {
		t.Errorf("the gradient of 50 layers has %d nodes, that of 100 layers %d (forward %d and %d)", b1, b2, f1, f2)
	}
}

// Value and gradient of 50 layers take at most four times what the value takes: three
// products of matrices for one, and the derivatives of the activations.
func TestCostOfGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	const most = 4
	net := network(50, 128)
	x := tensor.NewRNG(2).Normal(512, 128)
	loss := func(d deep) tensor.Tensor { return d.apply(x).Square().Mean() }
	forward := func() error { return tensor.Eval(loss(net)) }
	both := func() error {
		value, g := grad.ValueAndGrad(loss)(net)
		return tensor.Eval(value, g)
	}
	// Others may use the machine, so the least of several runs counts for each,
	// they take turns, and where they take too long they go on for a while.
	best := [2]time.Duration{math.MaxInt64, math.MaxInt64}
	for turn := 0; turn < 9 || turn < 60 && best[1] > most*best[0]; turn++ {
		for i, run := range []func() error{forward, both} {
			start := time.Now()
			if err := run(); err != nil {
				t.Fatal(err)
			}
			best[i] = min(best[i], time.Since(start))
		}
	}
	ratio := best[1].Seconds() / best[0].Seconds()
	t.Logf("value and gradient take %.2f times what the value takes (%v and %v)", ratio, best[1], best[0])
	if ratio > most {
		t.Errorf("value and gradient take %v, the value takes %v: %.2f times as long, want at most %d", best[1], best[0], ratio, most)
	}
}

// A Hessian is one batched pass, however many parameters there are.
func TestHessianIsOnePass(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum().Add(x.Sum().Square()) }
	const n = 1000
	x := tensor.Linspace(-1, 1, n)
	h := grad.Hessian(f)(x)
	small := grad.Hessian(f)(tensor.Linspace(-1, 1, 3))
	got, want := len(graph.Sorted([]*graph.Node{node(h)})), len(graph.Sorted([]*graph.Node{node(small)}))
	if got != want {
		t.Errorf("the Hessian for %d parameters has %d nodes, for 3 %d", n, got, want)
	}
	right := tensor.Eye(n).Mul(x.Mul(6)).Add(2)
	if ok, err := tensor.AllClose(h, right, 1e-5, 1e-5); err != nil || !ok {
		t.Errorf("the Hessian is wrong (%v)", err)
	}
}
