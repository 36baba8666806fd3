package schedule

import (
	"math"
	"math/rand/v2"
	"testing"

	plans "github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/tensor"
)

// A kernel of attention reads keys and values, or a bias, through an index, such as blocks of a cache, and reports
// one that is out of range.
func TestAttentionIndex(t *testing.T) {
	plans.Verify()
	const blocks, block, heads, width, queries = 6, 32, 2, 16, 8
	rng := rand.New(rand.NewPCG(1, 2))
	q, k, v := normal(rng, heads, queries, width), normal(rng, 9, block, heads, width), normal(rng, 9, block, heads, width)
	keys, values := normal(rng, heads, blocks*block, width), normal(rng, heads, blocks*block, width)
	biases := normal(rng, heads, 9)
	for _, c := range []struct {
		name string
		ids  int // how many indices
		f    func(d *tensor.Device, ids tensor.Tensor) tensor.Tensor
	}{
		{"blocks of a cache", blocks, func(d *tensor.Device, ids tensor.Tensor) tensor.Tensor {
			read := func(x tensor.Tensor) tensor.Tensor {
				return x.To(d).Take(0, ids).Reshape(blocks*block, heads, width).Transpose(0, 1)
			}
			return tensor.Attention(q.To(d), read(k), read(v), &tensor.AttentionOptions{Causal: true, Offset: 100})
		}},
		{"biases by distance", queries * blocks * block, func(d *tensor.Device, ids tensor.Tensor) tensor.Tensor {
			bias := biases.To(d).Take(1, ids.Reshape(queries, blocks*block))
			return tensor.Attention(q.To(d), keys.To(d), values.To(d), &tensor.AttentionOptions{Mask: bias})
		}},
	} {
		for _, bad := range []bool{false, true} {
			ids := make([]int32, c.ids)
			for i := range ids {
				ids[i] = int32(rng.IntN(9))
			}
			if bad {
				ids[c.ids/2] = 9
			}
			run := func(d *tensor.Device) ([]float32, error) {
				return tensor.Data[float32](c.f(d, tensor.New(ids).To(d)))
			}
			want, wantErr := run(tensor.CPU())
			for _, target := range []Target{nvidia, hopper, big, noSubgroups} {
				ref, kernels := counter(t, target)
				got, err := run(tensor.NewDevice(ref))
				if *kernels != 1 || ref.Ran != 1 {
					t.Errorf("%s: %d kernels of attention, %d in all, want 1", c.name, *kernels, ref.Ran)
				}
				if (err != nil) != bad || bad && err.Error() != wantErr.Error() {
					t.Errorf("%s: error %v, want %v", c.name, err, wantErr)
				}
				for i := range got {
					if !(math.Abs(float64(got[i]-want[i])) <= 1e-4) {
						t.Errorf("%s: element %d is %v, want %v", c.name, i, got[i], want[i])
						break
					}
				}
			}
		}
	}
}
