package bench

import (
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// trained returns a function that makes a training step and returns the loss before it.
func trained[M, B any](o *optim.Optimizer, model M, batch B, loss func(m M, b B) tensor.Tensor) func() (tensor.Tensor, error) {
	tree.Donate(model) // nothing else reads its first parameters
	step := optim.Jit(o, func(m M, b B, _ *tensor.RNG) (tensor.Tensor, M) { return loss(m, b), m })
	return func() (tensor.Tensor, error) { return step(&model, batch, nil) }
}

// A batch is inputs of a model and their classes.
type batch struct{ X, Y tensor.Tensor }

func mlp(n int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		b := batch{in.floats(1, n, 784), in.ints(10, n)}
		relu := nn.Func(tensor.Tensor.ReLU)
		net := nn.Sequential{in.linear(784, 512), relu, in.linear(512, 512), relu, in.linear(512, 10)}
		return trained(optim.New(optim.Adam{}, 1e-3), net, b, func(net nn.Sequential, b batch) tensor.Tensor {
			return nn.CrossEntropy(net.Apply(b.X), b.Y).Mean()
		})
	}
}

// A size is the size of a transformer and of its batches.
type size struct{ layers, width, heads, length, batch, vocabulary int }

var (
	smallTransformer = size{layers: 4, width: 128, heads: 8, length: 128, batch: 4, vocabulary: 256}
	gpuTransformer   = size{layers: 4, width: 256, heads: 8, length: 256, batch: 16, vocabulary: 256}
	gpt2Small        = size{layers: 12, width: 768, heads: 12, length: 1024, batch: 8, vocabulary: 50304}
)

// A transformer predicts the token after each.
type transformer struct {
	Tokens    nn.Embedding
	Positions tensor.Tensor // [length width]
	Blocks    []block
	Norm      nn.LayerNorm
	Head      *nn.Linear // nil: it has the weight of Tokens
}

type block struct {
	Norm1, Norm2       nn.LayerNorm
	QKV, Out, Up, Down nn.Linear
	heads              int
}

// newTransformer returns a transformer. If it is tied, its head has the weight of its tokens.
func newTransformer(in *inputs, s size, tied bool) transformer {
	norm := func() nn.LayerNorm {
		return nn.LayerNorm{Weight: tensor.Ones(s.width).To(in.device), Bias: tensor.Zeros(s.width).To(in.device)}
	}
	m := transformer{Tokens: nn.Embedding{Weight: in.floats(0.1, s.vocabulary, s.width)}, Positions: in.floats(0.1, s.length, s.width)}
	for range s.layers {
		m.Blocks = append(m.Blocks, block{
			Norm1: norm(), Norm2: norm(),
			QKV: in.linear(s.width, 3*s.width), Out: in.linear(s.width, s.width),
			Up: in.linear(s.width, 4*s.width), Down: in.linear(4*s.width, s.width),
			heads: s.heads,
		})
	}
	m.Norm = norm()
	if !tied {
		head := in.linear(s.width, s.vocabulary)
		m.Head = &head
	}
	return m
}

// Apply maps tokens of shape [batch length] to logits, [batch length vocabulary].
func (m transformer) Apply(ids tensor.Tensor) tensor.Tensor {
	x := m.Tokens.Apply(ids).Add(m.Positions)
	for _, b := range m.Blocks {
		x = x.Add(b.attend(b.Norm1.Apply(x)))
		x = x.Add(b.Down.Apply(b.Up.Apply(b.Norm2.Apply(x)).GELU()))
	}
	x = m.Norm.Apply(x)
	if m.Head == nil {
		return x.MatMul(m.Tokens.Weight.T())
	}
	return m.Head.Apply(x)
}

// attend returns the attention of x, [batch length width], to the past.
func (b block) attend(x tensor.Tensor) tensor.Tensor {
	qkv := b.QKV.Apply(x).Reshape(x.Dim(0), x.Dim(1), 3, b.heads, -1).Permute(2, 0, 3, 1, 4)
	y := tensor.Attention(qkv.At(0), qkv.At(1), qkv.At(2), &tensor.AttentionOptions{Causal: true}) // [batch heads length width/heads]
	return b.Out.Apply(y.Transpose(1, 2).Flatten(2))
}

func trainTransformer(s size) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		return s.train(in, false, optim.New(optim.Adam{}, 1e-3))
	}
}

func trainGPT(s size) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		return s.train(in, true, optim.New(optim.AdamW{WeightDecay: 0.01}, 1e-4))
	}
}

// train makes a transformer with parameters of float32, which computes in the type of the
// inputs, and returns its step.
func (s size) train(in *inputs, tied bool, o *optim.Optimizer) func() (tensor.Tensor, error) {
	o.Precision, in.dtype = in.dtype, tensor.Float32
	b := batch{in.ints(uint32(s.vocabulary), s.batch, s.length), in.ints(uint32(s.vocabulary), s.batch, s.length)}
	return trained(o, newTransformer(in, s, tied), b, func(m transformer, b batch) tensor.Tensor {
		return nn.CrossEntropy(m.Apply(b.X).Cast(tensor.Float32), b.Y).Mean()
	})
}
