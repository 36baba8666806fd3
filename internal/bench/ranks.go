package bench

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/clock"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// RankWorks are the works of several ranks, each with a GPU of its own: sums of some bytes over all ranks, in
// bytes a second of the bus, as nccl-tests count them, and training steps on a batch for each rank: alone, all ranks at
// the same time, and together.
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
	steps := []struct {
		name  string
		ranks optim.Ranks
		zero  int
	}{{"alone/gpt2", nil, 0}, {"gpt2", g, 0}, {"zero1/gpt2", g, 1}, {"zero2/gpt2", g, 2}}
	if g.Size() == 1 {
		steps = steps[1:2]
	}
	for _, s := range steps {
		gpt := func(in *inputs) func() (tensor.Tensor, error) {
			return gpt2Small.train(in, true, &optim.Optimizer{Rule: optim.AdamW{WeightDecay: 0.01}, LR: 1e-4, Parallel: s.ranks, ZeRO: s.zero})
		}
		works = append(works, Work{Name: s.name, Unit: Millis, start: gpt}, Work{Name: s.name + "/bf16", Unit: Millis, start: halved(bf16, gpt)})
	}
	for zero := 2; zero <= 3 && g.Size() > 1; zero++ {
		works = append(works, Work{Name: fmt.Sprintf("zero%d/llama7b/bf16", zero), Unit: Millis, start: halved(bf16, func(in *inputs) func() (tensor.Tensor, error) {
			return llama7B.train(in, &optim.Optimizer{
				Rule: optim.AdamW{WeightDecay: 0.01}, LR: 1e-5, Parallel: g, ZeRO: zero, MasterWeights: true, ParallelPrecision: bf16,
			})
		})})
	}
	return works
}

// RankSuite returns the suite of several ranks.
func RankSuite(g *dist.Group) Suite {
	return Suite{RankWorks(g), []Peer{{"pytorch", "needs a GPU of NVIDIA for each rank and pip install torch numpy", python("pytorch_ranks_peer.py", "--ranks", strconv.Itoa(g.Size()))}}}
}

// CompareMeasured compares the times of this library with peers that run once.
func CompareMeasured(ctx context.Context, o PeerOptions, peers []Found, ours []Time) ([]Comparison, error) {
	return compareRounds(ctx, o, peers, 1, func(context.Context, PeerOptions) ([]Time, error) { return ours, nil }, io.Discard)
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

// MeasureRanks measures a work on all ranks: the median of three times of as many runs as fit into the budget. All
// ranks make as many. Its memory is known if no work before needed as much.
func MeasureRanks(ctx context.Context, g *dist.Group, w Work, d *tensor.Device, budget time.Duration) (t Time, err error) {
	defer tensor.Catch(&err)
	in, peak := newInputs(d), tensor.Info().Peak
	run := w.start(in)
	t.Work, t.tolerance = w.Name, in.tolerance
	for range w.sampled() {
		result, err := run()
		if err == nil {
			t.Sample, err = appendSample(t.Sample, result)
		}
		if err != nil {
			return t, fmt.Errorf("%s: %w", w.Name, err)
		}
	}
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
	for i, n := 0, 4; i < 4; i++ { // the first warms up
		seconds, err := runs(n)
		if err != nil {
			return t, fmt.Errorf("%s: %w", w.Name, err)
		}
		if times = append(times, seconds); i == 0 {
			n = min(max(3, int(budget.Seconds()/seconds)), 1000)
		}
	}
	times = times[1:]
	slices.Sort(times)
	t.Seconds = times[1]
	if now := tensor.Info().Peak; w.isStep() && now > peak {
		t.Memory = now
	}
	return t, nil
}
