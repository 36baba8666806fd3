package plot

import (
	"image/color"
	"math"
)

// viridis has ten equidistant colors of the map viridis by Stéfan van der Walt and
// Nathaniel Smith, which is in the public domain. Its lightness rises evenly, so that it
// reads in gray and with any color vision.
var viridis = []color.NRGBA{
	{0x44, 0x01, 0x54, 0xff}, {0x48, 0x28, 0x78, 0xff}, {0x3e, 0x4a, 0x89, 0xff}, {0x31, 0x68, 0x8e, 0xff}, {0x26, 0x82, 0x8e, 0xff},
	{0x1f, 0x9e, 0x89, 0xff}, {0x35, 0xb7, 0x79, 0xff}, {0x6d, 0xcd, 0x59, 0xff}, {0xb4, 0xde, 0x2c, 0xff}, {0xfd, 0xe7, 0x25, 0xff},
}

// nanColor shows NaN. It is on no color map.
var nanColor = color.NRGBA{0xe0, 0x24, 0x5e, 0xff}

// mapped returns the color of a level from 0 to 1. Other levels have the color of the
// nearer end.
func mapped(level float64) color.NRGBA {
	if math.IsNaN(level) {
		return nanColor
	}
	at := min(max(level, 0), 1) * float64(len(viridis)-1)
	i := min(int(at), len(viridis)-2)
	a, b, share := viridis[i], viridis[i+1], at-float64(i)
	mix := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + share*(float64(y)-float64(x)))) }
	return color.NRGBA{mix(a.R, b.R), mix(a.G, b.G), mix(a.B, b.B), 0xff}
}

// onto returns black or white, as text on a color.
func onto(c color.NRGBA) color.NRGBA {
	if 299*int(c.R)+587*int(c.G)+114*int(c.B) > 140_000 {
		return color.NRGBA{A: 0xff}
	}
	return color.NRGBA{0xff, 0xff, 0xff, 0xff}
}

// lineColors are the colors of series, in order: blue, vermilion, green, pink, yellow, cyan,
// brown, gray, indigo and plum. A search moved them apart for normal vision and for the
// lack of each of the three cones.
var lineColors = []color.NRGBA{
	{0x1e, 0x71, 0xfa, 0xff}, {0xc7, 0x3d, 0x09, 0xff}, {0x3d, 0xaa, 0x66, 0xff}, {0xff, 0x7b, 0xb1, 0xff}, {0xd5, 0xc3, 0x05, 0xff},
	{0x01, 0xd5, 0xfe, 0xff}, {0x6b, 0x15, 0x0a, 0xff}, {0x71, 0x76, 0x70, 0xff}, {0x2a, 0x11, 0xde, 0xff}, {0x51, 0x3b, 0x5b, 0xff},
}

// Color returns the color that series i, from 0, has by default. Ten colors repeat, which
// differ for the color-blind too.
func Color(i int) color.NRGBA { return lineColors[uint(i)%uint(len(lineColors))] }

// scaled returns the level of x between low and high: 0 and 1 are the ends, and 0.5 is all
// of a range of length 0.
func scaled(x, low, high float64) float64 {
	switch {
	case x <= low && x >= high:
		return 0.5
	case x >= high, math.IsInf(x, 1):
		return 1
	case x <= low, math.IsInf(x, -1):
		return 0
	}
	return share(x, low, high)
}

// share returns (x - low) / (high - low), also where a difference exceeds the greatest
// float64.
func share(x, low, high float64) float64 {
	if math.IsInf(high-low, 0) {
		x, low, high = x/2, low/2, high/2
	}
	return (x - low) / (high - low)
}

// finiteRange returns the least and the greatest finite number of all, or NaN.
func finiteRange(all ...[]float64) (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, xs := range all {
		for _, x := range xs {
			if !math.IsInf(x, 0) { // NaN changes neither
				if x < low {
					low = x
				}
				if x > high {
					high = x
				}
			}
		}
	}
	if low > high {
		return math.NaN(), math.NaN()
	}
	return low, high
}
