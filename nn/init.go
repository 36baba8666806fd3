package nn

import (
	"math"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/tensor"
)

// XavierUniform returns a random weight of shape [out in spatial...], of rank 2 or
// more, uniform in ±√(6/(inputs+outputs)). An output has in·spatial inputs, an input
// out·spatial outputs.
//
// Source: Glorot, Bengio, "Understanding the difficulty of training deep
// feedforward neural networks", 2010.
func XavierUniform(rng *tensor.RNG, shape ...int) tensor.Tensor {
	in, out := fans("XavierUniform", rng, shape)
	return uniform(rng, math.Sqrt(6/float64(in+out)), shape...)
}

// XavierNormal returns a random weight of shape [out in spatial...], normal of
// variance 2/(inputs+outputs); see [XavierUniform].
func XavierNormal(rng *tensor.RNG, shape ...int) tensor.Tensor {
	in, out := fans("XavierNormal", rng, shape)
	return normal(rng, math.Sqrt(2/float64(in+out)), shape...)
}

// KaimingUniform returns a random weight of shape [out in spatial...], of rank 2 or
// more, uniform in ±√(6/inputs), for layers before a ReLU. An output has
// in·spatial inputs.
//
// Source: He, Zhang, Ren, Sun, "Delving Deep into Rectifiers", 2015.
func KaimingUniform(rng *tensor.RNG, shape ...int) tensor.Tensor {
	in, _ := fans("KaimingUniform", rng, shape)
	return uniform(rng, math.Sqrt(6/float64(in)), shape...)
}

// KaimingNormal returns a random weight of shape [out in spatial...], normal of
// variance 2/inputs, for layers before a ReLU; see [KaimingUniform].
func KaimingNormal(rng *tensor.RNG, shape ...int) tensor.Tensor {
	in, _ := fans("KaimingNormal", rng, shape)
	return normal(rng, math.Sqrt(2/float64(in)), shape...)
}

// fans returns the number of inputs of each output and of outputs of each input of a
// weight to be drawn.
func fans(op string, rng *tensor.RNG, shape []int) (in, out int) {
	checkDraw(op, rng, shape)
	return fansOf(op, shape)
}

// fansOf is fans of a shape that has been checked.
func fansOf(op string, shape []int) (in, out int) {
	if len(shape) < 2 {
		fail(op, "the shape %v has rank %d, a weight [out in spatial...] at least 2", shape, len(shape))
	}
	window := graph.Len(shape[2:])
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

// bound returns 1/√inputs, PyTorch's bound of initial weights and biases.
func bound(in int) float64 { return 1 / math.Sqrt(float64(max(in, 1))) }

// uniform draws uniformly from ±b. Keep stores the result, or each step would draw it
// again.
func uniform(rng *tensor.RNG, b float64, shape ...int) tensor.Tensor {
	return rng.Uniform(shape...).Mul(2 * b).Sub(b).Keep()
}

func normal(rng *tensor.RNG, sigma float64, shape ...int) tensor.Tensor {
	return rng.Normal(shape...).Mul(sigma).Keep()
}
