package plot

import (
	"fmt"
	"image"
	"image/color"
	"math"
	"slices"
	"strings"

	"github.com/tensorken/tensorken/tensor"
)

// A mosaic is the content of a heat map or an image: one panel, or one for each position
// on the leading axes of a tensor, in rows.
type mosaic struct {
	op         string
	stack      tensor.Tensor // [panels rows columns channels], reduced
	rows, cols int           // of the tensor, before it was reduced
	names      []string      // of panels, if there are more than one
	note       string
	white      float64 // the level 1 of an image; 0 for heat maps
	values     []float64
}

const (
	maxPanels = 64
	maxSide   = 512 // elements that a panel shows along an axis
)

// Heatmap draws the elements of t, of any type, as colors: [rows columns], a row [columns],
// or a scalar. A tensor with more axes is drawn as a grid of panels, the first 64 of them,
// with the index of each as its title. Colors span the finite numbers, or Z.Min to Z.Max;
// NaN is red. Where an axis is longer than 512, each color is the mean of several elements,
// which is NaN if one of them is. Row 0 is at the top unless OriginBelow is set.
func Heatmap(t tensor.Tensor) *Figure {
	check("Heatmap", t)
	for t.Rank() < 2 {
		t = t.Unsqueeze(0)
	}
	return newMosaic("Heatmap", t.Unsqueeze(-1), 0)
}

// Image draws t of shape [h w], [h w 1] (gray), [h w 3] (red, green, blue) or [h w 4] (with
// alpha), rows from the top. Elements are uint8 from 0 to 255, or floats or bools from 0 to
// 1, where a pixel with a NaN is red. Leading axes, [... h w c], make a grid of the first 64
// images. Images with a side of more than 512 are reduced to means; package
// [github.com/tensorken/tensorken/imageio] writes them as they are.
func Image(t tensor.Tensor) *Figure {
	check("Image", t)
	full := t
	if t.Rank() == 2 {
		full = t.Unsqueeze(-1)
	}
	switch {
	case full.Rank() < 3 || !slices.Contains([]int{1, 3, 4}, full.Dim(-1)):
		misuse("Image", "want [... h w c] with 1, 3 or 4 channels, or [h w]; of [c h w] it is Permute(1, 2, 0)", t)
	case t.DType().IsInt() && t.DType() != tensor.Uint8:
		misuse("Image", "want uint8 from 0 to 255, or floats or bools from 0 to 1", t)
	}
	white := 1.0
	if t.DType() == tensor.Uint8 {
		white = 255
	}
	return newMosaic("Image", full, white)
}

// newMosaic returns the figure of t, [... rows columns channels].
func newMosaic(op string, t tensor.Tensor, white float64) *Figure {
	m := &mosaic{op: op, rows: t.Dim(-3), cols: t.Dim(-2), white: white}
	m.stack, m.names, m.note = stacked(t, 3, maxPanels)
	if t.Rank() == 3 {
		m.names = nil
	}
	limit := max(maxSide/m.across(), 64)
	m.stack = pool(pool(m.stack, 1, limit), 2, limit)
	return &Figure{content: m}
}

func (m *mosaic) load(*Figure) (err error) {
	m.values, err = numbers(m.op, m.stack)
	return err
}

// panels returns the number of panels.
func (m *mosaic) panels() int { return m.stack.Dim(0) }

// across returns the number of panels in a row.
func (m *mosaic) across() int { return int(math.Ceil(math.Sqrt(float64(m.panels())))) }

// down returns the number of rows of panels.
func (m *mosaic) down() int { return (m.panels() + m.across() - 1) / m.across() }

// span returns the numbers at the ends of the colors, NaN if no number is finite.
func (m *mosaic) span(f *Figure) (low, high float64) {
	switch {
	case m.white > 0:
		return 0, m.white
	case f.Z.isSet():
		return f.Z.Min, f.Z.Max
	}
	return finiteRange(m.values)
}

func (m *mosaic) kind() kinds {
	if m.white == 0 {
		return heatmaps
	}
	return images
}

func (m *mosaic) check(f *Figure) error {
	for _, a := range []struct {
		name  string
		names []string
		n     int
	}{{"X", f.X.Names, m.cols}, {"Y", f.Y.Names, m.rows}} {
		if len(a.names) > a.n {
			return fmt.Errorf("axis %s has %d Names and %d positions: want at most one for each", a.name, len(a.names), a.n)
		}
	}
	if strings.Contains(fmt.Sprintf(f.Numbers, 0.0), "%!") && f.Numbers != "" {
		return fmt.Errorf("field Numbers is %q: want a format of one float64, such as %q", f.Numbers, "%.2f")
	}
	return nil
}

// axes returns the axes of a panel, with the outer edges of its elements as their ends.
func (m *mosaic) axes(f *Figure) (x, y Axis) {
	edges := func(a Axis, n int) Axis {
		if !a.isSet() {
			a.Min, a.Max = -0.5, float64(n)-0.5
		}
		return a
	}
	return edges(f.X, m.cols), edges(f.Y, m.rows)
}

// A raster is a panel's elements, from the top: as colors, as levels from 0 to 1, with NaN,
// and for a heat map as numbers.
type raster struct {
	*image.NRGBA
	levels, numbers []float64
}

// raster returns a panel.
func (m *mosaic) raster(f *Figure, panel int) raster {
	h, w, channels := m.stack.Dim(1), m.stack.Dim(2), m.stack.Dim(3)
	r := raster{image.NewNRGBA(image.Rect(0, 0, w, h)), make([]float64, h*w), make([]float64, h*w)}
	low, high := m.span(f)
	values := m.values[panel*h*w*channels:]
	if f.OriginBelow {
		rows := slices.Collect(slices.Chunk(values[:h*w], w))
		slices.Reverse(rows)
		values = slices.Concat(rows...)
	}
	paint := painters[channels]
	if m.white == 0 {
		paint = func(l []float64) (color.NRGBA, float64) { return mapped(l[0]), l[0] }
	}
	levels := make([]float64, channels)
	for i := range r.levels {
		for j, x := range values[i*channels:][:channels] {
			levels[j], r.numbers[i] = scaled(x, low, high), x
		}
		c, level := paint(levels)
		r.levels[i] = level
		r.SetNRGBA(i%w, i/w, c)
	}
	return r
}

// painters return the color and the lightness of a pixel of an image, by the number of
// channels.
var painters = [...]func(l []float64) (color.NRGBA, float64){
	1: func(l []float64) (color.NRGBA, float64) { return opaque(l[0], l[0], l[0]) },
	3: func(l []float64) (color.NRGBA, float64) { return opaque(l[0], l[1], l[2]) },
	4: func(l []float64) (color.NRGBA, float64) {
		over := func(x float64) float64 { return x*l[3] + 1 - l[3] } // white
		return opaque(over(l[0]), over(l[1]), over(l[2]))
	},
}

func opaque(r, g, b float64) (color.NRGBA, float64) {
	light := 0.299*r + 0.587*g + 0.114*b
	if math.IsNaN(light) {
		return nanColor, light
	}
	sample := func(x float64) uint8 { return uint8(math.Round(255 * x)) }
	return color.NRGBA{sample(r), sample(g), sample(b), 0xff}, light
}
