package grad_test

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// The kernels of a backward pass have the lines of the operations that it differentiates,
// here two layers, and a layer that is computed again.
func TestProfile(t *testing.T) {
	line := func() string {
		_, _, line, _ := runtime.Caller(1)
		return fmt.Sprintf("profile_test.go:%d", line+1)
	}
	rng := tensor.NewRNG(1)
	w := []tensor.Tensor{rng.Normal(30, 20), rng.Normal(20, 10)}
	x := rng.Normal(40, 30)
	if err := tensor.Eval(w, x); err != nil {
		t.Fatal(err)
	}
	var first, again, second, rest string
	loss := func(w []tensor.Tensor) tensor.Tensor {
		first = line()
		h := x.MatMul(w[0])
		again = line()
		h = grad.Checkpoint(func(h tensor.Tensor) tensor.Tensor { return h.Tanh() })(h)
		second = line()
		y := h.MatMul(w[1])
		rest = line()
		return y.Mul(y).Sum()
	}
	trace := tensor.Profile(func() {
		value, gradient := grad.ValueAndGrad(loss)(w)
		if err := tensor.Eval(value, gradient); err != nil {
			t.Fatal(err)
		}
	})
	count := map[string]int{}
	for _, k := range trace.Kernels {
		if k.Template == "contraction" {
			count[k.Site]++
		}
		if !slices.Contains([]string{first, again, second, rest}, k.Site) {
			t.Errorf("%s %s has line %s, want one of the loss", k.Template, k.Name, k.Site)
		}
	}
	// The first product and its gradient by w[0]; the second one's by w[1] and h.
	if len(count) != 2 || count[first] < 2 || count[second] != 3 {
		t.Errorf("the products are of lines %v, want 2 of %s and 3 of %s; in\n%v", count, first, second, trace)
	}
}

// Both kernels of a softmax have its line, forward and backward: its derivative is a rule of the library.
func TestProfileOfSoftmax(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, w := rng.Normal(40, 30), rng.Normal(30, 20)
	if err := tensor.Eval(x, w); err != nil {
		t.Fatal(err)
	}
	var softmax string
	gradient := grad.Of(func(x tensor.Tensor) tensor.Tensor {
		_, _, line, _ := runtime.Caller(0)
		p := x.Softmax(1)
		softmax = fmt.Sprintf("profile_test.go:%d", line+1)
		return p.MatMul(w).Square().Sum()
	})
	n := 0
	trace := tensor.Profile(func() {
		if err := tensor.Eval(gradient(x)); err != nil {
			t.Fatal(err)
		}
	})
	for _, k := range trace.Kernels {
		if k.Site == softmax {
			n++
		}
	}
	if n != 2 {
		t.Errorf("%d kernels are of %s, want 2; in\n%v", n, softmax, trace)
	}
}
