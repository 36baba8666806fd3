package gpu

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/wgpu/wgputest"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// An attender counts kernels of attention.
type attender struct {
	*device
	kernels int
}

func (a *attender) Compile(k *ir.Kernel) (driver.Program, error) {
	if k.Template == ir.Attention {
		a.kernels++
	}
	return a.device.Compile(k)
}

// A GPU computes attention and its gradient in kernels of the template, with shuffles or through
// shared memory.
func TestPlainAttention(t *testing.T) {
	wgputest.NeedForMinutes(t)
	type qkv struct{ Q, K, V tensor.Tensor }
	rng := tensor.NewRNG(1)
	in := qkv{rng.Normal(1, 64, 32), rng.Normal(1, 128, 32), rng.Normal(1, 128, 32)}
	if err := tensor.Eval(in); err != nil { // on the CPU
		t.Fatal(err)
	}
	attend := func(x qkv) tensor.Tensor { return tensor.Attention(x.Q, x.K, x.V, nil) }
	few := func(x qkv) tensor.Tensor {
		return tensor.Attention(x.Q.Slice(1, 0, 3), x.K, x.V, &tensor.AttentionOptions{Causal: true, Offset: 100})
	}
	gradient := func(x qkv) tensor.Tensor {
		g := grad.Of(func(x qkv) tensor.Tensor {
			return tensor.Attention(x.Q, x.K, x.V, &tensor.AttentionOptions{Causal: true, Offset: 64}).Square().Sum()
		})(x)
		return tensor.Cat(1, g.Q, g.K, g.V)
	}
	for _, c := range []struct {
		name    string
		make    func(t *schedule.Target)
		compute func(x qkv) tensor.Tensor
		kernels int
	}{
		{"subgroups", func(t *schedule.Target) {}, attend, 1},
		{"no subgroups", func(t *schedule.Target) { t.SubgroupMin, t.SubgroupMax = 0, 0 }, attend, 1},
		{"few rows", func(t *schedule.Target) {}, few, 1},
		{"gradient", func(t *schedule.Target) { t.SharedBytes = 10 << 10 }, gradient, 3}, // small blocks compile in less time
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := openPlain(c.make)
			if err != nil {
				t.Fatal(err)
			}
			drv := &attender{device: p.(plain).device}
			d := deviceOf(t, drv)
			defer d.Close()
			want := floatsOf(t, c.compute(in))
			for i, x := range floatsOf(t, c.compute(qkv{in.Q.To(d), in.K.To(d), in.V.To(d)})) {
				if !(math.Abs(float64(x-want[i])) <= 1e-5) {
					t.Fatalf("element %d is %v, want %v", i, x, want[i])
				}
			}
			if drv.kernels < c.kernels {
				t.Errorf("%d kernels of attention, want %d", drv.kernels, c.kernels)
			}
		})
	}
}

func floatsOf(t *testing.T, x tensor.Tensor) []float32 {
	t.Helper()
	list, err := tensor.Data[float32](x)
	if err != nil {
		t.Fatal(err)
	}
	return list
}
