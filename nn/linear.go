package nn

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// A Linear layer computes x·Wᵀ + b on the last axis.
type Linear struct {
	Weight tensor.Tensor // [out in], as in PyTorch
	Bias   tensor.Tensor // [out], or absent
}

// NewLinear returns a layer from width in to width out. Weight and bias are
// uniform in ±1/√in, as in PyTorch.
func NewLinear(rng *tensor.RNG, in, out int) Linear {
	checkDraw("NewLinear", rng, []int{out, in})
	b := bound(in)
	return Linear{Weight: uniform(rng, b, out, in), Bias: uniform(rng, b, out)}
}

// Apply takes x of shape [... in] to [... out].
func (l Linear) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Linear")
	present("Linear", "Weight", l.Weight)
	if x.Rank() == 0 || x.Dim(-1) != l.Weight.Dim(1) {
		fail("Linear", "the input %v does not end in the %d that the weight [out in] = %v takes", x.Shape(), l.Weight.Dim(1), l.Weight.Shape())
	}
	fits("Linear", l.Bias, l.Weight.Dim(0))
	y := x.MatMul(l.Weight.T())
	if l.Bias.IsValid() {
		y = y.Add(l.Bias)
	}
	return y
}

// An Embedding turns positions into rows of its weight.
type Embedding struct {
	Weight tensor.Tensor // [n width]
}

// NewEmbedding returns an embedding of n rows, each standard normal, as in
// PyTorch.
func NewEmbedding(rng *tensor.RNG, n, width int) Embedding {
	checkDraw("NewEmbedding", rng, []int{n, width})
	return Embedding{Weight: rng.Normal(n, width).Keep()}
}

// Apply takes positions x of shape [...], of type int32, uint32 or int64, to
// [... width]. On a GPU, which lacks int64, they are int32 or uint32. A negative
// position counts from the end; one out of range is an error when it is
// computed.
func (l Embedding) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Embedding")
	present("Embedding", "Weight", l.Weight)
	checkIndices("Embedding", "positions", x)
	return tensor.Internal.Take(graph.Token{}, "nn.Embedding", l.Weight, 0, x)
}

// A Dropout layer sets elements to zero at random in training, each with
// probability P, and divides the others by 1-P so that the mean stays.
//
// Source: Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks
// from Overfitting", 2014.
type Dropout struct{ P float64 }

// Apply is x: nothing is dropped at inference.
func (l Dropout) Apply(x tensor.Tensor) tensor.Tensor { return l.Drop(x, nil) }

// Drop drops elements of x, or none where rng is nil.
func (l Dropout) Drop(x tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	defer named("Dropout")
	if !(l.P >= 0 && l.P <= 1) {
		fail("Dropout", "P is %v, want a probability from 0 to 1", l.P)
	}
	switch {
	case rng == nil || l.P == 0:
		return x
	case l.P == 1:
		return tensor.ZerosLike(x)
	}
	kept := rng.Uniform(x.Shape()...).Ge(l.P)
	return tensor.Where(kept, x.Mul(1/(1-l.P)), 0)
}

// Train is Drop.
func (l Dropout) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.Drop(x, rng), l
}

// A Flatten layer joins the axes from From on into one. From 0 means 1: all
// but the batch.
type Flatten struct{ From int }

// Apply takes x of shape [a b c] to [a b·c], where From is 1.
func (l Flatten) Apply(x tensor.Tensor) tensor.Tensor {
	defer named("Flatten")
	from := l.From
	if from == 0 {
		from = 1
	}
	return x.Flatten(from)
}
