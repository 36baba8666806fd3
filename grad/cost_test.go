package grad_test

import (
	"testing"

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

// Value and gradient of 50 layers take three times the operations of the value, three
// products of matrices for one, and six times the memory traffic: the forward pass also
// stores operands of GELU's derivative, and the backward pass reads them.
func TestCostOfGradient(t *testing.T) {
	if testing.Short() {
		t.Skip("computes a deep network")
	}
	net := network(50, 128)
	x := tensor.NewRNG(2).Normal(512, 128)
	if err := tensor.Eval(net, x); err != nil {
		t.Fatal(err)
	}
	loss := func(d deep) tensor.Tensor { return d.apply(x).Square().Mean() }
	flops, bytes := cost(t, func() error { return tensor.Eval(loss(net)) })
	gradFLOPs, gradBytes := cost(t, func() error {
		value, g := grad.ValueAndGrad(loss)(net)
		return tensor.Eval(value, g)
	})
	t.Logf("value and gradient take %.2f times the value's operations and %.2f times its traffic", gradFLOPs/flops, gradBytes/bytes)
	if gradFLOPs > 3.1*flops {
		t.Errorf("value and gradient take %.3g operations, the value %.3g: %.2f times as many, want 3", gradFLOPs, flops, gradFLOPs/flops)
	}
	if gradBytes > 6.1*bytes {
		t.Errorf("value and gradient move %.3g bytes, the value %.3g: %.2f times as many, want at most 6", gradBytes, bytes, gradBytes/bytes)
	}
}

// cost returns the arithmetic operations and the bytes of the kernels that f runs.
func cost(t *testing.T, f func() error) (flops, bytes float64) {
	trace := tensor.Profile(func() {
		if err := f(); err != nil {
			t.Fatal(err)
		}
	})
	for _, k := range trace.Kernels {
		flops += float64(k.FLOPs)
		bytes += float64(k.Bytes)
	}
	return flops, bytes
}

// The gradient of a softmax reads its result and no other matrix of the forward pass.
func TestCostOfSoftmaxGradient(t *testing.T) {
	const rows, columns, width = 64, 96, 32
	rng := tensor.NewRNG(1)
	x, v := rng.Normal(rows, columns), rng.Normal(columns, width)
	if err := tensor.Eval(x, v); err != nil {
		t.Fatal(err)
	}
	_, bytes := cost(t, func() error {
		return tensor.Eval(grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Softmax(-1).MatMul(v).Square().Sum() })(x))
	})
	// Four kernels: the softmax, the product, the gradient of the weights, the gradient of x.
	scores, values, results := rows*columns, columns*width, rows*width
	if want := 4 * (2*scores + (scores + values + results) + (results + values + scores) + 3*scores); bytes != float64(want) {
		t.Errorf("value and gradient move %v bytes, want %d", bytes, want)
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
