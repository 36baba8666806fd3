package tensor

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Fold is the transpose of [Tensor.Unfold]: it adds up windows, step apart, where they
// overlap. The windows are along an axis, their elements along the last; the result has
// an axis of the given length in place of the first, and not the last.
func (t Tensor) Fold(axis, length, step int) Tensor {
	x := t.numbers("Fold")
	a, last := axisOf("Fold", x, axis), len(x.Shape)-1
	if a == last {
		fail("Fold", "the last axis has the elements of each window: want another", x)
	}
	n, size := x.Shape[a], x.Shape[last]
	if step < 1 || length < 0 || n > 0 && size > length || n > 1 && step > (length-size)/(n-1) {
		fail("Fold", fmt.Sprintf("%s of %d elements, %d apart, do not fit %d elements", shape.Count(n, "window"), size, step, length), x)
	}
	checkLen("Fold", shape.With(x.Shape, a, length), x)
	step = min(step, max(length, 1)) // of a single window any will do
	x = graph.Cast(x, x.DType.SumType())
	return Tensor{n: drop(graph.Reduce(ir.Sum, graph.Unwindow(x, a, last, step, 1, length), []int{last}), last)}
}

// ConvTranspose is the transpose of [Tensor.Conv] by its input, also called a
// deconvolution: it takes t, [batch, channels, spatial…], and a kernel [channels,
// out/groups, spatial…] to [batch, out, spatial…]. A spatial axis of n elements becomes one
// of (n-1)·stride - 2·padding + dilation·(kernel-1) + 1 + output padding. There are 1 to 3.
func (t Tensor) ConvTranspose(kernel Tensor, o *ConvOptions) Tensor {
	x, k := factors("ConvTranspose", t, kernel)
	spatial := len(k.Shape) - 2
	if spatial < 1 || spatial > 3 || len(x.Shape) != len(k.Shape) {
		fail("ConvTranspose", "the input is [batch, channels, spatial…], the kernel [channels, out/groups, spatial…], with 1 to 3 spatial axes", x, k)
	}
	groups, channels := o.groups(), x.Shape[1]
	if groups < 1 || channels%groups != 0 || k.Shape[0] != channels {
		fail("ConvTranspose", fmt.Sprintf("%s of a kernel for %d channels, the input has %d", shape.Count(groups, "group"), k.Shape[0], channels), x, k)
	}
	ws := windows("ConvTranspose", x, k.Shape[2:], o, 1)
	lengths := make([]int, spatial)
	for i, w := range ws {
		if w.after >= max(w.stride, w.dilation) {
			fail("ConvTranspose", fmt.Sprintf("OutputPadding %d: want less than the stride %d or the dilation %d", w.after, w.stride, w.dilation), x, k)
		}
		n := x.Shape[2+i]
		lengths[i] = (n-1)*w.stride + w.dilation*(w.size-1) + 1 + w.after - 2*w.padding
		if n < 1 || lengths[i] < 1 {
			fail("ConvTranspose", fmt.Sprintf("with padding %d nothing is left of axis %d", w.padding, 2+i), x, k)
		}
	}
	batch, in, out, sizes := x.Shape[0], channels/groups, k.Shape[1], k.Shape[2:]
	// The products' axes: batch, groups, out/groups, window…, spatial…, then the summed
	// channels/groups. Contributions to the same element add up where windows overlap.
	s := slices.Concat([]int{batch, groups, out}, sizes, x.Shape[2:], []int{in})
	checkLen("ConvTranspose", s, x, k)
	first, last := 3+spatial, len(s)-1 // of the spatial axes, of the channels
	ax := append([]int{0, 1, last}, shape.All(last)[first:]...)
	ak := append([]int{1, last, 2}, shape.All(first)[3:]...)
	x = graph.Reshape(x, slices.Concat([]int{batch, groups, in}, x.Shape[2:]))
	k = graph.Reshape(k, slices.Concat([]int{groups, in, out}, sizes))
	y := contract(x, ax, k, ak, s, 1)
	for i, w := range ws {
		y = graph.Unwindow(y, first+i, 3+i, w.stride, w.dilation, w.padding+lengths[i])
		y = graph.Slice(y, first+i, w.padding, lengths[i])
	}
	y = graph.Reduce(ir.Sum, y, shape.All(first)[3:])
	return Tensor{n: graph.Reshape(y, slices.Concat([]int{batch, groups * out}, lengths))}
}

// PixelShuffle moves channels into spatial axes: [batch, channels·factor…, spatial…] gives
// [batch, channels, spatial·factor…], with factor once for each spatial axis.
func (t Tensor) PixelShuffle(factor int) Tensor {
	x := t.node("PixelShuffle")
	spatial := len(x.Shape) - 2
	block := blockSize("PixelShuffle", x, factor)
	if x.Shape[1]%block != 0 {
		fail("PixelShuffle", fmt.Sprintf("%d channels are no multiple of %d", x.Shape[1], block), x)
	}
	channels := x.Shape[1] / block
	split := slices.Concat([]int{x.Shape[0], channels}, slices.Repeat([]int{factor}, spatial), x.Shape[2:])
	order, joined := []int{0, 1}, []int{x.Shape[0], channels}
	for i := range spatial {
		order = append(order, 2+spatial+i, 2+i)
		joined = append(joined, x.Shape[2+i]*factor)
	}
	return Tensor{n: graph.Reshape(graph.Permute(graph.Reshape(x, split), order), joined)}
}

// PixelUnshuffle is the inverse of [Tensor.PixelShuffle].
func (t Tensor) PixelUnshuffle(factor int) Tensor {
	x := t.node("PixelUnshuffle")
	spatial := len(x.Shape) - 2
	block := blockSize("PixelUnshuffle", x, factor)
	split, order, joined := x.Shape[:2:2], []int{0, 1}, []int{x.Shape[0], x.Shape[1] * block}
	for i, n := range x.Shape[2:] {
		if n%factor != 0 {
			fail("PixelUnshuffle", fmt.Sprintf("axis %d of length %d is no multiple of %d", 2+i, n, factor), x)
		}
		split = append(split, n/factor, factor)
		order = append(order, 3+2*i)
		joined = append(joined, n/factor)
	}
	for i := range spatial {
		order = append(order, 2+2*i)
	}
	return Tensor{n: graph.Reshape(graph.Permute(graph.Reshape(x, split), order), joined)}
}

// blockSize returns the number of elements that a factor makes of one.
func blockSize(op string, x *graph.Node, factor int) int {
	if len(x.Shape) < 3 {
		fail(op, "the input is [batch, channels, spatial…]", x)
	}
	if factor < 1 || factor > 1<<10 {
		fail(op, fmt.Sprintf("a factor of %d: want 1 to 1024", factor), x)
	}
	block := 1
	for range x.Shape[2:] {
		block = min(block*factor, shape.MaxLen)
	}
	return block
}
