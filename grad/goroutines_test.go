package grad_test

import (
	"sync"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// Derivatives of one function may be taken from many goroutines at once, and so may one
// pullback and one derivative of Linearize be called, although the first call stores
// residuals. The race detector looks on.
func TestGoroutines(t *testing.T) {
	a := f64(2, 3)
	f := func(x tensor.Tensor) tensor.Tensor { return grad.Checkpoint(tensor.Tensor.Square)(x.Mul(a)) }
	sum := func(x tensor.Tensor) tensor.Tensor { return f(x).Sum() }
	x, v := f64(1, 1), f64(1, 10)
	_, pull := grad.VJP(f, x)
	_, push := grad.Linearize(f, x)
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			check(t, "a pullback", pull(v), 8, 180)
			check(t, "a derivative of Linearize", push(v), 8, 180)
			check(t, "Vmap of a pullback", grad.Vmap(pull)(tensor.Eye(2).Cast(tensor.Float64)).Sum(0), 8, 18)
			check(t, "Of", grad.Of(sum)(x), 8, 18)
			check(t, "HVP", grad.HVP(sum, x, v), 8, 180)
			check(t, "Hessian", grad.Hessian(sum)(x).Sum(0), 8, 18)
		})
	}
	wait.Wait()
}
