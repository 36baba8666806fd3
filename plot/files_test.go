package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/files/filestest"
	"github.com/tensorken/tensorken/tensor"
)

// drawn returns a figure as an image.
func drawn(t *testing.T, f *Figure) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b, ".png"); err != nil {
		t.Fatal(err)
	}
	m, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	w, h := f.size()
	if m.Bounds().Dx() != w || m.Bounds().Dy() != h {
		t.Errorf("a figure of %d × %d pixels is an image of %v", w, h, m.Bounds())
	}
	return m
}

// elementsOf parses a figure as SVG and counts the elements by name.
func elementsOf(t *testing.T, f *Figure) map[string]int {
	t.Helper()
	var b bytes.Buffer
	if err := f.Encode(&b, ".SVG"); err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for d := xml.NewDecoder(&b); ; {
		token, err := d.Token()
		if err == io.EOF {
			return count
		}
		if err != nil {
			t.Fatal(err)
		}
		if e, ok := token.(xml.StartElement); ok {
			count[e.Name.Local]++
		}
	}
}

// pixels counts the pixels of a color.
func pixels(m image.Image, want color.Color) (n int) {
	r, g, b, _ := want.RGBA()
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if r2, g2, b2, _ := m.At(x, y).RGBA(); r == r2 && g == g2 && b == b2 {
				n++
			}
		}
	}
	return n
}

// figures has each kind of figure, with data that are hard to draw.
func figures() map[string]*Figure {
	rng := tensor.NewRNG(1)
	nan := tensor.Full(math.NaN(), 3, 4)
	log := Line(tensor.New([]float32{-1, 0, 1, 100}))
	log.X.Log, log.Y.Log = true, true
	all := map[string]*Figure{
		"scalar":      Heatmap(tensor.Scalar(3)),
		"row":         Heatmap(rng.Normal(1, 100000)),
		"column":      Heatmap(rng.Normal(100000, 1)),
		"vector":      Heatmap(rng.Normal(7)),
		"all NaN":     Heatmap(nan),
		"constant":    Heatmap(tensor.Full(5, 3, 4)),
		"infinite":    Heatmap(tensor.New([]float64{math.Inf(1), math.Inf(-1), 1, math.MaxFloat64, -math.MaxFloat64})),
		"bools":       Heatmap(tensor.Eye(5).Eq(1)),
		"int64":       Heatmap(tensor.New([]int64{math.MinInt64, 0, math.MaxInt64})),
		"halves":      Heatmap(rng.Normal(4, 4).Cast(tensor.BFloat16)),
		"batch":       Heatmap(rng.Normal(2, 3, 4, 5)),
		"many panels": Heatmap(rng.Normal(100, 2, 2)),
		"gray":        Image(rng.Uniform(8, 8)),
		"rgb":         Image(rng.Uniform(8, 9, 3)),
		"rgba":        Image(rng.Ints(256, 3, 8, 9, 4).Cast(tensor.Uint8)),
		"large image": Image(rng.Ints(256, 600, 700, 3).Cast(tensor.Uint8)),
		"line":        Line(rng.Normal(50)),
		"long line":   Line(rng.Normal(100000)),
		"lines":       Line(rng.Normal(5, 50)),
		"one point":   Line(tensor.Scalar(2).Reshape(1)),
		"NaN line":    Line(nan.Reshape(-1)),
		"log":         log,
		"far apart":   Line(tensor.New([]float64{-math.MaxFloat64, math.MaxFloat64, math.Inf(1)})),
		"close":       Line(tensor.New([]float64{1, math.Nextafter(1, 2)})),
		"ints":        Line(tensor.New([]int64{math.MinInt64, math.MaxInt64})),
		"points":      Scatter(Series{Name: "a", X: rng.Normal(10), Y: rng.Normal(10)}),
		"band":        Lines(Series{Y: rng.Normal(2, 9), Low: rng.Normal(2, 9), High: tensor.New([]float64{0, 1, math.NaN(), 2, 3, math.Inf(1), 4, 5, 6}).Expand(2, 9)}),
		"overlay":     Overlay(Line(rng.Normal(3, 5)), Scatter(Series{Name: "a", X: rng.Normal(10), Y: rng.Normal(10)})),
		"histogram":   Histogram(rng.Normal(10, 10), 0),
		"NaN counts":  Histogram(nan, 10),
		"one number":  Histogram(tensor.Full(1e9, 10), 10),
		"labels":      Histogram(rng.Ints(10, 1000), 0),
		"bool counts": Histogram(tensor.Eye(5).Eq(1), 0),
		"far counts":  Histogram(tensor.New([]float64{-math.MaxFloat64, math.MaxFloat64}), 0),
		"metrics":     Metrics([]map[string]float64{{"loss": 2}, {"loss": 1, "accuracy": 0.5}}),
		"no metrics":  Metrics([]map[string]float64{}),
		"tiny":        Heatmap(rng.Normal(4, 4)),
	}
	// A figure without room for its elements.
	all["tiny"].Width, all["tiny"].Height = 20, 20
	titled := Line(rng.Normal(5))
	titled.Title, titled.X.Label, titled.Y.Label = "<title> & more", "x", "y"
	all["titled"] = titled
	all["grid"] = Grid(3, Heatmap(rng.Normal(3, 3)), titled, Heatmap(nan), Histogram(rng.Normal(9), 3))
	return all
}

// Every figure can be drawn as PNG, as SVG and as text.
func TestFigures(t *testing.T) {
	for name, f := range figures() {
		if testing.Short() && f.Width == 0 { // fewer pixels to compress
			f.Width, f.Height = 320, 240
		}
		t.Run(name, func(t *testing.T) {
			m := drawn(t, f)
			if white := pixels(m, color.White); white == m.Bounds().Dx()*m.Bounds().Dy() && name != "tiny" {
				t.Error("the image is white")
			}
			if n := elementsOf(t, f); n["svg"] != 1 {
				t.Errorf("the file has elements %v, want one svg", n)
			}
			for _, s := range []screen{{80, true}, {80, false}, {20, false}, {1, true}} {
				lines := f.text(s)
				for i, line := range lines {
					if n := visible(line); n > max(s.columns, 25) {
						t.Errorf("on %+v line %d has %d columns: %q", s, i, n, line)
					}
				}
				if len(lines) == 0 || len(lines) > 1000 {
					t.Errorf("on %+v the text has %d lines", s, len(lines))
				}
			}
		})
	}
}

func TestSVG(t *testing.T) {
	// The elements of a heat map and its bar are images, axes are paths.
	if n := elementsOf(t, Heatmap(tensor.Eye(3))); n["image"] != 2 || n["text"] < 8 || n["path"] < 8 {
		t.Errorf("a heat map has elements %v", n)
	}
	line := Lines(Series{Name: "a", Y: tensor.Arange(4)}, Series{Name: "b", Y: tensor.Arange(4), Dashed: true})
	if n := elementsOf(t, line); n["image"] != 0 || n["path"] < 4 {
		t.Errorf("lines have elements %v", n)
	}
}

func TestSave(t *testing.T) {
	dir := t.TempDir()
	f := Heatmap(tensor.Eye(3))
	for _, name := range []string{"a.png", "a.PNG", "b.svg"} {
		path := filepath.Join(dir, name)
		if err := f.Save(path); err != nil {
			t.Error(err)
		}
		if b, err := os.ReadFile(path); err != nil || len(b) == 0 {
			t.Errorf("%s has %d bytes, %v", name, len(b), err)
		}
	}
	readOnly := filepath.Join(dir, "folder.png")
	if err := os.Mkdir(readOnly, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(dir, "a.gif"):          "plot: save %s: want a file that ends in .png or .svg",
		filepath.Join(dir, "png"):            "plot: save %s: want a file that ends in .png or .svg",
		filepath.Join(dir, "no", "such.png"): "plot: save %s: " + filestest.NoFolder(t),
		readOnly:                             "plot: save %s: ",
	} {
		want = fmt.Sprintf(want, path)
		if err := f.Save(path); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Save(%q) = %v, want %s…", path, err, want)
		}
	}
	if err := f.Encode(io.Discard, ".pdf"); err == nil || !strings.Contains(err.Error(), "want a file that ends in .png or .svg") {
		t.Errorf("Encode of .pdf: %v", err)
	}
	large := Heatmap(tensor.Eye(3))
	large.Width = 1 << 20
	if err := large.Encode(io.Discard, ".png"); err == nil || !strings.Contains(err.Error(), "want at most 32768 a side") {
		t.Errorf("Encode of a million pixels: %v", err)
	}
	if err := f.Encode(failing{}, ".png"); !errors.Is(err, errFull) {
		t.Errorf("Encode to a full disk: %v", err)
	}
	if err := f.Print(failing{}); !errors.Is(err, errFull) {
		t.Errorf("Print to a full disk: %v", err)
	}
}

var errFull = errors.New("full")

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, errFull }

// Settings without a meaning are errors of all outputs, not figures that ignore them.
func TestSettings(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		set  func(f *Figure)
		want string
	}{
		{func(f *Figure) { f.Width = -1 }, "a figure of -1 × 0 pixels"},
		{func(f *Figure) { f.Height = math.MinInt }, "pixels"},
		{func(f *Figure) { f.Width = maxPixels + 1 }, "want at most"},
		{func(f *Figure) { f.X = Axis{Min: 1} }, "axis X goes from 1 to 0"},
		{func(f *Figure) { f.Y = Axis{Min: 2, Max: 2} }, "axis Y goes from 2 to 2"},
		{func(f *Figure) { f.Y = Axis{Min: nan, Max: 2} }, "axis Y goes from NaN to 2"},
		{func(f *Figure) { f.Y = Axis{Max: inf} }, "axis Y goes from 0 to +Inf"},
		{func(f *Figure) { f.X = Axis{Min: -math.MaxFloat64, Max: math.MaxFloat64} }, "axis X"},
		{func(f *Figure) { f.Y = Axis{Max: 10, Log: true} }, "axis Y is logarithmic and goes from 0"},
		{func(f *Figure) { *f = Figure{} }, "there is no figure"},
	} {
		f := Line(tensor.Arange(3))
		c.set(f)
		if err := f.Encode(io.Discard, ".svg"); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("a figure with %v × %v, %v, %v: %v, want %q", f.Width, f.Height, f.X, f.Y, err, c.want)
		}
	}
	if err := (*Figure)(nil).Save(filepath.Join(t.TempDir(), "a.png")); err == nil {
		t.Error("a nil figure is saved")
	}
}

// A failure of a tensor is an error of the method that writes the figure.
func TestBadIndex(t *testing.T) {
	bad := tensor.Arange(3).Take(0, tensor.New([]int32{7}))
	for name, f := range map[string]*Figure{"heat map": Heatmap(bad), "line": Line(bad), "histogram": Histogram(bad, 2), "grid": Grid(1, Line(bad))} {
		var misuse *tensor.Error
		if err := f.Encode(io.Discard, ".png"); !errors.As(err, &misuse) || !strings.Contains(err.Error(), "index 7") {
			t.Errorf("a %s of a bad index: %v", name, err)
		}
		if err := f.Print(io.Discard); !errors.As(err, &misuse) {
			t.Errorf("the text of a %s of a bad index: %v", name, err)
		}
	}
}

func TestMisuse(t *testing.T) {
	var absent tensor.Tensor
	empty, v, m, cube := tensor.Zeros(0, 3), tensor.Arange(4), tensor.Zeros(2, 4), tensor.Zeros(2, 3, 4)
	for _, c := range []struct {
		call func()
		want string
	}{
		{func() { Heatmap(absent) }, "plot.Heatmap: the tensor is absent"},
		{func() { Heatmap(empty) }, "plot.Heatmap of [0 3]: the tensor has no element to draw"},
		{func() { Image(v) }, "plot.Image of int32 [4]: want [... h w c] with 1, 3 or 4 channels"},
		{func() { Image(tensor.Zeros(3, 8, 8)) }, "Permute(1, 2, 0)"},
		{func() { Image(m.Cast(tensor.Int32)) }, "plot.Image of int32 [2 4]: want uint8 from 0 to 255"},
		{func() { Line(tensor.Scalar(1)) }, "plot.Line of []: Y: want [n], or [k n]"},
		{func() { Line(cube) }, "plot.Line of [2 3 4]: Y: want [n], or [k n]"},
		{func() { Lines() }, "plot.Lines: there is no series to draw"},
		{func() { Scatter(Series{X: v}) }, "plot.Scatter: the tensor is absent"},
		{func() { Scatter(Series{X: v, Y: tensor.Zeros(3)}) }, "plot.Scatter of int32 [4] and float32 [3]: X: want [n] with n the length of Y's last axis"},
		{func() { Scatter(Series{Y: v, Labels: []string{"a"}}) }, "plot.Scatter of int32 [4]: 1 Labels: want one for each point on Y's last axis"},
		{func() { Scatter(Series{Y: v, Mark: 'q'}) }, "plot.Scatter of int32 [4]: Mark 'q': want one of ox^s*D+v<>"},
		{func() { Scatter(Series{Y: v, Dashed: true}) }, "plot.Scatter of int32 [4]: Dashed: points have no line"},
		{func() { Overlay(Line(v), &Figure{Title: "b"}) }, "plot.Overlay: figure 1 sets Title: set it in the first"},
		{func() { Lines(Series{X: m, Y: m}) }, "plot.Lines of [2 4] and [2 4]: X: want [n]"},
		{func() { Histogram(empty, 3) }, "plot.Histogram of [0 3]: the tensor has no element"},
		{func() { Histogram(v, -1) }, "plot.Histogram of int32 [4]: -1 bins: want at most 65536"},
		{func() { Histogram(v, 1<<20) }, "1048576 bins: want at most 65536"},
		{func() { Show(absent) }, "plot.Show: the tensor is absent"},
		{func() { Grid(0, Line(v)) }, "plot.Grid: want at least one column and one figure"},
		{func() { Grid(1) }, "plot.Grid: want at least one column and one figure"},
		{func() { Grid(1, Line(v), nil) }, "plot.Grid: figure 1 is nil"},
		{func() { Overlay(nil) }, "plot.Overlay: figure 0 is nil"},
		{func() { Overlay(&Figure{}) }, "plot.Overlay: want figures of Line, Lines or Scatter"},
		{func() { Lines(Series{Y: v, Low: v}) }, "plot.Lines: the tensor is absent"},
		{func() { Lines(Series{Y: v, Low: v, High: m}) }, "plot.Lines of int32 [4] and int32 [4] and float32 [2 4]: Low and High: want the shape of Y"},
		{func() { Overlay() }, "plot.Overlay: want at least one figure"},
		{func() { Overlay(Line(v), Heatmap(m)) }, "plot.Overlay: want figures of Line, Lines or Scatter"},
		{func() { Overlay(Metrics([]map[string]float64{{"loss": 1}})) }, "plot.Overlay: want figures of Line, Lines or Scatter"},
	} {
		var misuse *tensor.Error
		if err := tensor.Try(c.call); !errors.As(err, &misuse) || !strings.Contains(misuse.Msg, c.want) || !strings.HasPrefix(misuse.Pos, "files_test.go:") {
			t.Errorf("error %v, want one of files_test.go with %q", err, c.want)
		}
	}
}
