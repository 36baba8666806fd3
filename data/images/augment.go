package images

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Transform changes images at random: one of HorizontalFlip, VerticalFlip, Crop, ResizedCrop,
// Rotation, Affine, ColorJitter, Grayscale, Erasing, and Normalize, which is not random. Names, settings
// and formulas are as in torchvision.transforms.v2. Channels are 1 (gray), 3 (colors) or 4 (with alpha,
// whose colors alone ColorJitter and Grayscale change), and a P is a probability; 0 is 0.5.
type Transform interface {
	// check returns the mistake in the settings, or "".
	check() string
	// apply changes one image on the host.
	apply(p *picture, rng *rand.Rand) error
	// batch changes images [n c h w], each by draws of its own.
	batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor
}

// Augment returns a function for [data.Loader].Augment that changes the images of examples by
// transforms, one after the other, on the loader's workers. It panics with a *tensor.Error for settings
// that are NaN, infinite or out of range.
//
//	l := data.Loader[images.Example]{Set: set, Batch: 64, Shuffle: true, Workers: 4, Augment: images.Augment(
//		images.ResizedCrop{Height: 224, Width: 224},
//		images.HorizontalFlip{},
//		images.ColorJitter{Brightness: 0.4, Contrast: 0.4, Saturation: 0.4, Hue: 0.1},
//		images.Normalize{Mean: []float64{0.485, 0.456, 0.406}, Std: []float64{0.229, 0.224, 0.225}},
//	)}
func Augment(transforms ...Transform) func(e Example, rng *rand.Rand) (Example, error) {
	checkAll("Augment", transforms)
	return func(e Example, rng *rand.Rand) (Example, error) {
		if rng == nil {
			misuse("Augment", "rng is nil")
		}
		x, err := apply(e.X, rng, transforms)
		if err != nil {
			return e, fmt.Errorf("%q: %w", e.Path, err)
		}
		e.X = x
		return e, nil
	}
}

// Apply changes one image, float32 [channels height width] from 0 to 1, on the host: for examples of
// other types, and to look at the effect of transforms.
func Apply(x tensor.Tensor, rng *rand.Rand, transforms ...Transform) (tensor.Tensor, error) {
	checkAll("Apply", transforms)
	if rng == nil {
		misuse("Apply", "rng is nil")
	}
	return apply(x, rng, transforms)
}

func apply(x tensor.Tensor, rng *rand.Rand, transforms []Transform) (tensor.Tensor, error) {
	p, err := open(x)
	if err != nil {
		return x, err
	}
	for _, t := range transforms {
		err := checkFit(t, p.c, p.h, p.w)
		if err == nil {
			err = t.apply(p, rng)
		}
		if err != nil {
			return x, fmt.Errorf("images.%s: %w", name(t), err)
		}
	}
	return tensor.New(p.data, p.c, p.h, p.w), nil
}

// checkFit returns an error if a transform does not fit images of these lengths.
func checkFit(t Transform, channels, height, width int) error {
	if f, ok := t.(interface {
		fits(channels, height, width int) error
	}); ok {
		return f.fits(channels, height, width)
	}
	return nil
}

// fitsColors returns an error if an image has more channels than colors and alpha, as with its channels last.
func fitsColors(channels int) error {
	if channels < 1 || channels > 4 {
		return fmt.Errorf("the image has %d channels: want 1 (gray), 3 (colors) or 4 (with alpha), before height and width", channels)
	}
	return nil
}

func checkAll(op string, transforms []Transform) {
	for i, t := range transforms {
		if t == nil {
			misuse(op, fmt.Sprintf("transform %d is nil", i))
		}
		if wrong := t.check(); wrong != "" {
			misuse(op, name(t)+": "+wrong)
		}
	}
}

// name returns the name of a transform's type.
func name(t Transform) string {
	s := fmt.Sprintf("%T", t)
	return s[len("images."):]
}

func misuse(op, reason string) { tensor.Internal.Misuse(graph.Token{}, "images."+op, reason) }

// within returns a message if a setting is not from lo to hi.
func within(name string, x, lo, hi float64) string {
	if x >= lo && x <= hi && !math.IsInf(x, 0) {
		return ""
	}
	if math.IsInf(hi, 1) {
		return fmt.Sprintf("%s is %v, want a finite number of at least %v", name, x, lo)
	}
	return fmt.Sprintf("%s is %v, want %v to %v", name, x, lo, hi)
}

// ordered returns a message if a range, unless it is zero, is not within lo and hi, ends above 0 and in
// order.
func ordered(name string, r [2]float64, hi float64) string {
	if r == [2]float64{} || r[0] > 0 && r[0] <= r[1] && r[1] <= hi && !math.IsInf(r[1], 0) {
		return ""
	}
	return fmt.Sprintf("%s is %v, want two numbers in order, above 0 and at most %v", name, r, hi)
}

// size returns a message if a size has no pixels, or too many for an image.
func size(height, width int) string {
	if height >= 1 && width >= 1 && height <= maxSide && width <= maxSide {
		return ""
	}
	return fmt.Sprintf("Height and Width are %d and %d, want 1 to %d", height, width, maxSide)
}

// maxSide bounds sides of images.
const maxSide = 1 << 16

// first returns the first message.
func first(messages ...string) string {
	for _, m := range messages {
		if m != "" {
			return m
		}
	}
	return ""
}

// or returns a range, or another where it is zero.
func or(r, other [2]float64) [2]float64 {
	if r == [2]float64{} {
		return other
	}
	return r
}

// half returns a probability, 0.5 where it is 0.
func half(p float64) float64 {
	if p == 0 {
		return 0.5
	}
	return p
}

// sometimes calls f with probability p, 0.5 if zero.
func sometimes(p float64, rng *rand.Rand, f func()) error {
	if rng.Float64() < half(p) {
		f()
	}
	return nil
}

func between(rng *rand.Rand, lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }

// box draws a rectangle of a share of an image's area, as torchvision does: up to ten times, until
// it is no larger than h and w.
func box(rng *rand.Rand, area float64, h, w int, scale, ratio [2]float64) (y, x, height, width int, ok bool) {
	for range 10 {
		target := area * between(rng, scale[0], scale[1])
		aspect := math.Exp(between(rng, math.Log(ratio[0]), math.Log(ratio[1])))
		width, height = int(math.RoundToEven(math.Sqrt(target*aspect))), int(math.RoundToEven(math.Sqrt(target/aspect)))
		if width >= 1 && height >= 1 && width <= w && height <= h {
			return rng.IntN(h - height + 1), rng.IntN(w - width + 1), height, width, true
		}
	}
	return 0, 0, 0, 0, false
}
