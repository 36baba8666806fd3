package main

import (
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/exampletest"
	"github.com/tensorken/tensorken/examples/internal/names"
)

// short sets the number of steps for a test.
func short(t *testing.T, n int) {
	old := *steps
	t.Cleanup(func() { *steps = old })
	*steps = n
}

// TestOutput runs all stages for a few steps.
func TestOutput(t *testing.T) {
	short(t, 20)
	exampletest.Check(t, main)
}

// TestFigures checks that each figure is drawn.
func TestFigures(t *testing.T) {
	if testing.Short() {
		t.Skip("draws for a second")
	}
	list, err := names.Read("")
	if err != nil {
		t.Fatal(err)
	}
	short(t, 2)
	*figures = t.TempDir()
	defer func() { *figures = "" }()
	for _, stage := range []string{"counts", "rates", "mlp", "init", "backprop"} {
		if err := makemore(io.Discard, list, stage); err != nil {
			t.Fatal(err)
		}
	}
	var drawn []string
	files, err := filepath.Glob(filepath.Join(*figures, "*.png"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		drawn = append(drawn, strings.TrimSuffix(filepath.Base(path), ".png"))
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if img, err := png.Decode(f); err != nil || img.Bounds().Dx() < 300 {
			t.Errorf("%s: %v", path, err)
		}
	}
	if want := []string{"activations", "counts", "dlogits", "embeddings", "gradients", "rates", "saturated", "updates", "weights"}; !slices.Equal(drawn, want) {
		t.Errorf("figures %v, want %v", drawn, want)
	}
}

func TestMisuse(t *testing.T) {
	for _, c := range []struct {
		list    []string
		model   string
		figures string
		want    string
	}{
		{[]string{"a", "b"}, "all", "", "2 names: want at least 3"},
		{[]string{"a", "b", "c"}, "gpt", "", `no model "gpt": want all, counts, neuron, `},
		{[]string{"a", "b", "c"}, "counts", "absent", "-plot absent: want a folder that exists"},
	} {
		*figures = c.figures
		err := makemore(io.Discard, c.list, c.model)
		*figures = ""
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("makemore of %v, %s: error %v, want %s", c.list, c.model, err, c.want)
		}
	}
}
