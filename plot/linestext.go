package plot

import (
	"image/color"
	"math"
	"strings"

	"github.com/tensorken/tensorken/ir"
)

// The size of the text of lines, points and histograms.
const (
	textRows    = 12
	textColumns = 72
)

// brailleDots are the bits of a character of Unicode's braille patterns, for its 4 rows
// and 2 columns of dots.
var brailleDots = [4][2]rune{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

const brailleBlank = '\u2800'

// A dotted is a field of characters of 2 by 4 dots.
type dotted struct {
	columns, rows int
	dots          []rune
	colors        []color.NRGBA // of the last dot of a character
}

// set sets the dot at x, from the left, and y, from the bottom.
func (d *dotted) set(x, y int, c color.NRGBA) {
	y = 4*d.rows - 1 - y
	if x < 0 || y < 0 || x >= 2*d.columns || y >= 4*d.rows {
		return
	}
	i := y/4*d.columns + x/2
	d.dots[i] |= brailleDots[y%4][x%2]
	d.colors[i] = c
}

func (l *lines) text(f *Figure, s screen) []string {
	x, y := l.ranges(f)
	labels := make([]string, textRows)
	label := 0
	for i := range labels {
		if i%3 == 0 || i == textRows-1 {
			labels[i] = number(y.inverse(1 - float64(i)/(textRows-1)))
		}
		label = max(label, len(labels[i]))
	}
	d := dotted{columns: max(min(s.columns, textColumns)-label-2, 1), rows: textRows}
	d.dots, d.colors = make([]rune, d.columns*d.rows), make([]color.NRGBA, d.columns*d.rows)
	for _, c := range l.curves {
		d.draw(drawnCurve{c, x, y})
	}
	var out []string
	for i := range d.rows {
		var b strings.Builder
		b.WriteString(padLeft(labels[i], label) + " │")
		for j := range d.columns {
			at := i*d.columns + j
			b.WriteString(s.paintDots(d.dots[at], d.colors[at]))
		}
		out = append(out, strings.TrimRight(b.String(), " "))
	}
	low, high := number(x.Min), number(x.Max)
	out = append(out, strings.Repeat(" ", label)+" └"+strings.Repeat("─", d.columns),
		strings.Repeat(" ", label+2)+low+padLeft(high, d.columns-len(low)))
	return append(out, l.captions(f, s)...)
}

// paintDots returns a character of dots, a space for none.
func (s screen) paintDots(dots rune, c color.NRGBA) string {
	if dots == 0 {
		return " "
	}
	return s.paint(string(brailleBlank+dots), c)
}

// captions returns the names of axes and series.
func (l *lines) captions(f *Figure, s screen) (out []string) {
	caption := f.Y.Label
	if caption != "" && f.X.Label != "" {
		caption += " by "
	}
	if caption += f.X.Label; caption != "" {
		out = append(out, cut(caption, s.columns))
	}
	var names []string
	for _, c := range l.curves {
		if c.name != "" {
			names = append(names, s.paint("⠒", rgb(c.color))+" "+c.name)
		}
	}
	if names != nil {
		out = append(out, strings.Join(names, "  "))
	}
	return out
}

// inverse returns the number at a level of the axis.
func (a Axis) inverse(level float64) float64 {
	if a.Log {
		return math.Exp(math.Log(a.Min)*(1-level) + math.Log(a.Max)*level)
	}
	return a.Min*(1-level) + a.Max*level
}

// draw draws a curve.
func (d *dotted) draw(k drawnCurve) {
	w, h := float64(2*d.columns-1), float64(4*d.rows-1)
	c := rgb(k.color)
	for _, run := range k.runs() {
		if k.line {
			run = thinned(run, w)
		}
		for i, b := range run {
			a := b
			if k.line && i > 0 {
				a = run[i-1]
			}
			steps := math.Ceil(max(math.Abs(b.x-a.x)*w, math.Abs(b.y-a.y)*h))
			steps = min(max(steps, 1), 10*(w+h)) // far beyond the ends there is nothing to see
			for j := range int(steps) + 1 {
				share := float64(j) / steps
				x, y := a.x+(b.x-a.x)*share, a.y+(b.y-a.y)*share
				d.set(int(math.Round(x*w)), int(math.Round(y*h)), c)
			}
		}
	}
}

// rgb returns a color without alpha.
func rgb(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

// maxBars is the greatest number of lines of a histogram. If there are more intervals, several
// share a line.
const maxBars = 20

func (h *histogram) text(_ *Figure, s screen) (lines []string) {
	each := ir.CeilDiv(len(h.counts), maxBars)
	var labels []string
	var counts []float64
	label := 0
	for i := 0; i < len(h.counts); i += each {
		end, sum := min(i+each, len(h.counts)), 0.0
		for _, count := range h.counts[i:end] {
			sum += count
		}
		labels, counts = append(labels, number(h.edges[i]/2+h.edges[end]/2)), append(counts, sum)
		label = max(label, len(labels[len(labels)-1]))
	}
	_, most := finiteRange(counts)
	room := max(min(s.columns, textColumns)-label-len(number(most))-3, 1)
	for i, count := range counts {
		bar := strings.Repeat("█", int(math.Round(count/max(most, 1)*float64(room))))
		lines = append(lines, padLeft(labels[i], label)+" │"+s.paint(bar, Color(0))+" "+number(count))
	}
	return lines
}
