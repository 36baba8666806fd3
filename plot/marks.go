package plot

import (
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// A mark is the shape of a point: a star whose inner corners are at a share of the radius of
// its tips. It is a polygon where they lie on the lines between tips.
type mark struct {
	letter rune // matplotlib's, which a terminal shows
	tips   int
	inner  float64
	turn   float64 // of the first tip, from the right, in circles
	size   float64 // of the radius, so that all look equally large
}

// marks are the marks of series, in order. Neighbors differ most.
var marks = []mark{
	{'o', 12, 1, 0, 1}, {'x', 4, 0.3, 0.125, 1.5}, {'^', 3, 0.5, 0.25, 1.3}, {'s', 4, math.Sqrt2 / 2, 0.125, 1.2}, {'*', 5, 0.4, 0.25, 1.5},
	{'D', 4, math.Sqrt2 / 2, 0, 1.2}, {'+', 4, 0.3, 0, 1.5}, {'v', 3, 0.5, 0.75, 1.3}, {'<', 3, 0.5, 0.5, 1.3}, {'>', 3, 0.5, 0, 1.3},
}

// moreLetters are the letters of series after the tenth. Their marks repeat in other colors, which a
// terminal may not have.
const moreLetters = "abcdefghijklmnpqrtuwyzABCEFGHIJKLMNPQRSTUVWYZ"

// markOf returns the mark that series i has by default. As colors and marks do not repeat
// together, all pairs of them are used before one repeats.
func markOf(i int) mark {
	m := marks[(i+i/len(lineColors))%len(marks)]
	if more := i - len(marks); more >= 0 {
		m.letter = rune(moreLetters[more%len(moreLetters)])
	}
	return m
}

// letters returns the letters of all marks.
func letters() (all string) {
	for _, m := range marks {
		all += string(m.letter)
	}
	return all
}

// DrawGlyph implements [draw.GlyphDrawer].
func (m mark) DrawGlyph(c *draw.Canvas, style draw.GlyphStyle, at vg.Point) {
	var corners []vg.Point
	for i := range 2 * m.tips {
		radius := style.Radius * vg.Length(m.size)
		if i%2 == 1 {
			radius *= vg.Length(m.inner)
		}
		sin, cos := math.Sincos(2 * math.Pi * (m.turn + float64(i)/float64(2*m.tips)))
		corners = append(corners, vg.Point{X: at.X + radius*vg.Length(cos), Y: at.Y + radius*vg.Length(sin)})
	}
	c.FillPolygon(style.Color, corners)
}
