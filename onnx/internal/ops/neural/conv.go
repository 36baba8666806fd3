package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Convolutions has the convolutions.
var Convolutions = []op.Row{
	op.New("CausalConvWithState", op.Many(causalConv)),
	op.New("Col2Im", op.One(col2im)),
	op.New("Conv", op.One(conv)),
	op.New("ConvTranspose", op.One(convTranspose)),
	op.New("DeformConv", op.One(deformConv)),
}

func conv(c *op.Call) T {
	return bias(c, 2, Convolve(c, c.Tensor(0), c.Tensor(1)))
}

// Convolve is the convolution of x with kernels k by the attributes of the call.
func Convolve(c *op.Call, x, k T) T {
	if x.Rank() < 3 || k.Rank() != x.Rank() {
		c.Fail("the input has shape %v and the kernel %v, want both of the same number of axes, 3 or more", x.Shape(), k.Shape())
	}
	w := windowsOf(c, x.Shape()[2:], k.Shape()[2:])
	o := &tensor.ConvOptions{Stride: w.stride, Dilation: w.dilation, Groups: c.Int("group", 1)}
	if w.even() {
		o.Padding = w.before
	} else {
		for i := range w.size {
			x = x.Pad(2+i, w.before[i], w.after[i])
		}
	}
	return x.Conv(k, o)
}

// bias adds input i, a number for each channel, if it is given.
func bias(c *op.Call, i int, y T) T {
	if !c.Has(i) {
		return y
	}
	return y.Add(channels(c.Tensor(i), y))
}

// channels shapes a vector so that it has an element for each channel of y, axis 1.
func channels(v, y T) T {
	s := ones(y, 1)
	s[1] = v.Len()
	return v.Reshape(s...)
}

func convTranspose(c *op.Call) T {
	x, k := c.Ranked(0, 3), c.Ranked(1, 3)
	n := x.Rank() - 2
	w := windowsOf(c, x.Shape()[2:], k.Shape()[2:])
	extra, want := c.IntsOr("output_padding", n, 0), c.IntsAttr("output_shape")
	if len(want) > n {
		want = want[len(want)-n:] // batch and channels may come first
	}
	if len(want) != 0 && len(want) != n {
		c.Fail("output_shape is %v, for %d spatial axes", want, n)
	}
	auto := c.String("auto_pad", "NOTSET")
	y := x.ConvTranspose(k, &tensor.ConvOptions{Stride: w.stride, Dilation: w.dilation, Groups: c.Int("group", 1)})
	for i := range n {
		full := y.Dim(2 + i) // without padding
		before, after := w.before[i], w.after[i]-extra[i]
		switch {
		case len(want) > 0:
			before, after = halves(full+extra[i]-want[i], auto != "SAME_UPPER")
			after -= extra[i]
		case auto == "SAME_UPPER" || auto == "SAME_LOWER":
			before, after = halves(full+extra[i]-x.Dim(2+i)*w.stride[i], auto == "SAME_LOWER")
			after -= extra[i]
		}
		y = y.Pad(2+i, max(-before, 0), max(-after, 0))
		y = y.Slice(2+i, max(before, 0), y.Dim(2+i)-max(after, 0))
	}
	return bias(c, 2, y)
}

// col2im adds up blocks, [batch channels·size blocks], in the places of an image.
func col2im(c *op.Call) T {
	x, image, size := c.Tensor(0), c.Ints(1), c.Ints(2)
	n := len(image)
	w := windowsOf(c, image, size)
	counts, elements := make([]int, n), 1
	for i := range n {
		counts[i] = w.count(i, image[i])
		elements *= size[i]
	}
	shape := append([]int{x.Dim(0), x.Dim(1) / elements}, size...)
	y := x.Reshape(append(shape, counts...)...) // [batch channels sizes… counts…]
	for i := range n {
		length := image[i] + w.before[i] + w.after[i]
		y = foldAxis(y, 2+i, 2+n+i, length, w.stride[i], w.dilation[i])
	}
	// Folded axes have become the axes of sizes; the axes of counts have length 1.
	y = y.Reshape(y.Shape()[:2+n]...)
	for i := range n {
		y = y.Slice(2+i, w.before[i], w.before[i]+image[i])
	}
	return y
}

// foldAxis adds up the windows of an axis: element e of window k, at [size] and [count], is at
// k·stride + e·dilation of the result, which has the axis in place of size and length 1 at count.
func foldAxis(x T, size, count, length, stride, dilation int) T {
	at := tensor.Arange(x.Dim(size)).Mul(dilation).Reshape(-1, 1).Add(tensor.Arange(x.Dim(count)).Mul(stride)) // [size count]
	hits := at.Unsqueeze(0).Eq(tensor.Arange(length).Reshape(-1, 1, 1)).Cast(x.DType())                        // [length size count]
	y := x.TensorDot(hits, []int{size, count}, []int{1, 2})                                                    // the length comes last
	order := make([]int, 0, y.Rank()+1)
	from := 0
	for a := range x.Rank() - 1 {
		if a == size {
			order = append(order, y.Rank()-1)
			continue
		}
		order = append(order, from)
		from++
	}
	return y.Permute(order...).Unsqueeze(count)
}

// causalConv is a convolution of each channel with the elements before, some of which come from a state.
func causalConv(c *op.Call) []T {
	x, k := c.Tensor(0), c.Tensor(1)
	size := k.Dim(-1)
	all := x.Pad(-1, size-1, 0)
	if c.Has(3) {
		all = tensor.Cat(-1, c.Tensor(3), x)
	}
	y := all.Conv(k, &tensor.ConvOptions{Groups: x.Dim(1)})
	y = bias(c, 2, y)
	switch a := c.String("activation", "none"); a {
	case "silu", "swish":
		y = y.SiLU()
	case "none", "":
	default:
		c.Fail("there is no activation %q", a)
	}
	return []T{y, all.Slice(-1, all.Dim(-1)-size+1, all.Dim(-1))}
}

// deformConv samples the input at places that are moved by offsets, times a mask.
func deformConv(c *op.Call) T {
	x, k, offset := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	if x.Rank() != 4 || k.Rank() != 4 {
		c.Fail("the input has shape %v and the kernel %v: only images are supported", x.Shape(), k.Shape())
	}
	w := windowsOf(c, x.Shape()[2:], k.Shape()[2:])
	groups, offsets := c.Int("group", 1), c.Int("offset_group", 1)
	if groups < 1 || offsets < 1 {
		c.Fail("group is %d and offset_group %d", groups, offsets)
	}
	batch, height, width := x.Dim(0), x.Dim(2), x.Dim(3)
	kh, kw, oh, ow := w.size[0], w.size[1], w.count(0, height), w.count(1, width)
	d := x.DType()
	// Offsets are [batch, offsets·kh·kw·2, oh, ow]: y, then x.
	off := offset.Reshape(batch, offsets, kh, kw, 2, oh, ow)
	place := func(axis, count int) T { // of elements without offsets, [kh kw oh ow]
		start := tensor.Arange(count).Mul(w.stride[axis]).Sub(w.before[axis]).Cast(d)
		element := tensor.Arange(w.size[axis]).Mul(w.dilation[axis]).Cast(d)
		if axis == 0 {
			return element.Reshape(-1, 1, 1, 1).Add(start.Reshape(1, 1, -1, 1))
		}
		return element.Reshape(1, -1, 1, 1).Add(start.Reshape(1, 1, 1, -1))
	}
	py := off.Select(4, 0).Add(place(0, oh)) // [batch offsets kh kw oh ow]
	px := off.Select(4, 1).Add(place(1, ow))
	images := x.Reshape(batch, offsets, x.Dim(1)/offsets, height*width) // [batch offsets channels pixels]
	sample := func(y, x T) T {                                          // the pixel at whole places, 0 outside
		inside := y.Ge(0).And(y.Lt(height)).And(x.Ge(0)).And(x.Lt(width))
		at := y.Clamp(0, height-1).Mul(width).Add(x.Clamp(0, width-1)).Cast(tensor.Int32)
		flat := at.Flatten(2).Unsqueeze(2).Expand(batch, offsets, images.Dim(2), kh*kw*oh*ow)
		v := images.TakeAlong(-1, flat).Reshape(batch, offsets, images.Dim(2), kh, kw, oh, ow)
		return v.Mul(inside.Unsqueeze(2).Cast(d))
	}
	y0, x0 := py.Floor(), px.Floor()
	fy, fx := py.Sub(y0).Unsqueeze(2), px.Sub(x0).Unsqueeze(2)
	top := sample(y0, x0).Lerp(sample(y0, x0.Add(1)), fx)
	bottom := sample(y0.Add(1), x0).Lerp(sample(y0.Add(1), x0.Add(1)), fx)
	v := top.Lerp(bottom, fy)
	if c.Has(4) {
		v = v.Mul(c.Tensor(4).Reshape(batch, offsets, 1, kh, kw, oh, ow))
	}
	// [batch groups in kh kw oh ow] by [groups out in kh kw]
	v = v.Reshape(batch, groups, x.Dim(1)/groups, kh, kw, oh, ow)
	kernels := k.Reshape(groups, k.Dim(0)/groups, k.Dim(1), kh, kw)
	y := tensor.Einsum("bgcijyx,gocij->bgoyx", v, kernels).Reshape(batch, k.Dim(0), oh, ow)
	return bias(c, 3, y)
}
