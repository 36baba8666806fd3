package schedule

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Masked keys and values that are not finite have no effect on results and derivatives, in kernels of
// attention by each unit, cut into parts, in loops and in products of few rows.
func TestAttentionMaskedNaN(t *testing.T) {
	type qkv struct{ Q, K, V tensor.Tensor }
	nan := math.NaN()
	cpuLike := Target{Family: Software}
	for i, c := range []struct {
		name                 string
		queries, keys, width int
		dtype                tensor.DType
		target               Target
		attention            bool
	}{
		{"threads", 40, 130, 24, tensor.Float32, big, true},
		{"threads without subgroups", 40, 130, 24, tensor.Float32, noSubgroups, true},
		{"warps", 70, 130, 24, tensor.Float32, nvidia, true},
		{"warps of halves", 70, 130, 24, tensor.BFloat16, nvidia, true},
		{"groups", 70, 130, 64, tensor.BFloat16, hopper, true},
		{"few rows", 3, 130, 64, tensor.BFloat16, hopper, true},
		{"parts", 3, 300, 64, tensor.Float32, hopper, true},
		{"loops by threads", 40, 150, 24, tensor.Float32, big, false},
		{"loops by warps", 40, 150, 24, tensor.Float32, nvidia, false},
		{"loops by groups", 70, 150, 64, tensor.BFloat16, hopper, false},
		{"loops of few rows", 3, 150, 24, tensor.Float32, big, false},
		{"loops in software", 40, 150, 24, tensor.Float32, cpuLike, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if i%6 != 1 {
				notShort(t)
			}
			rng := rand.New(rand.NewPCG(1, 2))
			x := qkv{normal(rng, 1, c.queries, c.width), normal(rng, 1, c.keys, c.width), normal(rng, 1, c.keys, c.width)}
			mask := tensor.Arange(0, c.keys, 1).Rem(7).Ne(3)
			weighs := map[ir.Template]int{}
			ref := attender(t, c.target, func(k *ir.Kernel) {
				if slices.ContainsFunc(k.Body, func(in ir.Instr) bool { return build.ByWeight(&in) }) {
					weighs[k.Template]++
				}
			})
			if !c.attention {
				ref.Loops.Attention = 0
			}
			d := tensor.NewDevice(ref)
			attend := func(x qkv) tensor.Tensor {
				return tensor.Attention(x.Q, x.K, x.V, &tensor.AttentionOptions{Mask: mask.To(d)})
			}
			with := func(k, v float64) qkv { // masked ones
				hide := func(x tensor.Tensor, number float64) tensor.Tensor {
					return tensor.Where(mask.Unsqueeze(1), x, number).Cast(c.dtype).To(d)
				}
				return qkv{x.Q.Cast(c.dtype).To(d), hide(x.K, k), hide(x.V, v)}
			}
			run := func(x qkv) []float32 {
				_, y, g := grad.ValueAndGradAux(func(x qkv) (loss, y tensor.Tensor) {
					y = attend(x)
					z := y.Cast(tensor.Float32)
					return z.Mul(z).Sum(), y
				})(x)
				if err := tensor.Eval(y, g); err != nil {
					t.Fatal(err)
				}
				return floatsOf(t, y, g.Q, g.K, g.V)
			}
			want := run(with(0, 0))
			for i, got := range run(with(nan, math.Inf(1))) {
				if !(math.Abs(float64(got-want[i])) <= 0.02*max(1, math.Abs(float64(want[i])))) {
					t.Fatalf("element %d is %g, want %g", i, got, want[i])
				}
			}
			if n := weighs[ir.Attention]; n > 0 != c.attention || n == 0 && weighs[ir.Contraction] == 0 {
				t.Errorf("kernels with products by weights, by template: %v", weighs)
			}
			seen := with(0, nan)
			seen.V = seen.V.Set(nan, tensor.All, 1, 2) // that no mask hides
			for i, got := range floatsOf(t, attend(seen)) {
				if isNaN := got != got; isNaN != (i%c.width == 2) {
					t.Fatalf("element %d is %g, and column 2 of the values is NaN", i, got)
				}
			}
		})
	}
}
