package main

import "math"

// The set's digits were written by hand, scanned, and scaled to a box in an image of 32 by 32
// pixels; the image has the number of black pixels in each square of 4 by 4.
const (
	imageSide = 32
	boxWidth  = 22
	pen       = 5.4 // the width of a line, the mean of the set
	cell      = 4
)

// A stroke is the points of a line that was drawn without lifting the pen.
type stroke []point

type point [2]float64 // x to the right, y down

// rasterize returns a drawing as an image of the set, 8 rows of 8 numbers from 0 to 1.
func rasterize(strokes []stroke) []float32 {
	image := make([]float32, 64)
	low, high := bounds(strokes)
	if low[0] > high[0] {
		return image // nothing is drawn
	}
	strokes = fit(strokes, low, high)
	for y := range imageSide {
		for x := range imageSide {
			if near(strokes, point{float64(x) + 0.5, float64(y) + 0.5}, pen/2) {
				image[y/cell*8+x/cell] += 1.0 / (cell * cell)
			}
		}
	}
	return image
}

func bounds(strokes []stroke) (low, high point) {
	low, high = point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, s := range strokes {
		for _, p := range s {
			for i := range p {
				low[i], high[i] = min(low[i], p[i]), max(high[i], p[i])
			}
		}
	}
	return low, high
}

// fit scales strokes to the height of the image, and centres them. A drawing that is then
// wider than the box is made as narrow as that.
func fit(strokes []stroke, low, high point) []stroke {
	height := (imageSide - pen) / max(high[1]-low[1], 1e-9, (high[0]-low[0])/2)
	scale := point{min(height, (boxWidth-pen)/max(high[0]-low[0], 1e-9)), height}
	fitted := make([]stroke, len(strokes))
	for i, s := range strokes {
		fitted[i] = make(stroke, len(s))
		for j, p := range s {
			for k := range p {
				fitted[i][j][k] = imageSide/2 + (p[k]-(low[k]+high[k])/2)*scale[k]
			}
		}
	}
	return fitted
}

// near reports whether a stroke passes a point within a distance.
func near(strokes []stroke, p point, distance float64) bool {
	for _, s := range strokes {
		for i := range s {
			if squaredDistance(p, s[max(i-1, 0)], s[i]) <= distance*distance {
				return true
			}
		}
	}
	return false
}

// squaredDistance returns the squared distance of p from the line between a and b.
func squaredDistance(p, a, b point) float64 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	t := 0.0
	if length := dx*dx + dy*dy; length > 0 {
		t = min(max(((p[0]-a[0])*dx+(p[1]-a[1])*dy)/length, 0), 1)
	}
	x, y := p[0]-a[0]-t*dx, p[1]-a[1]-t*dy
	return x*x + y*y
}
