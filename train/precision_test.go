package train_test

import (
	"context"
	"io"
	"math"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// A loop trains in 16 bits, though gradients overflow at first: the model stays
// in float32, and a run that resumes has the scale.
func TestPrecision(t *testing.T) {
	for _, d := range []tensor.DType{tensor.BFloat16, tensor.Float16} {
		path := filepath.Join(t.TempDir(), "run.safetensors")
		run := func(epochs int, resume bool) *loop {
			l := newLoop(io.Discard)
			l.Optimizer.Precision = d
			l.Optimizer.Scaling.Initial = 3e38 // times a gradient it is infinite in float32 too
			l.FindNaN = true
			l.Epochs, l.Checkpoint, l.Resume = epochs, path, resume
			if err := l.Run(context.Background()); err != nil {
				t.Fatalf("%v: %v", d, err)
			}
			return l
		}
		first := run(2, false)
		l := run(30, true)
		if w, b := l.Model.Weight.Item(), l.Model.Bias.Item(); math.Abs(w-2) > 0.02 || math.Abs(b-1) > 0.02 {
			t.Errorf("%v: Run fitted y = %vx + %v, want 2x + 1", d, w, b)
		}
		if got := l.Model.Weight.DType(); got != tensor.Float32 {
			t.Errorf("%v: the weight is %v, want float32", d, got)
		}
		if d == tensor.Float16 && !(first.Optimizer.State.Scale.Item() < 3e38 && l.Optimizer.State.Scale.Item() <= first.Optimizer.State.Scale.Item()) {
			t.Errorf("the scale went from 3e38 to %v and %v, want less, and no more after the restart", first.Optimizer.State.Scale, l.Optimizer.State.Scale)
		}
	}
}
