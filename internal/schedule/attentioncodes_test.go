package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// Kernels of attention decode keys and values of caches in codes. For few rows nothing stores the decoded ones.
func TestAttentionCodes(t *testing.T) {
	plans.Verify()
	const keys, shared, heads, width = 150, 2, 6, 64
	rng := rand.New(rand.NewPCG(1, 2))
	k, v := normal(rng, 1, shared, keys, width), normal(rng, 1, shared, keys, width)
	targets := []Target{hopper, nvidia, big, noSubgroups}
	for i, typ := range []nn.CacheType{nn.CacheQ8, nn.CacheF8, nn.CacheF16} {
		for j, dtype := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			for n, queries := range []int{1, 40} {
				q := normal(rng, 1, heads, queries, width)
				stored := false
				run := func(d *tensor.Device) []float32 {
					c := nn.NewKVCache(1, shared, keys+queries, width).As(typ).Append(k.To(d).Cast(dtype), v.To(d).Cast(dtype)).OnDevice()
					if err := tensor.Eval(c); err != nil {
						t.Fatal(err)
					}
					stored = false
					part := func(x tensor.Tensor) tensor.Tensor { return x.To(d).Cast(dtype).Slice(2, 0, queries) }
					y, _ := c.Attend(q.To(d).Cast(dtype), part(k), part(v))
					return floatsOf(t, y)
				}
				want := run(tensor.CPU())
				attends := 0
				ref := attender(t, targets[(i+j+2*n)%len(targets)], func(k *ir.Kernel) {
					points := 1
					for _, a := range k.Axes {
						points *= a.Len
					}
					stored = stored || k.Template == ir.Pointwise && points >= shared*keys*width
					if k.Template == ir.Attention {
						attends++
					}
				})
				got := run(tensor.NewDevice(ref))
				if attends != 1 || queries == 1 && stored {
					t.Errorf("%s, %v, %d queries: %d kernels of attention, want 1; a kernel decodes the cache: %v", typ, dtype, queries, attends, stored)
				}
				for i := range got {
					if !(math.Abs(float64(got[i]-want[i])) <= 2e-2) {
						t.Errorf("%s, %v, %d queries: element %d is %v, want %v", typ, dtype, queries, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}
