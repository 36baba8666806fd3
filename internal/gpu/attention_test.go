package gpu

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
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

// A GPU computes attention in a kernel of the template, with shuffles or through shared memory.
func TestPlainAttention(t *testing.T) {
	suite(t)
	rng := tensor.NewRNG(1)
	q, k, v := rng.Normal(1, 64, 32), rng.Normal(1, 128, 32), rng.Normal(1, 128, 32)
	if err := tensor.Eval(q, k, v); err != nil { // on the CPU
		t.Fatal(err)
	}
	want := floatsOf(t, tensor.Attention(q, k, v, nil))
	for _, c := range []struct {
		name string
		make func(t *schedule.Target)
	}{
		{"subgroups", func(t *schedule.Target) {}},
		{"no subgroups", func(t *schedule.Target) { t.SubgroupMin, t.SubgroupMax = 0, 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := openPlain(c.make)
			if err != nil {
				t.Fatal(err)
			}
			drv := &attender{device: p.(plain).device}
			d := tensor.NewDevice(drv)
			defer d.Close()
			for i, x := range floatsOf(t, tensor.Attention(q.To(d), k.To(d), v.To(d), nil)) {
				if !(math.Abs(float64(x-want[i])) <= 1e-6) {
					t.Fatalf("element %d is %v, want %v", i, x, want[i])
				}
			}
			if drv.kernels == 0 {
				t.Error("no kernel is of attention")
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
