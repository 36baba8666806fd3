package schedule

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// However great the scores are, the greatest of a row takes all of the weight.
func TestGreatScores(t *testing.T) {
	const n = 128
	for _, width := range []int{32, 64, 128} {
		for _, exponent := range []int{32, 34, 40} {
			size := float32(math.Sqrt(math.Ldexp(1, exponent) / math.Sqrt(float64(width))))
			q, k, v := make([]float32, n*width), make([]float32, n*width), make([]float32, n*width)
			for i := range q {
				q[i], k[i], v[i] = size, -size, float32(i/width)
				if i/width == 5 {
					k[i] = size
				}
			}
			kernels := 0
			target := hopper
			target.Wide = true
			d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
				if k.Template == ir.Attention {
					kernels++
				}
			}))
			halves := func(x []float32) tensor.Tensor { return stored(t, d, tensor.New(x, 1, 1, n, width)) }
			got := floatsOf(t, tensor.Attention(halves(q), halves(k), halves(v), nil))
			if kernels != 1 || got[0] != 5 {
				t.Errorf("width %d, scores of 2^%d: %v by %d kernels of attention, want 5", width, exponent, got[0], kernels)
			}
		}
	}
}

// stored returns halves on a device.
func stored(t *testing.T, d *tensor.Device, x tensor.Tensor) tensor.Tensor {
	y := x.Cast(tensor.BFloat16).To(d)
	if err := tensor.Eval(y); err != nil {
		t.Fatal(err)
	}
	return y
}

type heads struct{ Q, K, V tensor.Tensor }

// gradientsOf returns the gradients of the sum of f's result times weights, on Hopper in halves or on the CPU.
func gradientsOf(t *testing.T, onHopper bool, x heads, weights tensor.Tensor, f func(heads, *tensor.Device) tensor.Tensor) heads {
	if !onHopper {
		d := tensor.CPU()
		return gradientsBy(t, func(x tensor.Tensor) tensor.Tensor { return stored(t, d, x).Cast(tensor.Float32) }, d, x, weights, f)
	}
	target := hopper
	target.Wide = true
	d := tensor.NewDevice(attender(t, target, func(*ir.Kernel) {}))
	return gradientsBy(t, func(x tensor.Tensor) tensor.Tensor { return stored(t, d, x) }, d, x, weights, f)
}

// gradientsBy returns the gradients on a device, for arguments that function to stores there.
func gradientsBy(t *testing.T, to func(tensor.Tensor) tensor.Tensor, d *tensor.Device, x heads, weights tensor.Tensor, f func(heads, *tensor.Device) tensor.Tensor) heads {
	w := to(weights)
	g := grad.Of(func(x heads) tensor.Tensor { return f(x, d).Mul(w).Cast(tensor.Float32).Sum() })(heads{to(x.Q), to(x.K), to(x.V)})
	if err := tensor.Eval(g); err != nil {
		t.Fatal(err)
	}
	return g
}

// Kernels of gradients round scores as the forward kernel does: else the weights of a row would not add up to 1.
func TestGradientsOfGreatScores(t *testing.T) {
	for _, width := range []int{64, 128} {
		rng := rand.New(rand.NewPCG(1, 2))
		x := heads{normal(rng, 1, 1, 128, width).Mul(1000), normal(rng, 1, 1, 128, width).Mul(1000), normal(rng, 1, 1, 128, width)}
		weights := normal(rng, 1, 1, 128, width)
		attend := func(x heads, _ *tensor.Device) tensor.Tensor {
			return tensor.Attention(x.Q, x.K, x.V, &tensor.AttentionOptions{Causal: true})
		}
		got, want := gradientsOf(t, true, x, weights, attend), gradientsOf(t, false, x, weights, attend)
		list := floatsOf(t, want.V)
		for i, g := range floatsOf(t, got.V) {
			if e := math.Abs(float64(g - list[i])); !(e < 0.3) {
				t.Errorf("width %d, element %d of V's: %v, want %v", width, i, g, list[i])
				break
			}
		}
	}
}

// The gradients of rows without a key are 0, although their results are NaN.
func TestGradientsOfMaskedRows(t *testing.T) {
	const m, n, width = 140, 200, 64
	rng := rand.New(rand.NewPCG(3, 4))
	x, weights := heads{normal(rng, 2, m, width), normal(rng, 2, n, width), normal(rng, 2, n, width)}, normal(rng, 2, m, width)
	keep := make([]bool, m*n)
	for i := range keep {
		keep[i] = rng.IntN(3) > 0 && i/n%7 != 3
	}
	attend := func(x heads, d *tensor.Device) tensor.Tensor {
		scores := x.Q.MatMul(x.K.Transpose(1, 2)).Cast(tensor.Float32).Mul(0.1)
		p := tensor.Where(tensor.New(keep, m, n).To(d), scores, math.Inf(-1)).Softmax(2)
		return p.Cast(x.V.DType()).MatMul(x.V)
	}
	got, want := gradientsOf(t, true, x, weights, attend), gradientsOf(t, false, x, weights, attend)
	list := floatsOf(t, want.Q)
	for i, g := range floatsOf(t, got.Q) {
		if g != g || i/width%m%7 == 3 && g != 0 || math.Abs(float64(g-list[i])) > 0.05 {
			t.Fatalf("element %d of Q's: %v, want %v", i, g, list[i])
		}
	}
}

// Where a compute unit has one workgroup, its groups of threads multiply in turns: more blocks of columns than there are
// buffers, or fewer; with rows in registers, where these suffice.
func TestGradientsInTurns(t *testing.T) {
	for _, c := range []struct{ queries, keys, width, turns, held int }{
		{600, 130, 64, 1, 1}, {70, 130, 64, 1, 1}, {70, 600, 128, 2, 1}, {600, 130, 128, 2, 1},
	} {
		rng := rand.New(rand.NewPCG(1, 2))
		x := heads{normal(rng, 1, 1, c.queries, c.width), normal(rng, 1, 1, c.keys, c.width), normal(rng, 1, 1, c.keys, c.width)}
		weights := normal(rng, 1, 1, c.queries, c.width)
		attend := func(x heads, _ *tensor.Device) tensor.Tensor { return tensor.Attention(x.Q, x.K, x.V, nil) }
		target, turns, held := hopper, 0, 0
		target.Wide, target.Units = true, 1 // columns in one part
		d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
			if k.Template != ir.Attention {
				return
			}
			if text := ptx.Print(compile(t, k, target).Passes[0], 90); strings.Contains(text, "bar.arrive") {
				turns++
				held += min(1, strings.Count(text, "ldmatrix"))
			}
		}))
		g := gradientsBy(t, func(x tensor.Tensor) tensor.Tensor { return stored(t, d, x) }, d, x, weights, attend)
		if turns != c.turns || held != c.held {
			t.Errorf("%+v: %d kernels in turns, %d of them with rows in registers", c, turns, held)
		}
		w := gradientsOf(t, false, x, weights, attend)
		got, want := floatsOf(t, g.Q, g.K, g.V), floatsOf(t, w.Q, w.K, w.V)
		for i := range got {
			if e := math.Abs(float64(got[i] - want[i])); !(e < 0.03) {
				t.Fatalf("%+v: element %d: %v, want %v", c, i, got[i], want[i])
			}
		}
	}
}
