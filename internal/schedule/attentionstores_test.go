package schedule

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// Threads of Hopper's attention store vectors, divide once for each of their two rows, and multiply blocks of 128 columns
// where registers allow it.
func TestAttentionStores(t *testing.T) {
	target := hopper
	target.Wide = true
	for _, c := range []struct {
		width   int
		product string
	}{{64, "m64n128k16"}, {128, "m64n64k16"}} {
		var kernels []*ir.Kernel
		d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
			if k.Template == ir.Attention {
				kernels = append(kernels, k)
			}
		}))
		rng := rand.New(rand.NewPCG(1, 2))
		x := stored(t, d, normal(rng, 1, 1, 128, c.width))
		y := stored(t, d, normal(rng, 1, 1, 128, c.width))
		if err := tensor.Eval(tensor.Attention(x, y, x, nil)); err != nil || len(kernels) != 1 {
			t.Fatal(len(kernels), "kernels of attention:", err)
		}
		text := ptx.Print(compile(t, kernels[0], target).Passes[0], 90)
		if strings.Contains(text, "st.global.b16") || strings.Contains(text, "div.rn.f32") || strings.Count(text, "rcp.approx.ftz.f32") != 2 || !strings.Contains(text, c.product) {
			t.Errorf("width %d: stores of single halves, quotients of elements, or no %s in\n%s", c.width, c.product, text)
		}
	}
}

// Kernels with two outputs have quotients of each.
func TestAttentionOutputs(t *testing.T) {
	for _, target := range []Target{hopper, nvidia, big} {
		kernels := 0
		d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
			if k.Template == ir.Attention {
				kernels++
			}
		}))
		rng := rand.New(rand.NewPCG(1, 2))
		q, k, v, w := normal(rng, 1, 2, 128, 64).Mul(0.1), normal(rng, 1, 2, 128, 64), normal(rng, 1, 2, 128, 64), normal(rng, 1, 2, 128, 64)
		run := func(d *tensor.Device) []float32 {
			load := func(x tensor.Tensor) tensor.Tensor { return stored(t, d, x).Cast(tensor.Float32) }
			p := load(q).MatMul(load(k).Transpose(-1, -2)).Softmax(-1)
			y, z := p.MatMul(load(v)).Cast(tensor.BFloat16), p.MatMul(load(w)).Cast(tensor.BFloat16)
			if err := tensor.Eval(y, z); err != nil {
				t.Fatal(err)
			}
			return floatsOf(t, y.Cast(tensor.Float32), z.Cast(tensor.Float32))
		}
		got := run(d)
		for i, x := range run(tensor.CPU()) {
			if math.Abs(float64(x-got[i])) > 0.01 {
				t.Fatalf("element %d: %g, want %g", i, got[i], x)
			}
		}
		if kernels != 1 {
			t.Error(kernels, "kernels of attention, want 1 with two outputs")
		}
	}
}

// A result over a value of its row is right for values whose reciprocals are subnormal, infinite or 0.
func TestAttentionQuotients(t *testing.T) {
	const n, width = 128, 64
	target := hopper
	target.Wide, target.Units = true, 1 // columns in one part
	kernels := 0
	d := tensor.NewDevice(attender(t, target, func(k *ir.Kernel) {
		if k.Template == ir.Attention {
			kernels++
		}
	}))
	divisors := []float32{1, -3, 0x1p-140, 0x1p-149, 3e38, -0x1p126, 0, float32(math.Inf(1)), float32(math.NaN()), 0x1p-101, 0x1p101}
	list := make([]float32, n)
	for i := range list {
		list[i] = divisors[i%len(divisors)]
	}
	rng := rand.New(rand.NewPCG(1, 2))
	q, k, v := normal(rng, n, width).Mul(0.1), normal(rng, n, width), normal(rng, n, width).Mul(0x1p-30)
	over := tensor.New(list, n, 1)
	divided := func(q, k, v, over tensor.Tensor) []float32 {
		float := func(x tensor.Tensor) tensor.Tensor { return x.Cast(tensor.Float32) }
		s := float(q).MatMul(float(k).Transpose(0, 1))
		y := s.Sub(s.Max(1)).Exp().MatMul(float(v)).Div(over).Cast(tensor.BFloat16)
		if err := tensor.Eval(y); err != nil {
			t.Fatal(err)
		}
		return floatsOf(t, float(y))
	}
	got := divided(stored(t, d, q), stored(t, d, k), stored(t, d, v), over.To(d))
	cpu := tensor.CPU()
	want := divided(stored(t, cpu, q), stored(t, cpu, k), stored(t, cpu, v), over)
	if kernels != 1 {
		t.Fatal(kernels, "kernels of attention")
	}
	for i, x := range want {
		y := got[i]
		greatest := 0.0 // of the row
		for _, z := range want[i/width*width:][:width] {
			greatest = max(greatest, math.Abs(float64(z)))
		}
		near := !math.IsInf(greatest, 1) && math.Abs(float64(x)-float64(y)) <= 0.02*greatest
		if x != y && !near && !(x != x && y != y) {
			t.Fatalf("element %d over %g: %g, want %g", i, list[i/width], y, x)
		}
	}
}
