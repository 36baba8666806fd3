package plot

import (
	"image"
	"image/color"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/plot/vg"

	"github.com/tensorken/tensorken/tensor"
)

// Each element of a heat map is a rectangle of its color.
func TestHeatmapColors(t *testing.T) {
	f := Heatmap(tensor.New([]float64{0, 1, 2, math.NaN(), 3, 9}, 2, 3))
	f.Z.Max = 4
	m := drawn(t, f)
	for i, want := range []color.NRGBA{mapped(0), mapped(0.25), mapped(0.5), nanColor, mapped(0.75), mapped(1)} {
		n := pixels(m, want)
		if n < 60*60 || n > 2*66*66 { // the bar has the same colors, and NaN its own box
			t.Errorf("element %d of a heat map has %d pixels, want about 64 × 64", i, n)
		}
	}
	// Rows are from the top: the lowest element is at the upper left.
	first := at(m, mapped(0))
	if last := at(m, nanColor); first.X > last.X+1 || first.Y >= last.Y {
		t.Errorf("element 0 is at %v, element 3 at %v", first, last)
	}
	if second := at(m, mapped(0.25)); second.X <= first.X || second.Y != first.Y {
		t.Errorf("element 0 is at %v, element 1 at %v", first, second)
	}
}

// at returns the first pixel of a color, by rows.
func at(m image.Image, want color.NRGBA) image.Point {
	for y := range m.Bounds().Dy() {
		for x := range m.Bounds().Dx() {
			if rgb(m.At(x, y)) == want {
				return image.Pt(x, y)
			}
		}
	}
	return image.Pt(-1, -1)
}

func TestImageColors(t *testing.T) {
	red, clear := color.NRGBA{255, 0, 0, 255}, color.NRGBA{255, 255, 255, 255}
	for name, c := range map[string]struct {
		t    tensor.Tensor
		want color.NRGBA
	}{
		"rgb":     {tensor.New([]uint8{255, 0, 0}, 1, 1, 3), red},
		"floats":  {tensor.New([]float32{2, -1, 0}, 1, 1, 3), red},
		"gray":    {tensor.New([]float32{0.2}, 1, 1), color.NRGBA{51, 51, 51, 255}},
		"uint8":   {tensor.New([]uint8{51}, 1, 1), color.NRGBA{51, 51, 51, 255}},
		"bool":    {tensor.New([]bool{false}, 1, 1), color.NRGBA{0, 0, 0, 255}},
		"clear":   {tensor.New([]float32{1, 0, 0, 0}, 1, 1, 4), clear},
		"alpha":   {tensor.New([]float32{1, 0, 0, 0.8}, 1, 1, 4), color.NRGBA{255, 51, 51, 255}},
		"NaN":     {tensor.New([]float32{1, float32(math.NaN()), 0}, 1, 1, 3), nanColor},
		"reduced": {tensor.Full(255, 1000, 1000, 1).Cast(tensor.Uint8), clear},
	} {
		m := drawn(t, Image(c.t))
		middle := image.Pt(m.Bounds().Dx()/2, m.Bounds().Dy()/2)
		if got := rgb(m.At(middle.X, middle.Y)); got != c.want {
			t.Errorf("an image, %s, has the color %v, want %v", name, got, c.want)
		}
	}
}

func TestPool(t *testing.T) {
	rng := tensor.NewRNG(1)
	for _, c := range []struct {
		shape       []int
		axis, limit int
		want        int
	}{{[]int{7}, 0, 3, 3}, {[]int{8, 2}, 0, 4, 4}, {[]int{3, 5, 2}, 1, 2, 2}, {[]int{9}, 0, 8, 5}, {[]int{4}, 0, 4, 4}} {
		x := rng.Normal(c.shape...)
		got := pool(x, c.axis, c.limit)
		if got.Dim(c.axis) != c.want {
			t.Errorf("pool of %v along %d to %d has shape %v", c.shape, c.axis, c.limit, got.Shape())
		}
		size := (c.shape[c.axis] + c.limit - 1) / c.limit
		for i := range got.Dim(c.axis) {
			want := x.Slice(c.axis, i*size, min((i+1)*size, c.shape[c.axis])).Mean(c.axis)
			if ok, err := tensor.AllClose(got.Slice(c.axis, i, i+1), want, 1e-5, 1e-6); !ok || err != nil {
				t.Errorf("element %d of a pool of %v is %v, want %v, %v", i, c.shape, got.Slice(c.axis, i, i+1), want, err)
			}
		}
	}
	// A NaN is not lost.
	holed := tensor.Zeros(2000).Set(math.NaN(), 1500)
	values, err := numbers("test", pool(holed, 0, 512))
	if n := len(values) - len(slices.DeleteFunc(values, math.IsNaN)); n != 1 || err != nil {
		t.Errorf("the pool of a tensor with one NaN has %d, %v", n, err)
	}
}

func TestThinned(t *testing.T) {
	var points []level
	for i := range 10000 {
		x := float64(i) / 10000
		points = append(points, level{x, math.Sin(1000 * x)})
	}
	got := thinned(points, 100)
	if len(got) > 400 || got[0] != points[0] || got[len(got)-1] != points[len(points)-1] {
		t.Errorf("10000 points in 100 columns are %d, from %v to %v", len(got), got[0], got[len(got)-1])
	}
	for column := range 100 {
		high := func(ps []level) (y float64) {
			y = -2
			for _, p := range ps {
				if int(math.Floor(p.x*100)) == column {
					y = max(y, p.y)
				}
			}
			return y
		}
		if high(points) != high(got) {
			t.Errorf("the highest point of column %d is %v, want %v", column, high(got), high(points))
		}
	}
}

func TestRuns(t *testing.T) {
	nan := math.NaN()
	d := drawnCurve{curve: curve{xs: []float64{0, 1, 2, 3, 4, 5}, ys: []float64{1, nan, 2, 3, math.Inf(1), 4}}, x: Axis{Max: 5}, y: Axis{Max: 5}}
	var lengths []int
	for _, r := range d.runs() {
		lengths = append(lengths, len(r))
	}
	if !slices.Equal(lengths, []int{1, 2, 1}) {
		t.Errorf("a line with a NaN and an infinity has runs of %v points, want 1, 2, 1", lengths)
	}
}

func TestHistogramCounts(t *testing.T) {
	for name, c := range map[string]struct {
		t      tensor.Tensor
		bins   int
		edges  []float64
		counts []float64
	}{
		"floats":   {tensor.New([]float32{0, 0.5, 1, 1, 4, float32(math.NaN()), float32(math.Inf(1))}), 4, []float64{0, 1, 2, 3, 4}, []float64{2, 2, 0, 1}},
		"labels":   {tensor.New([]int32{3, 5, 5}), 10, []float64{2.5, 3.5, 4.5, 5.5}, []float64{1, 0, 2}},
		"bools":    {tensor.New([]bool{true, false, true}), 0, []float64{-0.5, 0.5, 1.5}, []float64{1, 2}},
		"constant": {tensor.Full(2, 6), 2, []float64{1.5, 2, 2.5}, []float64{0, 6}},
	} {
		f := Histogram(c.t, c.bins)
		if err := f.load(); err != nil {
			t.Fatal(err)
		}
		h := f.content.(*histogram)
		if !slices.Equal(h.edges, c.edges) || !slices.Equal(h.counts, c.counts) {
			t.Errorf("the histogram of %s has edges %v, counts %v; want %v, %v", name, h.edges, h.counts, c.edges, c.counts)
		}
	}
}

func TestTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		whole     bool
		want      string
	}{
		{0, 1, false, "0 0.2 0.4 0.6 0.8 1"},
		{-3.2, 3.1, false, "-3 -2 -1 0 1 2 3"},
		{0, 100000, false, "0 20000 40000 60000 80000 100000"},
		{-1e-7, 1e-7, false, "-1e-07 -5e-08 0 5e-08 1e-07"},
		{5, 5, false, "5"},
		{-0.5, 0.5, true, "0"},
		{-0.5, 5.5, true, "0 1 2 3 4 5"},
		{-0.5, 7.5, true, "0 2 4 6"},
		{-0.5, 99999.5, true, "0 20000 40000 60000 80000"},
		{0, 5e-324, false, "0 5e-324"},
		{1, 1 + 1e-15, false, "1 1.000000000000001"},
		{-math.MaxFloat64, math.MaxFloat64, false, "-1.5e+308 -1e+308 -5e+307 0 5e+307 1e+308 1.5e+308"},
	} {
		var labels []string
		for _, m := range (ticks{c.whole}).Ticks(c.low, c.high) {
			labels = append(labels, m.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("the marks from %v to %v are %s, want %s", c.low, c.high, got, c.want)
		}
	}
}

func TestNames(t *testing.T) {
	names := strings.Fields("a b c d e f g h")
	for _, c := range []struct {
		n      int
		length float64
		want   string
	}{{8, 160, "a b c d e f g h"}, {8, 80, "a c e g"}, {3, 80, "a b c"}, {20, 400, "a b c d e f g h"}, {8, 1, "a"}, {8, -1, "a b c d e f g h"}} {
		var labels []string
		for _, m := range indices(Axis{Names: names}, c.n, vg.Length(c.length), 20).Ticks(0, 1) {
			labels = append(labels, m.Label)
		}
		if got := strings.Join(labels, " "); got != c.want {
			t.Errorf("the names of %d positions on %v points are %s, want %s", c.n, c.length, got, c.want)
		}
	}
	f := Heatmap(tensor.Eye(8))
	f.X.Names, f.Y.Names = names, names[:3]
	if n := elementsOf(t, f); n["text"] < 11 {
		t.Errorf("a heat map with 11 names has %d texts", n["text"])
	}
}

// Positions and epochs are marked at whole numbers.
func TestWhole(t *testing.T) {
	y := tensor.Arange(4)
	history := []map[string]float64{{"loss": 3}, {"loss": 2}, {"loss": 1}}
	whole, parts := elementsOf(t, Metrics(history))["text"], elementsOf(t, Line(tensor.Zeros(3)))["text"]
	if whole != 3+1+1+5 || parts != 3+5 { // epochs, label, name and losses; positions and numbers
		t.Errorf("3 epochs have %d texts, 3 positions %d, want 10 and 8", whole, parts)
	}
	if n := elementsOf(t, Lines(Series{X: y, Y: y}))["text"]; n != 14 { // 0, 0.5, …, 3 on both axes
		t.Errorf("a line with x has %d texts, want 14", n)
	}
}

// Each point on the page has its label.
func TestLabels(t *testing.T) {
	y := tensor.New([]float64{0, 1, math.NaN(), 3, 10})
	s := Series{Y: y, Labels: []string{"a", "b", "c", "d", "e"}}
	bare := Lines(Series{Y: y})
	for _, c := range []struct {
		f    *Figure
		want int
	}{{Lines(s), 4}, {Scatter(s), 4}, {Scatter(Series{Y: tensor.Stack(0, y, y), Labels: s.Labels}), 8}} {
		if n := elementsOf(t, c.f)["text"] - elementsOf(t, bare)["text"]; n != c.want {
			t.Errorf("%d labels are written, want %d", n, c.want)
		}
	}
	f := Lines(s)
	bare.Y.Max, f.Y.Max = 4, 4
	if n := elementsOf(t, f)["text"] - elementsOf(t, bare)["text"]; n != 3 { // one point is above the page
		t.Errorf("%d labels are written, want 3", n)
	}
}

func TestLogTicks(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		want      string
		minor     int
	}{
		{1, 100, "1 2 5 10 20 50 100", 12},
		{0.003, 3e3, "0.01 0.1 1 10 100 1000", 7 + 5*8 + 2},
		{0.003, 3e4, "0.1 10 1000", 4},
		{1e-30, 1e30, "1e-30 1e-21 1e-12 0.001 1000000 1e+15 1e+24", 54},
		{1.1, 1.3, "1.1 1.15 1.2 1.25 1.3", 0},
	} {
		var labels []string
		minor := 0
		for _, m := range (logTicks{}).Ticks(c.low, c.high) {
			if m.IsMinor() {
				minor++
			} else {
				labels = append(labels, m.Label)
			}
		}
		if got := strings.Join(labels, " "); got != c.want || minor != c.minor {
			t.Errorf("the logarithmic marks from %v to %v are %s and %d minor ones, want %s and %d", c.low, c.high, got, minor, c.want, c.minor)
		}
	}
}

// A large tensor is reduced on its device: 512 × 512 elements of it are read.
func TestLargeHeatmap(t *testing.T) {
	if testing.Short() {
		t.Skip("draws many cells")
	}
	x := tensor.NewRNG(1).Normal(4096, 4096)
	if err := tensor.Eval(x); err != nil {
		t.Fatal(err)
	}
	f := Heatmap(x)
	if m := f.content.(*mosaic); m.stack.Len() != 512*512 {
		t.Errorf("%d elements are read, want 512 × 512", m.stack.Len())
	}
	drawn(t, f)
}

// Equal axes fill the frame: an axis without ends goes on. With ends on both, the drawing is narrower.
func TestEqualFills(t *testing.T) {
	for _, c := range []struct {
		set  func(f *Figure)
		want [4]float64 // ends of X and Y
	}{
		{func(*Figure) {}, [4]float64{-9.5, 10.5, 0, 10}},
		{func(f *Figure) { f.Y.Max = 20 }, [4]float64{-19.5, 20.5, 0, 20}},
		{func(f *Figure) { f.X.Max = 4 }, [4]float64{0, 4, 0, 10}},
		{func(f *Figure) { f.X.Max = 40 }, [4]float64{0, 40, -5, 15}},
	} {
		f := Scatter(Series{X: tensor.New([]float64{0, 1}), Y: tensor.New([]float64{0, 10})})
		c.set(f)
		if err := f.load(); err != nil {
			t.Fatal(err)
		}
		x, y := f.widened(f.X.over([][]float64{{0, 1}}), f.Y.over([][]float64{{0, 10}}), 2)
		if got := [4]float64{x.Min, x.Max, y.Min, y.Max}; got != c.want {
			t.Errorf("the ends are %v, want %v", got, c.want)
		}
	}
}
