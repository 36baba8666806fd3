package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"testing"

	"github.com/tensorken/tensorken/tensor"
)

// visions simulate the lack of a cone by a matrix of linear sRGB, at the severity 1 of Machado,
// Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
// Deficiency", 2009.
var visions = map[string][3][3]float64{
	"normal vision": {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}},
	"protanopia":    {{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}},
	"deuteranopia":  {{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}},
	"tritanopia":    {{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}},
}

func times(m [3][3]float64, x [3]float64) (y [3]float64) {
	for i := range m {
		for j := range x {
			y[i] += m[i][j] * x[j]
		}
	}
	return y
}

// linearRGB undoes the transfer function of sRGB.
func linearRGB(c color.NRGBA) (x [3]float64) {
	for i, sample := range []uint8{c.R, c.G, c.B} {
		v := float64(sample) / 255
		if x[i] = v / 12.92; v > 0.04045 {
			x[i] = math.Pow((v+0.055)/1.055, 2.4)
		}
	}
	return x
}

// lab returns L*, a* and b* of CIELAB, with white at D65.
func lab(rgb [3]float64) [3]float64 {
	for i := range rgb {
		rgb[i] = min(max(rgb[i], 0), 1)
	}
	toXYZ := [3][3]float64{{0.4124564, 0.3575761, 0.1804375}, {0.2126729, 0.7151522, 0.0721750}, {0.0193339, 0.1191920, 0.9503041}}
	xyz, white := times(toXYZ, rgb), times(toXYZ, [3]float64{1, 1, 1})
	var f [3]float64
	for i := range f {
		t := xyz[i] / white[i]
		if f[i] = math.Cbrt(t); t < 216.0/24389 {
			f[i] = (24389.0/27*t + 16) / 116
		}
	}
	return [3]float64{116*f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])}
}

// Any two of the ten colors differ for everyone, and from white paper. A ΔE of 2.3 can just be seen.
func TestLineColors(t *testing.T) {
	if n := len(lineColors); n < 10 {
		t.Fatalf("there are %d colors, want 10", n)
	}
	for _, i := range []int{-1, math.MinInt, math.MaxInt} {
		Color(i) // is of any series
	}
	for name, vision := range visions {
		var labs [][3]float64
		for _, c := range lineColors {
			labs = append(labs, lab(times(vision, linearRGB(c))))
		}
		for i, a := range labs {
			if a[0] > 84 {
				t.Errorf("with %s color %d has a lightness of %.1f, want at most 84", name, i, a[0])
			}
			for j, b := range labs[:i] {
				if d := math.Hypot(math.Hypot(a[0]-b[0], a[1]-b[1]), a[2]-b[2]); d < 22 {
					t.Errorf("with %s the colors %d and %d have a ΔE of %.1f, want 22", name, i, j, d)
				}
			}
		}
	}
}

// A hundred series of points differ in color or mark, thirty lines in color or stroke, and fifty of both by
// letter in a terminal without colors.
func TestSeriesDiffer(t *testing.T) {
	seen := map[string]int{}
	differ := func(i int, kind, looks string) {
		if j, ok := seen[kind+looks]; ok {
			t.Errorf("%s of series %d and %d are both %s", kind, j, i, looks)
		}
		seen[kind+looks] = i
	}
	y := tensor.Zeros(100, 2)
	for _, f := range []*Figure{Lines(Series{Y: y}), Scatter(Series{Y: y}), Lines(Series{Y: y, Dashed: true})} {
		if err := f.Print(io.Discard); err != nil {
			t.Fatal(err)
		}
		for i, c := range f.content.(*lines).curves {
			if c.points {
				differ(i, "points", fmt.Sprint(c.color, c.mark.tips, c.mark.turn, c.mark.inner))
			} else if i < 30 {
				differ(i, "lines", fmt.Sprint(c.color, drawnCurve{curve: c}.lineStyle().Dashes))
			}
			if i < 50 && !c.dashed {
				differ(i, fmt.Sprint("letters, points ", c.points), string(c.mark.letter))
			}
		}
	}
}

func TestViridis(t *testing.T) {
	lightness := func(c color.NRGBA) float64 { return lab(linearRGB(c))[0] }
	first, last := lightness(mapped(0)), lightness(mapped(1))
	for i := range 101 {
		level := float64(i) / 100
		if got, want := lightness(mapped(level)), first+(last-first)*level; math.Abs(got-want) > 2.5 {
			t.Errorf("the lightness of level %v is %.1f, want %.1f", level, got, want)
		}
	}
	if mapped(-1) != mapped(0) || mapped(2) != mapped(1) || mapped(math.NaN()) != nanColor {
		t.Error("levels outside of 0 to 1, or NaN, have other colors")
	}
}
