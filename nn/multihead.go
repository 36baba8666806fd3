package nn

import (
	"github.com/tensorken/tensorken/tensor"
)

// A MultiheadAttention is an [Attention] whose tensors have the names and the layout of
// PyTorch's nn.MultiheadAttention: queries, keys and values share one weight.
type MultiheadAttention struct {
	InProjWeight tensor.Tensor // [3·width width]
	InProjBias   tensor.Tensor `tensor:",optional"` // [3·width], or absent
	OutProj      Linear
	Heads        int
	Causal       bool    // a query attends to positions up to its own
	Dropout      float64 // the probability that a weight is dropped in training
}

// NewMultiheadAttention returns a layer of heads that share the width evenly. The weights are
// drawn as in PyTorch, and the biases are 0.
func NewMultiheadAttention(rng *tensor.RNG, width, heads int) MultiheadAttention {
	checkHeads("NewMultiheadAttention", width, heads)
	l := MultiheadAttention{
		InProjWeight: XavierUniform(rng, 3*width, width), InProjBias: tensor.ZerosOf(tensor.Float32, 3*width),
		OutProj: NewLinear(rng, width, width), Heads: heads,
	}
	l.OutProj.Bias = tensor.ZerosOf(tensor.Float32, width)
	return l
}

// Attention returns the layer as an [Attention], with views of its tensors.
func (l MultiheadAttention) Attention() Attention {
	defer named("MultiheadAttention")
	checkPresent("MultiheadAttention", "InProjWeight", l.InProjWeight)
	if l.InProjWeight.Rank() != 2 || l.InProjWeight.Dim(0) != 3*l.InProjWeight.Dim(1) {
		fail("MultiheadAttention", "InProjWeight is %v, want [3·width width]", l.InProjWeight.Shape())
	}
	w := l.InProjWeight.Chunk(0, 3)
	b := make([]tensor.Tensor, 3)
	if l.InProjBias.IsValid() {
		checkBias("MultiheadAttention", l.InProjBias, l.InProjWeight.Dim(0))
		b = l.InProjBias.Chunk(0, 3)
	}
	return Attention{
		Q: Linear{w[0], b[0]}, K: Linear{w[1], b[1]}, V: Linear{w[2], b[2]}, O: l.OutProj,
		Heads: l.Heads, Causal: l.Causal, Dropout: l.Dropout,
	}
}

// Apply lets x of shape [... time width] attend to itself.
func (l MultiheadAttention) Apply(x tensor.Tensor) tensor.Tensor { return l.Attention().Apply(x) }

// Train returns the result with dropout, and l.
func (l MultiheadAttention) Train(x tensor.Tensor, rng *tensor.RNG) (tensor.Tensor, Layer) {
	return l.Attend(x, tensor.Tensor{}, tensor.Tensor{}, rng), l
}

// Attend is [Attention.Attend].
func (l MultiheadAttention) Attend(x, memory, mask tensor.Tensor, rng *tensor.RNG) tensor.Tensor {
	return l.Attention().Attend(x, memory, mask, rng)
}
