package nn

import (
	"math"

	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// XavierUniform is a random weight of shape [out in spatial...], of rank 2 or
// more, uniform in ±√(6/(inputs+outputs)). A kernel's spatial axes multiply
// both: an output has in·spatial inputs, an input out·spatial outputs.
//
// Source: Glorot, Bengio, "Understanding the difficulty of training deep
// feedforward neural networks", 2010.
func XavierUniform(rng *tensor.RNG, shape ...int) tensor.Tensor {
	checkDraw("XavierUniform", rng, shape)
	in, out := fans("XavierUniform", shape)
	return uniform(rng, math.Sqrt(6/float64(in+out)), shape...)
}

// XavierNormal is a random weight of shape [out in spatial...], normal of
// variance 2/(inputs+outputs); see [XavierUniform].
func XavierNormal(rng *tensor.RNG, shape ...int) tensor.Tensor {
	checkDraw("XavierNormal", rng, shape)
	in, out := fans("XavierNormal", shape)
	return normal(rng, math.Sqrt(2/float64(in+out)), shape...)
}

// KaimingUniform is a random weight of shape [out in spatial...], of rank 2 or
// more, uniform in ±√(6/inputs), for layers before a ReLU. An output has
// in·spatial inputs.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015.
func KaimingUniform(rng *tensor.RNG, shape ...int) tensor.Tensor {
	checkDraw("KaimingUniform", rng, shape)
	in, _ := fans("KaimingUniform", shape)
	return uniform(rng, math.Sqrt(6/float64(in)), shape...)
}

// KaimingNormal is a random weight of shape [out in spatial...], normal of
// variance 2/inputs, for layers before a ReLU; see [KaimingUniform].
func KaimingNormal(rng *tensor.RNG, shape ...int) tensor.Tensor {
	checkDraw("KaimingNormal", rng, shape)
	in, _ := fans("KaimingNormal", shape)
	return normal(rng, math.Sqrt(2/float64(in)), shape...)
}

// fans are the inputs of each output and the outputs of each input.
func fans(op string, shape []int) (in, out int) {
	if len(shape) < 2 {
		fail(op, "the shape %v has rank %d, a weight [out in spatial...] at least 2", shape, len(shape))
	}
	window := 1
	for _, d := range shape[2:] {
		window *= d
	}
	return shape[1] * window, shape[0] * window
}

// checkDraw panics unless a random weight of that shape can be made with rng.
func checkDraw(op string, rng *tensor.RNG, shape []int) {
	if rng == nil {
		fail(op, "the *RNG is nil: make one with tensor.NewRNG")
	}
	checkShape(op, shape)
}

// checkShape panics unless a tensor may have that shape.
func checkShape(op string, weight []int) {
	if err := shape.Check(weight); err != nil {
		fail(op, "the weight's shape would be %v, with %v", weight, err)
	}
}

// bound is 1/√inputs: PyTorch's for the weights and biases of its layers.
func bound(in int) float64 { return 1 / math.Sqrt(float64(max(in, 1))) }

// uniform is uniform in ±b. It is kept: the first step computes it, and no
// other does again.
func uniform(rng *tensor.RNG, b float64, shape ...int) tensor.Tensor {
	return rng.Uniform(shape...).Mul(2 * b).Sub(b).Keep()
}

func normal(rng *tensor.RNG, sigma float64, shape ...int) tensor.Tensor {
	return rng.Normal(shape...).Mul(sigma).Keep()
}
