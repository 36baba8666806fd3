package train_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

type netLoop = train.Loop[nn.Sequential, batch]

// newNet trains a network with dropout and batch norm, 6 batches an epoch.
func newNet(dir string) *netLoop {
	rng := tensor.NewRNG(1)
	x := rng.Normal(44, 3)
	y := x.Sum(1).Gt(0).Cast(tensor.Int32).Reshape(-1)
	l := &netLoop{
		Model: nn.Sequential{nn.NewLinear(rng, 3, 8), nn.NewBatchNorm(8), nn.Func(tensor.Tensor.ReLU), nn.Dropout{P: 0.3},
			nn.NewLinear(rng, 8, 2)},
		Data:      &data.Loader[batch]{Set: data.Of(batch{x, y}), Batch: 8, Shuffle: true, Seed: 3},
		Optimizer: optim.New(optim.AdamW{WeightDecay: 0.01}, 0.01),
		RNG:       rng,
		Epochs:    5,
		Loss: func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
			logits, next := nn.Train(m, b.X, rng)
			return nn.CrossEntropy(logits, b.Y).Mean(), next
		},
		Validate: func(m nn.Sequential) (train.Metrics, error) {
			return train.Metrics{"accuracy": train.Accuracy(m.Apply(x), y).Item()}, nil
		},
		Monitor:    "accuracy",
		Checkpoint: filepath.Join(dir, "run.ckpt"),
		Resume:     true,
		Log:        filepath.Join(dir, "run.jsonl"),
		Out:        io.Discard,
	}
	l.Optimizer.Schedule = optim.Cosine(30, 0.1)
	return l
}

var clockTime = regexp.MustCompile(`"time":"[^"]*"`)

// end returns all that a finished run leaves: the checkpoint, the log, history and model.
func end(t *testing.T, l *netLoop) string {
	t.Helper()
	var text strings.Builder
	for _, path := range []string{l.Checkpoint, l.Log} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text.WriteString(clockTime.ReplaceAllString(string(b), ""))
	}
	// The bytes of a log count its times, which differ in length.
	fmt.Fprintln(&text, l.History, l.Epoch, l.Step, l.Data.Epoch, l.Data.Next, l.RNG.Count)
	return regexp.MustCompile(`\\"Logged\\":\d+`).ReplaceAllString(text.String(), "")
}

// variants are ways to run a loop.
var variants = map[string]func(l *netLoop){
	"epochs":     func(*netLoop) {},
	"eager":      func(l *netLoop) { l.Eager = true },
	"accumulate": func(l *netLoop) { l.Accumulate = 4 },
	"steps":      func(l *netLoop) { l.Epochs, l.Steps, l.Every, l.CheckpointEvery = 0, 25, 7, 3 },
	"workers":    func(l *netLoop) { l.Data.Workers = 2 },
	"float16":    func(l *netLoop) { l.Optimizer.Precision, l.Accumulate = tensor.Float16, 2 },
	"bfloat16 and float32": func(l *netLoop) {
		l.Model, l.Optimizer.MasterWeights = tree.Cast(l.Model, tensor.BFloat16), true
		loss, validate := l.Loss, l.Validate
		l.Loss = func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
			b.X = b.X.Cast(tensor.BFloat16)
			return loss(m, b, rng)
		}
		l.Validate = func(m nn.Sequential) (train.Metrics, error) { return validate(tree.Cast(m, tensor.Float32)) }
	},
	"a plateau and an average": func(l *netLoop) {
		plateau, average := &optim.Plateau{Patience: 1}, &optim.Averaged[nn.Sequential]{Decay: 0.9, Model: l.Model}
		l.Optimizer.Schedule = plateau.Schedule
		l.Extra = map[string]any{"plateau": plateau, "average": average}
		l.Watch = func(h []train.Metrics) error {
			plateau.Observe(h[len(h)-1]["loss"])
			return nil
		}
		l.AfterStep = func(l *netLoop, _ tensor.Tensor) error { return average.Add(l.Model) }
	},
	"stream": func(l *netLoop) {
		l.Data.Stream, l.Data.Set, l.Data.Shuffle = data.ShuffleStream(data.StreamOf(l.Data.Set), 10, 1), nil, false
	},
}

// A run that is cancelled and resumed, each time by a new Loop, ends with the bits of one
// that is not, and so does one that goes on in the same Loop.
func TestResume(t *testing.T) {
	for name, change := range variants {
		whole := newNet(t.TempDir())
		change(whole)
		if err := whole.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		want := end(t, whole)
		for _, fresh := range []bool{true, false} {
			for _, every := range []int{4, 11} { // batches between cancellations
				if !fresh && every != 4 || testing.Short() && fresh != (every == 11) {
					continue
				}
				dir := t.TempDir()
				l := newNet(dir)
				change(l)
				runs := 0
				for err := error(context.Canceled); err != nil; runs++ {
					if fresh {
						l = newNet(dir)
						change(l)
					}
					ctx, cancel := context.WithCancel(context.Background())
					batches := 0
					count := func() {
						if batches++; batches == every+l.Accumulate {
							cancel()
						}
					}
					if l.Accumulate > 1 { // also between the batches of a step
						loss := newNet(dir).Loss
						l.Loss = func(m nn.Sequential, b batch, rng *tensor.RNG) (tensor.Tensor, nn.Sequential) {
							count()
							return loss(m, b, rng)
						}
					} else {
						after := l.AfterStep
						l.AfterStep = func(l *netLoop, loss tensor.Tensor) error {
							count()
							if after != nil {
								return after(l, loss)
							}
							return nil
						}
					}
					if err = l.Run(ctx); err != nil && !errors.Is(err, context.Canceled) {
						t.Fatalf("%s: %v", name, err)
					}
					cancel()
				}
				if got := end(t, l); got != want || runs < 2 {
					t.Errorf("%s, cancelled every %d batches, a new Loop: %v: after %d runs\n%q, want\n%q", name, every, fresh, runs, got, want)
				}
			}
		}
	}
}

// A finished run that is resumed has its results and does nothing else.
func TestResumeFinished(t *testing.T) {
	dir := t.TempDir()
	first := newNet(dir)
	if err := first.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	again := newNet(dir)
	again.Loss = func(nn.Sequential, batch, *tensor.RNG) (tensor.Tensor, nn.Sequential) {
		t.Fatal("a finished run trains")
		panic("")
	}
	if err := again.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	same, err := tensor.AllClose(first.Best[0].(nn.Linear).Weight, again.Best[0].(nn.Linear).Weight, 0, 0)
	if end(t, first) != end(t, again) || !same || err != nil {
		t.Errorf("a finished run resumes with\n%s, want\n%s", end(t, again), end(t, first))
	}
	again = newNet(dir)
	again.Epochs = 7
	if err := again.Run(context.Background()); err != nil || len(again.History) != 7 || again.Step != 42 {
		t.Errorf("7 epochs after 5: %v, %d reports, step %d", err, len(again.History), again.Step)
	}
}

func TestCheckpointErrors(t *testing.T) {
	dir := t.TempDir()
	l := newNet(dir)
	l.Epochs, l.Steps = 0, 4
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(l.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(dir, "other.ckpt")
	if err := safetensors.Save(other, tensor.Ones(2)); err != nil {
		t.Fatal(err)
	}
	text := filepath.Join(dir, "text.ckpt")
	if err := os.WriteFile(text, []byte("text"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		change func(l *netLoop)
		want   string
	}{
		{"a file that exists", func(l *netLoop) { l.Resume = false }, "exists: set Resume to go on from it, or remove it"},
		{"another model", func(l *netLoop) { l.Model = nn.Sequential{nn.NewLinear(tensor.NewRNG(1), 3, 8)} }, `the Loop has no "best.1.bias"`},
		{"another width", func(l *netLoop) { l.Model[4] = nn.NewLinear(tensor.NewRNG(1), 9, 2) }, `"best.4.weight" is float32 [2 8], the Loop's is float32 [2 9]`},
		{"no RNG", func(l *netLoop) { l.RNG = nil }, "it is of a Loop with RNG: true, this one: false"},
		{"another batch", func(l *netLoop) { l.Data.Batch = 9 }, "it was written within an epoch of a loader with Batch 8, Seed 3"},
		{"something extra", func(l *netLoop) { l.Extra = &[]tensor.Tensor{tensor.Ones(1)} }, `it has no "extra.0"`},
		{"not a checkpoint", func(l *netLoop) { l.Checkpoint = other }, "it was not written by a train.Loop"},
		{"text", func(l *netLoop) { l.Checkpoint = text }, "text.ckpt"},
	} {
		l := newNet(dir)
		c.change(l)
		err := l.Run(context.Background())
		if err == nil || !strings.HasPrefix(err.Error(), "train: checkpoint ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: Run gave error %v, want …%s", c.name, err, c.want)
		}
		if len(l.History) != 0 || l.Step != 0 {
			t.Errorf("%s: Run changed the Loop to step %d", c.name, l.Step)
		}
	}
	if after, err := os.ReadFile(l.Checkpoint); err != nil || string(after) != string(before) {
		t.Errorf("Runs that failed changed the checkpoint, or %v", err)
	}
}

// Counts that no Loop has are an error, which changes nothing.
func TestCheckpointOfNoLoop(t *testing.T) {
	l := newNet(t.TempDir())
	l.Epochs, l.Steps = 0, 2
	if err := l.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	f, err := safetensors.Open(l.Checkpoint)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tensors := map[string]tensor.Tensor{}
	for _, name := range f.Names() {
		if tensors[name], err = f.Tensor(name); err != nil {
			t.Fatal(err)
		}
	}
	counts := regexp.MustCompile(`"(Step|Epoch|Next|Examples|Logged)":`).FindAllStringIndex(f.Meta["train"], -1)
	if len(counts) != 6 {
		t.Fatalf("found %d counts, want 6, in %s", len(counts), f.Meta["train"])
	}
	for _, at := range counts {
		bad := newNet(t.TempDir())
		text := f.Meta["train"][:at[1]] + "-1" + f.Meta["train"][at[1]:]
		if err := safetensors.SaveMeta(bad.Checkpoint, tensors, map[string]string{"train": text}); err != nil {
			t.Fatal(err)
		}
		if err := bad.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "not written by a train.Loop") || bad.Step != 0 {
			t.Errorf("%s: %v, at step %d", text, err, bad.Step)
		}
	}
}

// Extra trees, and a model and a best model that are one pointer, are in the checkpoint.
func TestCheckpointExtra(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.ckpt")
	run := func(epochs int) (*train.Loop[*nn.Linear, batch], *tensor.Tensor) {
		x := tensor.Ones(4, 1)
		extra := tensor.Zeros(2)
		l := &train.Loop[*nn.Linear, batch]{
			Model:     &nn.Linear{Weight: tensor.Zeros(1, 1), Bias: tensor.Zeros(1)},
			Data:      &data.Loader[batch]{Set: data.Of(batch{x, x}), Batch: 2},
			Optimizer: optim.New(optim.SGD{}, 0.1), Epochs: epochs, Checkpoint: path, Resume: true, Extra: &extra, Out: io.Discard,
			Loss: func(m *nn.Linear, b batch, _ *tensor.RNG) (tensor.Tensor, *nn.Linear) {
				return nn.MSE(m.Apply(b.X), b.Y).Mean(), m
			},
			AfterStep: func(l *train.Loop[*nn.Linear, batch], loss tensor.Tensor) error {
				extra = extra.Add(1)
				return nil
			},
		}
		if err := l.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		return l, &extra
	}
	run(2)
	l, extra := run(3)
	if l.Step != 6 || extra.At(0).Item() != 6 {
		t.Errorf("after 3 epochs in two runs: step %d, extra %v; want 6, [6 6]", l.Step, extra)
	}
	if a, b := l.Best.Weight.Item(), l.Model.Weight.Item(); a != b || a == 0 {
		t.Errorf("Best has the weight %v, Model %v", a, b)
	}
}
