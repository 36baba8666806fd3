//go:build linux && (amd64 || arm64)

package cuda

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// TestSimulated computes parts of drivertest on a fake driver.
func TestSimulated(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	parts := []string{"Buffers", "Calls", "Chains", "Close", "Goroutines", "Memory", "Outputs", "Parts", "Profiling", "Status"}
	if !testing.Short() {
		parts = append(parts, "Loops")
	}
	f := newFake(t, 1<<30)
	t.Run("parts", func(t *testing.T) {
		drivertest.Test(t, func() (driver.Device, error) { return f.open(Options{Graphs: true}) }, parts...)
	})
	f.drained(t)
}

// Training steps that are replayed, by graphs, give the CPU's losses.
func TestTraining(t *testing.T) {
	type model struct{ In, Out nn.Linear }
	losses := func(d *tensor.Device) (list []float64) {
		rng := tensor.NewRNG(3)
		m := tree.To(model{nn.NewLinear(rng, 5, 8), nn.NewLinear(rng, 8, 4)}, d)
		step := optim.Jit(optim.New(optim.AdamW{}, 0.05), func(m model, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, model) {
			return nn.CrossEntropy(m.Out.Apply(m.In.Apply(x).GELU()), tensor.New([]int32{0, 1, 2, 3, 0, 1})).Mean(), m
		})
		for range 20 {
			loss, err := step(&m, rng.Normal(6, 5).To(d), nil)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, loss.Item())
		}
		return list
	}
	want := losses(tensor.CPU())
	f := eachDriver(t, func(t *testing.T, drv driver.Device) {
		d := tensor.NewDevice(drv)
		defer d.Close()
		for i, x := range losses(d) {
			if math.Abs(x-want[i]) > 1e-4*(1+want[i]) {
				t.Errorf("step %d has loss %v, want %v", i, x, want[i])
			}
		}
	})
	if n := f.count("GraphLaunch"); n < 10 {
		t.Errorf("20 steps launch %d graphs", n)
	}
}
