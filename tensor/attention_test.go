package tensor_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/internal/property"
	"github.com/tensorken/tensorken/tensor"
)

// attend is attention of one head, by loops: rows of q, k and v. A cap of 0 turns capping
// off.
func attend(q, k, v [][]float64, scale, softCap float64, bias func(i, j int) float64) [][]float64 {
	out := make([][]float64, len(q))
	for i := range q {
		out[i] = make([]float64, len(v[0]))
		sum := 0.0
		for j := range k {
			s := 0.0
			for c := range q[i] {
				s += q[i][c] * k[j][c] * scale
			}
			if softCap > 0 {
				s = softCap * math.Tanh(s/softCap)
			}
			e := math.Exp(s + bias(i, j))
			sum += e
			for c := range v[j] {
				out[i][c] += e * v[j][c]
			}
		}
		for c := range out[i] {
			if sum > 0 {
				out[i][c] /= sum
			}
		}
	}
	return out
}

// rows returns the last two axes at a position of the others.
func rows(t testing.TB, x tensor.Tensor, at ...int) [][]float64 {
	m := x.At(at...)
	var out [][]float64
	for _, r := range m.Rows() {
		out = append(out, values(t, r))
	}
	return out
}

func TestAttentionByDefinition(t *testing.T) {
	rng := tensor.NewRNG(1)
	property.Check(t, func(r *property.T) {
		draw := func(name string, lo, hi int) int { return property.IntRange(lo, hi).Draw(r, name) }
		shared, group, queries, keys := draw("shared", 1, 2), draw("group", 1, 3), draw("queries", 1, 5), draw("keys", 1, 5)
		o := tensor.AttentionOptions{
			Causal: property.Bool().Draw(r, "causal"),
			Window: draw("window", 0, 3),
			Scale:  float64(draw("scale", 0, 1)),
			// Small ones change scores of about 1 much.
			SoftCap: property.SampledFrom([]float64{0, 0.5, 2}).Draw(r, "soft cap"),
		}
		offset := property.SampledFrom([]int{-1, 0, 1, 2, 3, math.MinInt32, math.MaxInt32}).Draw(r, "offset")
		o.Offset = offset
		if offset == 0 && property.Bool().Draw(r, "no offset") {
			o.Offset = nil
		} else if max(offset, -offset) < 9 && property.Bool().Draw(r, "offset as a tensor") {
			o.Offset = tensor.New([]int32{int32(offset)})
		}
		heads := shared * group
		q, k, v := rng.Normal(2, heads, queries, 3), rng.Normal(2, shared, keys, 3), rng.Normal(1, shared, keys, 2)
		bias := func(b, h, i, j int) float64 { return 0 }
		switch form := property.SampledFrom([]string{"none", "bools", "floats a head", "floats"}).Draw(r, "mask"); form {
		case "bools":
			o.Mask = rng.Bernoulli(tensor.Full(0.6, 2, 1, queries, keys)).Cast(tensor.Bool)
			m := values(t, o.Mask)
			bias = func(b, h, i, j int) float64 { return math.Log(m[(b*queries+i)*keys+j]) }
		case "floats a head":
			o.Mask = rng.Normal(heads, 1, keys)
			m := values(t, o.Mask)
			bias = func(b, h, i, j int) float64 { return m[h*keys+j] }
		case "floats":
			o.Mask = tensor.Where(rng.Uniform(queries, keys).Gt(0.5), 0.5, -inf)
			m := values(t, o.Mask)
			bias = func(b, h, i, j int) float64 { return m[i*keys+j] }
		}
		scale := o.Scale
		if scale == 0 {
			scale = 1 / math.Sqrt(3)
		}
		got := tensor.Attention(q, k, v, &o)
		if !slices.Equal(got.Shape(), []int{2, heads, queries, 2}) {
			r.Fatalf("shape %v", got.Shape())
		}
		for b := range 2 {
			for h := range heads {
				want := attend(rows(t, q, b, h), rows(t, k, b, h/group), rows(t, v, 0, h/group), scale, o.SoftCap, func(i, j int) float64 {
					ahead := j - i - offset
					if o.Causal && ahead > 0 || o.Window > 0 && max(ahead, -ahead) >= o.Window {
						return -inf
					}
					return bias(b, h, i, j)
				})
				if g := rows(t, got, b, h); !slices.EqualFunc(slices.Concat(g...), slices.Concat(want...), near) {
					r.Fatalf("head %d of %d: %v, want %v", h, b, g, want)
				}
			}
		}
	})
}

func TestAttentionDerivatives(t *testing.T) {
	rng := tensor.NewRNG(1)
	draw := func(shape ...int) tensor.Tensor { return rng.Normal(shape...).Cast(tensor.Float64) }
	none := tensor.New([]bool{true, true, false, false, false, false}, 3, 2) // for two queries of three
	for i, o := range []*tensor.AttentionOptions{nil, {Causal: true, Offset: 1}, {Mask: none}, {Mask: none, Window: 1}, {Mask: none, SoftCap: 2}} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			f := func(in [3]tensor.Tensor) tensor.Tensor { return tensor.Attention(in[0], in[1], in[2], o) }
			in := [3]tensor.Tensor{draw(4, 3, 2), draw(2, 2, 2), draw(2, 2, 3)}
			gradtest.Check(t, f, in, 2)
			batch := [3]tensor.Tensor{tensor.Stack(0, in[0], in[0].Neg()), tensor.Stack(0, in[1], in[1]), tensor.Stack(0, in[2], in[2])}
			want := tensor.Stack(0, f(in), f([3]tensor.Tensor{in[0].Neg(), in[1], in[2]}))
			if ok, err := tensor.AllClose(grad.Vmap(f)(batch), want, 1e-12, 1e-12); !ok || err != nil {
				t.Errorf("Vmap differs (%v)", err)
			}
		})
	}
	// A query without keys gives zeros, and derivatives without NaN, in every type.
	for _, d := range []tensor.DType{tensor.Float32, tensor.Float16, tensor.BFloat16} {
		q := rng.Normal(2, 4).Cast(d)
		mask := tensor.Full(-inf, 2, 3).Cast(d)
		loss := func(q tensor.Tensor) tensor.Tensor {
			return tensor.Attention(q, tensor.Ones(3, 4).Cast(d), tensor.Ones(3, 4).Cast(d), &tensor.AttentionOptions{Mask: mask}).Square().Sum()
		}
		y, g := grad.ValueAndGrad(loss)(q)
		if y.Item() != 0 || !slices.Equal(values(t, g), make([]float64, 8)) {
			t.Errorf("all masked in %v: %v, gradient %v", d, y, g)
		}
	}
	q := rng.Normal(5, 4)
	run(t, []check{of("no keys", tensor.Attention(q, tensor.Zeros(0, 4), tensor.Zeros(0, 2), nil), []int{5, 2}, make([]float64, 10)...)})
}

// Dropout drops weights, not values, and keeps the expected result.
func TestAttentionDropout(t *testing.T) {
	const keys = 4000
	q, k, v := tensor.Ones(1, 1), tensor.Zeros(keys, 1), tensor.Ones(keys, 1)
	o := &tensor.AttentionOptions{Dropout: 0.25, RNG: tensor.NewRNG(1)}
	got := tensor.Attention(q, k, v, o).Item()
	if math.Abs(got-1) > 0.05 || got == 1 {
		t.Errorf("with a quarter of the equal weights dropped: %v, want about 1", got)
	}
	if again := tensor.Attention(q, k, v, o).Item(); again == got {
		t.Error("two calls drop the same weights")
	}
	o.RNG = nil
	if got := tensor.Attention(q, k, v, o).Item(); math.Abs(got-1) > 1e-5 {
		t.Errorf("without an RNG: %v, want 1", got)
	}
	// Weights that are kept are divided by 1-Dropout: with equal ones, all results are counts.
	o = &tensor.AttentionOptions{Dropout: 0.5, RNG: tensor.NewRNG(2)}
	got2 := values(t, tensor.Attention(tensor.Ones(50, 1), tensor.Zeros(2, 1), tensor.Ones(2, 1), o))
	for _, y := range got2 {
		if y != 0 && y != 1 && y != 2 {
			t.Fatalf("results %v, want 0, 1 and 2", got2)
		}
	}
}
