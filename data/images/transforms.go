package images

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// HorizontalFlip mirrors left and right with probability P.
type HorizontalFlip struct{ P float64 }

func (t HorizontalFlip) check() string { return within("P", t.P, 0, 1) }

func (t HorizontalFlip) apply(p *picture, rng *rand.Rand) error {
	return sometimes(t.P, rng, func() { p.flip(false) })
}

// VerticalFlip mirrors top and bottom with probability P.
type VerticalFlip struct{ P float64 }

func (t VerticalFlip) check() string { return within("P", t.P, 0, 1) }

func (t VerticalFlip) apply(p *picture, rng *rand.Rand) error {
	return sometimes(t.P, rng, func() { p.flip(true) })
}

// Crop cuts out a part of that size at a random place of the image, to which Padding pixels of the
// value Fill were added at each side. A part that is larger than that is an error.
type Crop struct {
	Height, Width, Padding int
	Fill                   float64
}

func (t Crop) check() string {
	return first(size(t.Height, t.Width), within("Padding", float64(t.Padding), 0, maxSide), within("Fill", t.Fill, -math.MaxFloat32, math.MaxFloat32))
}

// fits returns an error if there is no such part of an image.
func (t Crop) fits(_, h, w int) error {
	if t.Height > h+2*t.Padding || t.Width > w+2*t.Padding {
		return fmt.Errorf("a part of %d×%d pixels is larger than the image of %d×%d with its padding", t.Height, t.Width, h, w)
	}
	return nil
}

func (t Crop) apply(p *picture, rng *rand.Rand) error {
	y, x := rng.IntN(p.h+2*t.Padding-t.Height+1), rng.IntN(p.w+2*t.Padding-t.Width+1)
	p.crop(y-t.Padding, x-t.Padding, t.Height, t.Width, float32(t.Fill))
	return nil
}

// ResizedCrop cuts out a random rectangle and resizes it, bilinearly, to one size. Scale is the range of
// its share of the area, 0.08 to 1 if zero; Ratio the range of width over height, 3/4 to 4/3 if zero. On
// workers it is resized with antialiasing; [Batch] has none.
type ResizedCrop struct {
	Height, Width int
	Scale, Ratio  [2]float64
}

func (t ResizedCrop) check() string {
	return first(size(t.Height, t.Width), ordered("Scale", t.Scale, 1), ordered("Ratio", t.Ratio, 1000))
}

func (t ResizedCrop) ranges() (scale, ratio [2]float64) {
	return or(t.Scale, [2]float64{0.08, 1}), or(t.Ratio, [2]float64{3. / 4, 4. / 3})
}

func (t ResizedCrop) apply(p *picture, rng *rand.Rand) error {
	scale, ratio := t.ranges()
	y, x, h, w, ok := box(rng, float64(p.h*p.w), p.h, p.w, scale, ratio)
	if !ok { // the largest part in the middle whose ratio is in range
		h, w = p.h, p.w
		switch r := float64(w) / float64(h); {
		case r < ratio[0]:
			h = max(1, int(math.RoundToEven(float64(w)/ratio[0])))
		case r > ratio[1]:
			w = max(1, int(math.RoundToEven(float64(h)*ratio[1])))
		}
		y, x = (p.h-h)/2, (p.w-w)/2
	}
	p.crop(y, x, h, w, 0)
	p.resize(t.Height, t.Width)
	return nil
}

// Rotation rotates about the center by an angle between -Degrees and Degrees, bilinearly. Pixels that
// come from outside have the value Fill.
type Rotation struct{ Degrees, Fill float64 }

func (t Rotation) check() string {
	return first(within("Degrees", t.Degrees, 0, 180), within("Fill", t.Fill, -math.MaxFloat32, math.MaxFloat32))
}

func (t Rotation) apply(p *picture, rng *rand.Rand) error {
	return Affine{Degrees: t.Degrees, Fill: t.Fill}.apply(p, rng)
}

// Affine rotates by -Degrees to Degrees, shears along the rows by -Shear to Shear degrees, scales by a
// factor in Scale, none if zero, and moves by at most Translate[0] of the width and Translate[1] of the
// height, in whole pixels: all about the center and bilinearly. Pixels that come from outside have the
// value Fill.
type Affine struct {
	Degrees, Shear   float64
	Scale, Translate [2]float64
	Fill             float64
}

func (t Affine) check() string {
	return first(within("Degrees", t.Degrees, 0, 180), within("Shear", t.Shear, 0, 89), ordered("Scale", t.Scale, 1000),
		within("Translate[0]", t.Translate[0], 0, 1), within("Translate[1]", t.Translate[1], 0, 1), within("Fill", t.Fill, -math.MaxFloat32, math.MaxFloat32))
}

func (t Affine) apply(p *picture, rng *rand.Rand) error {
	scale := or(t.Scale, [2]float64{1, 1})
	angle := between(rng, -t.Degrees, t.Degrees)
	dx := math.RoundToEven(between(rng, -1, 1) * t.Translate[0] * float64(p.w))
	dy := math.RoundToEven(between(rng, -1, 1) * t.Translate[1] * float64(p.h))
	p.warp(affine(angle, dx, dy, between(rng, scale[0], scale[1]), between(rng, -t.Shear, t.Shear)), float32(t.Fill))
	return nil
}

// ColorJitter changes brightness, contrast and saturation by factors between max(0, 1-x) and 1+x, and
// the hue by -Hue to Hue of the circle of colors, in a random order, or by [Batch] in this one. Colors are from 0 to 1
// before and after, so it comes before Normalize. Contrast is about the mean gray; a gray image has neither saturation nor hue.
type ColorJitter struct{ Brightness, Contrast, Saturation, Hue float64 }

func (t ColorJitter) check() string {
	return first(within("Brightness", t.Brightness, 0, math.MaxFloat32), within("Contrast", t.Contrast, 0, math.MaxFloat32),
		within("Saturation", t.Saturation, 0, math.MaxFloat32), within("Hue", t.Hue, 0, 0.5))
}

func (t ColorJitter) fits(channels, _, _ int) error { return fitsColors(channels) }

func (t ColorJitter) apply(p *picture, rng *rand.Rand) error {
	factor := func(x float64) float32 { return float32(between(rng, max(0, 1-x), 1+x)) }
	b, c, s, h := factor(t.Brightness), factor(t.Contrast), factor(t.Saturation), float32(between(rng, -t.Hue, t.Hue))
	for _, i := range rng.Perm(4) {
		switch {
		case i == 0 && t.Brightness > 0:
			p.brightness(b)
		case i == 1 && t.Contrast > 0:
			p.contrast(c)
		case i == 2 && t.Saturation > 0:
			p.saturation(s)
		case i == 3 && t.Hue > 0:
			p.hue(h)
		}
	}
	return nil
}

// Grayscale sets the colors to 0.2989 red + 0.587 green + 0.114 blue with probability P.
type Grayscale struct{ P float64 }

func (t Grayscale) check() string { return within("P", t.P, 0, 1) }

func (t Grayscale) fits(channels, _, _ int) error { return fitsColors(channels) }

func (t Grayscale) apply(p *picture, rng *rand.Rand) error {
	return sometimes(t.P, rng, p.grayscale)
}

// Normalize sets x to (x - Mean)/Std of its channel.
type Normalize struct{ Mean, Std []float64 }

func (t Normalize) check() string {
	if len(t.Mean) == 0 || len(t.Mean) != len(t.Std) {
		return fmt.Sprintf("want a Mean and a Std of each channel, not %d and %d", len(t.Mean), len(t.Std))
	}
	for i := range t.Mean {
		if m := first(within("a Mean", t.Mean[i], -math.MaxFloat32, math.MaxFloat32), within("a Std", t.Std[i], math.SmallestNonzeroFloat32, math.MaxFloat32)); m != "" {
			return m
		}
	}
	return ""
}

func (t Normalize) fits(channels, _, _ int) error {
	if channels != len(t.Mean) {
		return fmt.Errorf("the image has %d channels, Mean and Std are of %d", channels, len(t.Mean))
	}
	return nil
}

func (t Normalize) apply(p *picture, _ *rand.Rand) error {
	for c := range p.c {
		plane, mean, std := p.plane(c), float32(t.Mean[c]), float32(t.Std[c])
		for i, v := range plane {
			plane[i] = (v - mean) / std
		}
	}
	return nil
}

// Erasing sets a random rectangle to Value with probability P. Scale is the range of its share of the
// area, 0.02 to 0.33 if zero, and Ratio the range of width over height, 0.3 to 3.3 if zero.
type Erasing struct {
	P            float64
	Scale, Ratio [2]float64
	Value        float64
}

func (t Erasing) check() string {
	return first(within("P", t.P, 0, 1), ordered("Scale", t.Scale, 1), ordered("Ratio", t.Ratio, 1000), within("Value", t.Value, -math.MaxFloat32, math.MaxFloat32))
}

func (t Erasing) ranges() (scale, ratio [2]float64) {
	return or(t.Scale, [2]float64{0.02, 0.33}), or(t.Ratio, [2]float64{0.3, 3.3})
}

func (t Erasing) apply(p *picture, rng *rand.Rand) error {
	if rng.Float64() >= half(t.P) {
		return nil
	}
	scale, ratio := t.ranges()
	y, x, h, w, ok := box(rng, float64(p.h*p.w), p.h, p.w, scale, ratio)
	if !ok {
		return nil
	}
	for c := range p.c {
		for i := range h {
			row := p.plane(c)[(y+i)*p.w+x:][:w]
			copy(row, slices.Repeat([]float32{float32(t.Value)}, w))
		}
	}
	return nil
}
