package draw

import (
	"bufio"
	"encoding/xml"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/tensorken/tensorken/internal/files"
)

// An SVG is a drawing, the text of an .svg file.
type SVG string

// Save writes the drawing to a file, which is replaced atomically.
func (s SVG) Save(path string) error {
	err := files.Replace(path, func(w *bufio.Writer) error {
		_, err := w.WriteString(string(s))
		return err
	})
	if err != nil {
		return fmt.Errorf("draw: save %s: %w", path, files.Reason(err))
	}
	return nil
}

const (
	charWidth, lineHeight = 7.0, 15.0
	margin                = 12.0
)

// render draws vertices and the edges from their inputs, which come before them.
func render(vs []vertex) SVG {
	for i := range vs {
		chars := 0
		for _, line := range vs[i].lines {
			chars = max(chars, utf8.RuneCountInString(line))
		}
		vs[i].w = charWidth*float64(chars) + 16
	}
	l := arrange(vs)
	top := make([]float64, len(l.layers)+1) // of each layer
	height := make([]float64, len(l.layers))
	for i, layer := range l.layers {
		for _, n := range layer {
			if n < len(vs) {
				height[i] = max(height[i], lineHeight*float64(len(vs[n].lines))+10)
			}
		}
		top[i+1] = top[i] + height[i] + gapY
	}
	width := 0.0
	for _, n := range l.nodes {
		width = max(width, n.x+n.w/2)
	}
	var b strings.Builder
	w, h := width+2*margin, max(0, top[len(l.layers)]-gapY)+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="%v %v %.0f %.0f" font-family="ui-monospace, Menlo, Consolas, monospace" font-size="11.5" text-anchor="middle">`+"\n", w, h, -margin, -margin, w, h)
	fmt.Fprintf(&b, `<rect x="%v" y="%v" width="100%%" height="100%%" fill="white"/>`+"\n", -margin, -margin)
	b.WriteString(`<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>` + "\n")
	b.WriteString(`<g fill="none" stroke="#777" marker-end="url(#arrow)">` + "\n")
	for _, path := range l.edges {
		var points [][2]float64
		for i, n := range path {
			x, layer := l.nodes[n].x, l.nodes[n].layer
			if i > 0 {
				points = append(points, [2]float64{x, top[layer]})
			}
			if i < len(path)-1 {
				y := top[layer] + height[layer]
				if n < len(vs) {
					y = top[layer] + (height[layer]+boxHeight(vs[n]))/2
				}
				points = append(points, [2]float64{x, y})
			}
		}
		last := path[len(path)-1]
		points[len(points)-1][1] += (height[l.nodes[last].layer] - boxHeight(vs[last])) / 2
		fmt.Fprintf(&b, `<path d="%s"/>`+"\n", curve(points))
	}
	b.WriteString("</g>\n")
	for i, v := range vs {
		n := l.nodes[i]
		y := top[n.layer] + (height[n.layer]-boxHeight(v))/2
		stroke := `stroke="#555"`
		if v.bold {
			stroke = `stroke="#000" stroke-width="2"`
		}
		fmt.Fprintf(&b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="4" fill="%s" %s/>`+"\n", n.x-n.w/2, y, n.w, boxHeight(v), v.color, stroke)
		for k, line := range v.lines {
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">`, n.x, y+lineHeight*float64(k+1)+1)
			xml.EscapeText(&b, []byte(line))
			b.WriteString("</text>\n")
		}
	}
	b.WriteString("</svg>\n")
	return SVG(b.String())
}

func boxHeight(v vertex) float64 { return lineHeight*float64(len(v.lines)) + 10 }

// curve returns the path through points: straight down through layers, bent between them.
func curve(points [][2]float64) string {
	var b strings.Builder
	fmt.Fprintf(&b, "M%.1f %.1f", points[0][0], points[0][1])
	for i, p := range points[1:] {
		from := points[i]
		if math.Abs(p[0]-from[0]) < 0.05 {
			fmt.Fprintf(&b, "V%.1f", p[1])
			continue
		}
		middle := (p[1] + from[1]) / 2
		fmt.Fprintf(&b, "C%.1f %.1f %.1f %.1f %.1f %.1f", from[0], middle, p[0], middle, p[0], p[1])
	}
	return b.String()
}
