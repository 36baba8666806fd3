package images

import (
	"fmt"
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// Batch changes a batch of images, float32 [n channels height width], by transforms, one after the other,
// each image by draws of its own. It is made of operations on tensors, so it runs on the device of x, in
// the plan of a training step; there is no antialiasing. It draws from rng, so images differ from the
// loader's workers'. It panics with a *tensor.Error for settings as [Augment] does, and for shapes.
func Batch(x tensor.Tensor, rng *tensor.RNG, transforms ...Transform) tensor.Tensor {
	checkAll("Batch", transforms)
	if rng == nil {
		misuse("Batch", "rng is nil")
	}
	if !x.IsValid() || x.Rank() != 4 || !x.DType().IsFloat() {
		misuse("Batch", "want floats [n channels height width]")
	}
	for _, t := range transforms {
		if err := checkFit(t, x.Dim(1), x.Dim(2), x.Dim(3)); err != nil {
			misuse("Batch", name(t)+": "+err.Error())
		}
		x = t.batch(x, rng).Cast(x.DType())
	}
	return x
}

// uniform returns a number for each image, [n 1 1 1], from lo to hi.
func uniform(x tensor.Tensor, rng *tensor.RNG, lo, hi float64) tensor.Tensor {
	return rng.Uniform(x.Dim(0), 1, 1, 1).Mul(hi - lo).Add(lo)
}

// index returns a whole number for each image, [n 1 1 1], as floats: from 0 to most.
func index(x tensor.Tensor, rng *tensor.RNG, most tensor.Operand) tensor.Tensor {
	ends := tensor.ZerosOf(tensor.Float32, x.Dim(0), 1, 1, 1).Add(most)
	return uniform(x, rng, 0, 1).Mul(ends.Add(1)).Floor().Minimum(ends)
}

// chance reports for each image whether a change happens, [n 1 1 1].
func chance(x tensor.Tensor, rng *tensor.RNG, p float64) tensor.Tensor {
	return uniform(x, rng, 0, 1).Lt(half(p))
}

func (t HorizontalFlip) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return tensor.Where(chance(x, rng, t.P), x.Flip(3), x)
}

func (t VerticalFlip) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return tensor.Where(chance(x, rng, t.P), x.Flip(2), x)
}

func (t Crop) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	h, w := x.Dim(2)+2*t.Padding, x.Dim(3)+2*t.Padding
	x = x.Sub(t.Fill).Pad(2, t.Padding, t.Padding).Pad(3, t.Padding, t.Padding).Add(t.Fill)
	n, c := x.Dim(0), x.Dim(1)
	rows := tensor.Arange(t.Height).Reshape(1, 1, t.Height, 1).Add(index(x, rng, h-t.Height).Cast(tensor.Int32))
	columns := tensor.Arange(t.Width).Reshape(1, 1, 1, t.Width).Add(index(x, rng, w-t.Width).Cast(tensor.Int32))
	return x.TakeAlong(2, rows.Expand(n, c, t.Height, w)).TakeAlong(3, columns.Expand(n, c, t.Height, t.Width))
}

func (t ResizedCrop) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	scale, ratio := t.ranges()
	h, w := rectangle(x, rng, scale, ratio)
	top := index(x, rng, tensor.Scalar(float64(x.Dim(2))).Sub(h))
	left := index(x, rng, tensor.Scalar(float64(x.Dim(3))).Sub(w))
	// Centers of pixels of the result, from 0 to 1 in the rectangle, then in pixels of the image.
	fy := top.Add(h.Mul(centers(t.Height).Reshape(1, 1, t.Height, 1)))
	fx := left.Add(w.Mul(centers(t.Width).Reshape(1, 1, 1, t.Width)))
	// A sample of the rectangle's edge takes no pixel from outside it, as in a part that is cut out.
	fy = fy.Clamp(top.Add(0.5), top.Add(h).Sub(0.5))
	fx = fx.Clamp(left.Add(0.5), left.Add(w).Sub(0.5))
	return sample(x, fx, fy, t.Height, t.Width, 0)
}

func centers(n int) tensor.Tensor {
	return tensor.Arange(n).Cast(tensor.Float32).Add(0.5).Div(float64(n))
}

// rectangle draws whole heights and widths, of a share of the area and no larger than the images.
func rectangle(x tensor.Tensor, rng *tensor.RNG, scale, ratio [2]float64) (h, w tensor.Tensor) {
	area := uniform(x, rng, scale[0], scale[1]).Mul(float64(x.Dim(2) * x.Dim(3)))
	aspect := uniform(x, rng, math.Log(ratio[0]), math.Log(ratio[1])).Exp()
	h = area.Div(aspect).Sqrt().Round().Clamp(1, float64(x.Dim(2)))
	w = area.Mul(aspect).Sqrt().Round().Clamp(1, float64(x.Dim(3)))
	return h, w
}

// sample returns the values of images at places fx, fy in pixels, [n 1 h w] after broadcasting, whose
// first pixel is from 0 to 1. Places outside of an image get the value fill.
func sample(x, fx, fy tensor.Tensor, h, w int, fill float64) tensor.Tensor {
	d := x.DType()
	x = x.Cast(tensor.Float32)
	n := x.Dim(0)
	gx := fx.Mul(2/float64(x.Dim(3))).Sub(1).Expand(n, 1, h, w)
	gy := fy.Mul(2/float64(x.Dim(2))).Sub(1).Expand(n, 1, h, w)
	grid := tensor.Stack(4, gx, gy).Squeeze(1)
	return x.Sub(fill).GridSample(grid, nil).Add(fill).Cast(d)
}

func (t Rotation) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return Affine{Degrees: t.Degrees, Fill: t.Fill}.batch(x, rng)
}

func (t Affine) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	scale := or(t.Scale, [2]float64{1, 1})
	w, h := float64(x.Dim(3)), float64(x.Dim(2))
	rot := uniform(x, rng, -t.Degrees, t.Degrees).Mul(math.Pi / 180)
	dx := uniform(x, rng, -1, 1).Mul(t.Translate[0] * w).Round()
	dy := uniform(x, rng, -1, 1).Mul(t.Translate[1] * h).Round()
	factor := uniform(x, rng, scale[0], scale[1])
	tan := uniform(x, rng, -t.Shear, t.Shear).Mul(math.Pi / 180).Tan()
	return warp(x, rot, dx, dy, factor, tan, t.Fill)
}

// warp is picture.warp of the matrices of affine; rot is in radians, and tan the tangent of the shear.
func warp(x, rot, dx, dy, factor, tan tensor.Tensor, fill float64) tensor.Tensor {
	h, w := x.Dim(2), x.Dim(3)
	sin, cos := rot.Sin(), rot.Cos()
	px := centers(w).Sub(0.5).Mul(float64(w)).Reshape(1, 1, 1, w).Sub(dx)
	py := centers(h).Sub(0.5).Mul(float64(h)).Reshape(1, 1, h, 1).Sub(dy)
	fx := px.Mul(cos.Sub(sin.Mul(tan))).Add(py.Mul(cos.Mul(tan).Add(sin))).Div(factor).Add(float64(w) / 2)
	fy := py.Mul(cos).Sub(px.Mul(sin)).Div(factor).Add(float64(h) / 2)
	return sample(x, fx, fy, h, w, fill)
}

// split returns the colors of images and the other channels, absent without any.
func split(x tensor.Tensor) (color, rest tensor.Tensor) {
	if n := colors(x.Dim(1)); n < x.Dim(1) {
		return x.Slice(1, 0, n), x.Slice(1, n, x.Dim(1))
	}
	return x, rest
}

func merge(color, rest tensor.Tensor) tensor.Tensor {
	if rest.IsValid() {
		return tensor.Cat(1, color, rest)
	}
	return color
}

// grays returns the gray of colors, [n 1 h w].
func grays(x tensor.Tensor) tensor.Tensor {
	if x.Dim(1) < 3 {
		return x
	}
	return x.Mul(tensor.New([]float32{redWeight, greenWeight, blueWeight}, 1, 3, 1, 1).Cast(x.DType())).Sum(1)
}

func blend(x, other, factor tensor.Tensor) tensor.Tensor {
	factor = factor.Cast(x.DType())
	return x.Mul(factor).Add(other.Mul(tensor.Scalar(1).Sub(factor))).Clamp(0, 1)
}

func (t ColorJitter) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	color, rest := split(x)
	factor := func(s float64) tensor.Tensor { return uniform(x, rng, max(0, 1-s), 1+s) }
	if t.Brightness > 0 {
		color = blend(color, color.Mul(0), factor(t.Brightness))
	}
	if t.Contrast > 0 {
		color = blend(color, grays(color).Mean(1, 2, 3), factor(t.Contrast))
	}
	if t.Saturation > 0 && color.Dim(1) == 3 {
		color = blend(color, grays(color), factor(t.Saturation))
	}
	if t.Hue > 0 && color.Dim(1) == 3 {
		color = turnHue(color, uniform(x, rng, -t.Hue, t.Hue))
	}
	return merge(color, rest)
}

// turnHue turns the hues of colors [n 3 h w], by parts of the circle.
func turnHue(x, turn tensor.Tensor) tensor.Tensor {
	rgb := x.Split(1, 1, 1, 1)
	r, g, b := rgb[0], rgb[1], rgb[2]
	v := x.Max(1)
	span := v.Sub(x.Min(1))
	gray := span.Eq(0)
	divisor := tensor.Where(gray, 1, span)
	h := tensor.Where(v.Eq(r), g.Sub(b).Div(divisor),
		tensor.Where(v.Eq(g), b.Sub(r).Div(divisor).Add(2), r.Sub(g).Div(divisor).Add(4)))
	h = h.Div(6).Add(turn.Cast(x.DType()))
	// Of a color with hue h, channel k is v - span·clamp(min(m, 4-m), 0, 1) with m = k + 6h mod 6, k = 5, 3, 1.
	out := make([]tensor.Tensor, 3)
	for i, k := range []float64{5, 3, 1} {
		m := h.Sub(h.Floor()).Mul(6).Add(k)
		m = tensor.Where(m.Ge(6), m.Sub(6), m)
		out[i] = v.Sub(span.Mul(m.Minimum(m.Neg().Add(4)).Clamp(0, 1)))
	}
	return tensor.Cat(1, out...)
}

func (t Grayscale) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	color, rest := split(x)
	return merge(tensor.Where(chance(x, rng, t.P), grays(color), color), rest)
}

func (t Normalize) batch(x tensor.Tensor, _ *tensor.RNG) tensor.Tensor {
	of := func(v []float64) tensor.Tensor { return tensor.New(narrow(v), 1, len(v), 1, 1).Cast(x.DType()) }
	return x.Sub(of(t.Mean)).Div(of(t.Std))
}

func narrow(v []float64) []float32 {
	out := make([]float32, len(v))
	for i, x := range v {
		out[i] = float32(x)
	}
	return out
}

func (t Erasing) batch(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	scale, ratio := t.ranges()
	h, w := rectangle(x, rng, scale, ratio)
	erased := inside(x, index(x, rng, tensor.Scalar(float64(x.Dim(2))).Sub(h)), h, 2).
		And(inside(x, index(x, rng, tensor.Scalar(float64(x.Dim(3))).Sub(w)), w, 3)).And(chance(x, rng, t.P))
	return tensor.Where(erased, t.Value, x)
}

// inside reports for each position of an axis whether it is one of n from start on.
func inside(x, start, n tensor.Tensor, axis int) tensor.Tensor {
	shape := []int{1, 1, 1, 1}
	shape[axis] = x.Dim(axis)
	at := tensor.Arange(x.Dim(axis)).Cast(tensor.Float32).Reshape(shape...)
	return at.Ge(start).And(at.Lt(start.Add(n)))
}

// MixUp blends each image with another of its batch: x·λ + x'·(1-λ), and its target y alike, with one λ
// of Beta(alpha, alpha) for the batch. x is [n …], y [n classes] of probabilities, such as the
// OneHot of labels for nn.SoftCrossEntropy; images are paired with those before them. It is
// mixup (Zhang and others, 2018, https://arxiv.org/abs/1710.09412) on the device of x, in a training step.
func MixUp(x, y tensor.Tensor, alpha float64, rng *tensor.RNG) (tensor.Tensor, tensor.Tensor) {
	checkMix("MixUp", x, y, alpha, rng)
	lambda := beta(rng, alpha)
	mix := func(t tensor.Tensor) tensor.Tensor { return t.Roll(0, 1).Lerp(t, lambda.Cast(t.DType())) }
	return mix(x), mix(y)
}

// CutMix replaces a rectangle of each image, x [n channels height width], by the same rectangle of another
// of its batch, and the target y by shares of the area, in the terms of [MixUp]: CutMix (Yun and others,
// 2019, https://arxiv.org/abs/1905.04899). The rectangle has a share 1-λ of the area and its center
// anywhere, so that a part may be outside.
func CutMix(x, y tensor.Tensor, alpha float64, rng *tensor.RNG) (tensor.Tensor, tensor.Tensor) {
	checkMix("CutMix", x, y, alpha, rng)
	if x.Rank() != 4 {
		misuse("CutMix", fmt.Sprintf("want images [n channels height width], not %v", x.Shape()))
	}
	side := tensor.Scalar(1).Sub(beta(rng, alpha)).Sqrt().Mul(0.5)
	span := func(n int) (from, to tensor.Tensor) {
		center := rng.Uniform().Mul(float64(n)).Floor().Minimum(float64(n - 1))
		reach := side.Mul(float64(n)).Floor()
		return center.Sub(reach).Maximum(0), center.Add(reach).Minimum(float64(n))
	}
	top, bottom := span(x.Dim(2))
	left, right := span(x.Dim(3))
	cut := inside(x, top, bottom.Sub(top), 2).And(inside(x, left, right.Sub(left), 3))
	share := bottom.Sub(top).Mul(right.Sub(left)).Div(float64(x.Dim(2) * x.Dim(3)))
	return tensor.Where(cut, x.Roll(0, 1), x), y.Lerp(y.Roll(0, 1), share.Cast(y.DType()))
}

func checkMix(op string, x, y tensor.Tensor, alpha float64, rng *tensor.RNG) {
	switch {
	case rng == nil:
		misuse(op, "rng is nil")
	case !(alpha > 0) || alpha > 1e6:
		misuse(op, fmt.Sprintf("alpha is %v, want a number above 0 and at most 1e6", alpha))
	case !x.IsValid() || !y.IsValid() || !x.DType().IsFloat() || !y.DType().IsFloat() || x.Rank() < 2 || y.Rank() != 2 || x.Dim(0) != y.Dim(0):
		misuse(op, "want floats x [n …] and y [n classes]")
	}
}

// beta returns a number of Beta(alpha, alpha): the share of the first of two gamma variates. Marsaglia and Tsang (2000)
// draw a variate of alpha + 1: it is d·v, where d = alpha + 2/3 and v = (1 + z/√9d)³, for the first accepted one of 16
// draws of z. The variate of alpha is that times u^(1/alpha). Logarithms do not underflow for a small alpha.
func beta(rng *tensor.RNG, alpha float64) tensor.Tensor {
	const draws = 16
	d := alpha + 2./3
	z, u := rng.Normal(2, draws), rng.Uniform(2, draws)
	root := z.Div(math.Sqrt(9 * d)).Add(1)
	logV := root.Maximum(1e-6).Log().Mul(3)
	accepted := root.Gt(0).And(u.Log().Lt(z.Square().Mul(0.5).Add(d).Sub(logV.Exp().Mul(d)).Add(logV.Mul(d))))
	at := accepted.Cast(tensor.Int32).ArgMax(1).Unsqueeze(1)
	power := rng.Uniform(2, 1).Neg().Add(1).Log().Div(max(alpha, 0x1p-100)) // 1-u is above 0, and Inf - Inf NaN
	g := logV.TakeAlong(1, at).Add(power)
	return g.At(0, 0).Sub(g.At(1, 0)).Sigmoid()
}
