package plot

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/internal/goldentext"
	"github.com/tensorken/tensorken/tensor"
)

// TestText compares the text of figures with a golden file.
func TestText(t *testing.T) {
	t.Setenv("COLUMNS", "60")
	ramp := tensor.Arange(6).Reshape(2, 3)
	wave := tensor.Linspace(0, 12, 100).Sin()
	lines := Lines(Series{Name: "sine", Y: wave}, Series{Name: "half", Y: wave.Div(2)})
	lines.Title, lines.X.Label, lines.Y.Label = "waves", "step", "height"
	falling := Line(tensor.Linspace(0, 6, 20).Neg().Exp())
	falling.Y.Log = true
	named := Heatmap(ramp.Mul(11))
	named.X.Names, named.Y.Names = []string{"cat", "horse", "dog"}, []string{"up", "down"}
	named.X.Label, named.Y.Label, named.Z.Label, named.Numbers = "animal", "way", "count", "%.1f"
	spectrogram := Heatmap(tensor.Linspace(0, 1, 200).Reshape(10, 20))
	spectrogram.X.Max, spectrogram.Y.Max, spectrogram.OriginBelow = 2.5, 8, true
	classes := Scatter(Series{Name: "a", X: wave, Y: wave.Cos()}, Series{Name: "b", X: wave, Y: wave.Neg()})
	classes.Equal = true
	var b bytes.Buffer
	for _, f := range []*Figure{
		Heatmap(ramp), named, spectrogram, Heatmap(tensor.Stack(0, ramp, ramp.Sub(3), ramp.Neg())), Heatmap(tensor.New([]float64{0, math.NaN(), 1})),
		Image(tensor.Eye(4)), lines, falling, classes, Scatter(Series{X: tensor.Arange(5), Y: tensor.Arange(5).Square()}),
		Histogram(tensor.Arange(100).Square(), 5), Histogram(tensor.Linspace(0, 1, 1000), 50),
		Metrics([]map[string]float64{{"loss": 1.5, "accuracy": 0.5}, {"loss": 1, "accuracy": 0.75}, {"loss": 0.75, "accuracy": 0.875}}),
	} {
		if err := f.Print(&b); err != nil {
			t.Fatal(err)
		}
		b.WriteString("\n")
	}
	goldentext.Check(t, "testdata/figures.txt", b.String())
}

// Elements are as wide as names where all have room; the others' names are left out.
func TestNamesInText(t *testing.T) {
	f := Heatmap(tensor.Arange(12).Reshape(2, 6))
	f.X.Names = strings.Fields("alpha beta gamma delta epsilon zeta")
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		columns int
		want    string
	}{
		{80, "alpha beta gamma delta epsilon zeta"},
		{51, "alpha beta gamma delta epsilon zeta"},
		{50, "alpha gamma epsilon"},
	} {
		lines := f.text(screen{c.columns, false})
		names := strings.Join(strings.Fields(lines[len(lines)-2]), " ")
		if names != c.want || visible(lines[0]) > c.columns {
			t.Errorf("%d columns show the names %q, want %q:\n%s", c.columns, names, c.want, strings.Join(lines, "\n"))
		}
	}
}

// On a terminal with colors, a heat map has half blocks, upper and lower half colored.
func TestHalfBlocks(t *testing.T) {
	f := Heatmap(tensor.New([]float32{0, 1, 1, 0}, 2, 2))
	if err := f.load(); err != nil {
		t.Fatal(err)
	}
	got := f.text(screen{7, true})
	low, high := mapped(0), mapped(1)
	left := foreground(low) + background(low) + "▀" + foreground(low) + background(low) + "▀"
	if !strings.HasPrefix(got[0], "0 │"+left+foreground(high)) {
		t.Errorf("the first line is %q", got[0])
	}
	if len(got) != 5 || visible(got[0]) != 7 {
		t.Errorf("the text is %q", got)
	}
	one := Heatmap(tensor.Arange(2))
	if err := one.load(); err != nil {
		t.Fatal(err)
	}
	if got, want := one.text(screen{5, true})[0], "0 │"+resetColors+foreground(low)+"▀"+resetColors+foreground(high)+"▀"+resetColors; got != want {
		t.Errorf("a single row of pixels is %q, want %q", got, want)
	}
}

func TestScreen(t *testing.T) {
	for columns, want := range map[string]int{"": 80, "33": 33, "-1": 80, "many": 80} {
		t.Setenv("COLUMNS", columns)
		if got := screenOf(new(bytes.Buffer)); got.columns != want || got.color {
			t.Errorf("with COLUMNS=%q the screen of a buffer is %+v, want %d columns", columns, got, want)
		}
	}
}

func TestVisible(t *testing.T) {
	s := screen{80, true}
	if got := visible("a" + s.paint("bc", nanColor) + "d"); got != 4 {
		t.Errorf("the text has %d columns, want 4", got)
	}
	if got := cut("abcdef", 4); got != "abc…" {
		t.Errorf("cut = %q", got)
	}
}

// Titles, labels and names cannot command a terminal: names of classes may come from a
// stranger's folders.
func TestTextIsEscaped(t *testing.T) {
	const bad = "\x1b]0;x\a\n\u202e"
	xy := tensor.Arange(4)
	heat, line := Heatmap(xy.Reshape(2, 2)), Lines(Series{Name: bad, Y: xy}, Series{Name: "b" + bad, Y: xy})
	heat.X.Names, heat.Y.Names = []string{bad, "b"}, []string{"a", bad}
	heat.X.Label, heat.Y.Label, heat.Z.Label, line.X.Label, line.Y.Label = bad, bad, bad, bad, bad
	lines := func(f *Figure) int {
		var b bytes.Buffer
		if err := f.Print(&b); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\a\u202e") {
			t.Errorf("Print writes %q", b.String())
		}
		return strings.Count(b.String(), "\n")
	}
	for _, f := range []*Figure{heat, line, Grid(1, heat, line)} {
		f.Title = "a"
		want := lines(f)
		f.Title = bad
		if got := lines(f); got != want {
			t.Errorf("a title with a line break: %d lines, want %d", got, want)
		}
	}
}
