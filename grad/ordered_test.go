package grad_test

import (
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// orderedFuncs are the functions of ordered elements that have derivatives.
var orderedFuncs = map[string]func(x tensor.Tensor) tensor.Tensor{
	"CumSum":       func(x tensor.Tensor) tensor.Tensor { return x.CumSum(1) },
	"CumProd":      func(x tensor.Tensor) tensor.Tensor { return x.CumProd(1) },
	"CumMax":       func(x tensor.Tensor) tensor.Tensor { return x.CumMax(0) },
	"CumMin":       func(x tensor.Tensor) tensor.Tensor { return x.CumMin(1) },
	"LogCumSumExp": func(x tensor.Tensor) tensor.Tensor { return x.LogCumSumExp(1) },
	"Sort":         func(x tensor.Tensor) tensor.Tensor { return x.Sort(1) },
	"TopK":         func(x tensor.Tensor) tensor.Tensor { y, _ := x.TopK(0, 2); return y },
	"Median":       func(x tensor.Tensor) tensor.Tensor { return x.Median(1) },
	"Quantile":     func(x tensor.Tensor) tensor.Tensor { return x.Quantile(1, 0.3) },
}

func TestOrderedDerivatives(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]float64, 20)
	for i := range data {
		data[i] = float64(i%7) - 3 + 0.3*rng.Float64()
	}
	x := tensor.New(data, 4, 5)
	for name, f := range orderedFuncs {
		t.Run(name, func(t *testing.T) {
			gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return f(x.Mul(x.Add(0.1))) }, x, 3)
			whole := grad.Vmap(f)(tensor.Stack(0, x, x.Neg(), x.Mul(2)))
			each := tensor.Stack(0, f(x), f(x.Neg()), f(x.Mul(2)))
			if same, err := tensor.AllClose(whole, each, 0, 0); err != nil || !same {
				t.Errorf("Vmap gives %v, want %v (%v)", whole, each, err)
			}
		})
	}
}

// The derivative of a cumulative product is right where factors are 0.
func TestCumProdAtZeros(t *testing.T) {
	for _, data := range [][]float64{{2, 0, 3, 4, 5}, {0, 1, 0, 2, 3}, {2, 3, 0, 0, 0}} {
		gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return x.CumProd(0) }, tensor.New(data), 3)
	}
}

// After a factor that is 0 the derivative of a cumulative product is 0, also where the product
// of others overflows.
func TestCumProdOfZeroAndOverflow(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.CumProd(0).Sum() }
	for _, c := range []struct{ at, want []float64 }{
		{[]float64{0, 1, 1e200, 1e200}, []float64{inf, 0, 0, 0}},
		{[]float64{2, 0, 1e200, 1e200}, []float64{1, inf, 0, 0}},
		{[]float64{2, 0, 3, 0, 1e200, -1e200}, []float64{1, 8, 0, 0, 0, 0}},
		{[]float64{1e200, 1e200}, []float64{1e200, 1e200}},
	} {
		if got := data(t, grad.Of(f)(f64(c.at...))); !same(got, c.want) {
			t.Errorf("derivative at %v is %v, want %v", c.at, got, c.want)
		}
	}
}
