package bench

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// inputs makes the numbers that the peers compute with too: a hash of position and seed.
// Each tensor has the next seed, so works make their inputs in the same order.
type inputs struct {
	device *tensor.Device
	seed   uint32
}

// floats returns uniform float32 in ±scale.
func (in *inputs) floats(scale float64, lengths ...int) tensor.Tensor {
	return numbers(in, lengths, func(h uint32) float32 { return (float32(h>>8)*0x1p-23 - 1) * float32(scale) })
}

// ints returns int32 from 0 to n-1.
func (in *inputs) ints(n uint32, lengths ...int) tensor.Tensor {
	return numbers(in, lengths, func(h uint32) int32 { return int32(h % n) })
}

func numbers[E tensor.Element](in *inputs, lengths []int, number func(h uint32) E) tensor.Tensor {
	in.seed++
	n := 1
	for _, l := range lengths {
		n *= l
	}
	data := make([]E, n)
	for i := range data {
		h := uint32(i) + in.seed*0x9e3779b9
		h ^= h >> 16
		h *= 0x85ebca6b
		h ^= h >> 13
		h *= 0xc2b2ae35
		h ^= h >> 16
		data[i] = number(h)
	}
	return tensor.New(data, lengths...).To(in.device)
}

// linear returns a layer whose weight is uniform in ±1/√width and whose bias is zero.
func (in *inputs) linear(width, out int) nn.Linear {
	return nn.Linear{
		Weight: in.floats(1/math.Sqrt(float64(width)), out, width),
		Bias:   tensor.Zeros(out).To(in.device),
	}
}
