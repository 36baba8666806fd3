package imageio

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// checkChannels panics for a number of channels that no image has.
func checkChannels(op string, channels int) {
	if !slices.Contains([]int{0, 1, 3, 4}, channels) {
		misuse(op, "%d channels: want 1 (gray), 3 (RGB), 4 (RGBA) or 0 (those of the image)", channels)
	}
}

// shapeOf returns height, width and channels of an image; it panics unless t is one.
func shapeOf(op string, t tensor.Tensor) []int {
	if !t.IsValid() {
		misuse(op, "the tensor is absent (the zero Tensor): test with IsValid")
	}
	s := t.Shape()
	full := s
	if len(s) == 2 {
		full = append(s, 1)
	}
	switch {
	case len(full) != 3 || !slices.Contains([]int{1, 3, 4}, full[2]):
		misuse(op, "shape %v: want [h w c] with 1, 3 or 4 channels, or [h w]; of [c h w] it is Permute(1, 2, 0)", s)
	case full[0] == 0 || full[1] == 0:
		misuse(op, "shape %v: an image must have a pixel", s)
	case t.DType() != tensor.Uint8:
		misuse(op, "type %v: want uint8; of numbers from 0 to 1 it is Mul(255).Round().Cast(tensor.Uint8)", t.DType())
	}
	return full
}

// misuse panics with a *tensor.Error.
func misuse(op, format string, args ...any) {
	tensor.Internal.Misuse(graph.Token{}, "imageio."+op, fmt.Sprintf(format, args...))
}
