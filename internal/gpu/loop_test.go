package gpu

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/wgpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A smallLooper is a GPU that makes loops of small matrices. It knows its largest buffer.
type smallLooper struct {
	*device
	bytes   int // of temporaries
	largest int
}

func (d *smallLooper) LoopLimits() ir.LoopLimits {
	return ir.LoopLimits{Bytes: d.bytes, Rows: 8, Columns: 2, Serial: true}
}

func (d *smallLooper) Alloc(bytes int) (driver.Buffer, error) {
	d.largest = max(d.largest, bytes)
	return d.device.Alloc(bytes)
}

// Buffers that a loop keeps for later kernels fit in a binding of the adapter, and so do scores
// that are stored.
func TestLoopLimits(t *testing.T) {
	d, _ := fake(t, 0)
	if l := d.LoopLimits(); int64(l.Bytes) > d.Limit || int64(l.Scores) > d.Limit || l.Bytes == 0 {
		t.Errorf("loops of %d bytes for scores of %d, bindings have at most %d", l.Bytes, l.Scores, d.Limit)
	}
}

// The gradient of attention with a mask and dropout, in loops over parts of a matrix and over
// several matrices, equals the CPU's, with the same bits each time. No buffer holds all
// scores.
func TestAttention(t *testing.T) {
	const batch, heads, length, width = 2, 3, 40, 8
	attend := func(x []tensor.Tensor) tensor.Tensor {
		past := tensor.Ones(length, length).Tril(0).Eq(1)
		scores := x[0].MatMul(x[1].T()).Div(math.Sqrt(width))
		p := tensor.Where(past, scores, math.Inf(-1)).Softmax(-1)
		return nn.Dropout{P: 0.1}.Drop(p, tensor.NewRNG(5)).MatMul(x[2]).Tanh().Square().Sum()
	}
	results := func(dev *tensor.Device) (data [][]float32, plan string) {
		rng := tensor.NewRNG(1)
		var x []tensor.Tensor
		for range 3 {
			x = append(x, rng.Normal(batch, heads, length, width).Keep().To(dev))
		}
		if err := tensor.Eval(x); err != nil {
			t.Fatal(err)
		}
		loss, g := grad.ValueAndGrad(attend)(x)
		plan = tensor.Explain(loss, g)
		if err := tensor.Eval(loss, g); err != nil {
			t.Fatal(err)
		}
		for _, y := range append(g, loss) {
			d, err := tensor.Data[float32](y)
			if err != nil {
				t.Fatal(err)
			}
			data = append(data, d)
		}
		return data, plan
	}
	want, _ := results(tensor.CPU())
	for bytes, loop := range map[int]string{1 << 13: "loop        [240 by 24]", 1 << 17: "loop        [240 by 120]"} {
		if testing.Short() && bytes > 1<<13 {
			continue
		}
		d := &smallLooper{device: real(t, wgpu.Options{Validate: true}), bytes: bytes}
		dev := deviceOf(t, d)
		got, plan := results(dev)
		again, _ := results(dev)
		if !strings.Contains(plan, loop) {
			t.Errorf("blocks of %d bytes: no %s in\n%s", bytes, loop, plan)
		}
		for i := range want {
			if !slices.Equal(got[i], again[i]) {
				t.Errorf("blocks of %d bytes: result %d differs from run to run", bytes, i)
			}
			for k, x := range want[i] {
				if y := got[i][k]; !(math.Abs(float64(x-y)) <= 1e-5*(1+math.Abs(float64(x)))) {
					t.Fatalf("blocks of %d bytes: result %d, element %d: %v, want %v", bytes, i, k, y, x)
				}
			}
		}
		if scores := 4 * batch * heads * length * length; d.largest >= scores {
			t.Errorf("blocks of %d bytes: a buffer has %d bytes, all scores %d", bytes, d.largest, scores)
		}
	}
}
