package image

import (
	"math"

	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Sizes has the operators that change the size of images.
var Sizes = []op.Row{
	op.New("Resize", resize).From(11),
	op.New("Resize", resizeBy(1)).To(10),
	op.New("Upsample", resizeBy(1)),
}

// A resampling says how one axis is resampled. Of each element of the result, weight k times the element
// at at[k] is a part.
type resampling struct {
	mode, transform, nearest string
	cubic                    float64 // a of Keys' kernel
	antialias, exclude       bool

	from, to   int
	scale      float64
	sized      bool    // by sizes, not by scales
	start, end float64 // of the region, as shares, for tf_crop_and_resize
}

// resizeBy makes a Func of the form before version 11, which has scales alone. It takes the nearest element as
// onnxruntime does, since the standard does not say.
func resizeBy(scales int) op.Func {
	return func(c *op.Call) []op.Value {
		x := c.Value(0)
		by := attrFloats(c, "scales")
		if c.Has(scales) {
			by = c.Floats(scales)
		}
		rank := len(x.Dims())
		if c.Attr("height_scale") != nil && rank == 4 { // version 1
			by = []float64{1, 1, c.Float("height_scale", 1), c.Float("width_scale", 1)}
		}
		if len(by) != rank {
			c.Fail("scales are %v, want %d", by, rank)
		}
		t := x.Tensor
		axes, rs := make([]int, rank), make([]resampling, rank)
		for a, scale := range by {
			axes[a], rs[a] = a, resampling{
				mode: c.String("mode", "nearest"), transform: "asymmetric", nearest: "floor", cubic: -0.75,
				from: t.Dim(a), to: scaled(t.Dim(a), scale), scale: scale,
			}
			if scale < 1 {
				rs[a].nearest = "ceil"
			}
		}
		return []op.Value{op.As(x.Elem, resample(c, t, axes, rs))}
	}
}

// scaled is the length of an axis times a scale, rounded down, in float32, as the standard infers shapes: 0.7
// times 10 is 7.
func scaled(n int, scale float64) int { return int(float32(n) * float32(scale)) }

func attrFloats(c *op.Call, name string) (out []float64) {
	if a := c.Attr(name); a != nil {
		for _, f := range a.Floats {
			out = append(out, float64(f))
		}
	}
	return out
}

func resize(c *op.Call) []op.Value {
	x := c.Value(0)
	t := c.Tensor(0)
	rank := t.Rank()
	axes := c.IntsAttr("axes")
	if axes == nil {
		for a := range rank {
			axes = append(axes, a)
		}
	}
	axes = c.Axes(axes, rank)
	rs := make([]resampling, len(axes))
	for i, a := range axes {
		rs[i] = resampling{
			mode: c.String("mode", "nearest"), transform: c.String("coordinate_transformation_mode", "half_pixel"),
			nearest: c.String("nearest_mode", "round_prefer_floor"), cubic: c.Float("cubic_coeff_a", -0.75),
			antialias: c.Bool("antialias", false), exclude: c.Bool("exclude_outside", false), from: t.Dim(a), end: 1,
		}
	}
	setSizes(c, rs)
	if crop := rs != nil && c.String("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize"; crop {
		roi := c.Floats(1)
		if len(roi) != 2*len(axes) {
			c.Fail("roi has %d numbers, want %d", len(roi), 2*len(axes))
		}
		for i := range rs {
			rs[i].start, rs[i].end = roi[i], roi[len(axes)+i]
		}
	}
	out := resample(c, t, axes, rs)
	for i, a := range axes { // elements outside of the image
		if inside := rs[i].inside(a, rank); inside.IsValid() {
			out = tensor.Where(inside, out, c.Float("extrapolation_value", 0))
		}
	}
	return []op.Value{op.As(x.Elem, out)}
}

// setSizes sets lengths and scales by input 2, scales, or input 3, sizes.
func setSizes(c *op.Call, rs []resampling) {
	if c.Has(2) && len(c.In[2].Dims()) == 1 && c.In[2].Dims()[0] > 0 {
		scales := c.Floats(2)
		if len(scales) != len(rs) {
			c.Fail("scales are %v, want %d", scales, len(rs))
		}
		for i := range rs {
			rs[i].scale = scales[i]
			rs[i].to = scaled(rs[i].from, scales[i])
		}
		return
	}
	sizes := c.Ints(3)
	if len(sizes) != len(rs) {
		c.Fail("sizes are %v, want %d", sizes, len(rs))
	}
	policy := c.String("keep_aspect_ratio_policy", "stretch")
	common := math.Inf(1)
	if policy == "not_smaller" {
		common = 0
	}
	for i := range rs {
		rs[i].sized, rs[i].to, rs[i].scale = true, sizes[i], float64(sizes[i])/float64(rs[i].from)
		switch policy {
		case "not_larger":
			common = min(common, rs[i].scale)
		case "not_smaller":
			common = max(common, rs[i].scale)
		case "stretch":
		default:
			c.Fail("there is no keep_aspect_ratio_policy %q", policy)
		}
	}
	if policy != "stretch" {
		for i := range rs {
			rs[i].scale = common
			rs[i].to = int(math.Floor(common*float64(rs[i].from) + 0.5))
		}
	}
}

// source returns where element i of the result lies in the input. It computes in float32, in which 1.5/0.6 is 2.5
// as in decimals, and as onnxruntime does.
func (r resampling) source(c *op.Call, i int) float64 { return float64(r.source32(c, float32(i))) }

func (r resampling) source32(c *op.Call, x float32) float32 {
	from, scale, start, end := float32(r.from), float32(r.scale), float32(r.start), float32(r.end)
	to := scale * from
	if r.sized {
		to = float32(r.to)
	}
	switch r.transform {
	case "asymmetric":
		return x / scale
	case "align_corners":
		if to == 1 {
			return 0
		}
		return x * (from - 1) / (to - 1)
	case "half_pixel":
		return (x+0.5)/scale - 0.5
	case "pytorch_half_pixel":
		if to == 1 {
			return -0.5
		}
		return (x+0.5)/scale - 0.5
	case "tf_half_pixel_for_nn":
		return (x + 0.5) / scale
	case "half_pixel_symmetric":
		return from/2*(1-float32(r.to)/to) + (x+0.5)/scale - 0.5
	case "tf_crop_and_resize":
		if to == 1 {
			return (end-start)*(from-1)/2 + start*(from-1)
		}
		return x*(end-start)*(from-1)/(to-1) + start*(from-1)
	}
	c.Fail("there is no coordinate_transformation_mode %q", r.transform)
	return 0
}

// inside returns which elements along an axis of a tensor lie in the input; absent, if all do.
func (r resampling) inside(axis, rank int) T {
	if r.transform != "tf_crop_and_resize" {
		return T{}
	}
	in := make([]bool, r.to)
	for i := range in {
		x := r.source(nil, i)
		in[i] = x >= 0 && x <= float64(r.from-1)
	}
	shape := make([]int, rank)
	for a := range shape {
		shape[a] = 1
	}
	shape[axis] = r.to
	return tensor.New(in, shape...)
}

// taps returns, for element i of the result, the first element of the input that is a part of it, and
// the weights of this and the next.
func (r resampling) taps(c *op.Call, i int) (first int, weights []float64) {
	x := r.source(c, i)
	if r.mode == "nearest" {
		switch r.nearest {
		case "round_prefer_floor":
			return int(math.Ceil(x - 0.5)), []float64{1}
		case "round_prefer_ceil":
			return int(math.Floor(x + 0.5)), []float64{1}
		case "floor":
			return int(math.Floor(x)), []float64{1}
		case "ceil":
			return int(math.Ceil(x)), []float64{1}
		}
		c.Fail("there is no nearest_mode %q", r.nearest)
	}
	kernel, reach := r.kernel(c)
	shrink := 1.0
	if r.antialias {
		shrink = min(r.scale, 1)
	}
	base := int(math.Ceil(x)) - 1 // the left one, also of a whole x
	begin := int(math.Floor(-reach/shrink)) + 1
	sum := 0.0
	for k := begin; k < 2-begin; k++ {
		w := kernel(shrink * (float64(base+k) - x))
		if at := base + k; r.exclude && (at < 0 || at >= r.from) {
			w = 0
		}
		weights, sum = append(weights, w), sum+w
	}
	if r.antialias || r.exclude {
		for k := range weights {
			weights[k] /= sum
		}
	}
	return base + begin, weights
}

// kernel returns the weight of an element by its distance, and the distance from which on it is 0.
func (r resampling) kernel(c *op.Call) (f func(x float64) float64, reach float64) {
	switch r.mode {
	case "linear", "bilinear":
		return func(x float64) float64 { return max(0, 1-math.Abs(x)) }, 1
	case "cubic":
		a := r.cubic
		return func(x float64) float64 {
			x = math.Abs(x)
			switch {
			case x <= 1:
				return ((a+2)*x-(a+3))*x*x + 1
			case x < 2:
				return ((a*x-5*a)*x+8*a)*x - 4*a
			}
			return 0
		}, 2
	}
	c.Fail("there is no mode %q", r.mode)
	return nil, 0
}

// resample resamples axes of x. Integers are floats until all axes are done: the fraction is dropped once.
func resample(c *op.Call, x T, axes []int, rs []resampling) T {
	d := x.DType()
	for i, a := range axes {
		x = rs[i].apply(c, x, a)
	}
	return x.Cast(d)
}

// fewTaps is the most elements of a sum that are read one by one. More are a product with a matrix.
const fewTaps = 4

// apply resamples an axis of x. The result of integers is float32, unless elements are only taken.
func (r resampling) apply(c *op.Call, x T, axis int) T {
	if r.to == r.from && r.scale == 1 && r.start == 0 && (r.end == 1 || r.end == 0) {
		return x
	}
	switch {
	case r.to == 0 && r.scale > 0:
		return x.Slice(axis, 0, 0)
	case r.from == 0 || r.to < 0 || !(r.scale > 0):
		c.Fail("axis %d of length %d by %g", axis, r.from, r.scale)
	}
	most := 0
	c.Count("an axis", r.to)
	firsts, weights := make([]int, r.to), make([][]float64, r.to)
	for i := range firsts {
		firsts[i], weights[i] = r.taps(c, i)
		most = max(most, len(weights[i]))
	}
	clamp := func(at int) int { return min(max(at, 0), r.from-1) }
	at := func(k int) T {
		list := make([]int32, r.to)
		for i := range list {
			list[i] = int32(clamp(firsts[i] + k))
		}
		return tensor.New(list, r.to)
	}
	if r.mode == "nearest" {
		return x.Take(axis, at(0))
	}
	wide := x.DType()
	if !wide.IsFloat() {
		wide = tensor.Float32
	}
	x = x.Cast(wide)
	if most > fewTaps {
		if err := hostmem.Check(r.to*r.from, 16); err != nil { // the matrix, and a tensor's copy
			c.Fail("axis %d from %d to %d elements: %v", axis, r.from, r.to, err)
		}
		m := make([]float64, r.to*r.from)
		for i, ws := range weights {
			for k, w := range ws {
				m[i*r.from+clamp(firsts[i]+k)] += w
			}
		}
		y := x.TensorDot(tensor.New(m, r.to, r.from).Cast(wide), []int{axis}, []int{1}) // the axis comes last
		order := make([]int, 0, x.Rank())
		for a := range x.Rank() {
			switch {
			case a < axis:
				order = append(order, a)
			case a == axis:
				order = append(order, x.Rank()-1)
			default:
				order = append(order, a-1)
			}
		}
		return y.Permute(order...)
	}
	shape := make([]int, x.Rank())
	for a := range shape {
		shape[a] = 1
	}
	shape[axis] = r.to
	var sum T
	for k := range most {
		w := make([]float64, r.to)
		for i := range w {
			w[i] = weights[i][k]
		}
		part := x.Take(axis, at(k)).Mul(tensor.New(w, shape...).Cast(wide))
		if k == 0 {
			sum = part
		} else {
			sum = sum.Add(part)
		}
	}
	return sum
}
