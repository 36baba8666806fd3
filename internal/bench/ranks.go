package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// RankWorks are the works of several ranks, each with a GPU of its own: sums of some bytes over all ranks, in
// bytes a second of the bus, as nccl-tests count them, and training steps on a batch for each rank.
func RankWorks(g *dist.Group) (works []Work) {
	n := float64(g.Size())
	for _, s := range []struct {
		name string
		size int
	}{{"4KiB", 1 << 12}, {"1MiB", 1 << 20}, {"16MiB", 1 << 24}, {"256MiB", 1 << 28}, {"1GiB", 1 << 30}} {
		if g.Size() > 1 {
			works = append(works, Work{Name: "allreduce/" + s.name, Unit: GBytes, Amount: float64(s.size) * 2 * (n - 1) / n, start: allReduce(g, s.size/4)})
		}
	}
	for _, zero := range []int{0, 1, 2} {
		gpt := func(in *inputs) func() (tensor.Tensor, error) {
			o := optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-4)
			o.Parallel, o.ZeRO = g, zero
			return gpt2Small.train(in, true, o)
		}
		name := "gpt2"
		if zero > 0 {
			name = fmt.Sprint("zero", zero, "/", name)
		}
		works = append(works, Work{Name: name, Unit: Millis, start: gpt}, Work{Name: name + "/bf16", Unit: Millis, start: halved(bf16, gpt)})
		if g.Size() == 1 {
			break
		}
	}
	return works
}

// allReduce returns the setup of a recorded sum over the ranks.
func allReduce(g *dist.Group, length int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x := tensor.FullOf(tensor.Float32, 1, length).To(in.device).Keep()
		sum := grad.Jit(func(x tensor.Tensor) tensor.Tensor { return dist.AllReduce(g, x, dist.Sum) })
		return func() (tensor.Tensor, error) {
			return x, tensor.Scope(func() error { return tensor.Eval(sum(x)) }) // which frees the sum
		}
	}
}

// MeasureRanks returns the seconds of a run of a work on all ranks: the median of three times of as many runs as
// fit into the budget. All ranks make as many.
func MeasureRanks(ctx context.Context, g *dist.Group, w Work, d *tensor.Device, budget time.Duration) (seconds float64, err error) {
	defer tensor.Catch(&err)
	run := w.Start(d)
	runs := func(n int) (float64, error) {
		if err := g.Barrier(); err != nil {
			return 0, err
		}
		start := clock.Now()
		for range n {
			if err := ctx.Err(); err != nil {
				return 0, g.Abort(err)
			}
			y, err := run()
			if err == nil {
				err = tensor.Eval(y)
			}
			if err != nil {
				return 0, err
			}
		}
		err := d.Sync()
		times, failed := tensor.Data[float64](dist.AllReduce(g, tensor.New([]float64{clock.Since(start).Seconds() / float64(n)}).To(tensor.CPU()), dist.Max))
		if err == nil {
			err = failed
		}
		if err != nil {
			return 0, err
		}
		return times[0], nil
	}
	var times []float64
	for i, n := 0, 4; i < 5; i++ { // the first compile, and warm up
		t, err := runs(n)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", w.Name, err)
		}
		if times = append(times, t); i == 1 {
			n = min(max(3, int(budget.Seconds()/t)), 1000)
		}
	}
	times = times[2:]
	slices.Sort(times)
	return times[1], nil
}
