package train_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/device"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

// Gradients of several batches make the step of one large batch, also where batches differ
// in size and the last ones of an epoch are fewer.
func TestAccumulate(t *testing.T) {
	run := func(batch, accumulate int) *loop {
		l := newLoop(io.Discard)
		l.Data.Batch, l.Data.Shuffle, l.Accumulate, l.Epochs = batch, false, accumulate, 3
		l.Optimizer = optim.New(optim.Adam{}, 0.1)
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return l
	}
	for _, c := range []struct{ large, batch, accumulate, steps int }{
		{8, 2, 4, 3}, {8, 3, 3, 3}, {6, 2, 3, 6}, {4, 4, 1, 6}, {4, 1, 4, 6},
	} {
		want, got := run(c.large, 0), run(c.batch, c.accumulate)
		if d := math.Abs(want.Model.Weight.Item() - got.Model.Weight.Item()); d > 1e-6 || got.Step != c.steps {
			t.Errorf("%d batches of %d: weight %v after %d steps, want that of batches of %d, %v after %d",
				c.accumulate, c.batch, got.Model.Weight, got.Step, c.large, want.Model.Weight, c.steps)
		}
		if a, b := want.History[2]["loss"], got.History[2]["loss"]; math.Abs(a-b) > 1e-6*a {
			t.Errorf("%d batches of %d: loss %v, want %v", c.accumulate, c.batch, b, a)
		}
	}
}

// Accumulated state, such as a count in the model, includes all batches.
func TestAccumulateState(t *testing.T) {
	type counting struct {
		Weight tensor.Tensor
		Seen   tensor.Tensor `tensor:",state"`
		Unused tensor.Tensor
	}
	x := tensor.Ones(6, 1)
	l := train.Loop[counting, batch]{
		Model: counting{tensor.Zeros(1, 1), tensor.Zeros(), tensor.Ones(2)}, Epochs: 2, Accumulate: 2, Out: io.Discard,
		Data:      &data.Loader[batch]{Set: data.Of(batch{x, x}), Batch: 2},
		Optimizer: optim.New(optim.SGD{}, 0.1),
		Loss: func(m counting, b batch, _ *tensor.RNG) (tensor.Tensor, counting) {
			m.Seen = m.Seen.Add(b.X.Dim(0))
			return nn.MSE(b.X.MatMul(m.Weight), b.Y).Mean(), m
		},
	}
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	if l.Model.Seen.Item() != 12 || l.Step != 4 || l.Model.Unused.Sum().Item() != 2 {
		t.Errorf("12 examples in 4 steps: the model is %v after %d steps", l.Model, l.Step)
	}
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		name                 string
		epochs, steps, every int // 2 steps are an epoch
		reports              []int
		last                 string
	}{
		{"epochs", 3, 0, 0, []int{2, 4, 6}, "epoch 3/3"},
		{"steps", 0, 5, 0, []int{2, 4, 5}, "step 5/5"},
		{"steps and reports", 0, 7, 3, []int{3, 6, 7}, "step 7/7"},
		{"epochs and reports", 3, 0, 4, []int{4, 6}, "epoch 3/3"},
		{"reports at the end", 3, 0, 3, []int{3, 6}, "epoch 3/3"},
		{"steps first", 9, 3, 0, []int{2, 3}, "step 3/3"},
		{"epochs first", 1, 30, 0, []int{2}, "epoch 1/1"},
		{"every step", 1, 0, 1, []int{1, 2}, "epoch 1/1"},
	} {
		var out bytes.Buffer
		l := newLoop(&out)
		l.Epochs, l.Steps, l.Every = c.epochs, c.steps, c.every
		var reports, steps []int
		l.Watch = func([]train.Metrics) error {
			reports = append(reports, l.Step)
			return nil
		}
		var losses []float64
		l.AfterStep = func(got *loop, loss tensor.Tensor) error {
			steps, losses = append(steps, got.Step), append(losses, loss.Item())
			return nil
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		end := c.reports[len(c.reports)-1]
		if !slices.Equal(reports, c.reports) || len(l.History) != len(reports) || l.Step != end || len(steps) != end {
			t.Errorf("%s: reports after steps %v of %d, want %v", c.name, reports, l.Step, c.reports)
		}
		if lines := strings.Split(out.String(), "\n"); !strings.HasPrefix(lines[len(lines)-3], c.last) {
			t.Errorf("%s: the last report is %q, want it to begin with %s", c.name, lines[len(lines)-3], c.last)
		}
		first := 0.0
		for _, x := range losses[:c.reports[0]] {
			first += x / float64(c.reports[0])
		}
		if got := l.History[0]["loss"]; math.Abs(got-first) > 1e-6 {
			t.Errorf("%s: the first report has the loss %v, want the mean %v", c.name, got, first)
		}
	}
}

func TestAfterStepEnds(t *testing.T) {
	l, stop := newLoop(io.Discard), errors.New("stop")
	l.AfterStep = func(l *loop, _ tensor.Tensor) error {
		if l.Step == 3 {
			return stop
		}
		return nil
	}
	if err := l.Run(context.Background()); err != stop || l.Step != 3 {
		t.Errorf("Run = %v after step %d, want the error of AfterStep after 3", err, l.Step)
	}
	l.AfterStep = nil
	if err := l.Run(context.Background()); err != nil || l.Step != 40 || len(l.History) != 20 {
		t.Errorf("Run again = %v after step %d and %d reports, want 40 and 20", err, l.Step, len(l.History))
	}
}

func TestPatience(t *testing.T) {
	for _, c := range []struct {
		monitor  string
		patience int
		scores   []float64
		want     int // reports
	}{
		{"score", 2, []float64{1, 3, 2, 2, 9}, 4},
		{"-score", 2, []float64{5, 4, 4, 3, 6, 7, 8}, 6},
		{"score", 1, []float64{math.NaN(), 1, math.NaN(), 2}, 3},
		{"score", 1, []float64{1, 2, 3}, 3},
		{"score", 0, []float64{3, 2, 1}, 3},
	} {
		l := newLoop(io.Discard)
		l.Epochs, l.Monitor, l.Patience = len(c.scores), c.monitor, c.patience
		l.Validate = func(nn.Linear) (train.Metrics, error) {
			return train.Metrics{"score": c.scores[len(l.History)]}, nil
		}
		for range 2 { // the second Run does nothing
			if err := l.Run(context.Background()); err != nil || len(l.History) != c.want {
				t.Errorf("%s of %v with patience %d: %d reports, %v; want %d", c.monitor, c.scores, c.patience, len(l.History), err, c.want)
			}
		}
	}
}

func TestLog(t *testing.T) {
	l := newLoop(io.Discard)
	l.Log = filepath.Join(t.TempDir(), "log.jsonl")
	if err := os.WriteFile(l.Log, []byte("of another run\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	l.Optimizer.Schedule = func(step int) float64 { return 1 / float64(step+1) }
	l.Validate = func(nn.Linear) (train.Metrics, error) {
		return train.Metrics{"a": math.Inf(-1), "b": math.NaN()}, nil
	}
	for l.Epochs = 1; l.Epochs <= 2; l.Epochs++ { // two Runs of one Loop
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
	}
	b, err := os.ReadFile(l.Log)
	if err != nil {
		t.Fatal(err)
	}
	number := `-?\d[\d.e-]*`
	want := fmt.Sprintf(`^{"step":1,"epoch":0,"loss":%[1]s,"lr":0.1}
{"step":2,"epoch":0,"loss":%[1]s,"lr":0.05}
{"step":2,"epoch":1,"time":"20[^"]*","metrics":{"a":"-Inf","b":"NaN","loss":%[1]s}}
{"step":3,"epoch":1,"loss":%[1]s,"lr":0.03333333333333333}
{"step":4,"epoch":1,"loss":%[1]s,"lr":0.025}
{"step":4,"epoch":2,"time":"20[^"]*","metrics":{"a":"-Inf","b":"NaN","loss":%[1]s}}
$`, number)
	if !regexp.MustCompile(want).Match(b) {
		t.Errorf("the log is\n%s, want\n%s", b, want)
	}
}

// A loop on the device that TENSORKEN_DEVICE names resumes there, and a NaN is found there.
func TestLoopOnDevice(t *testing.T) {
	name := os.Getenv("TENSORKEN_DEVICE")
	if name == "" {
		name = "cpu"
	}
	on, _, err := device.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	x := tensor.New([]float32{3, 0, -1}).To(on)
	found, err := train.FindNaN(func() any { return x.Mul(2).Log().Mean() })
	if err != nil || found == nil || found.Op != "Log" || !slices.Equal(found.Index, []int{2}) || !slices.Equal(found.Operands, []float64{-2}) {
		t.Errorf("FindNaN on %v = %v, %v, want Log at [2] of -2", on, found, err)
	}
	dir := t.TempDir()
	for _, steps := range []int{7, 15} {
		l := newNet(dir)
		l.Model, l.Data.Device, l.Data.Workers = tree.To(l.Model, on), on, 1
		l.Epochs, l.Steps, l.FindNaN = 0, steps, true
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		for name, p := range tree.All([]any{l.Model, l.Best}) {
			if p.Device() != on || l.Step != steps {
				t.Errorf("after step %d, %s is on %v, want %v", l.Step, name, p.Device(), on)
			}
		}
	}
}

// TestReplayReads trains with losses that read variables which change between steps, and
// compares with a Loop that runs Loss in each step.
func TestReplayReads(t *testing.T) {
	for name, change := range map[string]func(l *netLoop, w *float64){
		"nothing": func(*netLoop, *float64) {},
		"in AfterStep": func(l *netLoop, w *float64) {
			l.AfterStep = func(*netLoop, tensor.Tensor) error { *w *= 0.9; return nil }
		},
		"in Watch": func(l *netLoop, w *float64) { l.Watch = func([]train.Metrics) error { *w *= 0.5; return nil } },
		"with the step": func(l *netLoop, w *float64) {
			loss := l.Loss
			l.Loss = func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
				x, m := loss(m, b, rng)
				return x.Div(l.Step + 1), m
			}
		},
		"with the epoch": func(l *netLoop, w *float64) {
			l.Every = 1000
			loss := l.Loss
			l.Loss = func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
				x, m := loss(m, b, rng)
				return x.Div(l.Epoch + 1), m
			}
		},
	} {
		run := func(eager bool) string {
			l, w := newNet(""), 1.0
			l.Checkpoint, l.Resume, l.Log, l.Eager, l.Epochs = "", false, "", eager, 4
			loss := l.Loss
			l.Loss = func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
				x, m := loss(m, b, rng)
				return x.Mul(w), m
			}
			change(l, &w)
			if err := l.Run(context.Background()); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			var text strings.Builder
			for name, x := range tree.All(l.Model) {
				fmt.Fprintln(&text, name, x)
			}
			return text.String()
		}
		if got, want := run(false), run(true); got != want {
			t.Errorf("%s: replayed\n%s\nEager\n%s", name, got, want)
		}
	}
}
