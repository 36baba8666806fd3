package neural

import (
	"slices"

	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// windows are the places of windows on the spatial axes, which follow batch and channels.
type windows struct {
	size, stride, dilation, before, after []int
	ceil                                  bool
}

// windowsOf reads the attributes that convolutions and pools share. Lengths are the spatial axes'.
func windowsOf(c *op.Call, lengths, size []int) windows {
	n := len(lengths)
	if len(size) != n {
		c.Fail("windows of %v elements, for %d spatial axes", size, n)
	}
	w := windows{
		size: size, stride: c.IntsOr("strides", n, 1), dilation: c.IntsOr("dilations", n, 1),
		before: make([]int, n), after: make([]int, n), ceil: c.Bool("ceil_mode", false),
	}
	for i := range size {
		if size[i] < 1 || w.stride[i] < 1 || w.dilation[i] < 1 {
			c.Fail("windows of %v elements, %v apart, with strides of %v", size, w.dilation, w.stride)
		}
	}
	switch auto := c.String("auto_pad", "NOTSET"); auto {
	case "NOTSET", "":
		pads := c.IntsOr("pads", 2*n, 0)
		if slices.Min(append(pads, 0)) < 0 {
			c.Fail("pads are %v", pads)
		}
		w.before, w.after = pads[:n], pads[n:]
	case "SAME_UPPER", "SAME_LOWER":
		for i, length := range lengths {
			count := (length + w.stride[i] - 1) / w.stride[i]
			w.before[i], w.after[i] = halves(max((count-1)*w.stride[i]+w.span(i)-length, 0), auto == "SAME_LOWER")
		}
	case "VALID":
	default:
		c.Fail("there is no auto_pad %q", auto)
	}
	return w
}

// halves divides a padding, which may be less than 0; an odd element comes at the end, or at the begin.
func halves(total int, begin bool) (before, after int) {
	before, after = total>>1, total-total>>1
	if begin {
		return after, before
	}
	return before, after
}

// span is the length of a window with its gaps.
func (w windows) span(i int) int { return (w.size[i]-1)*w.dilation[i] + 1 }

// count is the number of windows on an axis. In ceil mode the last one may reach beyond the padding,
// but begins before it.
func (w windows) count(i, length int) int {
	room := length + w.before[i] + w.after[i] - w.span(i)
	if room < 0 {
		return 0
	}
	n := room/w.stride[i] + 1
	if w.ceil && room%w.stride[i] != 0 && n*w.stride[i] < length+w.before[i] {
		n++
	}
	return n
}

// even reports whether both ends of all axes have the same padding.
func (w windows) even() bool { return slices.Equal(w.before, w.after) }

// centered reports whether the middle of each window is an element of the input, as tensor's pools want.
func (w windows) centered() bool {
	for i := range w.size {
		if w.before[i] > w.size[i]/2 {
			return false
		}
	}
	return true
}

// unfold returns the elements of windows, [batch channels counts… sizes…]. Elements outside of x are fill.
func (w windows) unfold(c *op.Call, x T, fill any) T {
	n := len(w.size)
	for i := range n {
		length := x.Dim(2 + i)
		count := w.count(i, length)
		if count < 1 {
			c.Fail("a window of %d elements does not fit axis %d of length %d", w.span(i), 2+i, length)
		}
		end := (count-1)*w.stride[i] + w.span(i) // beyond the padding in ceil mode, before its end if windows leave a rest
		x = pad(x, 2+i, w.before[i], max(end-length-w.before[i], 0), fill).Slice(2+i, 0, end)
		x = x.Unfold(2+i, w.span(i), w.stride[i])
		if d := w.dilation[i]; d > 1 {
			x = x.Slice(-1, 0, w.span(i), d)
		}
	}
	return x
}

// last returns the last n axes of a tensor.
func last(x T, n int) (axes []int) {
	for i := range n {
		axes = append(axes, x.Rank()-n+i)
	}
	return axes
}

// pad adds elements of a value to an axis.
func pad(x T, axis, before, after int, fill any) T {
	if before == 0 && after == 0 {
		return x
	}
	y := x.Pad(axis, before, after)
	if fill == 0 || fill == false {
		return y
	}
	return tensor.Where(tensor.OnesOf(tensor.Bool, ones(x, axis)...).Pad(axis, before, after), y, fill)
}

// ones is the shape of x with all axes but one of length 1.
func ones(x T, axis int) []int {
	s := slices.Repeat([]int{1}, x.Rank())
	s[axis] = x.Dim(axis)
	return s
}
