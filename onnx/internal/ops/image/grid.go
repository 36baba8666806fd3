package image

import (
	"math"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Samples has the operators that read images at places.
var Samples = []op.Row{
	op.New("AffineGrid", op.One(affineGrid)),
	op.New("GridSample", op.One(gridSample)),
	op.New("MaxRoiPool", op.One(maxRoiPool)),
	op.New("RoiAlign", op.One(roiAlign)),
}

// affineGrid returns the places, from -1 to 1, that matrices take the places of an image to.
func affineGrid(c *op.Call) T {
	theta, size := c.Tensor(0), c.Ints(1)
	n := len(size) - 2
	if n < 1 || theta.Rank() != 3 || theta.Dim(1) != n || theta.Dim(2) != n+1 {
		c.Fail("theta has shape %v, for an image of %v", theta.Shape(), size)
	}
	size = size[2:]
	d := theta.DType()
	shape := append([]int{1}, size...)
	parts := make([]T, n+1) // x, y, …, 1
	for i, length := range size {
		axis := tensor.Arange(length).Cast(d)
		if c.Bool("align_corners", false) {
			axis = axis.Mul(2).Sub(length - 1).Div(max(length-1, 1)) // one element is in the middle
		} else {
			axis = axis.Mul(2).Add(1).Div(length).Sub(1)
		}
		at := make([]int, n+1)
		for a := range at {
			at[a] = 1
		}
		at[i+1] = length
		parts[n-1-i] = axis.Reshape(at...).Expand(shape...)
	}
	parts[n] = tensor.OnesOf(d, shape...)
	places := tensor.Stack(-1, parts...).Reshape(-1, n+1) // [places n+1]
	return places.MatMul(theta.Transpose(1, 2)).Reshape(append(append([]int{theta.Dim(0)}, size...), n)...)
}

var gridModes = map[string]tensor.Interpolation{"linear": tensor.Linear, "bilinear": tensor.Linear, "nearest": tensor.Nearest}

var gridPaddings = map[string]tensor.PadMode{"zeros": 0, "border": tensor.Replicate, "reflection": tensor.Reflect}

func gridSample(c *op.Call) T {
	x, grid := c.Tensor(0), c.Tensor(1)
	name := c.String("mode", "linear")
	padding, ok := gridPaddings[c.String("padding_mode", "zeros")]
	if !ok {
		c.Fail("there is no padding_mode %q", c.String("padding_mode", ""))
	}
	align := c.Bool("align_corners", false)
	if name == "cubic" || name == "bicubic" {
		return cubicSample(c, x, grid, c.String("padding_mode", "zeros"), align)
	}
	mode, ok := gridModes[name]
	if !ok {
		c.Fail("there is no mode %q", name)
	}
	return x.GridSample(grid, &tensor.GridOptions{Mode: mode, Padding: padding, AlignCorners: align})
}

// cubicSample samples by Keys' kernel of 4 elements an axis, with a of -0.75.
func cubicSample(c *op.Call, x, grid T, padding string, align bool) T {
	if x.Rank() != 4 {
		c.Fail("the input has shape %v: cubic samples are of images", x.Shape())
	}
	batch, height, width := x.Dim(0), x.Dim(2), x.Dim(3)
	axis := func(i, length int) (at, weight [4]T) {
		p := grid.Select(-1, i).Flatten(1).Unsqueeze(1)
		if align {
			p = p.Add(1).Mul(float64(length-1) / 2)
		} else {
			p = p.Add(1).Mul(length).Sub(1).Div(2)
		}
		base := p.Floor()
		part := p.Sub(base)
		for k := range at {
			at[k] = base.Add(k - 1)
			weight[k] = keys(part.Sub(k - 1).Abs())
		}
		return at, weight
	}
	xs, wx := axis(0, width)
	ys, wy := axis(1, height)
	pixels := x.Reshape(batch, x.Dim(1), height*width)
	var sum T
	for i := range ys {
		row, rowInside := element(ys[i], height, padding, align)
		for k := range xs {
			column, columnInside := element(xs[k], width, padding, align)
			at := row.Mul(width).Add(column)
			v := pixels.TakeAlong(2, at.Expand(batch, x.Dim(1), at.Dim(2)))
			v = tensor.Where(rowInside.And(columnInside), v, tensor.ZerosLike(v)).Mul(wy[i].Mul(wx[k]))
			if i+k == 0 {
				sum = v
			} else {
				sum = sum.Add(v)
			}
		}
	}
	return sum.Reshape(batch, x.Dim(1), grid.Dim(1), grid.Dim(2))
}

// keys is Keys' kernel of a distance up to 2.
func keys(d T) T {
	const a = -0.75
	near := d.Mul(a + 2).Sub(a + 3).Mul(d).Mul(d).Add(1)
	far := d.Mul(a).Sub(5 * a).Mul(d).Add(8 * a).Mul(d).Sub(4 * a)
	return tensor.Where(d.Le(1), near, far)
}

// folded moves places beyond the edges into the image, by the padding.
func folded(p T, length int, padding string, align bool) T {
	lo, hi := -0.5, float64(length)-0.5
	if align {
		lo, hi = 0, float64(length-1)
	}
	switch padding {
	case "border":
		return p.Clamp(0, length-1)
	case "reflection":
		if hi == lo {
			return p.Mul(0)
		}
		d := p.Sub(lo).Abs().Rem(2 * (hi - lo))
		return d.Minimum(d.Neg().Add(2 * (hi - lo))).Add(lo)
	}
	return p
}

// element returns the number of an element at a whole place, and whether it is inside of the image.
func element(p T, length int, padding string, align bool) (at, inside T) {
	if padding == "reflection" {
		p = folded(p, length, padding, align)
	}
	if padding == "zeros" {
		inside = p.Ge(0).And(p.Lt(length))
	} else {
		inside = tensor.OnesOf(tensor.Bool, p.Shape()...)
	}
	return p.Trunc().Clamp(0, length-1).Cast(tensor.Int32), inside
}

// maxRoiPool takes the greatest element in each bin of regions, [image x0 y0 x1 y1], whose corners are elements. A bin
// outside of the image is 0.
func maxRoiPool(c *op.Call) T {
	x, rois, bins := c.Tensor(0), c.Tensor(1), c.IntsAttr("pooled_shape")
	if x.Rank() != 4 || rois.Rank() != 2 || rois.Dim(1) != 5 || len(bins) != 2 || min(bins[0], bins[1]) < 1 {
		c.Fail("the input has shape %v, the regions %v, and pooled_shape is %v", x.Shape(), rois.Shape(), bins)
	}
	corners := rois.Mul(c.Float("spatial_scale", 1))
	corners = corners.Abs().Add(0.5).Floor().Copysign(corners)
	// inside returns which elements of an axis are in a bin, [regions bins length].
	inside := func(from, to, bins, length int) T {
		start := corners.Slice(1, from, from+1)
		size := corners.Slice(1, to, to+1).Sub(start).Add(1).Maximum(1).Div(bins)
		bin := tensor.Arange(bins).Cast(x.DType())
		at := tensor.Arange(length).Cast(x.DType())
		first, end := bin.Mul(size).Floor().Add(start), bin.Add(1).Mul(size).Ceil().Add(start)
		return at.Ge(first.Unsqueeze(2)).And(at.Lt(end.Unsqueeze(2)))
	}
	images := x.Take(0, rois.Select(1, 0).Cast(tensor.Int32)).Unsqueeze(3) // [regions channels height 1 width]
	y := tensor.Where(inside(1, 3, bins[1], x.Dim(3)).Unsqueeze(1, 2), images, math.Inf(-1)).Max(4).Squeeze(4).Unsqueeze(2)
	y = tensor.Where(inside(2, 4, bins[0], x.Dim(2)).Unsqueeze(1, 4), y, math.Inf(-1)).Max(3).Squeeze(3)
	return tensor.Where(y.Eq(math.Inf(-1)), 0, y)
}

// roiAlign averages, or takes the greatest of, samples of a grid in each bin of regions.
func roiAlign(c *op.Call) T {
	x, rois, of := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	d := x.DType()
	height, width, n := x.Dim(2), x.Dim(3), rois.Dim(0)
	rows, columns := c.Int("output_height", 1), c.Int("output_width", 1)
	half := c.Opset >= 16 && c.String("coordinate_transformation_mode", "half_pixel") == "half_pixel"
	offset := 0.0
	if half {
		offset = 0.5
	}
	scaled := rois.Mul(c.Float("spatial_scale", 1)).Sub(offset)
	ratio := c.Int("sampling_ratio", 0)
	// axis returns, for each region, bin and sample, two elements and their weights, [n bins·samples].
	axis := func(from, to, bins, length int) (low, high, wLow, wHigh, counted T, samples int) {
		start := scaled.Select(1, from).Unsqueeze(1)
		size := scaled.Select(1, to).Unsqueeze(1).Sub(start)
		if !half {
			size = size.Maximum(1)
		}
		count := tensor.FullOf(d, ratio, n, 1)
		if samples = ratio; ratio <= 0 { // as many as the bin has elements, which differs by region
			count = size.Div(bins).Ceil()
			most := c.Apply(readMost, []op.Value{op.Of(count)})
			samples = max(1, int(most[0].Tensor.Item()))
		}
		k := tensor.Arange(bins * samples).Cast(tensor.Int32)
		sample := k.Rem(samples).Cast(d)
		bin := k.Div(samples).Cast(d)
		step := size.Div(bins)
		p := start.Add(bin.Mul(step)).Add(sample.Add(0.5).Mul(step).Div(count.Maximum(1)))
		counted = sample.Lt(count)
		valid := p.Ge(-1).And(p.Le(length)).And(counted)
		p = p.Maximum(0)
		low = p.Floor().Minimum(length - 1)
		part := tensor.Where(low.Ge(length-1), tensor.ZerosLike(p), p.Sub(low))
		high = low.Add(1).Minimum(length - 1)
		zero := tensor.ZerosLike(p)
		return low, high, tensor.Where(valid, part.Neg().Add(1), zero), tensor.Where(valid, part, zero), counted, samples
	}
	y0, y1, wy0, wy1, inY, sy := axis(1, 3, rows, height)
	x0, x1, wx0, wx1, inX, sx := axis(0, 2, columns, width)
	image := of.Cast(tensor.Int32).Reshape(-1, 1, 1).Mul(x.Dim(1) * height * width)
	plane := tensor.Arange(x.Dim(1)).Cast(tensor.Int32).Mul(height*width).Reshape(1, -1, 1, 1)
	flat := x.Reshape(-1)
	part := func(y, x, wy, wx T) T { // [n channels rows·sy columns·sx]
		at := y.Mul(width).Unsqueeze(2).Add(x.Unsqueeze(1)).Cast(tensor.Int32).Add(image).Unsqueeze(1).Add(plane)
		return flat.Take(0, at).Mul(wy.Unsqueeze(2).Mul(wx.Unsqueeze(1)).Unsqueeze(1))
	}
	parts := []T{part(y0, x0, wy0, wx0), part(y0, x1, wy0, wx1), part(y1, x0, wy1, wx0), part(y1, x1, wy1, wx1)}
	used := inY.Unsqueeze(2).And(inX.Unsqueeze(1)).Unsqueeze(1)
	bins := func(t T) T { return t.Reshape(t.Dim(0), t.Dim(1), rows, sy, columns, sx) }
	switch mode := c.String("mode", "avg"); mode {
	case "avg":
		sum := parts[0].Add(parts[1]).Add(parts[2]).Add(parts[3])
		count := bins(used.Cast(d)).Sum(3, 5).Maximum(1)
		return bins(sum).Sum(3, 5).Div(count).Reshape(n, x.Dim(1), rows, columns)
	case "max":
		most := parts[0].Maximum(parts[1]).Maximum(parts[2]).Maximum(parts[3])
		lowest := tensor.Where(used, most, tensor.FullLike(most, -3.4e38))
		return bins(lowest).Max(3, 5).Reshape(n, x.Dim(1), rows, columns)
	default:
		c.Fail("there is no mode %q", mode)
		return T{}
	}
}

// readMost returns the greatest element of input 0, which is read.
func readMost(c *op.Call) []op.Value {
	most := 0.0
	for _, v := range c.Floats(0) {
		most = max(most, v)
	}
	return []op.Value{op.Of(tensor.Scalar(most))}
}
