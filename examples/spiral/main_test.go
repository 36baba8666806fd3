package main

import (
	"path/filepath"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
)

func TestOutput(t *testing.T) {
	*draw = filepath.Join(t.TempDir(), "spiral.png")
	exampletest.CheckWithin(t, main, 0.03)
	exampletest.CheckPicture(t, *draw, "spiral.png", 0.03)
}
