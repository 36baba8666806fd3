package tensor_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// A masked key and its value have no effect, whatever they are, on the results of the queries that
// the mask hides them from, nor on derivatives.
func TestAttentionMaskedNaN(t *testing.T) {
	rng := tensor.NewRNG(3)
	type in = [3]tensor.Tensor
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
		tol := 1e-3
		if d == tensor.BFloat16 {
			tol = 0.05
		}
		for _, n := range []int{8, 70, 600} {
			if n == 600 && (d != tensor.Float32 || testing.Short()) || n == 70 && d == tensor.Float64 && testing.Short() {
				continue
			}
			cols := tensor.Arange(0, n, 1)
			valid := cols.Lt(n - 2)
			ahead := cols.Sub(cols.Unsqueeze(1))
			floats := tensor.Where(valid, tensor.Scalar(0), -inf).Cast(d)
			draw := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Cast(d) }
			for name, o := range map[string]*tensor.AttentionOptions{
				"bools":            {Mask: valid},
				"floats":           {Mask: floats},
				"bools a row":      {Mask: ahead.Le(0)},
				"causal":           {Causal: true},
				"window":           {Causal: true, Window: 5},
				"cache":            {Causal: true, Offset: n - 3},
				"soft cap":         {Mask: valid, SoftCap: 3},
				"dropout":          {Mask: valid, Dropout: 0.1, RNG: rng},
				"grouped":          {Mask: valid},
				"a cache's length": {Causal: true, Offset: tensor.New([]int32{int32(n - 3)})},
			} {
				t.Run(fmt.Sprint(d, " ", n, " ", name), func(t *testing.T) {
					queries, heads := n, 2
					if o.Offset != nil {
						queries = 1
					}
					if name == "grouped" {
						heads = 4
					}
					x := in{draw(heads, queries, 64), draw(2, n, 64), draw(2, n, 16)}
					whole := o.Offset != nil || !o.Causal && name != "bools a row" // the mask hides keys from all queries
					rows := queries
					if !whole {
						rows = n - 2
					}
					f := func(x in) tensor.Tensor {
						c := *o
						if c.RNG != nil {
							c.RNG = tensor.NewRNG(5)
						}
						return tensor.Attention(x[0], x[1], x[2], &c).Slice(1, 0, rows)
					}
					loss := grad.ValueAndGrad(func(x in) tensor.Tensor { return f(x).Square().Sum() })
					spoil := func(x tensor.Tensor, number float64) tensor.Tensor {
						return x.Set(number, tensor.All, tensor.Range{n - 2, n, 1})
					}
					want := f(in{x[0], spoil(x[1], 0), spoil(x[2], 0)})
					_, dwant := loss(in{x[0], spoil(x[1], 0), spoil(x[2], 0)})
					for _, number := range []float64{math.NaN(), inf, -inf} {
						bad := in{x[0], spoil(x[1], number), spoil(x[2], number)}
						if name == "floats" {
							bad[1] = spoil(x[1], 0)
						}
						_, dgot := loss(bad)
						for i, c := range [][2]tensor.Tensor{{f(bad), want}, {dgot[0], dwant[0]}, {dgot[1], dwant[1]}, {dgot[2], dwant[2]}} {
							if i > 1 && !whole { // the sums over queries include those that attend to them
								continue
							}
							got, want := c[0].Cast(tensor.Float32), c[1].Cast(tensor.Float32)
							if i == 1 && !whole { // queries of rows that attend to the spoiled keys
								got, want = got.Slice(1, 0, rows), want.Slice(1, 0, rows)
							}
							if ok, err := tensor.AllClose(got, want, tol, tol); !ok || err != nil {
								t.Errorf("%v, result %d: off by %v (%v)", number, i, got.Sub(want).Abs().Max(), err)
							}
						}
					}
				})
			}
		}
	}
}

// Second derivatives are as with finite masked keys and values, in reverse over reverse and in forward over
// reverse mode.
func TestAttentionMaskedNaNTwice(t *testing.T) {
	rng := tensor.NewRNG(3)
	type in = [3]tensor.Tensor
	const n = 8
	valid := tensor.Arange(0, n, 1).Lt(n - 2)
	for name, o := range map[string]*tensor.AttentionOptions{
		"bools":    {Mask: valid},
		"cache":    {Causal: true, Offset: n - 3},
		"soft cap": {Mask: valid, SoftCap: 3},
		"dropout":  {Mask: valid, Dropout: 0.1, RNG: rng},
		"grouped":  {Mask: valid},
	} {
		queries, heads := n, 2
		if o.Offset != nil {
			queries = 1
		}
		if name == "grouped" {
			heads = 4
		}
		draw := func() in { return in{rng.Normal(heads, queries, 4), rng.Normal(2, n, 4), rng.Normal(2, n, 3)} }
		x, v := draw(), draw()
		first := grad.Of(func(x in) tensor.Tensor {
			c := *o
			if c.RNG != nil {
				c.RNG = tensor.NewRNG(5)
			}
			return tensor.Attention(x[0], x[1], x[2], &c).Square().Sum()
		})
		twice := func(key, value float64) (list []tensor.Tensor) {
			x := x
			for i, number := range []float64{key, value} {
				x[i+1] = x[i+1].Set(number, tensor.All, tensor.Range{n - 2, n, 1})
			}
			reverse := grad.Of(func(x in) tensor.Tensor {
				g := first(x)
				return g[0].Mul(v[0]).Sum().Add(g[1].Mul(v[1]).Sum()).Add(g[2].Mul(v[2]).Sum())
			})(x)
			_, forward := grad.JVP(first, x, v)
			return append(reverse[:], forward[:]...)
		}
		want := twice(0, 0)
		for _, c := range [][2]float64{{math.NaN(), 0}, {0, math.NaN()}, {inf, -inf}, {math.NaN(), math.NaN()}} {
			for i, got := range twice(c[0], c[1]) {
				if ok, err := tensor.AllClose(got, want[i], 1e-4, 1e-4); !ok || err != nil {
					t.Errorf("%s, %v: result %d is off by %v (%v)", name, c, i, got.Sub(want[i]).Abs().Max(), err)
				}
			}
		}
	}
}
