package dist_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// onFakes runs f on n ranks with devices of their own, and checks that these have computed collectives.
func onFakes(t *testing.T, n int, f func(g *dist.Group, d *tensor.Device) error) {
	t.Helper()
	local(t, n, func(g *dist.Group) error {
		fake := dist.NewFakeDevice(fmt.Sprint(g.Rank()))
		d := tensor.NewDevice(fake)
		defer d.Close()
		err := f(g, d)
		if err == nil && n > 1 && (fake.Runs.Load() == 0 || g.Transport() != "fake 1.0") {
			err = fmt.Errorf("the device ran %d collectives, and they go by %s", fake.Runs.Load(), g.Transport())
		}
		return errors.Join(err, d.Sync())
	})
}

// Collectives of a device have the results of those on the host, for all types, and in batches.
func TestOnDevice(t *testing.T) {
	for _, n := range []int{1, 2, 3} {
		for _, dtype := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16, tensor.Int8, tensor.Uint32, tensor.Int64, tensor.Bool} {
			results := map[bool][][]byte{}
			for _, onHost := range []bool{true, false} {
				all := make([][]byte, n)
				run := func(g *dist.Group, d *tensor.Device) error {
					x := tensor.Arange(12).Add(g.Rank()).Mul(tensor.Arange(12)).Reshape(6, 2).Cast(tensor.Int32).Cast(dtype).To(d)
					sum := func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Sum) }
					list := []tensor.Tensor{dist.AllGather(g, x.Transpose(0, 1)), dist.Broadcast(g, x, n-1), grad.Vmap(func(x tensor.Tensor) tensor.Tensor { return dist.AllGather(g, x) })(x)}
					if dtype != tensor.Bool {
						list = append(list, sum(x), dist.AllReduce(g, x, dist.Max), dist.ReduceScatter(g, x, dist.Sum), grad.Vmap(sum)(x))
					}
					if dtype.IsFloat() {
						list = append(list, dist.AllReduce(g, x, dist.Mean), g.Mean(x, x.Slice(0, 2, 4).Mul(3))[1])
						list = append(list, grad.Of(func(x tensor.Tensor) tensor.Tensor { return dist.Broadcast(g, x, 0).Square().Sum() })(x))
					}
					for i, y := range list {
						b, err := y.Bytes()
						if err != nil {
							return fmt.Errorf("result %d of %v: %w", i, dtype, err)
						}
						all[g.Rank()] = fmt.Append(all[g.Rank()], i, b)
					}
					return g.Barrier()
				}
				if onHost {
					local(t, n, func(g *dist.Group) error { return run(g, tensor.CPU()) })
				} else {
					onFakes(t, n, run)
				}
				results[onHost] = all
			}
			if !slices.EqualFunc(results[true], results[false], slices.Equal) {
				t.Errorf("%d ranks, %v: the results of devices differ: %s, want %s", n, dtype, results[false], results[true])
			}
		}
	}
}

// Recorded steps with the collective in the middle have the losses of one rank, and batches whose parts differ
// in length are compared though one rank has met its length before.
func TestTrainOnDevice(t *testing.T) {
	losses := func(n int, train func(steps int, folder string, f func(g *dist.Group, d *tensor.Device) error)) []float64 {
		folder, steps := t.TempDir(), 40
		train(steps, folder, func(g *dist.Group, d *tensor.Device) error {
			l := newLoop(g, folder, steps)
			l.Model = tree.To(l.Model, d)
			set := l.Data.Set
			l.Data = &data.Loader[example]{Set: set, Batch: 12, Shuffle: true, Seed: 3} // 75 = 6·12 + 3: parts of 6, 1 and 2
			l.Loss = func(m model, b example, _ *tensor.RNG) (tensor.Tensor, model) {
				return m.Out.Apply(m.In.Apply(b.X.To(d)).Tanh()).Sub(b.Y.To(d)).Square().Mean(), m
			}
			return l.Run(context.Background())
		})
		return lossesOf(t, folder)
	}
	want := losses(1, func(_ int, _ string, f func(g *dist.Group, d *tensor.Device) error) {
		local(t, 1, func(g *dist.Group) error { return f(g, tensor.CPU()) })
	})
	got := losses(2, func(_ int, _ string, f func(g *dist.Group, d *tensor.Device) error) { onFakes(t, 2, f) })
	for i, x := range want {
		if math.Abs(x-got[i]) > 1e-5*math.Abs(x)+1e-7 {
			t.Fatalf("the loss of step %d is %v, want %v", i+1, got[i], x)
		}
	}
}

// A step with the collective in the middle is recorded, with checked indices or without.
func TestRecordedOnDevice(t *testing.T) {
	type net struct {
		E nn.Embedding
		L nn.Linear
	}
	onFakes(t, 2, func(g *dist.Group, d *tensor.Device) error {
		rng := tensor.NewRNG(1)
		m, calls := tree.To(net{nn.NewEmbedding(rng, 6, 3), nn.NewLinear(rng, 3, 3)}, d), 0
		step := optim.Jit(&optim.Optimizer{Rule: optim.Adam{}, LR: 0.1, Parallel: g}, func(m net, x tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, net) {
			calls++
			return m.L.Apply(m.E.Apply(x)).Square().Mean(), m
		})
		for i := range 20 {
			if _, err := step(&m, tensor.New([]int32{int32(i % 6), int32(g.Rank())}).To(d), nil); err != nil {
				return err
			}
		}
		if calls > 5 {
			return fmt.Errorf("20 steps call the loss %d times", calls)
		}
		return g.Barrier()
	})
}

// An index out of range in a recorded step leaves the model of its rank as it was, though devices report the index later,
// and ends the other ranks.
func TestBadIndexOnDevice(t *testing.T) {
	errs := make([]error, 2)
	err := dist.Local(2, func(g *dist.Group) (err error) {
		defer func() { errs[g.Rank()] = err }()
		fake := dist.NewFakeDevice(fmt.Sprint(g.Rank()))
		d := tensor.NewDevice(fake)
		defer d.Close()
		m := tree.To(nn.NewEmbedding(tensor.NewRNG(1), 4, 3), d)
		step := optim.Jit(&optim.Optimizer{Rule: optim.Adam{}, LR: 0.1, Parallel: g}, func(m nn.Embedding, ids tensor.Tensor, _ *tensor.RNG) (tensor.Tensor, nn.Embedding) {
			return m.Apply(ids).Square().Mean(), m
		})
		for i := range 10 {
			id := int32(i % 4)
			if i == 7 && g.Rank() == 1 {
				id = 9
			}
			before, err := m.Weight.Bytes()
			if err != nil {
				return err
			}
			if _, err := step(&m, tensor.New([]int32{id, 1}).To(d), nil); err != nil {
				after, failed := m.Weight.Bytes()
				if g.Rank() == 1 && (failed != nil || !slices.Equal(before, after)) {
					t.Errorf("the model has changed, error %v", failed)
				}
				return err
			}
		}
		return nil
	})
	var failure *dist.Failure
	if err == nil || errs[1] == nil || !strings.Contains(errs[1].Error(), "index 9 at [0] is out of range") || !errors.As(errs[0], &failure) || failure.Rank != 1 {
		t.Errorf("rank 0: %v; rank 1: %v", errs[0], errs[1])
	}
}

// Differences are errors on all ranks, also if a collective on a device never ends by them.
func TestDifferOnDevice(t *testing.T) {
	for name, c := range map[string]struct {
		f    func(g *dist.Group, x tensor.Tensor, odd bool) tensor.Tensor
		want string
	}{
		"shape": {func(g *dist.Group, x tensor.Tensor, odd bool) tensor.Tensor {
			if odd {
				x = tensor.Cat(0, x, x)
			}
			return dist.AllReduce(g, x, dist.Sum)
		}, "graph differs"},
		"place": {func(g *dist.Group, x tensor.Tensor, odd bool) tensor.Tensor {
			if odd {
				x = x.To(tensor.CPU())
			}
			return dist.AllReduce(g, x, dist.Sum)
		}, "move it, by Tensor.To"},
		"order": {func(g *dist.Group, x tensor.Tensor, odd bool) tensor.Tensor {
			if odd {
				return dist.AllReduce(g, dist.AllReduce(g, x, dist.Sum).Exp(), dist.Sum)
			}
			return dist.AllReduce(g, dist.AllGather(g, x), dist.Sum)
		}, "graph differs"},
	} {
		ended := make([]error, 3)
		err := dist.Local(3, func(g *dist.Group) error {
			d := tensor.NewDevice(dist.NewFakeDevice(fmt.Sprint(g.Rank())))
			defer d.Close()
			x := tensor.New([]float32{1, 2}).To(d)
			again := grad.Jit(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Sum) })
			for range 5 {
				if err := tensor.Eval(again(x)); err != nil {
					return err
				}
			}
			_, err := c.f(g, x, g.Rank() == 1).Bytes()
			ended[g.Rank()] = err
			return err
		})
		var failure *dist.Failure
		if !errors.As(err, &failure) || !strings.Contains(failure.Cause, c.want) || slices.Contains(ended, nil) {
			t.Errorf("%s: %v, on the ranks %v, want %q", name, err, ended, c.want)
		}
	}
}

// Ranks go through the host unless all have the collectives, and say why. Two ranks on one device are an error.
func TestTransport(t *testing.T) {
	for name, c := range map[string]struct {
		device func(rank int) *tensor.Device
		want   string // of the transport, or of the error
	}{
		"missing": {func(rank int) *tensor.Device {
			f := dist.NewFakeDevice(fmt.Sprint(rank))
			if rank == 1 {
				f.Missing = fmt.Errorf("it is off: %w", errors.ErrUnsupported)
			}
			return tensor.NewDevice(f)
		}, "TCP: rank 1: it is off"},
		"absent": {func(rank int) *tensor.Device {
			f := dist.NewFakeDevice(fmt.Sprint(rank))
			if rank == 1 {
				f.Missing = errors.New("install it")
			}
			return tensor.NewDevice(f)
		}, "rank 1 failed: install it"},
		"mixed": {func(rank int) *tensor.Device {
			if rank == 0 {
				return tensor.CPU()
			}
			return tensor.NewDevice(dist.NewFakeDevice(fmt.Sprint(rank)))
		}, "TCP: rank 0 has the tensor of collective 2 on a device without"},
		"host":   {func(int) *tensor.Device { return tensor.CPU() }, "TCP"},
		"one":    {func(int) *tensor.Device { return tensor.NewDevice(dist.NewFakeDevice("0")) }, "have one GPU: give each its own"},
		"device": {func(rank int) *tensor.Device { return tensor.NewDevice(dist.NewFakeDevice(fmt.Sprint(rank))) }, "fake 1.0"},
	} {
		transports := make([]string, 3)
		err := dist.Local(3, func(g *dist.Group) error {
			x := tensor.New([]float32{1}).To(c.device(g.Rank()))
			err := g.Barrier()
			for range 3 {
				err = errors.Join(err, equal("the sum", dist.AllReduce(g, x, dist.Sum), 3))
			}
			transports[g.Rank()] = g.Transport()
			return err
		})
		if name == "one" || name == "absent" {
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", name, err, c.want)
			}
			continue
		}
		for rank, x := range transports {
			if err != nil || !strings.HasPrefix(x, c.want) {
				t.Errorf("%s: rank %d goes by %q, error %v, want %q", name, rank, x, err, c.want)
			}
		}
	}
}
