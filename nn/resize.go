package nn

import (
	"math"

	"github.com/tensorken/tensorken/tensor"
)

// An Upsample layer resizes all axes after the first two: to Size, or to Factor times their
// length. See [tensor.Tensor.Resize].
type Upsample struct {
	Size    []int // one length for all axes, or one each; or nil
	Factor  int   // at least 1 if Size is nil
	Options tensor.ResizeOptions
}

// Apply maps x of shape [batch channels spatial...] to the same rank and channels.
func (l Upsample) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Upsample")
	if l.Size != nil {
		return x.Resize(spatial("Upsample", "Size", l.Size, x), &l.Options)
	}
	if l.Factor < 1 {
		fail("Upsample", "Factor is %d and Size nil: set one", l.Factor)
	}
	size := spatial("Upsample", "Factor", []int{l.Factor}, x)
	for i := range size {
		size[i] *= x.Dim(2 + i)
	}
	return x.Resize(size, &l.Options)
}

// A PixelShuffle layer moves channels to pixels: see [tensor.Tensor.PixelShuffle].
type PixelShuffle struct{ Factor int }

// Apply maps x of shape [batch channels·Factor² height width] to [batch channels
// height·Factor width·Factor].
func (l PixelShuffle) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("PixelShuffle")
	return x.PixelShuffle(l.Factor)
}

// A Pad layer pads the axes after the first two with a value, or as Mode says.
type Pad struct {
	Before, After []int          // one number for all axes, or one each; a nil After is Before
	Mode          tensor.PadMode // 0: with Value
	Value         float64
}

// Apply maps x of shape [batch channels spatial...] to the same rank and channels.
func (l Pad) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Pad")
	if math.IsNaN(l.Value) {
		fail("Pad", "Value is NaN, want a number")
	}
	if l.Mode != 0 && l.Value != 0 {
		fail("Pad", "Mode and Value are both set: want one")
	}
	before := spatial("Pad", "Before", l.Before, x)
	after := before
	if l.After != nil {
		after = spatial("Pad", "After", l.After, x)
	}
	for i := range before {
		axis := 2 + i
		switch {
		case before[i] == 0 && after[i] == 0:
		case l.Mode != 0:
			x = x.PadMode(axis, before[i], after[i], l.Mode)
		case l.Value == 0:
			x = x.Pad(axis, before[i], after[i])
		default:
			x = tensor.Cat(axis, valued(x, axis, before[i], l.Value), x, valued(x, axis, after[i], l.Value))
		}
	}
	return x
}

// valued returns a tensor full of value, like x with another length of an axis.
func valued(x tensor.Tensor, axis, length int, value float64) tensor.Tensor {
	lengths := x.Shape()
	if length < 0 {
		fail("Pad", "a padding of %d, want at least 0", length)
	}
	lengths[axis] = length
	return tensor.FullOf(x.DType(), value, lengths...)
}

// spatial returns a setting's number for each axis of x after the first two.
func spatial(layer, field string, numbers []int, x tensor.Tensor) []int {
	n := x.Rank() - 2
	if n < 1 {
		fail(layer, "the input %v is not [batch channels spatial...]", x.Shape())
	}
	if len(numbers) != 1 && len(numbers) != n {
		fail(layer, "%s is %v: want one number, or one for each of the %d axes after the first two", field, numbers, n)
	}
	out := make([]int, n)
	for i := range out {
		out[i] = numbers[min(i, len(numbers)-1)]
	}
	return out
}
