package nn

import (
	"slices"

	"github.com/tensorken/tensorken/tensor"
)

// An Unfold layer returns the windows that a convolution of the same options reads (im2col).
// Options.Groups is not used.
type Unfold struct {
	Size    int // of a window, along all axes after the first two
	Options tensor.ConvOptions
}

// Apply maps x of shape [batch channels spatial...] to [batch channels·window windows], the
// window's elements and the windows in row-major order.
func (l Unfold) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Unfold")
	w := l.windows("Unfold", x)
	batch, channels := x.Dim(0), x.Dim(1)
	for i, w := range w {
		x = x.Pad(2+i, w.padding, w.padding).Unfold(2+i, w.extent, w.stride).Slice(-1, 0, w.extent, w.dilation)
	} // [batch channels windows... window...]
	n := len(w)
	order := []int{0, 1}
	for i := range n {
		order = append(order, 2+n+i)
	}
	for i := range n {
		order = append(order, 2+i)
	}
	x = x.Permute(order...)
	elements, windows := 1, 1
	for i := range n {
		elements, windows = elements*x.Dim(2+i), windows*x.Dim(2+n+i)
	}
	return x.Reshape(batch, channels*elements, windows)
}

// A Fold layer is the transpose of Unfold: it adds up windows where they overlap (col2im).
type Fold struct {
	Lengths []int // of the result's axes after the first two
	Size    int
	Options tensor.ConvOptions
}

// Apply maps x of shape [batch channels·window windows] to [batch channels lengths...].
func (l Fold) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Fold")
	if x.Rank() != 3 || len(l.Lengths) == 0 {
		fail("Fold", "the input %v is not [batch channels·window windows], or Lengths is empty", x.Shape())
	}
	like := tensor.Zeros(append([]int{1, 1}, l.Lengths...)...)
	ws := Unfold{l.Size, l.Options}.windows("Fold", like)
	elements, total, windows := 1, 1, []int{}
	for i, w := range ws {
		n := max(0, (l.Lengths[i]+2*w.padding-w.extent)/w.stride+1)
		windows, elements, total = append(windows, n), elements*l.Size, total*n
	}
	if x.Dim(1)%elements != 0 || x.Dim(2) != total {
		fail("Fold", "the input %v does not have %d·channels elements of each of %d windows", x.Shape(), elements, total)
	}
	channels, n := x.Dim(1)/elements, len(ws)
	x = x.Reshape(slices.Concat([]int{x.Dim(0), channels}, slices.Repeat([]int{l.Size}, n), windows)...)
	// Each turn takes a window's first axis that is left to the end, and folds it.
	for i, w := range ws {
		left := n - i
		x = x.Unsqueeze(-1)
		x = x.Transpose(2, -1).Squeeze(2) // [batch channels size... windows... lengths... size]
		if w.dilation > 1 {               // zeros between a window's elements
			x = x.Unsqueeze(-1).Pad(-1, 0, w.dilation-1).Flatten(-2).Slice(-1, 0, w.extent)
		}
		x = x.Fold(2+left-1, l.Lengths[i]+2*w.padding, w.stride).Slice(2+left-1, w.padding, w.padding+l.Lengths[i])
		order := moveTo(x.Rank(), 2+left-1)
		x = x.Permute(order...)
	}
	return x
}

// moveTo returns the order of axes that moves one to the end.
func moveTo(rank, axis int) []int {
	var order []int
	for i := range rank {
		if i != axis {
			order = append(order, i)
		}
	}
	return append(order, axis)
}

// A span says how windows lie along an axis.
type span struct{ extent, stride, padding, dilation int }

// windows returns the windows of each axis of x after the first two.
func (l Unfold) windows(layer string, x tensor.Tensor) []span {
	if l.Size < 1 {
		fail(layer, "Size is %d, want at least 1", l.Size)
	}
	per := func(field string, numbers []int, none, least int) []int {
		if numbers == nil {
			numbers = []int{none}
		}
		out := spatial(layer, field, numbers, x)
		for i, n := range out {
			if n == 0 {
				out[i] = none
			}
			if out[i] < least {
				fail(layer, "%s is %v: want at least %d", field, numbers, least)
			}
		}
		return out
	}
	o := l.Options
	stride, padding, dilation := per("Stride", o.Stride, 1, 1), per("Padding", o.Padding, 0, 0), per("Dilation", o.Dilation, 1, 1)
	spans := make([]span, len(stride))
	for i := range spans {
		spans[i] = span{(l.Size-1)*dilation[i] + 1, stride[i], padding[i], dilation[i]}
	}
	return spans
}
