package train_test

import (
	"context"
	"flag"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// memory returns the bytes of tensors and of the Go heap, without garbage and without
// the pool of free buffers, whose size varies.
func memory() (held, heap int64) {
	var m runtime.MemStats
	runtime.GC()
	tensor.CPU().Close()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return tensor.Info().Held, int64(m.HeapAlloc)
}

var longRun = flag.Int("steps", 3000, "how many steps TestLoopsHoldFlatMemory runs")

// TestLoopsHoldFlatMemory runs thousands of steps, whose memory must not grow by a
// tensor nor by a few bytes a step. The flag -steps=50000 runs more.
func TestLoopsHoldFlatMemory(t *testing.T) {
	const warm = 250
	steps := *longRun
	if testing.Short() {
		steps = min(steps, 500)
	}
	const slack = 32 << 10 // of the heap, in bytes: 10 a step
	x := tensor.New([]float32{-4, -3, -2, -1, 1, 2, 3, 4}, 8, 1)
	model, average := nn.NewLinear(tensor.NewRNG(1), 1, 1), nn.NewLinear(tensor.NewRNG(2), 1, 1)
	stepper := func(o *optim.Optimizer) func() error {
		m := model
		return func() error {
			_, g := grad.ValueAndGrad(func(m nn.Linear) tensor.Tensor { return nn.MSE(m.Apply(x), x).Mean() })(m)
			return o.Step(&m, g)
		}
	}
	clipped, scheduled := optim.New(optim.SGD{Momentum: 0.9}, 1e-3), optim.New(optim.Adam{}, 1e-3)
	clipped.ClipNorm = 0.1
	scheduled.Schedule = optim.Warmup(100, optim.Cosine(steps, 0.1))
	loop := newLoop(io.Discard)
	wide := tensor.Ones(4*warm, 1)
	loop.Data = &data.Loader[batch]{Set: data.Of(batch{wide, wide}), Batch: 4, Shuffle: true, Workers: 1}
	whole := newNet(t.TempDir())
	whole.Accumulate, whole.CheckpointEvery, whole.Epochs, whole.Every = 2, warm/2, 0, warm
	whole.Optimizer.Schedule, whole.Validate, whole.Monitor = nil, nil, ""

	for _, c := range []struct {
		name string
		size int // steps of one call
		call func() error
	}{
		{"momentum and ClipNorm", 1, stepper(clipped)},
		{"Adam and Schedule", 1, stepper(scheduled)},
		{"train.Loop", warm, func() error {
			loop.Epochs = loop.Epoch + 1
			loop.History = loop.History[:min(1, len(loop.History))] // it has an element for each report
			return loop.Run(context.Background())
		}},
		{"train.Loop with all that it does", warm, func() error {
			whole.Steps = whole.Step + warm
			whole.History = whole.History[:min(1, len(whole.History))]
			return whole.Run(context.Background())
		}},
		{"Average", 1, func() error {
			average = optim.Average(average, model, 0.99)
			return tensor.Eval(average)
		}},
		{"inference", 1, func() error {
			_, err := tensor.Data[float32](model.Apply(x))
			return err
		}},
	} {
		run := func(steps int) {
			for range steps / c.size {
				if err := c.call(); err != nil {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
		}
		run(warm)
		held, heap := memory()
		run(steps)
		held2, heap2 := memory()
		for end := time.Now().Add(5 * time.Second); held2 > held || heap2 > heap+slack; held2, heap2 = memory() { // cleanups may be late
			if time.Now().After(end) {
				t.Errorf("%s: %d steps made the tensors held grow from %d to %d bytes, the heap from %d to %d",
					c.name, steps, held, held2, heap, heap2)
				break
			}
		}
		t.Logf("%s: %d steps; tensors %d to %d bytes, heap %d to %d", c.name, steps, held, held2, heap, heap2)
	}
}
