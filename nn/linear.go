package nn

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// A Linear layer computes x·Wᵀ + b on the last axis.
type Linear struct {
	Weight tensor.Tensor // [out in], as in PyTorch
	Bias   tensor.Tensor `tensor:",optional"` // [out], or absent
}

// NewLinear returns a layer from width in to width out. Weight and bias are
// uniform in ±1/√in, as in PyTorch.
func NewLinear(rng *tensor.RNG, in, out int) Linear {
	checkDraw("NewLinear", rng, []int{out, in})
	b := bound(in)
	return Linear{Weight: uniform(rng, b, out, in), Bias: uniform(rng, b, out)}
}

// Apply maps x of shape [... in] to [... out].
func (l Linear) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Linear")
	checkPresent("Linear", "Weight", l.Weight)
	if x.Rank() == 0 || x.Dim(-1) != l.Weight.Dim(1) {
		fail("Linear", "the input %v does not end in the %d that the weight [out in] = %v takes", x.Shape(), l.Weight.Dim(1), l.Weight.Shape())
	}
	checkBias("Linear", l.Bias, l.Weight.Dim(0))
	return affine(x.MatMul(l.Weight.T()), tensor.Tensor{}, l.Bias)
}

// An Embedding looks up rows of its weight by position.
type Embedding struct {
	Weight tensor.Tensor // [n width]
}

// NewEmbedding returns an embedding of n rows, each standard normal, as in
// PyTorch.
func NewEmbedding(rng *tensor.RNG, n, width int) Embedding {
	checkDraw("NewEmbedding", rng, []int{n, width})
	return Embedding{Weight: rng.Normal(n, width).Keep()}
}

// Apply maps positions x of shape [...] to rows, [... width]. Positions are int32,
// uint32 or int64; negative ones count from the end. A position out
// of range is an error when the result is computed.
func (l Embedding) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Embedding")
	checkPresent("Embedding", "Weight", l.Weight)
	checkIndices("Embedding", "positions", x)
	return tensor.Internal.Take(graph.Token{}, "nn.Embedding", l.Weight, 0, x)
}

// A Dropout layer sets each element to zero with probability P in training, and
// divides the others by 1-P, which keeps the expected value.
//
// Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks
// from Overfitting", 2014.
type Dropout struct{ P float64 }

// Apply returns x: nothing is dropped at inference.
func (l Dropout) Apply(x tensor.Tensor) tensor.Tensor { return l.Drop(x, nil) }

// Drop drops elements of x, none if rng is nil.
func (l Dropout) Drop(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("Dropout")
	return drop("Dropout", l.P, x, rng, x.Shape())
}

// drop drops elements of x. The shape mask broadcasts to x's: elements of one position
// there are dropped together.
func drop(layer string, p float64, x tensor.Tensor, rng *tensor.RNG, mask []int) tensor.Tensor {
	setting(layer, "P", p, limits.Probability)
	switch {
	case rng == nil || p == 0:
		return x
	case p == 1:
		return tensor.ZerosLike(x)
	}
	return tensor.Where(rng.Uniform(mask...).Lt(p), 0, narrowed(widened(x).Mul(1/(1-p)), x))
}

// Train returns Drop(x, rng) and l.
func (l Dropout) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.Drop(x, rng), l
}

// A Flatten layer merges the axes starting at From into one. From 0 means 1: all axes but
// the batch.
type Flatten struct{ From int }

// Apply maps x of shape [a b c] to [a b·c], for From = 1.
func (l Flatten) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Flatten")
	from := l.From
	if from == 0 {
		from = 1
	}
	return x.Flatten(from)
}
