package dist_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/dist"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/train"
	"github.com/tensorken/tensorken/tree"
)

type model struct{ In, Out nn.Linear }

type example struct{ X, Y tensor.Tensor }

// newLoop returns a training run on 75 examples, in batches of 32: the last has 11, so eight ranks have parts of
// one and of two.
func newLoop(g *dist.Group, folder string, steps int) *train.Loop[model, example] {
	rng := tensor.NewRNG(1)
	x := rng.Normal(75, 6).Keep()
	set := data.Of(example{x, x.Sum(1).Sin().Keep()})
	return &train.Loop[model, example]{
		Model:     model{nn.NewLinear(rng, 6, 16), nn.NewLinear(rng, 16, 1)},
		Data:      &data.Loader[example]{Set: set, Batch: 32, Shuffle: true, Seed: 3},
		Optimizer: &optim.Optimizer{Rule: optim.Adam{}, LR: 0.01, ClipNorm: 0.5},
		Loss: func(m model, b example, _ *tensor.RNG) (tensor.Tensor, model) {
			return m.Out.Apply(m.In.Apply(b.X).Tanh()).Sub(b.Y).Square().Mean(), m
		},
		Steps: steps, Parallel: g, Out: io.Discard, Log: filepath.Join(folder, "log"),
	}
}

// lossesOf reads the losses of a log.
func lossesOf(t *testing.T, folder string) (losses []float64) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "log"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var step struct{ Loss *float64 }
		if err := json.Unmarshal(line, &step); err != nil {
			t.Fatal(err)
		}
		if step.Loss != nil {
			losses = append(losses, *step.Loss)
		}
	}
	return losses
}

// rankLosses returns the losses of a run of n ranks with a stage of ZeRO, all of which have one model at the end.
func rankLosses(t *testing.T, n, zero, steps int) []float64 {
	t.Helper()
	folder := t.TempDir()
	var mu sync.Mutex
	models := map[string]bool{}
	local(t, n, func(g *dist.Group) error {
		l := newLoop(g, folder, steps)
		l.Optimizer.ZeRO = zero
		err := l.Run(context.Background())
		text := ""
		for name, x := range tree.All(l.Model) {
			b, _ := x.Bytes()
			text += fmt.Sprint(name, b)
		}
		mu.Lock()
		defer mu.Unlock()
		models[text] = true
		return err
	})
	losses := lossesOf(t, folder)
	if len(losses) != steps || len(models) != 1 {
		t.Fatalf("%d ranks, ZeRO %d: %d losses, %d different models, want %d and 1", n, zero, len(losses), len(models), steps)
	}
	return losses
}

// checkLosses fails unless losses are about as wanted.
func checkLosses(t *testing.T, what string, losses, want []float64) {
	t.Helper()
	if len(losses) != len(want) {
		t.Fatalf("%s: %d losses, want %d", what, len(losses), len(want))
	}
	for i, x := range losses {
		if !(math.Abs(x-want[i]) <= 1e-5*math.Abs(want[i])+1e-7) {
			t.Fatalf("%s: the loss of step %d is %v, want %v", what, i+1, x, want[i])
		}
	}
}

// The loss of 100 steps on the same batches is the same for any number of ranks, to 1e-5, and has the
// same bits in each run of one number. All ranks have the same model in the end.
func TestTrain(t *testing.T) {
	var want []float64
	steps, sizes := 100, []int{1, 2, 4, 8}
	if testing.Short() {
		steps, sizes = 20, []int{1, 3}
	}
	for _, n := range sizes {
		var before []float64
		for range 2 {
			losses := rankLosses(t, n, 0, steps)
			if before != nil && !slices.Equal(losses, before) {
				t.Errorf("%d ranks: losses differ from run to run", n)
			}
			before = losses
		}
		if want == nil {
			want = before
		}
		checkLosses(t, fmt.Sprint(n, " ranks"), before, want)
		t.Logf("%d ranks: losses %.7f to %.7f", n, before[0], before[steps-1])
	}
}

// A checkpoint of four ranks resumes on any number, with the data that they would have had; gradients are
// accumulated without a collective until the last.
func TestResume(t *testing.T) {
	run := func(folder string, n, steps, accumulate int) error {
		return dist.Local(n, func(g *dist.Group) error {
			l := newLoop(g, folder, steps)
			l.Checkpoint, l.Resume, l.Accumulate = filepath.Join(folder, "checkpoint"), true, accumulate
			return l.Run(context.Background())
		})
	}
	for _, accumulate := range []int{1, 2} {
		whole := t.TempDir()
		if err := run(whole, 4, 20, accumulate); err != nil {
			t.Fatal(err)
		}
		want := lossesOf(t, whole)
		for _, n := range []int{1, 2, 3} {
			folder := t.TempDir()
			for _, err := range []error{run(folder, 4, 8, accumulate), run(folder, n, 20, accumulate)} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for i, x := range lossesOf(t, folder) {
				if math.Abs(x-want[i]) > 1e-5*math.Abs(want[i]) {
					t.Fatalf("on %d ranks, accumulating %d: the loss of step %d is %v, want %v", n, accumulate, i+1, x, want[i])
				}
			}
		}
	}
}

// Dropout differs by rank, and a model that differs at the start is an error.
func TestRandomness(t *testing.T) {
	var mu sync.Mutex
	masks := map[string]bool{}
	local(t, 3, func(g *dist.Group) error {
		l := newLoop(g, t.TempDir(), 1)
		l.RNG, l.Eager = tensor.NewRNG(5), true
		loss := l.Loss
		l.Loss = func(m model, b example, rng *tensor.RNG) (tensor.Tensor, model) {
			mu.Lock()
			masks[rng.Normal(8).Keep().String()] = true
			mu.Unlock()
			return loss(m, b, rng)
		}
		err := l.Run(context.Background())
		if l.RNG.Seed != 5 {
			t.Errorf("the seed is %d after the run, want 5", l.RNG.Seed)
		}
		return err
	})
	if len(masks) != 3 {
		t.Errorf("3 ranks drew %d different masks", len(masks))
	}
	err := dist.Local(3, func(g *dist.Group) error {
		l := newLoop(g, t.TempDir(), 1)
		if g.Rank() == 1 {
			l.Model.In.Bias = l.Model.In.Bias.Add(1)
		}
		return l.Run(context.Background())
	})
	if want := "make it from the same seed"; err == nil || !bytes.Contains([]byte(err.Error()), []byte(want)) {
		t.Errorf("a model that differs: %v, want %q", err, want)
	}
}

// A loader or an optimizer that differs is an error.
func TestSettings(t *testing.T) {
	for name, change := range map[string]func(*train.Loop[model, example]){
		"seed":  func(l *train.Loop[model, example]) { l.Data.Seed++ },
		"LR":    func(l *train.Loop[model, example]) { l.Optimizer.LR *= 2 },
		"steps": func(l *train.Loop[model, example]) { l.Steps++ },
	} {
		err := dist.Local(2, func(g *dist.Group) error {
			l := newLoop(g, t.TempDir(), 2)
			if g.Rank() == 1 {
				change(l)
			}
			return l.Run(context.Background())
		})
		if want := "the settings of rank"; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
}

// If one rank is told to stop all stop after the same step, and rank 0 writes a checkpoint.
func TestStop(t *testing.T) {
	folder := t.TempDir()
	var mu sync.Mutex
	steps := map[int]bool{}
	err := dist.Local(3, func(g *dist.Group) error {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		l := newLoop(g, folder, 1_000_000)
		l.Checkpoint = filepath.Join(folder, "checkpoint")
		if g.Rank() == 1 {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
		err := l.Run(ctx)
		if want := map[bool]string{true: context.Canceled.Error(), false: "another rank was told to stop"}[g.Rank() == 1]; err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("rank %d: %v, want %q", g.Rank(), err, want)
		}
		mu.Lock()
		defer mu.Unlock()
		steps[l.Step] = true
		return nil
	})
	if _, failed := os.Stat(filepath.Join(folder, "checkpoint")); err != nil || failed != nil || len(steps) != 1 {
		t.Errorf("ranks stopped after steps %v: %v, %v", steps, err, failed)
	}
}

// Running means of a batch norm are averaged, whether a step is recorded or not.
func TestBatchNorm(t *testing.T) {
	type normed struct {
		Norm nn.BatchNorm
		Out  nn.Linear
	}
	const n = 2
	norms := make([][]float32, 2*n)
	local(t, n, func(g *dist.Group) error {
		for k, eager := range []bool{false, true} {
			rng := tensor.NewRNG(1)
			m := normed{nn.NewBatchNorm(3), nn.NewLinear(rng, 3, 1)}
			o := &optim.Optimizer{Rule: optim.SGD{}, LR: 0.1, Parallel: g}
			loss := func(m normed, x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, normed) {
				h, norm := m.Norm.Train(x, rng)
				m.Norm = norm.(nn.BatchNorm)
				return m.Out.Apply(h).Square().Mean(), m
			}
			step := optim.Jit(o, loss)
			for i := range 5 {
				x := rng.Normal(8, 3).Add(g.Rank() + i).Keep()
				if eager {
					_, next, grads := optim.ValueAndGradAux(o, func(m normed) (tensor.Tensor, normed) { return loss(m, x, rng) })(m)
					if err := o.Step(&next, grads); err != nil {
						return err
					}
					m = next
				} else if _, err := step(&m, x, rng); err != nil {
					return err
				}
			}
			var err error
			if norms[2*k+g.Rank()], err = tensor.Data[float32](m.Norm.Mean); err != nil {
				return err
			}
		}
		return nil
	})
	for i, x := range norms {
		if !slices.Equal(x, norms[0]) || x[0] == 0 {
			t.Errorf("running means %d are %v, and of rank 0 %v", i, x, norms[0])
		}
	}
}
