package main

import (
	"io"
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/tensor"
)

// TestOutput compares the output and the picture with README.md; with -short it trains for few epochs, and
// the program need only run.
func TestOutput(t *testing.T) {
	*draw = filepath.Join(t.TempDir(), "regression.png")
	if testing.Short() {
		*epochs = 20
		if _, err := regression(io.Discard, tensor.NewRNG(1)); err != nil {
			t.Fatal(err)
		}
		return
	}
	exampletest.CheckWithin(t, main, 0.03)
	exampletest.CheckPicture(t, *draw, "regression.png", 0.01)
}
