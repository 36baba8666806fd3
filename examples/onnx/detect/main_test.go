package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"math"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/examples/internal/modeltest"
	"github.com/tensorken/tensorken/imageio"
	"github.com/tensorken/tensorken/onnx"
	"github.com/tensorken/tensorken/tensor"
)

// quarters writes a model with results as of YOLO 8: a box for each quarter of a square of 32 pixels, with
// the mean of each channel as the score of a class.
func quarters(t *testing.T) string {
	boxes := tensor.New([]float32{
		8, 24, 8, 24, // x of centers
		8, 8, 24, 24,
		16, 16, 16, 16, // widths
		16, 16, 16, 16,
	}, 1, 4, 4)
	return modeltest.Model{
		Inputs:  []modeltest.Value{{Name: "images", Elem: modeltest.Float, Dims: []int{1, 3, 32, 32}}},
		Outputs: []modeltest.Value{{Name: "output0", Elem: modeltest.Float, Dims: []int{1, 7, 8}}},
		Nodes: []modeltest.Node{
			modeltest.Call("AveragePool", "means", "images").With("kernel_shape", []int{16, 16}).With("strides", []int{16, 16}),
			modeltest.Call("Reshape", "scores", "means", "shape"),
			modeltest.Call("Concat", "once", "boxes", "scores").With("axis", 1),
			modeltest.Call("Concat", "output0", "once", "once").With("axis", 2), // each box occurs twice
		},
		Constants: map[string]tensor.Tensor{"boxes": boxes, "shape": tensor.New([]int64{1, 3, 4}, 3)},
	}.Write(t)
}

// A red thing is found at its place in an image that is padded, and its box is drawn.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	m := image.NewRGBA(image.Rect(0, 0, 64, 128)) // 16 by 32 in the square, with 8 columns of gray on both sides
	draw.Draw(m, m.Bounds(), image.NewUniform(color.RGBA{A: 255}), image.Point{}, draw.Src)
	draw.Draw(m, image.Rect(0, 64, 32, 128), image.NewUniform(color.RGBA{R: 255, A: 255}), image.Point{}, draw.Src)
	if err := imageio.Save(filepath.Join(dir, "thing.png"), imageio.FromImage(m, 3)); err != nil {
		t.Fatal(err)
	}
	*model, *images, *folder, *threshold, options.Size = quarters(t), dir, filepath.Join(dir, "out"), 0.5, 32
	var out bytes.Buffer
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	// Of the quarter's 16 columns, 8 are gray, 114 of 255, and 8 red; antialiasing takes an eighth of a row and of a column.
	if want := "thing.png: 1 objects\n  0.71  class 0 at (0,64)-(32,128)\n"; out.String() != want {
		t.Errorf("the program writes %q, want %q", out.String(), want)
	}
	drawn, err := imageio.Load(filepath.Join(*folder, "thing.png"), 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		x, y int
		want color.RGBA
	}{{0, 64, colors[0]}, {31, 90, colors[0]}, {16, 127, colors[0]}, {16, 80, color.RGBA{255, 0, 0, 255}}, {32, 90, color.RGBA{0, 0, 0, 255}}} {
		for i, want := range []uint8{c.want.R, c.want.G, c.want.B} {
			if got := drawn.At(c.y, c.x, i).Item(); got != float64(want) {
				t.Errorf("channel %d of the pixel at %d, %d is %v, want %d", i, c.x, c.y, got, want)
			}
		}
	}
	*kind = "yolov10"
	if err := run(t.Context(), &out); err == nil || !strings.Contains(err.Error(), "two corners, score, class") {
		t.Errorf("of another form: %v", err)
	}
}

// Each form of results gives the same box.
func TestForms(t *testing.T) {
	want := []Box{{X0: 10, Y0: 20, X1: 30, Y1: 60, Score: 0.5, Class: 1}}
	// Twelve boxes, of which all but the first have no score.
	rows := func(width int, row ...float32) tensor.Tensor {
		data := make([]float32, 12*width)
		copy(data, row)
		return tensor.New(data, 1, 12, width)
	}
	for name, out := range map[string][]tensor.Tensor{
		"yolov8":  {rows(6, 20, 40, 20, 40, 0.25, 0.5).Transpose(1, 2)},
		"yolov5":  {rows(7, 20, 40, 20, 40, 0.625, 0.25, 0.8)},
		"yolov10": {rows(6, 10, 20, 30, 60, 0.5, 1)},
		"detr":    {rows(3, 0, 50, 50), rows(4, 0.2, 0.4, 0.2, 0.4)},
	} {
		boxes, _, err := forms[name].find(infosOf(out), byName(out), 100)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := best(boxes, 0.4, 0.5); len(got) != 1 || !near(got[0], want[0]) {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
}

// Of boxes of one class that overlap the best stays; boxes of other classes stay, too.
func TestBest(t *testing.T) {
	a, b := Box{0, 0, 10, 10, 0.9, 0}, Box{1, 0, 11, 10, 0.8, 0} // 9/11 in common
	c, d := Box{1, 0, 11, 10, 0.7, 1}, Box{8, 0, 18, 10, 0.6, 0} // 2/18 with a
	if got := best([]Box{b, d, c, a, {0, 0, 1, 1, 0.1, 2}}, 0.5, 0.45); !reflect.DeepEqual(got, []Box{a, c, d}) {
		t.Errorf("%v stay", got)
	}
}

// infosOf returns results named 0, 1….
func infosOf(out []tensor.Tensor) (infos []onnx.Info) {
	for i := range out {
		infos = append(infos, onnx.Info{Name: strconv.Itoa(i), Type: "float"})
	}
	return infos
}

func byName(out []tensor.Tensor) map[string]tensor.Tensor {
	m := map[string]tensor.Tensor{}
	for i, x := range out {
		m[strconv.Itoa(i)] = x
	}
	return m
}

func near(a, b Box) bool {
	d := []float64{a.X0 - b.X0, a.Y0 - b.Y0, a.X1 - b.X1, a.Y1 - b.Y1, a.Score - b.Score}
	return a.Class == b.Class && !slices.ContainsFunc(d, func(x float64) bool { return math.Abs(x) > 1e-4 })
}
