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
	letters       []rune        // instead of the dots, unless 0
	colors        []color.NRGBA // of the last dot of a character
}

// set sets the dot at x, from the left, and y, from the bottom. A letter, unless it is 0,
// takes the place of the dots around.
func (d *dotted) set(x, y int, c color.NRGBA, letter rune) {
	y = 4*d.rows - 1 - y
	if x < 0 || y < 0 || x >= 2*d.columns || y >= 4*d.rows {
		return
	}
	i := y/4*d.columns + x/2
	d.dots[i] |= brailleDots[y%4][x%2]
	if letter != 0 || d.letters[i] == 0 {
		d.letters[i], d.colors[i] = letter, c
	}
}

func (l *lines) text(f *Figure, s screen) []string {
	x, y := l.ranges(f)
	labels := y.rowLabels(textRows)
	d := dotted{columns: max(min(s.columns, textColumns)-widest(labels)-2, 1), rows: textRows}
	if f.Equal { // a character is twice as high as wide
		x, y = f.widened(x, y, float64(d.columns)/float64(2*d.rows))
		ratio, most := 2*aspect(x, y), float64(d.columns)
		d.rows = int(min(max(most/ratio, 2), textRows))
		d.columns = int(min(max(float64(d.rows)*ratio, 1), most))
		labels = y.rowLabels(d.rows)
	}
	n := d.columns * d.rows
	d.dots, d.letters, d.colors = make([]rune, n), make([]rune, n), make([]color.NRGBA, n)
	for i := range l.curves {
		d.draw(drawnCurve{l.curves[i], x, y}, i, len(l.curves))
	}
	var out []string
	for i := range d.rows {
		var b strings.Builder
		for j := range d.columns {
			at := i*d.columns + j
			b.WriteString(s.paintDots(d.dots[at], d.letters[at], d.colors[at]))
		}
		out = append(out, b.String())
	}
	out = framed(out, labels, d.columns, ends(x, d.columns))
	return append(append(out, f.caption(s)...), l.legend(s)...)
}

// rowLabels returns the numbers beside rows of text, for each third and the last.
func (a Axis) rowLabels(rows int) []string {
	labels := make([]string, rows)
	for i := range labels {
		if i%3 == 0 || i == rows-1 {
			labels[i] = number(a.inverse(1 - float64(i)/float64(rows-1)))
		}
	}
	return labels
}

// framed returns lines of a width between axes: on the left a label for each line, text below.
func framed(lines, labels []string, width int, below string) (out []string) {
	label := widest(labels)
	for i, line := range lines {
		out = append(out, strings.TrimRight(padLeft(labels[i], label)+" │"+line, " "))
	}
	margin := strings.Repeat(" ", label)
	return append(out, margin+" └"+strings.Repeat("─", width), margin+"  "+below)
}

// ends returns text of a width that begins and ends with the ends of an axis.
func ends(a Axis, width int) string {
	low, high := number(a.Min), number(a.Max)
	return low + padLeft(high, max(width-len(low), len(high)+1))
}

// paintDots returns a letter, or a character of dots, a space for none.
func (s screen) paintDots(dots, letter rune, c color.NRGBA) string {
	switch {
	case letter != 0:
		return s.paint(string(letter), c)
	case dots != 0:
		return s.paint(string(brailleBlank+dots), c)
	}
	return " "
}

// caption returns a line with the labels of axes, if there are any.
func (f *Figure) caption(s screen) []string {
	caption := f.Y.Label
	if caption != "" && f.X.Label != "" {
		caption += " by "
	}
	if caption += f.X.Label; caption == "" {
		return nil
	}
	return []string{cut(caption, s.columns)}
}

// legend returns lines with the letters and names of series.
func (l *lines) legend(s screen) (out []string) {
	line := ""
	for _, c := range l.curves {
		if c.name == "" {
			continue
		}
		letter := c.mark.letter
		if len(l.curves) == 1 {
			letter = '⠒'
		}
		name := s.paint(string(letter), rgb(c.color)) + " " + cut(c.name, s.columns-2)
		switch {
		case line == "":
			line = name
		case visible(line)+2+visible(name) <= s.columns:
			line += "  " + name
		default:
			out, line = append(out, line), name
		}
	}
	if line != "" {
		out = append(out, line)
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

// letterStep is the number of columns from a letter of a line to its next.
const letterStep = 8

// draw draws curve i of n. If there are others, its letter marks its points, or the line at
// steps, beside the letters of others.
func (d *dotted) draw(k drawnCurve, i, n int) {
	w, h := float64(2*d.columns-1), float64(4*d.rows-1)
	step := max(letterStep, n)
	lettered := map[int]bool{} // columns
	c := rgb(k.color)
	for _, run := range k.runs() {
		if k.line {
			run = thinned(run, w)
		}
		for at, b := range run {
			a := b
			if k.line && at > 0 {
				a = run[at-1]
			}
			steps := math.Ceil(max(math.Abs(b.x-a.x)*w, math.Abs(b.y-a.y)*h))
			steps = min(max(steps, 1), 10*(w+h)) // far beyond the ends there is nothing to see
			for j := range int(steps) + 1 {
				share := float64(j) / steps
				x, y := a.x+(b.x-a.x)*share, a.y+(b.y-a.y)*share
				dot, letter := int(math.Round(x*w)), rune(0)
				column := dot / 2
				if n > 1 && (!k.line || (column-i*step/n)%step == 0 && !lettered[column]) {
					letter, lettered[column] = k.mark.letter, true
				}
				d.set(dot, int(math.Round(y*h)), c, letter)
			}
		}
	}
}

// rgb returns a color without alpha.
func rgb(c color.Color) color.NRGBA { return color.NRGBAModel.Convert(c).(color.NRGBA) }

// maxBars is the greatest number of lines of a histogram. If there are more intervals, several
// share a line.
const maxBars = 20

func (h *histogram) text(f *Figure, s screen) (lines []string) {
	each := ir.CeilDiv(len(h.counts), maxBars)
	var labels []string
	var counts []float64
	for i := 0; i < len(h.counts); i += each {
		end, sum := min(i+each, len(h.counts)), 0.0
		for _, count := range h.counts[i:end] {
			sum += count
		}
		labels, counts = append(labels, number(h.edges[i]/2+h.edges[end]/2)), append(counts, sum)
	}
	_, most := finiteRange(counts)
	y, label := f.Y.upTo(most), widest(labels)
	room := max(min(s.columns, textColumns)-label-len(number(most))-3, 1)
	for i, count := range counts {
		bar := strings.Repeat("█", int(math.Round(min(max(y.at(count), 0), 1)*float64(room))))
		lines = append(lines, padLeft(labels[i], label)+" │"+s.paint(bar, Color(0))+" "+number(count))
	}
	return append(lines, f.caption(s)...)
}
