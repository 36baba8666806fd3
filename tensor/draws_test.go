package tensor_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func TestDrawsOfNoDistribution(t *testing.T) {
	const row, p = "Categorical: the row", "Bernoulli: p"
	for _, c := range []struct {
		of   string
		p    []float64
		want string // a part of the error; empty for none
	}{
		{"Categorical", []float64{0.5, 0, 0.6}, ""},
		{"Categorical", []float64{3, 0x1p-100, 1}, ""},
		{"Categorical", []float64{0.5, -0.1, 0.6}, row},
		{"Categorical", []float64{0.5, nan, 0.6}, row},
		{"Categorical", []float64{0.5, inf, 0.6}, row},
		{"Categorical", []float64{0.5, -inf, 0.6}, row},
		{"Categorical", []float64{0, 0, 0}, row},
		{"Bernoulli", []float64{0, 0.5, 1}, ""},
		{"Bernoulli", []float64{0, 0.5, 1.01}, p},
		{"Bernoulli", []float64{0, 0.5, -0.01}, p},
		{"Bernoulli", []float64{0, 0.5, inf}, p},
		{"Bernoulli", []float64{0, 0.5, -inf}, p},
		{"Bernoulli", []float64{0, 0.5, nan}, p},
	} {
		for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.Float16, tensor.BFloat16} {
			x := tensor.New(c.p).Cast(d)
			draw, place := (*tensor.RNG).Bernoulli, " at [2] "
			if c.of == "Categorical" {
				draw, place = (*tensor.RNG).Categorical, " at [1] "
				x = tensor.Stack(0, tensor.OnesLike(x), x)
			}
			for name, f := range map[string]func(tensor.Tensor) tensor.Tensor{
				"":      func(x tensor.Tensor) tensor.Tensor { return draw(tensor.NewRNG(1), x) },
				" Vmap": grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return draw(tensor.NewRNG(1), x) }),
				" Jit":  grad.Jit(func(x tensor.Tensor) tensor.Tensor { return draw(tensor.NewRNG(1), x) }),
			} {
				if name == " Vmap" {
					place = " "
				}
				text := ""
				var y tensor.Tensor
				err := tensor.Try(func() { y = f(x) })
				if err == nil {
					err = tensor.Eval(y)
				}
				if err != nil {
					text = err.Error()
				}
				if ok := strings.Contains(text, c.want) && strings.Contains(text, place); c.want != "" && !ok || c.want == "" && text != "" {
					t.Errorf("%s(%v %v)%s: error %q, want %q", c.of, d, c.p, name, text, c.want+place)
				}
			}
		}
	}
}

// TestRareEvents counts draws that are likely less than once in 2²⁴ times.
func TestRareEvents(t *testing.T) {
	const n = 1 << 22
	for _, c := range []struct {
		name string
		x    tensor.Tensor
	}{
		{"Bernoulli(2⁻³⁰)", tensor.NewRNG(1).Bernoulli(tensor.Full(0x1p-30, n))},
		{"Categorical(1, 2⁻³⁰)", tensor.NewRNG(1).Categorical(tensor.New([]float32{1, 0x1p-30}).Expand(n, 2))},
	} {
		if got := c.x.Cast(tensor.Int32).Sum().Item(); got > 1 {
			t.Errorf("%s: %v of %d draws, want 0", c.name, got, n)
		}
	}
	// Draws of the same words: an element drawn at p is drawn at each greater p too.
	for _, p := range []float64{0x1p-8, 0x1p-12, 0x1p-16} {
		got := tensor.NewRNG(7).Bernoulli(tensor.Full(p, n)).Sum().Item()
		if want := p * n; math.Abs(got-want) > 4*math.Sqrt(want) {
			t.Errorf("Bernoulli(%v): %v of %d draws, want about %v", p, got, n, want)
		}
	}
	// Weights that float32 lacks.
	small := tensor.New([]float64{1e-300, 3e-300}).Expand(draws, 2)
	if mean := tensor.NewRNG(1).Categorical(small).Cast(tensor.Float32).Mean().Item(); math.Abs(mean-0.75) > 0.02 {
		t.Errorf("Categorical(1e-300, 3e-300): class 1 in %v of all draws, want 0.75", mean)
	}
}
