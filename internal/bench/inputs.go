package bench

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// inputs makes the numbers that the peers compute with too: a hash of position and seed.
// Each tensor has the next seed, so works make their inputs in the same order.
type inputs struct {
	device    *tensor.Device
	seed      uint32
	dtype     tensor.DType // of floats
	tolerance float64      // of results, as a part of the largest element
}

func newInputs(d *tensor.Device) *inputs {
	return &inputs{device: d, dtype: tensor.Float32, tolerance: 1e-3}
}

// halved returns a setup in a type of 16 bits. Libraries round in different places: weights of
// attention, a softmax before it is divided.
func halved(d tensor.DType, start setup) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		in.dtype, in.tolerance = d, 2e-2
		return start(in)
	}
}

// floats returns numbers that are uniform in ±scale, rounded to the type.
func (in *inputs) floats(scale float64, lengths ...int) tensor.Tensor {
	x := numbers(in, lengths, func(h uint32) float32 { return (float32(h>>8)*0x1p-23 - 1) * float32(scale) })
	if in.dtype != tensor.Float32 {
		x = x.Cast(in.dtype).Keep()
	}
	return x
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
