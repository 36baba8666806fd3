//go:build linux && (amd64 || arm64)

package cuda

import (
	"bytes"
	"errors"
	"math"
	"os"
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
	parts := []string{"Buffers", "Calls", "Close", "Goroutines", "Holding", "Memory", "Outputs", "Parts", "Peers", "Profiling", "Raw", "Snapshots", "Status"}
	if !testing.Short() {
		parts = append(parts, "Chains") // which tests of the schedules compute too
	}
	if os.Getenv("TENSORKEN_FULL") == "1" {
		parts = append(parts, "Loops")
	}
	f := newFake(t, 1<<30)
	t.Run("parts", func(t *testing.T) {
		drivertest.Test(t, func() (driver.Device, error) { return f.open(Options{Graphs: true}) }, parts...)
	})
	two, opened := newFake(t, 1<<30, 1<<30), 0
	t.Run("two GPUs", func(t *testing.T) {
		drivertest.Test(t, func() (driver.Device, error) {
			opened++
			return two.openGPU(opened%2, Options{Graphs: true})
		}, "Peers")
	})
	nccl := newFake(t, 1<<30, 1<<30)
	nccl.withNCCL()
	t.Run("NCCL", func(t *testing.T) {
		drivertest.Test(t, func() (driver.Device, error) {
			opened++
			return nccl.openGPU(opened%2, Options{Graphs: true})
		}, "Collectives")
	})
	t.Run("NCCL of one GPU", func(t *testing.T) {
		drivertest.Test(t, func() (driver.Device, error) { return nccl.openGPU(0, Options{}) }, "Collectives")
	})
	nccl.drained(t)
	t.Run("positions of 64 bits", func(t *testing.T) {
		if testing.Short() {
			t.Skip("as on the GPU with small positions, but for their width")
		}
		drivertest.Test(t, func() (driver.Device, error) {
			d, err := f.open(Options{})
			if err == nil {
				d.Target.Positions = 20 // offsets are in addresses
			}
			return d, err
		}, "Calls", "Chains", "Parts", "Status")
	})
	f.drained(t)
	two.drained(t)
}

// TestLargeSimulated computes as TestLarge, on small tensors that a fake takes for large ones.
func TestLargeSimulated(t *testing.T) {
	eachDriver(t, func(t *testing.T, drv driver.Device) {
		if d, ok := drv.(*simulated); ok {
			d.Target.Positions = 500
		}
		dev := tensor.NewDevice(drv)
		defer dev.Close()
		large{t, dev, 72, 64}.run()
		large{t, dev, 67, 35}.run()
	})
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

// Memory that one device frees late is not confused with memory that another has allocated
// meanwhile.
func TestTwoDevices(t *testing.T) {
	f := newFake(t, 1<<20)
	var devices [2]driver.Device
	for i := range devices {
		d, err := f.open(Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		devices[i] = d
	}
	const n = 64
	first, err := devices[0].Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	first.Free()
	second, err := devices[1].Alloc(n)
	if err != nil {
		t.Fatal(err)
	}
	want, got := bytes.Repeat([]byte{7}, n), make([]byte, n)
	if err := errors.Join(devices[1].Upload(second, 0, want), devices[1].Sync(), devices[0].Sync(), devices[1].Download(got, second, 0)); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("a buffer has %v, want %v", got, want)
	}
}
