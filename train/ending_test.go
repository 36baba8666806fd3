package train_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

// The last line says why a run ended, which report was best and where it is saved.
func TestEnding(t *testing.T) {
	file := filepath.Join(t.TempDir(), "run")
	scores := []float64{2, 1, 3, 4, 5, 6}
	for _, c := range []struct {
		name string
		set  func(l *loop, cancel func())
		want string
	}{
		{"epochs", func(l *loop, _ func()) {}, "done: 6 epochs, "},
		{"monitor and checkpoint", func(l *loop, _ func()) { l.Monitor, l.Checkpoint, l.Epochs = "-score", file, 3 },
			"done: 3 epochs, 6 steps; best is report 2 of 3, score 1.0000; saved in " + file},
		{"resumed when done", func(l *loop, _ func()) { l.Monitor, l.Checkpoint, l.Resume, l.Epochs = "-score", file, true, 3 },
			"nothing left to do: the run was done before, with 3 epochs, 6 steps; more Epochs or Steps go on; best is report 2 of 3, score 1.0000; saved in " + file},
		{"patience", func(l *loop, _ func()) { l.Monitor, l.Patience = "-score", 2 },
			`ended after 4 epochs, 8 steps by Patience: 2 reports without a better "-score"; best is report 2 of 4, score 1.0000`},
		{"cancelled", func(l *loop, cancel func()) { l.Watch = func([]train.Metrics) error { cancel(); return nil } }, "cancelled after "},
		{"cancelled, with a checkpoint", func(l *loop, cancel func()) {
			l.Checkpoint, l.Watch = file+"2", func([]train.Metrics) error { cancel(); return nil }
		}, "cancelled after 1 epoch, 2 steps; saved in " + file + "2, from which Resume goes on"},
		{"error", func(l *loop, _ func()) { l.Watch = func([]train.Metrics) error { return errors.New("full disk") } }, "failed after "},
	} {
		var out bytes.Buffer
		l := newLoop(&out)
		ctx, cancel := context.WithCancel(context.Background())
		l.Epochs, l.Data.Batch = 6, (l.Data.Set.Len()+1)/2
		l.Validate = func(nn.Linear) (train.Metrics, error) {
			return train.Metrics{"score": scores[len(l.History)]}, nil
		}
		c.set(l, cancel)
		err := l.Run(ctx)
		cancel()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.want) {
			t.Errorf("%s: the last line is %q (%v), want %q", c.name, last, err, c.want)
		}
	}
}

// A metric that is NaN from the start is no progress.
func TestPatienceOfNaN(t *testing.T) {
	for _, monitor := range []string{"score", "-score"} {
		l := newLoop(io.Discard)
		l.Epochs, l.Monitor, l.Patience = 10, monitor, 2
		var first nn.Linear
		l.Validate = func(m nn.Linear) (train.Metrics, error) {
			if !first.Weight.IsValid() {
				first = tree.Copy(m) // the next step donates it
			}
			return train.Metrics{"score": math.NaN()}, nil
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if len(l.History) != 3 || l.Best.Weight.Item() != first.Weight.Item() {
			t.Errorf("%s NaN: %d reports and Best %v, want 3 and the first, %v", monitor, len(l.History), l.Best.Weight, first.Weight)
		}
	}
}

func TestMetricLimits(t *testing.T) {
	f := func(v ...float32) tensor.Tensor { return tensor.New(v) }
	no := tensor.New([]bool{false, false}, 1, 2)
	logits, label := tensor.New([]float32{0, 11.5, 0}, 1, 3), tensor.New([]int32{0})
	curvature := grad.Hessian(func(x tensor.Tensor) tensor.Tensor { return train.R2(x, f(1, 2, 3)) })(f(1, 2, 3))
	for _, c := range []struct {
		name string
		got  tensor.Tensor
		want float64
	}{
		{"R2 of a constant, perfect", train.R2(f(2, 2), f(2, 2)), 1},
		{"R2 of a constant whose mean is rounded", train.R2(f(0.1, 0.1, 0.1), f(0.1, 0.1, 0.1)), 1},
		{"R2 of a constant", train.R2(f(1, 2), f(2, 2)), 0},
		{"R2", train.R2(f(1, 2, 4), f(1, 2, 3)), 0.5},
		{"R2 of great numbers", train.R2(f(1e30, 2e30, 4e30), f(1e30, 2e30, 3e30)), 0.5},
		{"R2 of small numbers", train.R2(f(1e-30, 2e-30, 4e-30), f(1e-30, 2e-30, 3e-30)), 0.5},
		{"the curvature of R2 at its maximum", curvature.At(0, 0), -1},
		{"Perplexity of float16", train.Perplexity(logits.Cast(tensor.Float16), label).Div(math.Exp(11.5)), 1 + 2*math.Exp(-11.5)},
		{"Perplexity of bfloat16", train.Perplexity(logits.Cast(tensor.BFloat16), label).Div(math.Exp(11.5)), 1 + 2*math.Exp(-11.5)},
		{"F1 without classes", train.F1(no, no), 0},
		{"F1Micro without classes", train.F1Micro(no, no), 0},
		{"Precision without classes", train.Precision(no, no), 0},
		{"Recall without classes", train.Recall(no, no), 0},
		{"Accuracy of int64", train.Accuracy(tensor.New([]int64{1 << 32, 5}), tensor.New([]int64{0, 5 + 1<<32})), 0},
		{"Accuracy of int64 and int32", train.Accuracy(tensor.New([]int64{1 << 32, 5}), tensor.New([]int32{0, 5})), 0.5},
		{"Accuracy of uint64 and int64", train.Accuracy(tensor.New([]uint64{1<<64 - 1, 5}), tensor.New([]int64{-1, 5})), 0.5},
		{"Accuracy of uint32 and int32", train.Accuracy(tensor.New([]uint32{1<<32 - 1, 5}), tensor.New([]int32{-1, 5})), 0.5},
		{"Accuracy of bool and uint8", train.Accuracy(tensor.New([]bool{true, false}), tensor.New([]uint8{1, 0})), 1},
	} {
		if got := c.got.Item(); !(math.Abs(got-c.want) < 2e-6) {
			t.Errorf("%s is %v, want %v", c.name, got, c.want)
		}
	}
}

// The statistics of a batch norm are as good in 16 bits as in float32.
func TestStatisticsInMixedPrecision(t *testing.T) {
	x := tensor.NewRNG(1).Normal(64, 1).Add(8).Keep()
	mean := map[tensor.DType]float64{}
	for _, d := range []tensor.DType{0, tensor.Float16, tensor.BFloat16} {
		if testing.Short() && d == tensor.BFloat16 {
			continue
		}
		l := nn.NewBatchNorm(1)
		l.Momentum = 0.001
		o := optim.New(optim.SGD{}, 1e-9)
		o.Precision = d
		loop := &train.Loop[nn.BatchNorm, tensor.Tensor]{
			Model: l, Epochs: 1000, Out: io.Discard, RNG: tensor.NewRNG(1), Optimizer: o,
			Data: &data.Loader[tensor.Tensor]{Set: data.Of(x), Batch: 64},
			Loss: func(m nn.BatchNorm, b tensor.Tensor, r *tensor.RNG) (tensor.Tensor, nn.BatchNorm) {
				y, next := nn.Train(m, b, r)
				return y.Square().Mean(), next
			}}
		if err := loop.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		mean[d] = loop.Model.Mean.Item()
		if math.Abs(mean[d]/mean[0]-1) > 0.002 {
			t.Errorf("in %v the mean is %v, in float32 %v", d, mean[d], mean[0])
		}
	}
}

func TestFindNaNOfNil(t *testing.T) {
	err := tensor.Try(func() { train.FindNaN(nil) })
	if err == nil || !strings.Contains(err.Error(), "ending_test.go") || !strings.Contains(err.Error(), "train.FindNaN: the function is nil") {
		t.Errorf("FindNaN(nil): %v, want an error with the line", err)
	}
}
