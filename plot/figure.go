package plot

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/tensorken/tensorken/internal/files"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/tensor"
)

// A Figure is a drawing of tensors. It is for one goroutine. A field that is set and that its
// kind of figure does not draw is an error of the method that writes it.
type Figure struct {
	Title string
	X, Y  Axis // from left to right, from bottom to top
	Z     Axis // the colors of a heat map
	// Width and Height are the size in pixels; 0 is a default that fits the content.
	// In a file of vectors a pixel is 1/96 inch. Text has a size of its own.
	Width, Height int
	// Equal makes a unit of X as long as one of Y: an axis of lines or points without ends of its
	// own goes on at both sides, so that the drawing still fills Width and Height. The elements of a
	// heat map without ends are squares then, as pixels of an image are unless a side is more than 8
	// times the other.
	Equal bool
	// OriginBelow puts row 0 of a heat map at the bottom, as in a spectrogram.
	OriginBelow bool
	// Numbers is the format of the number in each element of a heat map, such as "%.2f". If it
	// is empty, no numbers are drawn. Without a Width or Height the figure is large enough to read them.
	Numbers string

	content content
	loaded  bool
}

// An Axis is a range of numbers.
type Axis struct {
	Label string
	// Min and Max are the ends, in this order; 0 and 0 stand for the ends of the data. X and Y
	// of a heat map have the outer edges of the first and the last element there, such as
	// seconds and hertz of a spectrogram.
	Min, Max float64
	Log      bool // logarithmic, for X and Y of lines and points; numbers below 0 are left out
	// Names are labels of the positions 0, 1, … instead of these, for X and Y of heat maps,
	// such as the tokens of attention. Names without room are left out.
	Names []string
}

// isSet reports whether the axis has ends of its own.
func (a Axis) isSet() bool { return a.Min != 0 || a.Max != 0 }

// check returns an error if the ends that it sets are not a range.
func (a Axis) check(name string) error {
	switch {
	case !a.isSet():
		return nil
	case !(a.Min < a.Max && a.Max-a.Min <= math.MaxFloat64):
		return fmt.Errorf("axis %s goes from %v to %v: want finite numbers, Min less than Max", name, a.Min, a.Max)
	case a.Log && a.Min <= 0:
		return fmt.Errorf("axis %s is logarithmic and goes from %v: want Min above 0", name, a.Min)
	case a.Names != nil:
		return fmt.Errorf("axis %s has Names, which are labels of positions, and goes from %v to %v: want one of both", name, a.Min, a.Max)
	}
	return nil
}

// content is one kind of figure.
type content interface {
	kind() kinds
	// check returns an error for settings of f without a meaning.
	check(f *Figure) error
	// load computes and reads the tensors. It is called once, before the others.
	load(f *Figure) error
	// size returns the default size in pixels, without the title.
	size(f *Figure) (width, height int)
	draw(f *Figure, c draw.Canvas)
	// text returns the lines that a terminal shows.
	text(f *Figure, s screen) []string
}

// A canvas can be drawn on and written.
type canvas interface {
	vg.CanvasSizer
	io.WriterTo
}

// canvases makes canvases by the end of a file's name.
var canvases = map[string]func(w, h vg.Length) canvas{
	".png": func(w, h vg.Length) canvas { return vgimg.PngCanvas{Canvas: vgimg.New(w, h)} },
	".svg": func(w, h vg.Length) canvas { return vgsvg.New(w, h) },
}

// pixel is the unit of sizes. Canvases of PNG have as many dots to the inch.
const pixel = vg.Inch / vgimg.DefaultDPI

// CheckName returns an error unless a path has an end that [Figure.Save] knows, whether
// upper or lower case.
func CheckName(path string) error {
	if canvases[end(path)] == nil {
		return fmt.Errorf("want a file that ends in %s", strings.Join(slices.Sorted(maps.Keys(canvases)), " or "))
	}
	return nil
}

// end returns the end of a file's name in lower case, such as ".png".
func end(path string) string { return strings.ToLower(filepath.Ext(path)) }

// Save writes the figure to a file whose name ends in .png or .svg. It computes the
// tensors if necessary; see [tensor.Eval] for the errors. The file is replaced atomically,
// as [github.com/tensorken/tensorken/safetensors.Save] does.
func (f *Figure) Save(path string) error {
	err := CheckName(path)
	if err == nil {
		err = f.load()
	}
	if err == nil {
		err = files.Replace(path, func(w *bufio.Writer) error { return f.write(w, end(path)) })
	}
	if err != nil {
		return fmt.Errorf("plot: save %s: %w", path, files.Reason(err))
	}
	return nil
}

// Encode is [Figure.Save] to a writer; end is the end of a file's name, such as ".png".
func (f *Figure) Encode(w io.Writer, end string) error {
	err := cmp.Or(files.Given(w), CheckName(end))
	if err == nil {
		err = f.load()
	}
	if err == nil {
		err = f.write(w, strings.ToLower(end))
	}
	if err != nil {
		return fmt.Errorf("plot: %w", err)
	}
	return nil
}

// load reads the tensors of a figure that has not read them.
func (f *Figure) load() (err error) {
	defer tensor.Catch(&err)
	if f == nil || f.content == nil {
		return errors.New("there is no figure: make one by a function such as Heatmap or Line")
	}
	if err := f.check(); err != nil || f.loaded {
		return err
	}
	if err := f.content.load(f); err != nil {
		return err
	}
	f.loaded = true
	return nil
}

// check returns an error for a size or an axis that has no meaning.
func (f *Figure) check() error {
	if f.Width < 0 || f.Height < 0 {
		return fmt.Errorf("a figure of %d × %d pixels: want 1 or more a side, or 0 for what fits", f.Width, f.Height)
	}
	return cmp.Or(f.checkSettings(), f.X.check("X"), f.Y.check("Y"), f.Z.check("Z"), f.content.check(f))
}

// maxPixels is the greatest number of pixels of a side.
const maxPixels = 1 << 15

func (f *Figure) write(w io.Writer, end string) error {
	width, height := f.size()
	if max(width, height) > maxPixels {
		return fmt.Errorf("a figure of %d × %d pixels: want at most %d a side", width, height, maxPixels)
	}
	if err := hostmem.Check(width*height, 4); err != nil {
		return fmt.Errorf("a figure of %d × %d pixels: %w", width, height, err)
	}
	c := canvases[end](vg.Length(width)*pixel, vg.Length(height)*pixel)
	page := draw.New(c)
	page.SetColor(color.White)
	page.Fill(page.Rectangle.Path())
	f.draw(page)
	_, err := c.WriteTo(w)
	return err
}

// titleHeight is the height of a title in pixels.
const titleHeight = 28

// size returns the figure's size in pixels.
func (f *Figure) size() (width, height int) {
	width, height = f.content.size(f)
	if f.Title != "" {
		height += titleHeight
	}
	if f.Width > 0 {
		width = f.Width
	}
	if f.Height > 0 {
		height = f.Height
	}
	return width, height
}

func (f *Figure) draw(c draw.Canvas) {
	if f.Title != "" {
		title := textStyle(13)
		title.XAlign, title.YAlign = draw.XCenter, draw.YCenter
		c.FillText(title, vg.Point{X: c.Center().X, Y: c.Max.Y - titleHeight*pixel/2}, f.Title)
		c = draw.Crop(c, 0, 0, 0, -titleHeight*pixel)
	}
	f.content.draw(f, c)
}

// face is the typeface of all text. Its glyphs are part of the program.
var face = font.Font{Typeface: "Liberation", Variant: "Sans"}

// textStyle returns the style of text of a size in points.
func textStyle(size float64) text.Style {
	return text.Style{Color: color.Black, Font: font.From(face, vg.Points(size)), Handler: plot.DefaultTextHandler}
}

// newPlot returns axes without content.
func newPlot(x, y Axis) *plot.Plot {
	p := plot.New()
	p.BackgroundColor = nil // the page has it
	for _, a := range []struct {
		to   *plot.Axis
		from Axis
	}{{&p.X, x}, {&p.Y, y}} {
		a.to.Label.Text = a.from.Label
		a.to.Label.TextStyle.Font = font.From(face, vg.Points(10))
		a.to.Tick.Label.Font = font.From(face, vg.Points(9))
		if a.from.isSet() {
			a.to.Min, a.to.Max = a.from.Min, a.from.Max
		}
		a.to.Tick.Marker, a.to.Scale = ticks{}, linear{}
		if a.from.Log {
			a.to.Scale, a.to.Tick.Marker = plot.LogScale{}, logTicks{}
		}
	}
	return p
}

// linear is a linear scale for all float64 numbers.
type linear struct{}

// Normalize implements [plot.Normalizer].
func (linear) Normalize(low, high, x float64) float64 { return share(x, low, high) }
