package plot

import (
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// onlyInFiles are settings that the text of a figure does not show.
var onlyInFiles = []string{"Width", "Height"}

// TestKinds sets each field of each kind of figure. A field that the kind draws changes its
// file and its text, and another one is an error with its name.
func TestKinds(t *testing.T) {
	x := tensor.Arange(1, 13)
	kinds := map[kinds]func() *Figure{
		heatmaps:   func() *Figure { return Heatmap(x.Reshape(4, 3)) },
		images:     func() *Figure { return Image(x.Cast(tensor.Float32).Div(12).Unsqueeze(0)) },
		curves:     func() *Figure { return Line(x.Square()) },
		histograms: func() *Figure { return Histogram(x, 5) },
		grids:      func() *Figure { return Grid(1, Line(x)) },
	}
	samples := map[string]func(f *Figure){
		"Title": func(f *Figure) { f.Title = "title" }, "Width": func(f *Figure) { f.Width = 222 }, "Height": func(f *Figure) { f.Height = 111 },
		"Equal": func(f *Figure) { f.Equal = true }, "OriginBelow": func(f *Figure) { f.OriginBelow = true }, "Numbers": func(f *Figure) { f.Numbers = "%.1f" },
	}
	for name, axis := range map[string]func(f *Figure) *Axis{
		"X": func(f *Figure) *Axis { return &f.X }, "Y": func(f *Figure) *Axis { return &f.Y }, "Z": func(f *Figure) *Axis { return &f.Z },
	} {
		samples[name+".Label"] = func(f *Figure) { axis(f).Label = "label" }
		samples[name+".Min"] = func(f *Figure) { axis(f).Min = -7 } // to 0
		samples[name+".Max"] = func(f *Figure) { axis(f).Max = 7 }
		samples[name+".Log"] = func(f *Figure) { axis(f).Log = true }
		samples[name+".Names"] = func(f *Figure) { axis(f).Names = []string{"p", "q"} }
	}
	outputs := func(f *Figure) (file, text string, err error) {
		var b bytes.Buffer
		err = f.Encode(&b, ".svg")
		if err == nil {
			text = strings.Join(f.text(screen{80, false}), "\n")
		}
		return b.String(), text, err
	}
	for name := range new(Figure).fields() {
		drawn, known := settings[name]
		if samples[name] == nil || !known {
			t.Errorf("%s: want it in the table of settings and in this test", name)
			continue
		}
		for kind, figure := range kinds {
			plain, plainText, _ := outputs(figure())
			f := figure()
			samples[name](f)
			file, text, err := outputs(f)
			switch {
			case drawn&kind == 0:
				if err == nil || !strings.Contains(err.Error(), name+" is set") || !strings.Contains(err.Error(), drawn.String()) {
					t.Errorf("%v with %s: %v", kind, name, err)
				}
				if err := f.Print(io.Discard); err == nil {
					t.Errorf("%v with %s is printed", kind, name)
				}
			case err != nil:
				t.Errorf("%v with %s: %v", kind, name, err)
			case file == plain:
				t.Errorf("the file of %v does not show %s", kind, name)
			case text == plainText && !slices.Contains(onlyInFiles, name) && !(name == "Equal" && kind != curves):
				t.Errorf("the text of %v does not show %s:\n%s", kind, name, text)
			}
		}
	}
	if n := len(settings); n != len(samples) {
		t.Errorf("the table has %d settings, want the %d fields of Figure", n, len(samples))
	}
}

// A setting that contradicts another one, or the tensor, is an error.
func TestContradictions(t *testing.T) {
	for _, c := range []struct {
		f    *Figure
		set  func(f *Figure)
		want string
	}{
		{Heatmap(tensor.Eye(2)), func(f *Figure) { f.X.Names = []string{"a", "b", "c"} }, "axis X has 3 Names and 2 positions"},
		{Heatmap(tensor.Eye(2)), func(f *Figure) { f.Y.Names, f.Y.Max = []string{"a"}, 3 }, "axis Y has Names"},
		{Heatmap(tensor.Eye(2)), func(f *Figure) { f.Numbers = "%d" }, `Numbers is "%d": want a format of one float64, such as "%.2f"`},
		{Heatmap(tensor.Eye(2)), func(f *Figure) { f.Numbers = "%.1f %v" }, "want a format of one float64"},
		{Heatmap(tensor.Eye(2)), func(f *Figure) { f.Numbers = "yes" }, "want a format of one float64"},
		{Line(tensor.Arange(3)), func(f *Figure) { f.Equal, f.X.Log = true, true }, "Equal is set and an axis is logarithmic"},
	} {
		c.set(c.f)
		if err := c.f.Print(io.Discard); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
