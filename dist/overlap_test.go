package dist_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// layersStep returns a recorded step of a model of four layers, whose gradients are of one bucket each.
func layersStep(g *dist.Group, d *tensor.Device, sent tensor.DType) func() (float64, error) {
	rng := tensor.NewRNG(1)
	m := make([]nn.Linear, 4)
	for i := range m {
		m[i] = tree.To(nn.NewLinear(rng, 6, 6), d)
	}
	x := tensor.NewRNG(uint64(2+g.Rank())).Normal(5, 6).To(d).Keep()
	o := &optim.Optimizer{Rule: optim.Adam{}, LR: 0.01, Parallel: g, ParallelPrecision: sent}
	step := optim.Jit(o, func(m []nn.Linear, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, []nn.Linear) {
		y := x
		for _, l := range m {
			y = l.Apply(y).Tanh()
		}
		return y.Sub(x).Square().Mean(), m
	})
	return func() (float64, error) {
		loss, err := step(&m, x, nil)
		if err != nil {
			return 0, err
		}
		list, err := tensor.Data[float32](loss)
		return float64(list[0]), err
	}
}

// In a recorded step the first gradients are summed before the last ones are computed. Losses are the same as with one
// bucket, and with gradients of 16 bits nearly so.
func TestOverlap(t *testing.T) {
	const steps = 8
	train := func(bucket int, sent tensor.DType) (losses []float64) {
		defer dist.SetBucketSize(bucket)()
		local(t, 2, func(g *dist.Group) error {
			fake := dist.NewFakeDevice(fmt.Sprint(g.Rank()))
			d := tensor.NewDevice(fake)
			defer d.Close()
			step := layersStep(g, d, sent)
			for range steps {
				fake.Order = nil
				loss, err := step()
				if err != nil {
					return err
				}
				if g.Rank() == 0 {
					losses = append(losses, loss)
				}
			}
			order, n := fake.Order, bytes.Count(fake.Order, []byte("c"))
			if want := bucket < 1<<10; (n > 2) != want || bytes.Contains(order, []byte("ckc")) != want {
				return fmt.Errorf("with buckets of %d bytes a step runs kernels and collectives in order %s", bucket, order)
			}
			return errors.Join(g.Barrier(), d.Sync())
		})
		return losses
	}
	want := train(1<<20, 0)
	for _, c := range []struct {
		sent   tensor.DType
		within float64
	}{{0, 1e-6}, {tensor.BFloat16, 1e-2}} {
		got := train(160, c.sent)
		if !slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) <= c.within*math.Abs(y) }) {
			t.Errorf("gradients sent as %v: the losses are %v, want %v", c.sent, got, want)
		}
		if !slices.Equal(got, train(160, c.sent)) {
			t.Errorf("gradients sent as %v: the losses differ from run to run", c.sent)
		}
	}
}

// Gradients of 16 bits are rounded, divided and then added in their type, as PyTorch's hook does. It is so on hosts
// and on devices.
func TestMeanIn(t *testing.T) {
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		of := func(rank int) tensor.Tensor { return tensor.NewRNG(uint64(rank)).Normal(100) }
		stored := func(x tensor.Tensor) tensor.Tensor { // rounded
			if err := tensor.Eval(x); err != nil {
				t.Fatal(err)
			}
			return x
		}
		part := func(rank int) tensor.Tensor { return stored(stored(of(rank).Cast(d)).Div(2)) }
		want, err := tensor.Data[float32](stored(part(0).Add(part(1))).Cast(tensor.Float32))
		if err != nil {
			t.Fatal(err)
		}
		check := func(g *dist.Group, on *tensor.Device) error {
			got, err := tensor.Data[float32](g.MeanIn(d, of(g.Rank()).To(on))[0])
			if err != nil {
				return err
			}
			if !slices.Equal(got, want) {
				return fmt.Errorf("means in %v: %v, want %v", d, got[:4], want[:4])
			}
			return g.Barrier()
		}
		local(t, 2, func(g *dist.Group) error { return check(g, tensor.CPU()) })
		onFakes(t, 2, check)
	}
}

// On the host too the first gradients of a recorded step are summed while kernels go on.
func TestOverlapOnHost(t *testing.T) {
	defer dist.SetBucketSize(160)()
	local(t, 2, func(g *dist.Group) error {
		watched := dist.NewWatchedCPU(g)
		d := tensor.NewDevice(watched)
		defer d.Close()
		step := layersStep(g, d, 0)
		for i := range 5 {
			watched.Watches = i == 4
			if _, err := step(); err != nil {
				return err
			}
		}
		if n := watched.Begun; len(n) < 3 || n[1] != n[0]+1 {
			return fmt.Errorf("before the Runs of a step %v collectives had begun, want one between the first two", n)
		}
		return g.Barrier()
	})
}
