package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/ir"
)

// densities are the characters of levels from 0 to 1 where there is no color.
const densities = " .:-=+*#%@"

// wideEnough is the width that small panels are enlarged to.
const wideEnough = 32

func (m *mosaic) text(f *Figure, s screen) (lines []string) {
	across := 1
	if m.panels() > 1 {
		across = min(m.across(), max(s.columns/(wideEnough/2+2), 1))
	}
	width := s.columns/across - 2*min(across-1, 1)
	for begin := 0; begin < m.panels(); begin += across {
		var row []string
		for i := begin; i < min(begin+across, m.panels()); i++ {
			panel := m.panelText(f, i, s, width, min(wideEnough, s.columns)/min(across, 2))
			if m.names != nil {
				panel = append([]string{cut(m.names[i], width)}, panel...)
			}
			row = beside(row, panel, i-begin, width+2)
		}
		for _, line := range row {
			lines = append(lines, strings.TrimRight(line, " "))
		}
	}
	if m.note != "" {
		lines = append(lines, m.note)
	}
	lines = append(lines, f.caption(s)...)
	if low, high := m.span(f); m.white == 0 && !math.IsNaN(low) {
		legend := s.legend(low, high)
		if f.Z.Label != "" {
			legend += " " + cut(f.Z.Label, s.columns-visible(legend)-1)
		}
		lines = append(lines, legend)
	}
	return lines
}

// maxName is the number of columns of the longest name of a position.
const maxName = 16

// panelText returns the lines of a panel of at most width columns, between axes if it is
// alone or has settings that need them.
func (m *mosaic) panelText(f *Figure, i int, s screen, width, enough int) []string {
	r := m.raster(f, i)
	if m.white > 0 || m.panels() > 1 && !f.X.marked() && !f.Y.marked() && f.Numbers == "" {
		return r.text(s, max(width, 1), enough, 1)
	}
	room := max(width-widest(f.Y.beside(m.rows, m.rows))-2, 1)
	lines, note := r.text(s, room, min(enough, room), min(widest(f.X.Names), maxName)+1), []string(nil)
	if f.Numbers != "" {
		table := r.table(s, f.Numbers, widest(f.X.Names))
		if n := visible(table[0]); n <= room {
			lines = table
		} else {
			note = []string{fmt.Sprintf("numbers need %d columns", n+width-room)}
		}
	}
	labels, columns := f.Y.beside(m.rows, len(lines)), visible(lines[0])
	if f.OriginBelow {
		slices.Reverse(labels)
	}
	return append(framed(lines, labels, columns, f.X.below(m.cols, columns)), note...)
}

// named returns names of n positions: the axis's own, or the first and the last index.
func (a Axis) named(n int) []string {
	names := make([]string, n)
	if a.Names == nil {
		names[0], names[n-1] = "0", number(float64(n-1))
	}
	for i, name := range a.Names {
		names[i] = cut(name, maxName)
	}
	return names
}

// beside returns the labels of lines that show n positions, from the first.
func (a Axis) beside(n, lines int) []string {
	labels := make([]string, lines)
	if a.isSet() {
		labels[0], labels[lines-1] = number(a.Min), number(a.Max)
		if lines == 1 {
			labels[0] = number(a.Min) + "…" + number(a.Max)
		}
		return labels
	}
	for i, name := range a.named(n) {
		if line := (2*i + 1) * lines / (2 * n); labels[line] == "" {
			labels[line] = name
		}
	}
	return labels
}

// below returns the line below columns that show n positions.
func (a Axis) below(n, columns int) string {
	if a.isSet() {
		return ends(a, columns)
	}
	names, line := a.named(n), ""
	gap := min(widest(names)-1, 1)
	for i, name := range names {
		size, written := utf8.RuneCountInString(name), utf8.RuneCountInString(line)
		begin := max(min(((2*i+1)*columns/n-size)/2, columns-size), 0)
		if name != "" && (line == "" || begin >= written+gap) {
			line += strings.Repeat(" ", begin-written) + name
		}
	}
	return line
}

// table returns the numbers of a raster as lines of columns of at least a width.
func (r raster) table(s screen, format string, width int) (lines []string) {
	texts := r.texts(format)
	width = max(width, widest(texts)) + 1
	for row := range slices.Chunk(texts, r.Rect.Dx()) {
		var b strings.Builder
		for x, text := range row {
			if s.color {
				c := r.NRGBAAt(x, len(lines))
				b.WriteString(background(c) + foreground(onto(c)))
			}
			b.WriteString(padLeft(text, width))
		}
		if s.color {
			b.WriteString(resetColors)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// legend is a line with the numbers at the ends of the colors.
func (s screen) legend(low, high float64) string {
	var b strings.Builder
	b.WriteString(number(low) + " ")
	steps := max(min(20, s.columns-len(number(low)+number(high))-2), 2)
	for i := range steps {
		level := float64(i) / float64(steps-1)
		glyph := density(level)
		if s.color {
			glyph = "█"
		}
		b.WriteString(s.paint(glyph, mapped(level)))
	}
	b.WriteString(" " + number(high))
	return b.String()
}

// beside appends a panel, as column i of a row of panels. It pads the lines before it,
// whose width without escape sequences is at most i columns.
func beside(row, panel []string, i, column int) []string {
	for y := range max(len(row), len(panel)) {
		if y == len(row) {
			row = append(row, "")
		}
		if y < len(panel) {
			row[y] += strings.Repeat(" ", max(0, i*column-visible(row[y]))) + panel[y]
		}
	}
	return row
}

// visible returns the number of columns of text, escape sequences left out.
func visible(text string) (n int) {
	escape := false
	for _, r := range text {
		switch {
		case r == '\x1b':
			escape = true
		case escape:
			escape = r != 'm'
		default:
			n++
		}
	}
	return n
}

// text returns at most most lines and columns. A line is two rows of pixels. An element takes
// several pixels if all would take fewer columns than enough, and at least each columns, the room of a
// name, unless all would take more than most. Several elements share a pixel if they would take more
// than most.
func (r raster) text(s screen, most, enough, each int) (lines []string) {
	w, h := r.Rect.Dx(), r.Rect.Dy()
	scale := max(min(enough/w, most/w, 2*enough/h), 1)
	wide := scale
	if each*w <= most {
		wide = max(wide, each)
	}
	size := max(1, ir.CeilDiv(w, most), ir.CeilDiv(h, 2*most)) // elements of a pixel
	pw, ph := ir.CeilDiv(w*wide, size), ir.CeilDiv(h*scale, size)
	colors, levels := make([]color.NRGBA, pw*ph), make([]float64, pw*ph)
	for y := range ph {
		for x := range pw {
			colors[y*pw+x], levels[y*pw+x] = r.mean(x*size/wide, y*size/scale, size)
		}
	}
	for y := 0; y < ph; y += 2 {
		var b strings.Builder
		for x := range pw {
			upper, lower := y*pw+x, (y+1)*pw+x
			switch {
			case s.color && y+1 < ph:
				b.WriteString(foreground(colors[upper]) + background(colors[lower]) + "▀")
			case s.color:
				b.WriteString(resetColors + foreground(colors[upper]) + "▀")
			case y+1 < ph:
				b.WriteString(density((levels[upper] + levels[lower]) / 2))
			default:
				b.WriteString(density(levels[upper]))
			}
		}
		if s.color {
			b.WriteString(resetColors)
		}
		lines = append(lines, b.String())
	}
	return lines
}

// mean returns the mean of a square of elements.
func (r raster) mean(left, top, size int) (color.NRGBA, float64) {
	var red, green, blue, level, n float64
	for y := top; y < min(top+size, r.Rect.Dy()); y++ {
		for x := left; x < min(left+size, r.Rect.Dx()); x++ {
			c := r.NRGBAAt(x, y)
			red, green, blue = red+float64(c.R), green+float64(c.G), blue+float64(c.B)
			level += r.levels[y*r.Rect.Dx()+x]
			n++
		}
	}
	return color.NRGBA{uint8(red / n), uint8(green / n), uint8(blue / n), 0xff}, level / n
}

// density returns the character of a level.
func density(level float64) string {
	if math.IsNaN(level) {
		return "?"
	}
	i := min(int(level*float64(len(densities))), len(densities)-1)
	return densities[i : i+1]
}
