package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/tensor"
)

// colors writes a model whose scores are the mean of each channel.
func colors(t *testing.T, batch int) string {
	return modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "image", Elem: modeltest.Float, Dims: []int{batch, 3, -1, -1}}},
		Outputs: []modeltest.Value{{Name: "scores", Elem: modeltest.Float, Dims: []int{batch, 3}}},
		Nodes:   []modeltest.Node{modeltest.Call("GlobalAveragePool", "mean", "image"), modeltest.Call("Flatten", "scores", "mean")},
	}.Write(t)
}

// Images of one color are of its class, with the probability that follows from the settings; in batches of any
// length and of a fixed one.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	pixels := map[string][]uint8{"a.png": {250, 10, 30}, "b.bmp": {0, 200, 100}, "c.png": {20, 20, 220}}
	for name, c := range pixels {
		if err := imageio.Save(filepath.Join(dir, name), tensor.New(c, 1, 1, 3).Expand(9, 12, 3)); err != nil {
			t.Fatal(err)
		}
	}
	*labels = filepath.Join(t.TempDir(), "labels.txt")
	if err := os.WriteFile(*labels, []byte("red\ngreen\nblue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	*images, options.Size = dir, 32
	want := ""
	for i, name := range []string{"a.png", "b.bmp", "c.png"} {
		var e [3]float64
		for c, v := range pixels[name] {
			e[c] = math.Exp((float64(v)/255 - options.Mean[c]) / options.Std[c])
		}
		want += fmt.Sprintf("%s\n  %6.2f %%  %s\n", name, 100*e[i]/(e[0]+e[1]+e[2]), []string{"red", "green", "blue"}[i])
	}
	*top = 1
	for _, n := range []int{-1, 2} {
		*model = colors(t, n)
		var out bytes.Buffer
		if err := run(t.Context(), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("with a batch of %d the program writes\n%swant\n%s", n, out.String(), want)
		}
	}
	*top = 5
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil || strings.Count(out.String(), "%") != 9 {
		t.Errorf("of three classes the top 5 of three images are\n%s%v", out.String(), err)
	}
	os.WriteFile(*labels, []byte("red\n"), 0o600)
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "3 classes") {
		t.Errorf("with too few labels: %v", err)
	}
	*model = "none.onnx"
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "none.onnx") {
		t.Errorf("without a model: %v", err)
	}
}
