package main

import (
	"math"
	"os"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/tensor"
)

func TestOutput(t *testing.T) { exampletest.Check(t, main) }

// TestLoss trains on the built-in names and, if TENSORKEN_NAMES is the path of makemore's
// names.txt, which is not part of this module, on those.
func TestLoss(t *testing.T) {
	for _, c := range []struct {
		name, path   string
		least, above float64 // the loss of counting, and how far training may stay above it
	}{
		{name: "built-in", least: 2.34916, above: 0.02},
		{name: "makemore", path: os.Getenv("TENSORKEN_NAMES"), least: 2.4540145, above: 0.01},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "makemore" && c.path == "" {
				t.Skip("TENSORKEN_NAMES does not name makemore's names.txt")
			}
			list, err := names.Read(c.path)
			if err != nil {
				t.Fatal(err)
			}
			e := examplesOf(list)
			if got := e.countingLoss().Item(); math.Abs(got-c.least) > 5e-6 {
				t.Errorf("least = %.7f, want %.7f", got, c.least)
			}
			last := math.Inf(1)
			if _, err := train(tensor.NewRNG(1), e, func(step int, loss float64) {
				if !(loss < last) {
					t.Errorf("step %d has the loss %.7f, not less than %.7f before it", step, loss, last)
				}
				last = loss
			}); err != nil {
				t.Fatal(err)
			}
			if last < c.least || last > c.least+c.above {
				t.Errorf("after training the loss is %.7f, want %.7f and at most %v more", last, c.least, c.above)
			}
		})
	}
}
