package plot

import (
	"errors"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/tensorken/tensorken/tensor"
)

// A Series is a line, or a set of points, of any element types.
type Series struct {
	Name string        // in the legend, if not empty
	X    tensor.Tensor // [n]; if absent, the positions 0, 1, … of Y
	Y    tensor.Tensor // [n], or [k n], which is k series
	// Color is the next of a palette if it is nil. Ten colors repeat: lines have other strokes then, and
	// points other marks.
	Color  color.Color
	Dashed bool // a line is
	Points bool // mark each point of a line
	// Mark is the shape of points, one of o x ^ s * D + v < > as in matplotlib, or the next of
	// these if it is 0. It marks the points of a line too.
	Mark rune
	// Labels, unless nil, are written beside the n points in files, such as the letters that
	// embeddings belong to.
	Labels []string
	// Low and High, of Y's shape, are the ends of a pale band behind the lines, such as a
	// prediction plus and minus its standard deviation. Absent means no band.
	Low, High tensor.Tensor
}

// Line draws y, [n] or [k n], as one line or k lines over the positions of the elements. A
// NaN interrupts a line.
func Line(y tensor.Tensor) *Figure { return newLines("Line", []Series{{Y: y}}, false) }

// Lines draws several lines in one figure. NaN and infinities interrupt a line.
func Lines(series ...Series) *Figure { return newLines("Lines", series, false) }

// Scatter draws the points of several series. Points with NaN or infinities are left out.
func Scatter(series ...Series) *Figure { return newLines("Scatter", series, true) }

// Metrics draws a line for each name in a history, such as the field of
// [github.com/tensorken/tensorken/train.Loop]: "loss" first, then the others in order, over
// the epochs 1, 2, ….
func Metrics[M ~map[string]float64](history []M) *Figure {
	names := map[string]bool{}
	for _, m := range history {
		for name := range m {
			names[name] = true
		}
	}
	f := &Figure{content: &lines{whole: true, curves: metricCurves(history, names)}}
	f.X.Label = "epoch"
	return f
}

// lines is the content of lines and of points.
type lines struct {
	op     string
	series []drawnSeries
	whole  bool // all x are positions or epochs
	curves []curve
}

// A drawnSeries is a series of Lines, or one of Scatter, which has no line.
type drawnSeries struct {
	Series
	line bool
}

// A curve is a series that was read.
type curve struct {
	name                 string
	xs, ys               []float64
	low, high            []float64 // of the band, or nil
	color                color.Color
	round                int // how often the palette was used up before
	mark                 mark
	dashed, points, line bool
	labels               []string
}

func newLines(op string, series []Series, points bool) *Figure {
	if len(series) == 0 {
		misuse(op, "there is no series to draw")
	}
	l := &lines{op: op, whole: true}
	for _, s := range series {
		s.Points = s.Points || points || s.Mark != 0
		l.series = append(l.series, drawnSeries{s, !points})
		check(op, s.Y)
		if r := s.Y.Rank(); r != 1 && r != 2 {
			misuse(op, "Y: want [n], or [k n] for k series", s.Y)
		}
		if n := len(s.Labels); n > 0 && n != s.Y.Dim(-1) {
			misuse(op, fmt.Sprintf("%d Labels: want one for each point on Y's last axis", n), s.Y)
		}
		switch {
		case s.Mark != 0 && !strings.ContainsRune(letters(), s.Mark):
			misuse(op, fmt.Sprintf("Mark %q: want one of %s", s.Mark, letters()), s.Y)
		case s.Dashed && points:
			misuse(op, "Dashed: points have no line", s.Y)
		}
		checkBand(op, s)
		if !s.X.IsValid() {
			continue
		}
		l.whole = false
		if s.X.Rank() != 1 || s.X.Len() != s.Y.Dim(-1) {
			misuse(op, "X: want [n] with n the length of Y's last axis", s.X, s.Y)
		}
	}
	return &Figure{content: l}
}

func (l *lines) load(*Figure) error {
	if l.series == nil {
		return nil // of Metrics, whose curves are not tensors
	}
	var all []curve
	colored := map[bool]int{} // lines and points apart, so that points have the color of their line
	for _, s := range l.series {
		read, err := s.read(l.op)
		if err != nil {
			return err
		}
		for _, c := range read {
			if c.color == nil {
				c.color, c.round = Color(colored[c.line]), colored[c.line]/len(lineColors)
			}
			colored[c.line]++
			c.mark = markOf(len(all))
			if at := slices.IndexFunc(marks, func(m mark) bool { return m.letter == s.Mark }); at >= 0 {
				c.mark = marks[at]
			}
			all = append(all, c)
		}
	}
	l.curves = all
	return nil
}

// read computes a series and returns its curves.
func (s drawnSeries) read(op string) (all []curve, err error) {
	n := s.Y.Dim(-1)
	elements := make([][]float64, 4)
	for i, t := range []tensor.Tensor{s.X, s.Y, s.Low, s.High} {
		if !t.IsValid() {
			continue
		}
		if elements[i], err = numbers(op, t); err != nil {
			return nil, err
		}
	}
	xs, ys, low, high := elements[0], elements[1], elements[2], elements[3]
	if xs == nil {
		for i := range n {
			xs = append(xs, float64(i))
		}
	}
	for begin := 0; begin < len(ys); begin += n {
		c := curve{name: s.Name, xs: xs, ys: ys[begin:][:n], color: s.Color, dashed: s.Dashed, points: s.Points, line: s.line, labels: s.Labels}
		if low != nil {
			c.low, c.high = low[begin:][:n], high[begin:][:n]
		}
		if c.name != "" && len(ys) > n {
			c.name += " " + strconv.Itoa(begin/n)
		}
		all = append(all, c)
	}
	return all, nil
}

func (*lines) kind() kinds                      { return curves }
func (*lines) size(*Figure) (width, height int) { return 640, 420 }

func (*lines) check(f *Figure) error {
	if f.Equal && (f.X.Log || f.Y.Log) {
		return errors.New("field Equal is set and an axis is logarithmic, which has no unit of one length: want one of both")
	}
	return nil
}

// aspect returns the width by the height of axes whose units have one length.
func aspect(x, y Axis) float64 { return (x.Max - x.Min) / (y.Max - y.Min) }

// widened returns axes with the aspect of a room, if the one that is too short has no ends of its own.
func (f *Figure) widened(x, y Axis, room float64) (Axis, Axis) {
	widen := func(a *Axis, factor float64) {
		more := (a.Max - a.Min) * (factor - 1) / 2
		a.Min, a.Max = a.Min-more, a.Max+more
	}
	switch now := aspect(x, y); {
	case now < room && !f.X.isSet():
		widen(&x, room/now)
	case now > room && !f.Y.isSet():
		widen(&y, now/room)
	}
	return x, y
}

// ranges returns the ends of both axes, set in the figure or from the curves, moved apart
// if they are equal.
func (l *lines) ranges(f *Figure) (x, y Axis) {
	var xs, ys [][]float64
	for _, c := range l.curves {
		xs, ys = append(xs, c.xs), append(ys, c.ys, c.low, c.high)
	}
	return f.X.over(xs), f.Y.over(ys)
}

// over returns the axis with ends that all finite numbers are between and which differ.
func (a Axis) over(numbers [][]float64) Axis {
	if !a.isSet() {
		if a.Log {
			numbers = [][]float64{positive(numbers)}
		}
		a.Min, a.Max = finiteRange(numbers...)
	}
	switch {
	case math.IsNaN(a.Min) && a.Log:
		a.Min, a.Max = 1, 10
	case math.IsNaN(a.Min):
		a.Min, a.Max = 0, 1
	case a.Min == a.Max && a.Log:
		a.Min, a.Max = a.Min/2, a.Max*2
	case a.Min == a.Max:
		room := max(math.Abs(a.Min)/1000, 0.5)
		a.Min, a.Max = a.Min-room, a.Max+room
	}
	return a
}

// positive returns the numbers above 0.
func positive(numbers [][]float64) (all []float64) {
	for _, xs := range numbers {
		for _, x := range xs {
			if x > 0 {
				all = append(all, x)
			}
		}
	}
	return all
}

// at returns the level of x on the axis, which is outside of 0 to 1 beyond its ends, and NaN
// if x cannot be drawn.
func (a Axis) at(x float64) float64 {
	low, high := a.Min, a.Max
	if a.Log {
		x, low, high = math.Log(x), math.Log(low), math.Log(high)
	}
	if level := share(x, low, high); !math.IsInf(level, 0) {
		return level
	}
	return math.NaN()
}

func (l *lines) draw(f *Figure, c draw.Canvas) {
	c = drawLegend(l.curves, draw.Crop(c, gapRoom*pixel, -gapRoom*pixel, gapRoom*pixel, -gapRoom*pixel))
	x, y := l.ranges(f)
	p := newPlot(x, y)
	if f.Equal {
		room := p.DataCanvas(c).Size()
		x, y = f.widened(x, y, float64(room.X/room.Y))
		p = newPlot(x, y)
	}
	if l.whole && !x.Log {
		p.X.Tick.Marker = ticks{whole: true}
	}
	p.Add(plotter.NewGrid())
	for _, k := range l.curves {
		if k.low != nil {
			p.Add(band{drawnCurve{k, x, y}})
		}
	}
	for _, k := range l.curves {
		p.Add(drawnCurve{k, x, y})
	}
	if f.Equal {
		c = keepRatio(p, c, aspect(x, y))
	}
	p.Draw(c)
}

// drawLegend draws the names of curves in lines above a plot and returns the canvas below
// them.
func drawLegend(curves []curve, c draw.Canvas) draw.Canvas {
	const line, thumbnail = 16 * pixel, 24 * pixel
	label := textStyle(9)
	label.YAlign = draw.YCenter
	left, named := c.Min.X, false
	for _, k := range curves {
		if k.name == "" {
			continue
		}
		width := thumbnail + label.Width(k.name) + 20*pixel
		if !named || left+width > c.Max.X && left > c.Min.X {
			left = c.Min.X
			c.Max.Y -= line
		}
		at := draw.Canvas{Canvas: c.Canvas, Rectangle: vg.Rectangle{Min: vg.Point{X: left, Y: c.Max.Y}, Max: vg.Point{X: left + thumbnail, Y: c.Max.Y + line}}}
		drawnCurve{curve: k}.drawThumbnail(at)
		c.FillText(label, vg.Point{X: left + thumbnail + 4*pixel, Y: at.Center().Y}, k.name)
		left, named = left+width, true
	}
	if named {
		c.Max.Y -= gapRoom / 2 * pixel
	}
	return c
}
