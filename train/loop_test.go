package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

type batch struct{ X, Y tensor.Tensor }

type loop = train.Loop[nn.Linear, batch]

// newLoop fits y = 2x + 1 on eight points.
func newLoop(out io.Writer) *loop {
	x := tensor.New([]float32{-4, -3, -2, -1, 1, 2, 3, 4}, 8, 1)
	return &loop{
		Model:     nn.Linear{Weight: tensor.Zeros(1, 1), Bias: tensor.Zeros(1)},
		Data:      &data.Loader[batch]{Set: data.Of(batch{x, x.Mul(2).Add(1)}), Batch: 4, Shuffle: true},
		Optimizer: optim.New(optim.SGD{}, 0.1),
		Epochs:    20,
		Loss: func(m nn.Linear, b batch, _ *tensor.RNG) (tensor.Tensor, nn.Linear) {
			return nn.MSE(m.Apply(b.X), b.Y).Mean(), m
		},
		Out: out,
	}
}

func TestRun(t *testing.T) {
	var out bytes.Buffer
	l := newLoop(&out)
	l.Validate = func(m nn.Linear) (train.Metrics, error) {
		return train.Metrics{"error": math.Abs(m.Weight.Item() - 2)}, nil
	}
	l.Monitor = "-error"
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if w, b := l.Best.Weight.Item(), l.Best.Bias.Item(); math.Abs(w-2) > 0.01 || math.Abs(b-1) > 0.01 {
		t.Errorf("Run fitted y = %vx + %v, want 2x + 1", w, b)
	}
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	if len(lines) != 22 || len(l.History) != 20 {
		t.Fatalf("%d lines and %d elements of History, want 22 and 20:\n%s", len(lines), len(l.History), out.String())
	}
	form := regexp.MustCompile(`^epoch [ 0-9]{2}/20  loss \d+\.\d{4}  error \d+\.\d{4}  \d+ samples/s  (memory [0-9.]+ \w*B  )?\d+:\d\d left$`)
	if want := tensor.CPU().String() + ", 2 parameters"; lines[0] != want {
		t.Errorf("the first line is %q, want %q", lines[0], want)
	}
	for i, line := range lines[1:21] {
		if !form.MatchString(line) {
			t.Errorf("line %d is %q", i, line)
		}
	}
}

func TestBestFollowsMonitor(t *testing.T) {
	for _, c := range []struct {
		monitor string
		scores  []float64
		want    int // the epoch that is best
	}{
		{"score", []float64{1, 3, 2, 3}, 2},
		{"-score", []float64{5, 4, 4, 6}, 2},
		{"score", []float64{math.NaN(), 1, 2, math.NaN()}, 3},
		{"", []float64{9, 1, 1, 1}, 4},
	} {
		l := newLoop(io.Discard)
		l.Epochs, l.Monitor = 4, c.monitor
		var models []nn.Linear
		l.Validate = func(m nn.Linear) (train.Metrics, error) {
			models = append(models, tree.Copy(m)) // the next step donates it
			return train.Metrics{"score": c.scores[len(models)-1]}, nil
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got, want := l.Best.Weight.Item(), models[c.want-1].Weight.Item(); got != want {
			t.Errorf("Monitor %q of scores %v: Best has weight %v, want epoch %d's %v", c.monitor, c.scores, got, c.want, want)
		}
	}
}

// A Loop with the History of another one keeps its Best until an epoch is better.
func TestContinueBest(t *testing.T) {
	for _, c := range []struct {
		monitor string
		before  []float64
		score   float64
		want    bool // whether the next epoch is best
	}{
		{"score", []float64{1, 3, 2}, 2.5, false},
		{"score", []float64{-3, -2}, -1, true},
		{"-score", []float64{3, 2}, 1, true},
		{"-score", []float64{3, 2}, 2.5, false},
		{"score", []float64{math.NaN(), math.NaN()}, -1, true},
		{"score", nil, -1, true},
	} {
		l := newLoop(io.Discard)
		l.Monitor, l.Epochs, l.Epoch = c.monitor, len(c.before)+1, len(c.before)
		l.Best = nn.Linear{Weight: tensor.Full(9, 1, 1), Bias: tensor.Zeros(1)}
		for _, v := range c.before {
			l.History = append(l.History, train.Metrics{"score": v})
		}
		l.Validate = func(nn.Linear) (train.Metrics, error) { return train.Metrics{"score": c.score}, nil }
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if got := l.Best.Weight.Item() != 9; got != c.want {
			t.Errorf("%s is %v after %v: Best is the new model: %v, want %v", c.monitor, c.score, c.before, got, c.want)
		}
	}
}

func TestCancel(t *testing.T) {
	for _, stopAt := range []int{1, 5} {
		ctx, cancel := context.WithCancel(context.Background())
		l := newLoop(io.Discard)
		steps := 0
		l.AfterStep = func(*loop, tensor.Tensor) error {
			if steps++; steps == stopAt {
				cancel()
			}
			return nil
		}
		err := l.Run(ctx)
		if !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled at step %d: Run gave error %v, want %v", stopAt, err, context.Canceled)
		}
		if steps != stopAt {
			t.Errorf("cancelled at step %d: Run went on to step %d", stopAt, steps)
		}
		if !l.Best.Weight.IsValid() {
			t.Errorf("cancelled at step %d: no Best", stopAt)
		}
		if got, want := len(l.History), (stopAt-1)/2; got != want {
			t.Errorf("cancelled at step %d: History has %d epochs, want %d", stopAt, got, want)
		}
	}
}

func TestRunErrors(t *testing.T) {
	broken := errors.New("broken")
	for _, c := range []struct {
		name   string
		change func(l *loop)
		want   string
	}{
		{"no data", func(l *loop) { l.Data = nil }, "Loop without Data"},
		{"nothing", func(l *loop) { *l = loop{} }, "Loop without Data, Optimizer, Loss"},
		{"no epochs", func(l *loop) { l.Epochs = 0 }, "train: Loop of 0 Epochs and 0 Steps: want at least 1"},
		{"patience without a monitor", func(l *loop) { l.Patience = 1 }, "with Patience and no Monitor"},
		{"checkpoints without a file", func(l *loop) { l.CheckpointEvery = 1 }, "with CheckpointEvery and no Checkpoint"},
		{"resuming without a file", func(l *loop) { l.Resume = true }, "with Resume and no Checkpoint"},
		{"negative steps", func(l *loop) { l.Steps = -1 }, "Loop of -1 Steps: want at least 0"},
		{"a log in no folder", func(l *loop) { l.Log = "none/log.jsonl" }, "train: log: open none/log.jsonl"},
		{"negative epochs", func(l *loop) { l.Epochs = -3 }, "train: Loop of -3 Epochs"},
		{"huge steps", func(l *loop) { l.Optimizer.LR, l.Epochs = 1e6, 100 }, "a smaller learning rate may help"},
		{"unknown metric", func(l *loop) { l.Monitor = "beauty" }, `Monitor is "beauty", and the metrics are [loss]`},
		{"no batch", func(l *loop) { l.Data.Batch, l.Data.DropLast = 100, true }, "the loader has no batch"},
		{"validation fails", func(l *loop) {
			l.Validate = func(nn.Linear) (train.Metrics, error) { return nil, broken }
		}, "broken"},
	} {
		l := newLoop(io.Discard)
		c.change(l)
		err := l.Run(context.Background())
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Run gave error %v, want …%s", c.name, err, c.want)
		}
	}
}

// A Loss that returns a model without its tensors is an error, and the trained model
// stays.
func TestRunLosesModel(t *testing.T) {
	for _, c := range []struct {
		name string
		lose func(m nn.Linear) nn.Linear
		want string
	}{
		{"all", func(nn.Linear) nn.Linear { return nn.Linear{} }, `Loss returned a model without "weight", "bias": want the model that it was given, with its new state`},
		{"what has a gradient", func(m nn.Linear) nn.Linear { return nn.Linear{Bias: m.Bias} }, `without "weight":`},
		{"what has none", func(m nn.Linear) nn.Linear { return nn.Linear{Weight: m.Weight} }, `without "bias":`},
	} {
		for lost := 1; lost <= 2; lost++ {
			l := newLoop(io.Discard)
			var given nn.Linear
			step := 0
			l.Loss = func(m nn.Linear, b batch, _ *tensor.RNG) (tensor.Tensor, nn.Linear) {
				loss := nn.MSE(b.X.MatMul(m.Weight), b.Y).Mean()
				given = l.Model
				if step++; step == lost {
					m = c.lose(m)
				}
				return loss, m
			}
			err := l.Run(context.Background())
			if err == nil || !strings.Contains(err.Error(), c.want) || step != lost {
				t.Errorf("%s lost in step %d: Run ended in step %d with error %v, want …%s…", c.name, lost, step, err, c.want)
			}
			if got, want := l.Model, given; !got.Weight.IsValid() || got.Weight.Item() != want.Weight.Item() || got.Bias.Item() != want.Bias.Item() {
				t.Errorf("%s lost in step %d: Model is %v, want %v", c.name, lost, got, want)
			}
			if got := l.Best.Weight.IsValid(); got != (lost > 1) {
				t.Errorf("%s lost in step %d: there is a Best: %v", c.name, lost, got)
			}
		}
	}
}

func TestMetrics(t *testing.T) {
	scores := tensor.From([][]float32{{3, 1, 0}, {0, 2, 1}, {0, 9, 1}, {1, 0, 0}})
	labels := tensor.New([]int32{0, 1, 2, 0})
	p, y := tensor.New([]float32{1, 2, 4}), tensor.New([]float32{1, 3, 5})
	for _, c := range []struct {
		call string
		got  tensor.Tensor
		want float64
	}{
		{"Accuracy(scores, labels)", train.Accuracy(scores, labels), 0.75},
		{"Accuracy(classes, labels)", train.Accuracy(tensor.New([]int32{0, 0, 0, 0}), labels), 0.5},
		{"Accuracy(scores, int64 labels)", train.Accuracy(scores, labels.Cast(tensor.Int64)), 0.75},
		{"F1(scores, labels)", train.F1(scores, labels), (1 + 2.0/3 + 0) / 3},
		{"F1 of two classes of three", train.F1(scores.Slice(0, 0, 2), labels.Slice(0, 0, 2)), 1},
		{"MAE(p, y)", train.MAE(p, y), 2.0 / 3},
		{"R2(p, y)", train.R2(p, y), 0.75},
	} {
		if got := c.got.Item(); c.got.Rank() != 0 || math.Abs(got-c.want) > 1e-6 {
			t.Errorf("%s = %v of shape %v, want the scalar %v", c.call, got, c.got.Shape(), c.want)
		}
	}
}

func TestMetricsMisuse(t *testing.T) {
	labels := tensor.New([]int32{0, 1, 2})
	column, row := tensor.Ones(3, 1), tensor.Ones(3)
	for _, c := range []struct {
		f    func()
		want string
	}{
		{func() { train.Accuracy(tensor.Eye(3), labels.Reshape(3, 1)) }, "train.Accuracy of [3 3] and [3 1]: predictions and targets differ in shape"},
		{func() { train.Accuracy(tensor.Eye(3), labels.Slice(0, 0, 2)) }, "train.Accuracy of [3 3] and [2]: want one target for each row"},
		{func() { train.Accuracy(labels, tensor.Zeros(3, 3)) }, "train.Accuracy of [3] and [3 3]: want one target for each row"},
		{func() { train.F1(tensor.Eye(3), labels.Reshape(3, 1)) }, "train.F1 of [3 3] and [3 1]: want one target for each row"},
		{func() { train.MAE(column, row) }, "train.MAE of [3 1] and [3]: predictions and targets differ in shape"},
		{func() { train.R2(row, column) }, "train.R2 of [3] and [3 1]: predictions and targets differ in shape"},
	} {
		err := tensor.Try(c.f)
		if err == nil || !strings.HasPrefix(err.Error(), "loop_test.go:") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want loop_test.go:N: %s…", err, c.want)
		}
	}
}

func TestRandomnessIsPassedOn(t *testing.T) {
	l := newLoop(io.Discard)
	l.RNG, l.Epochs = tensor.NewRNG(1), 1
	loss, seen := l.Loss, []*tensor.RNG{}
	l.Loss = func(m nn.Linear, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Linear) {
		seen = append(seen, rng)
		return loss(m, b, rng)
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if want := []*tensor.RNG{l.RNG, l.RNG}; !slices.Equal(seen, want) {
		t.Errorf("Loss was given %v, want %v", seen, want)
	}
}

// A bad label ends the loop with an error that names it, and keeps the model trained
// by the batches before.
func TestRunBadLabel(t *testing.T) {
	type example struct{ X, Y tensor.Tensor }
	for _, bad := range []int{0, 5} {
		labels := make([]int32, 8)
		labels[bad] = 3
		rng := tensor.NewRNG(1)
		l := &train.Loop[nn.Linear, example]{
			Model: nn.NewLinear(rng, 2, 3),
			Data:  &data.Loader[example]{Set: data.Of(example{rng.Normal(8, 2), tensor.New(labels)}), Batch: 2},
			Loss: func(m nn.Linear, b example, _ *tensor.RNG) (tensor.Tensor, nn.Linear) {
				return nn.CrossEntropy(m.Apply(b.X), b.Y).Mean(), m
			},
			Optimizer: optim.New(optim.Adam{}, 0.1), Epochs: 1, Out: io.Discard,
		}
		err := l.Run(context.Background())
		if want := fmt.Sprintf("nn.CrossEntropy: label 3 at [%d] is out of range for 3 classes", bad%2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("label %d is bad: error %v, want %s", bad, err, want)
		}
		if _, err := tensor.Data[float32](l.Model.Weight); err != nil {
			t.Errorf("label %d is bad: the model: %v", bad, err)
		}
		if got := l.Best.Weight.IsValid(); got != (bad > 1) {
			t.Errorf("label %d is bad: there is a Best: %v", bad, got)
		}
	}
}
