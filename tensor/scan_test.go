package tensor_test

import (
	"math"
	"regexp"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/tensor"
)

// LogCumSumExp and its gradient read and write the elements a fixed number of times, which
// does not depend on how many there are, and store no pairs.
func TestLogCumSumExpMoves(t *testing.T) {
	x := tensor.NewRNG(1).Normal(1 << 22)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	f := tensor.Tensor.LogCumSumExp
	for name, y := range map[string]tensor.Tensor{
		"LogCumSumExp":               f(x, 0),
		"the gradient of its square": grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x, 0).Square().Sum() })(x),
	} {
		if text := tensor.Explain(y); !regexp.MustCompile(`kernels, [1-3]?[0-9]{1,2}(\.[0-9]+)? MiB moved`).MatchString(text) {
			t.Errorf("%s of 16 MiB moves 400 MiB or more:\n%s", name, text)
		}
	}
}

// Rows of several blocks, which rise and fall by more than the range of the type's
// exponential.
func TestLogCumSumExpOfLongRows(t *testing.T) {
	for _, n := range []int{1, 15, 16, 17, 256, 257, 300, 5000} {
		for _, slope := range []float64{0, 0.01, 3, 50, -50, -0.5} {
			x, want := make([]float32, n), make([]float64, n)
			sum := math.Inf(-1)
			for i := range x {
				x[i] = float32(slope*float64(i) + 2*math.Sin(float64(i)) + 300*math.Sin(float64(i)/100))
				if i == n/3 {
					x[i] = float32(math.Inf(-1))
				}
				sum = logAddExp(sum, float64(x[i]))
				if i == 0 {
					sum = float64(x[0])
				}
				want[i] = sum
			}
			got, err := tensor.Data[float32](tensor.New(x).Reshape(n, 1).LogCumSumExp(0))
			if err != nil {
				t.Fatal(err)
			}
			for i, w := range want {
				if !(math.Abs(float64(got[i])-w) <= 3e-6+2e-7*math.Abs(w)) && float64(got[i]) != w {
					t.Fatalf("%d elements, slope %v: element %d is %v, want %v", n, slope, i, got[i], w)
				}
			}
		}
	}
}

func TestLogCumSumExpDerivatives(t *testing.T) {
	f := func(x tensor.Tensor) tensor.Tensor { return x.LogCumSumExp(0) }
	for _, n := range []int{5, 40} {
		x := tensor.NewRNG(1).Normal(n).Mul(3).Cast(tensor.Float64)
		gradtest.Check(t, f, x, 3)
		g := grad.Of(func(x tensor.Tensor) tensor.Tensor { return f(x).Sin().Sum() })
		want := tensor.Stack(0, g(x), g(x.Mul(2)))
		if ok, err := tensor.AllClose(grad.Vmap(g)(tensor.Stack(0, x, x.Mul(2))), want, 1e-12, 1e-12); err != nil || !ok {
			t.Errorf("the gradient of a batch of %d elements is not that of its rows (%v)", n, err)
		}
	}
	// A NaN reaches all elements after it, within its block too.
	nan := math.NaN()
	run(t, []check{
		same("NaN", floats(1, 1, nan, 2).LogCumSumExp(0), 1, 1+math.Ln2, nan, nan),
		same("the gradient of elements before a NaN", grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.LogCumSumExp(0).Slice(0, 0, 2).Sum() })(floats(1, 1, 3, 2)), 1.5, 0.5, 0, 0),
	})
}
