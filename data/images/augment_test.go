package images

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tensorken/tensorken/data"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func noise(lengths ...int) tensor.Tensor { return tensor.NewRNG(3).Uniform(lengths...) }

// picture returns a copy of image i of a batch.
func pictureOf(t *testing.T, x tensor.Tensor, i int) *picture {
	t.Helper()
	p, err := open(x.At(i))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func alike(t *testing.T, what string, p *picture, want tensor.Tensor) {
	t.Helper()
	got := tensor.New(p.data, p.c, p.h, p.w)
	if fmt.Sprint(got.Shape()) != fmt.Sprint(want.Shape()) {
		t.Errorf("%s has shape %v, want %v", what, got.Shape(), want.Shape())
	} else if worst := got.Sub(want).Abs().Max().Item(); !(worst < 2e-5) {
		t.Errorf("%s differs by %v", what, worst)
	}
}

// TestColors compares the formulas with values worked out by hand from torchvision's definitions.
func TestColors(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    func(p *picture)
		want [2][3]float32 // of the pixels (0.8 0.4 0.2) and (0 0.5 1)
	}{
		{"brightness 1.5", func(p *picture) { p.brightness(1.5) }, [2][3]float32{{1, .6, .3}, {0, .75, 1}}},
		// The grays are 0.49672 and 0.4075, their mean is 0.45211.
		{"contrast 0.5", func(p *picture) { p.contrast(.5) }, [2][3]float32{{.626055, .426055, .326055}, {.226055, .476055, .726055}}},
		{"saturation 0", func(p *picture) { p.saturation(0) }, [2][3]float32{{.49672, .49672, .49672}, {.4075, .4075, .4075}}},
		{"saturation 2", func(p *picture) { p.saturation(2) }, [2][3]float32{{1, .30328, 0}, {0, .5925, 1}}},
		{"grayscale", func(p *picture) { p.grayscale() }, [2][3]float32{{.49672, .49672, .49672}, {.4075, .4075, .4075}}},
		{"hue 1/3", func(p *picture) { p.hue(1. / 3) }, [2][3]float32{{.2, .8, .4}, {1, 0, .5}}},
		{"hue -1/3", func(p *picture) { p.hue(-1. / 3) }, [2][3]float32{{.4, .2, .8}, {.5, 1, 0}}},
		{"hue 1/2", func(p *picture) { p.hue(.5) }, [2][3]float32{{.2, .6, .8}, {1, .5, 0}}},
	} {
		p := &picture{[]float32{.8, 0, .4, .5, .2, 1, .3, .7}, 4, 1, 2} // with alpha
		tt.f(p)
		for i, pixel := range tt.want {
			for c, want := range pixel {
				if got := p.plane(c)[i]; !(math.Abs(float64(got-want)) < 1e-5) {
					t.Errorf("%s: channel %d of pixel %d is %v, want %v", tt.name, c, i, got, want)
				}
			}
		}
		if p.data[6] != .3 || p.data[7] != .7 {
			t.Errorf("%s: alpha is %v", tt.name, p.data[6:])
		}
	}
}

// TestHostAndDevice compares the transforms on workers with the operations on tensors, for the same
// draws.
func TestHostAndDevice(t *testing.T) {
	x := noise(2, 3, 7, 10)
	one := func(v float64) tensor.Tensor { return tensor.Full(v, 2, 1, 1, 1) }
	for _, m := range [][5]float64{{0, 0, 0, 1, 0}, {30, 0, 0, 1, 0}, {-75, 2, -1, 1.3, 0}, {10, 0, 3, 0.7, 25}, {180, 0, 0, 1, 0}, {0, 1, 0, 1, -40}} {
		for _, fill := range []float64{0, 0.5} {
			got := warp(x, one(m[0]*math.Pi/180), one(m[1]), one(m[2]), one(m[3]), one(math.Tan(m[4]*math.Pi/180)), fill)
			p := pictureOf(t, x, 1)
			p.warp(affine(m[0], m[1], m[2], m[3], m[4]), float32(fill))
			alike(t, fmt.Sprintf("affine %v, fill %v", m, fill), p, got.At(1))
		}
	}
	for _, turn := range []float64{-.5, -.2, .1, .5} {
		p := pictureOf(t, x, 0)
		p.hue(float32(turn))
		alike(t, fmt.Sprintf("hue %v", turn), p, turnHue(x, one(turn)).At(0))
	}
	for _, f := range []float64{0, .7, 1.9} {
		for name, c := range map[string]struct {
			host  func(p *picture)
			other tensor.Tensor
		}{
			"brightness": {func(p *picture) { p.brightness(float32(f)) }, x.Mul(0)},
			"contrast":   {func(p *picture) { p.contrast(float32(f)) }, grays(x).Mean(1, 2, 3)},
			"saturation": {func(p *picture) { p.saturation(float32(f)) }, grays(x)},
		} {
			p := pictureOf(t, x, 1)
			c.host(p)
			alike(t, fmt.Sprintf("%s %v", name, f), p, blend(x, c.other, one(f)).At(1))
		}
	}
	// These have one outcome.
	fixed := []Transform{
		HorizontalFlip{P: 1}, VerticalFlip{P: 1}, Grayscale{P: 1}, Crop{Height: 7, Width: 10}, Crop{Height: 13, Width: 16, Padding: 3, Fill: 2},
		Normalize{Mean: []float64{.1, .2, .3}, Std: []float64{1, 2, 3}}, Rotation{}, Affine{Scale: [2]float64{2, 2}},
		ResizedCrop{Height: 14, Width: 25, Scale: [2]float64{1, 1}, Ratio: [2]float64{10. / 7, 10. / 7}},
	}
	for _, f := range fixed {
		p := pictureOf(t, x, 1)
		if err := f.apply(p, rand.New(rand.NewPCG(1, 1))); err != nil {
			t.Fatal(err)
		}
		alike(t, fmt.Sprintf("%T%+v", f, f), p, Batch(x, tensor.NewRNG(1), f).At(1))
	}
	if up := pictureOf(t, x, 0); true {
		up.resize(14, 25)
		alike(t, "resize to 14×25", up, x.ResizeBilinear(14, 25).At(0))
		up.crop(2, 3, 5, 20, 0)
		alike(t, "crop", up, x.ResizeBilinear(14, 25).At(0).Slice(1, 2, 7).Slice(2, 3, 23))
	}
	down := &picture{[]float32{0, 1, 2, 3, 4, 5, 6, 7}, 1, 1, 8}
	down.resize(1, 4) // a triangle of two elements to each side: weights 1, 3, 3, 1
	alike(t, "resize with antialiasing", down, tensor.New([]float32{.7142857, 2.5, 4.5, 6.285714}, 1, 1, 4))
}

// TestRandom checks the ranges and frequencies of draws, on the host and on the device.
func TestRandom(t *testing.T) {
	const n = 400
	x := tensor.Arange(64).Cast(tensor.Float32).Div(64).Reshape(1, 1, 8, 8).Expand(n, 3, 8, 8)
	host := func(f Transform) tensor.Tensor {
		all := make([]tensor.Tensor, n)
		rng := rand.New(rand.NewPCG(1, 2))
		for i := range all {
			var err error
			if all[i], err = Apply(x.At(i), rng, f); err != nil {
				t.Fatal(err)
			}
		}
		return tensor.Stack(0, all...)
	}
	device := func(f Transform) tensor.Tensor { return Batch(x, tensor.NewRNG(5), f) }
	for where, run := range map[string]func(Transform) tensor.Tensor{"host": host, "device": device} {
		share := func(mask tensor.Tensor) float64 { return mask.Cast(tensor.Float32).Mean().Item() }
		if p := share(run(HorizontalFlip{P: 0.2}).Index(tensor.All, 0, 0, 0).Gt(0)); math.Abs(p-0.2) > 0.07 {
			t.Errorf("%s: flips of P 0.2 are %v", where, p)
		}
		if p := share(run(VerticalFlip{}).Index(tensor.All, 0, 0, 0).Gt(0)); math.Abs(p-0.5) > 0.08 {
			t.Errorf("%s: flips of P 0 are %v", where, p)
		}
		// The first pixel of a crop of 5×7 pixels says its row and column.
		corner := run(Crop{Height: 5, Width: 7}).Index(tensor.All, 0, 0, 0).Mul(64)
		rows, columns := corner.Div(8).Floor(), corner.Mod(8)
		for r := range 4 {
			if p := share(rows.Eq(r)); math.Abs(p-0.25) > 0.08 {
				t.Errorf("%s: row %d is the first of %v of the crops", where, r, p)
			}
		}
		if columns.Max().Item() != 1 || columns.Min().Item() != 0 {
			t.Errorf("%s: first columns of crops are %v to %v", where, columns.Min(), columns.Max())
		}
		erased := run(Erasing{P: 1, Value: 2}).Eq(2).Cast(tensor.Float32).Mean(1, 2, 3)
		if lo, hi, mean := erased.Min().Item(), erased.Max().Item(), erased.Mean().Item(); lo < 1./64 || hi > 0.4 || math.Abs(mean-0.17) > 0.03 {
			t.Errorf("%s: shares that are erased are %v to %v, %v on average", where, lo, hi, mean)
		}
		bright := run(ColorJitter{Brightness: 0.25}).Index(tensor.All, 0, 3, 0).Div(24. / 64)
		if lo, hi, mean := bright.Min().Item(), bright.Max().Item(), bright.Mean().Item(); lo < 0.75 || hi > 1.25 || math.Abs(mean-1) > 0.04 || hi-lo < 0.45 {
			t.Errorf("%s: factors of brightness are %v to %v, %v on average", where, lo, hi, mean)
		}
		cut := run(ResizedCrop{Height: 4, Width: 4})
		if cut.Min().Item() < 0 || cut.Max().Item() > 63./64 || fmt.Sprint(cut.Shape()) != "[400 3 4 4]" {
			t.Errorf("%s: crops that are resized are %v from %v to %v", where, cut.Shape(), cut.Min(), cut.Max())
		}
	}
}

// TestMix checks that shares of images and targets agree, and the moments of their distribution.
func TestMix(t *testing.T) {
	const classes = 4
	y := tensor.Arange(classes).OneHot(classes).Cast(tensor.Float32)
	x := y.Reshape(classes, classes, 1, 1).Expand(classes, classes, 16, 12) // channel k is the share of class k
	for name, mix := range map[string]func(x, y tensor.Tensor, alpha float64, rng *tensor.RNG) (a, b tensor.Tensor){"MixUp": MixUp, "CutMix": CutMix} {
		for _, alpha := range []float64{1e-60, 0.2, 1, 5} {
			rng := tensor.NewRNG(9)
			for range 3 {
				a, b := mix(x, y, alpha, rng)
				if worst := a.Mean(2, 3).Squeeze(2, 3).Sub(b).Abs().Max().Item(); !(worst < 1e-5) {
					t.Errorf("%s of %v: shares in images and targets differ by %v", name, alpha, worst)
				}
			}
		}
	}
	for _, alpha := range []float64{0.01, 0.2, 1, 5, 1000} {
		draw := grad.Vmap(func(key tensor.Tensor) tensor.Tensor { return beta(tensor.KeyRNG(key), alpha) })
		b := draw(tensor.NewRNG(2).Keys(1000))
		want := 1 / (4 * (2*alpha + 1))
		if mean, v := b.Mean().Item(), b.Var().Item(); !(math.Abs(mean-0.5) < 4*math.Sqrt(want/1000)) || !(math.Abs(v/want-1) < 0.2) {
			t.Errorf("Beta(%v, %[1]v) has mean %v and variance %v, want 0.5 and %v", alpha, mean, v, want)
		}
	}
}

// TestAugmentLoader gives equal images for any number of workers and after resuming, others in the next epoch.
func TestAugmentLoader(t *testing.T) {
	set := data.Of(Example{X: noise(6, 3, 9, 9), Y: tensor.Arange(6)})
	augment := Augment(ResizedCrop{Height: 5, Width: 6}, HorizontalFlip{}, ColorJitter{.4, .4, .4, .1}, Rotation{Degrees: 20}, Erasing{})
	read := func(workers, epoch, next int) (all []string) {
		l := data.Loader[Example]{Set: set, Batch: 2, Shuffle: true, Seed: 3, Workers: workers, Epoch: epoch, Next: next, Augment: augment}
		for b, err := range l.All(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, fmt.Sprint(b.X.Sum(), b.X.Mean(0, 1, 2), b.Y))
		}
		return all
	}
	want := read(0, 0, 0)
	if got := read(3, 0, 0); fmt.Sprint(got) != fmt.Sprint(want) || len(want) != 3 {
		t.Errorf("3 workers give %q, none %q", got, want)
	}
	if got := read(2, 0, 1); fmt.Sprint(got) != fmt.Sprint(want[1:]) {
		t.Errorf("from batch 1 on they are %q, want %q", got, want[1:])
	}
	if got := read(0, 1, 0); got[0] == want[0] {
		t.Error("two epochs are equal")
	}
}

// TestSettings walks all settings of all transforms.
func TestSettings(t *testing.T) {
	bad := []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1}
	var all []Transform
	for _, v := range bad {
		all = append(all, HorizontalFlip{v}, VerticalFlip{v}, Grayscale{v}, Erasing{P: v}, Rotation{Degrees: v}, Affine{Degrees: v}, Affine{Shear: v},
			Affine{Translate: [2]float64{v}}, Affine{Translate: [2]float64{0, v}},
			ColorJitter{Brightness: v}, ColorJitter{Contrast: v}, ColorJitter{Saturation: v}, ColorJitter{Hue: v},
			Normalize{[]float64{0}, []float64{v}})
		for _, r := range [][2]float64{{v, 1}, {0.5, v}, {v, v}} {
			all = append(all, ResizedCrop{Height: 1, Width: 1, Scale: r}, ResizedCrop{Height: 1, Width: 1, Ratio: r}, Affine{Scale: r}, Erasing{Scale: r}, Erasing{Ratio: r})
		}
		if v != -1 {
			all = append(all, Crop{Height: 1, Width: 1, Fill: v}, Rotation{Fill: v}, Affine{Fill: v}, Erasing{Value: v}, Normalize{[]float64{v}, []float64{1}})
		}
	}
	for _, n := range []int{0, -1, math.MaxInt} {
		all = append(all, Crop{Height: n, Width: 1}, Crop{Height: 1, Width: n}, ResizedCrop{Height: n, Width: 1}, ResizedCrop{Height: 1, Width: n})
	}
	all = append(all, HorizontalFlip{1.1}, Rotation{Degrees: 181}, Affine{Shear: 90}, Affine{Translate: [2]float64{1.1}}, ColorJitter{Hue: 0.6},
		Crop{Height: 1, Width: 1, Padding: -1}, Crop{Height: 1, Width: 1, Padding: math.MaxInt}, ResizedCrop{Height: 1, Width: 1, Scale: [2]float64{0.5, 1.5}},
		ResizedCrop{Height: 1, Width: 1, Scale: [2]float64{0.5, 0.2}}, Erasing{Scale: [2]float64{0, 1}}, Normalize{}, Normalize{[]float64{0}, []float64{0}},
		Normalize{[]float64{0, 0}, []float64{1}}, nil)
	for _, f := range all {
		for where, call := range map[string]func(){
			"Augment": func() { Augment(f) },
			"Apply":   func() { Apply(noise(3, 4, 4), rand.New(rand.NewPCG(1, 1)), f) },
			"Batch":   func() { Batch(noise(1, 3, 4, 4), tensor.NewRNG(1), f) },
		} {
			if err := tensor.Try(call); err == nil || !strings.Contains(err.Error(), "augment_test.go:") || !strings.Contains(err.Error(), "images."+where) {
				t.Errorf("%s(%T%+v) panics with %v", where, f, f, err)
			}
		}
	}
	one := tensor.Ones(1, 1)
	for name, call := range map[string]func(){
		"MixUp alpha 0":          func() { MixUp(one, one, 0, tensor.NewRNG(1)) },
		"MixUp alpha NaN":        func() { MixUp(one, one, math.NaN(), tensor.NewRNG(1)) },
		"MixUp alpha Inf":        func() { MixUp(one, one, math.Inf(1), tensor.NewRNG(1)) },
		"MixUp rng":              func() { MixUp(one, one, 1, nil) },
		"MixUp labels":           func() { MixUp(one, tensor.New([]int32{1}), 1, tensor.NewRNG(1)) },
		"CutMix rank":            func() { CutMix(one, one, 1, tensor.NewRNG(1)) },
		"CutMix alpha":           func() { CutMix(one, one, -1, tensor.NewRNG(1)) },
		"Batch rng":              func() { Batch(noise(1, 3, 4, 4), nil) },
		"Batch rank":             func() { Batch(one, tensor.NewRNG(1)) },
		"Batch large crop":       func() { Batch(noise(1, 3, 4, 4), tensor.NewRNG(1), Crop{Height: 5, Width: 4}) },
		"Batch of channels last": func() { Batch(noise(1, 32, 32, 3), tensor.NewRNG(1), ColorJitter{Hue: 0.1}) },
		"Batch of channels":      func() { Batch(noise(1, 1, 4, 4), tensor.NewRNG(1), Normalize{[]float64{0, 0}, []float64{1, 1}}) },
		"Apply rng":              func() { Apply(noise(3, 4, 4), nil) },
	} {
		if err := tensor.Try(call); err == nil || !strings.Contains(err.Error(), "augment_test.go:") {
			t.Errorf("%s panics with %v", name, err)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	for _, tt := range []struct {
		x    tensor.Tensor
		f    Transform
		want string
	}{
		{noise(3, 4, 4), Crop{Height: 5, Width: 4}, "images.Crop: a part of 5×4 pixels is larger than the image of 4×4 with its padding"},
		{noise(3, 4, 4), Normalize{[]float64{0}, []float64{1}}, "images.Normalize: the image has 3 channels, Mean and Std are of 1"},
		{noise(32, 32, 3), ColorJitter{Hue: 0.1}, "images.ColorJitter: the image has 32 channels: want 1 (gray), 3 (colors) or 4 (with alpha), before height and width"},
		{noise(8, 4, 4), Grayscale{}, "images.Grayscale: the image has 8 channels: want 1 (gray), 3 (colors) or 4 (with alpha), before height and width"},
		{noise(4, 4), HorizontalFlip{}, "images: want float32 [channels height width] with pixels, not float32 [4 4]"},
		{tensor.Tensor{}, HorizontalFlip{}, "images: want float32 [channels height width] with pixels, not an absent tensor"},
	} {
		if _, err := Apply(tt.x, rng, tt.f); err == nil || err.Error() != tt.want {
			t.Errorf("Apply of %T%+v gives error %v, want %s", tt.f, tt.f, err, tt.want)
		}
	}
	e := Example{X: noise(3, 4, 4), Path: "a\x1b.png"}
	if _, err := Augment(Crop{Height: 5, Width: 4})(e, rng); err == nil || !strings.HasPrefix(err.Error(), `"a\x1b.png": images.Crop: `) {
		t.Errorf("Augment gives error %v", err)
	}
}

func BenchmarkAugment(b *testing.B) {
	x := noise(3, 256, 320)
	if err := tensor.Eval(x); err != nil {
		b.Fatal(err)
	}
	augment := Augment(ResizedCrop{Height: 224, Width: 224}, HorizontalFlip{}, ColorJitter{.4, .4, .4, .1},
		Normalize{[]float64{0.485, 0.456, 0.406}, []float64{0.229, 0.224, 0.225}})
	rng := rand.New(rand.NewPCG(1, 1))
	for b.Loop() {
		if _, err := augment(Example{X: x}, rng); err != nil {
			b.Fatal(err)
		}
	}
}
