package plot

import (
	"fmt"
	"image"
	"math"
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Lengths in pixels.
const (
	maxElement = 64  // of one element of a small tensor
	maxWidth   = 480 // of a panel
	minWidth   = 48
	allPanels  = 960 // of the panels of a row together
	minTicked  = 150 // of the shorter side of a panel that has axes, if it is not alone
	axisRoom   = 56
	gapRoom    = 12
	nameRoom   = 18
	barRoom    = 100
	barWidth   = 18
)

// minNumber is the size in points of numbers in a heat map without a size.
const minNumber = 7.0

// maxRatio is the greatest ratio of the sides of a panel, unless its axes are equal.
const maxRatio = 8

// panelSize returns the size of the elements of a panel in pixels.
func (m *mosaic) panelSize(f *Figure) (w, h float64) {
	side := min(float64(maxElement*max(m.rows, m.cols)), maxWidth, max(allPanels/float64(m.across()), minWidth))
	ratio := m.ratio(f)
	return max(side*min(ratio, 1), minWidth), max(side/max(ratio, 1), minWidth)
}

// ratio returns the width of a panel by its height where it has the size of its content.
func (m *mosaic) ratio(f *Figure) float64 {
	if f.Equal {
		return aspect(m.axes(f))
	}
	return min(max(float64(m.cols)/float64(m.rows), 1/float64(maxRatio)), maxRatio)
}

// hasAxes reports whether panels show the indices of rows and columns.
func (m *mosaic) hasAxes(f *Figure) bool {
	w, h := m.panelSize(f)
	return m.white == 0 && (m.panels() == 1 || min(w, h) >= minTicked || f.X.marked() || f.Y.marked() || f.X.Label+f.Y.Label != "")
}

// marked reports whether the axis has ends or names of its own.
func (a Axis) marked() bool { return a.isSet() || a.Names != nil }

// numbersSize returns the size of a panel whose elements have room for their numbers, in pixels.
func (m *mosaic) numbersSize(f *Figure) (w, h float64) {
	if f.Numbers == "" {
		return 0, 0
	}
	style, longest := textStyle(minNumber), vg.Length(0)
	for _, x := range m.values {
		longest = max(longest, style.Width(fmt.Sprintf(f.Numbers, x)))
	}
	return float64(m.stack.Dim(2)) * (float64(longest/pixel) + 6), float64(m.stack.Dim(1)) * 2 * minNumber
}

func (m *mosaic) size(f *Figure) (width, height int) {
	w, h := m.panelSize(f)
	numbersW, numbersH := m.numbersSize(f)
	w, h = max(w, numbersW)+gapRoom, max(h, numbersH)+gapRoom
	if m.hasAxes(f) {
		w, h = w+axisRoom, h+axisRoom
	}
	if m.names != nil {
		h += nameRoom
	}
	width, height = int(w)*m.across(), int(h)*m.down()
	if m.white == 0 {
		width += barRoom
	}
	if m.note != "" {
		height += nameRoom
	}
	return width, height
}

func (m *mosaic) draw(f *Figure, c draw.Canvas) {
	if m.note != "" {
		note := textStyle(9)
		note.XAlign, note.YAlign = draw.XCenter, draw.YCenter
		c.FillText(note, vg.Point{X: c.Center().X, Y: c.Min.Y + nameRoom*pixel/2}, m.note)
		c = draw.Crop(c, 0, 0, nameRoom*pixel, 0)
	}
	bar := draw.Crop(c, 0, 0, gapRoom*pixel, -gapRoom*pixel)
	if m.white == 0 {
		c = draw.Crop(c, 0, -barRoom*pixel, 0, 0)
	}
	const pad = gapRoom * pixel
	tiles := draw.Tiles{Cols: m.across(), Rows: m.down(), PadX: pad, PadY: pad, PadLeft: pad / 2, PadRight: pad / 2, PadTop: pad / 2, PadBottom: pad / 2}
	x, y := m.axes(f)
	for i := range m.panels() {
		p := newPlot(x, y)
		tile := tiles.At(c, i%m.across(), i/m.across())
		p.X.Padding, p.Y.Padding = 0, 0
		if !f.OriginBelow {
			p.Y.Scale = plot.InvertedScale{Normalizer: linear{}}
		}
		longest := vg.Length(0)
		for _, name := range f.X.Names {
			longest = max(longest, p.X.Tick.Label.Width(name))
		}
		p.X.Tick.Marker = indices(f.X, m.cols, tile.Size().X-axisRoom*pixel, longest+4*pixel)
		p.Y.Tick.Marker = indices(f.Y, m.rows, tile.Size().Y-axisRoom*pixel, 14*pixel)
		if m.names != nil {
			p.Title.Text = m.names[i]
			p.Title.TextStyle.Font = textStyle(9).Font
		}
		if !m.hasAxes(f) {
			p.HideAxes()
			p.X.Label.Text, p.Y.Label.Text = "", ""
		}
		p.Add(elements{m.raster(f, i), f.Numbers})
		if f.Equal || m.white > 0 {
			tile = keepRatio(p, tile, m.ratio(f))
		}
		p.Draw(tile)
		bar.Min.X = max(bar.Min.X, tile.Max.X+gapRoom*3/2*pixel)
		if m.panels() == 1 {
			panel := p.DataCanvas(tile)
			bar.Min.Y, bar.Max.Y = panel.Min.Y, panel.Max.Y
		}
	}
	if m.white == 0 {
		m.drawBar(f, bar)
	}
}

// indices returns the marks of n positions on an axis of a length: their numbers or, if there
// are any, their names. A name takes room on the axis, and not all are shown if they have
// too little.
func indices(a Axis, n int, length, room vg.Length) plot.Ticker {
	if a.Names == nil {
		return ticks{whole: !a.isSet()}
	}
	var marks plot.ConstantTicks
	each := max(int(math.Ceil(float64(n)*float64(room/length))), 1)
	for i := 0; i < min(n, len(a.Names)); i += each {
		marks = append(marks, plot.Tick{Value: float64(i), Label: a.Names[i]})
	}
	return marks
}

// keepRatio crops a canvas so that the data of p has a ratio of width to height.
func keepRatio(p *plot.Plot, c draw.Canvas, ratio float64) draw.Canvas {
	size := p.DataCanvas(c).Size()
	if x := (size.X - size.Y*vg.Length(ratio)) / 2; x > 0 {
		return draw.Crop(c, x, -x, 0, 0)
	}
	y := (size.Y - size.X/vg.Length(ratio)) / 2
	return draw.Crop(c, 0, 0, y, -y)
}

// elements is a plotter of elements, and of their numbers if there is a format.
type elements struct {
	raster
	format string
}

// Plot implements [plot.Plotter].
func (e elements) Plot(c draw.Canvas, _ *plot.Plot) {
	drawPixels(c, c.Rectangle, e.NRGBA)
	if e.format == "" {
		return
	}
	texts, style := e.texts(e.format), textStyle(10)
	w, h, longest := c.Size().X/vg.Length(e.Rect.Dx()), c.Size().Y/vg.Length(e.Rect.Dy()), vg.Length(0)
	for _, text := range texts {
		longest = max(longest, style.Width(text))
	}
	style = textStyle(min(10, 9*float64(w/longest), 0.8*float64(h/vg.Points(1))))
	style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
	for i, text := range texts {
		x, y := i%e.Rect.Dx(), i/e.Rect.Dx()
		style.Color = onto(e.NRGBAAt(x, y))
		c.FillText(style, vg.Point{X: c.Min.X + w*(vg.Length(x)+0.5), Y: c.Max.Y - h*(vg.Length(y)+0.5)}, text)
	}
}

// texts returns the numbers of a raster in a format.
func (r raster) texts(format string) (all []string) {
	for _, x := range r.numbers {
		all = append(all, fmt.Sprintf(format, x))
	}
	return all
}

// drawPixels draws an image over a rectangle, moved to whole pixels, with sharp edges
// between its pixels. Canvases would smooth them.
func drawPixels(c draw.Canvas, r vg.Rectangle, m *image.NRGBA) {
	snap := func(x vg.Length) vg.Length { return vg.Length(math.Round(float64(x/pixel))) * pixel }
	r.Min.X, r.Min.Y, r.Max.X, r.Max.Y = snap(r.Min.X), snap(r.Min.Y), snap(r.Max.X), snap(r.Max.Y)
	w, h := int(math.Round(float64(r.Size().X/pixel))), int(math.Round(float64(r.Size().Y/pixel)))
	if w < 1 || h < 1 {
		return // the figure's size leaves no room
	}
	large := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			large.SetNRGBA(x, y, m.NRGBAAt(x*m.Rect.Dx()/w, y*m.Rect.Dy()/h))
		}
	}
	c.DrawImage(r, large)
}

// drawBar draws the colors with the numbers that they stand for.
func (m *mosaic) drawBar(f *Figure, c draw.Canvas) {
	label := textStyle(9)
	label.YAlign = draw.YCenter
	if f.Z.Label != "" {
		c.FillText(label, vg.Point{X: c.Min.X, Y: c.Max.Y - nameRoom*pixel/2}, f.Z.Label)
		c = draw.Crop(c, 0, 0, 0, -nameRoom*pixel)
	}
	right := c.Min.X + barWidth*pixel
	if slices.ContainsFunc(m.values, math.IsNaN) {
		swatch := image.NewNRGBA(image.Rect(0, 0, 1, 1))
		swatch.SetNRGBA(0, 0, nanColor)
		box := vg.Rectangle{Min: c.Min, Max: vg.Point{X: right, Y: c.Min.Y + barWidth*pixel}}
		drawPixels(c, box, swatch)
		c.FillText(label, vg.Point{X: right + 6*pixel, Y: (box.Min.Y + box.Max.Y) / 2}, "NaN")
		c = draw.Crop(c, 0, 0, (barWidth+gapRoom)*pixel, 0)
	}
	low, high := m.span(f)
	if math.IsNaN(low) {
		return
	}
	const shades = 256
	bar := image.NewNRGBA(image.Rect(0, 0, 1, shades))
	for y := range shades {
		bar.SetNRGBA(0, y, mapped(1-float64(y)/(shades-1)))
	}
	drawPixels(c, vg.Rectangle{Min: c.Min, Max: vg.Point{X: right, Y: c.Max.Y}}, bar)
	for _, t := range (ticks{}).Ticks(low, high) {
		y := c.Min.Y + c.Size().Y*vg.Length(scaled(t.Value, low, high))
		c.StrokeLine2(draw.LineStyle{Color: label.Color, Width: vg.Points(0.5)}, right, y, right+3*pixel, y)
		c.FillText(label, vg.Point{X: right + 6*pixel, Y: y}, t.Label)
	}
}
