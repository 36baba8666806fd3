package bench

import (
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// trained returns a function that does a step of Adam and returns the loss before it.
func trained[M any](model M, loss func(M) tensor.Tensor) func() (tensor.Tensor, error) {
	opt := optim.New(optim.Adam{}, 1e-3)
	return func() (tensor.Tensor, error) {
		value, gradient := grad.ValueAndGrad(loss)(model)
		return value, opt.Step(&model, gradient)
	}
}

func mlp(batch int) setup {
	return func(in *inputs) func() (tensor.Tensor, error) {
		x, y := in.floats(1, batch, 784), in.ints(10, batch)
		relu := nn.Func(tensor.Tensor.ReLU)
		net := nn.Sequential{in.linear(784, 512), relu, in.linear(512, 512), relu, in.linear(512, 10)}
		return trained(net, func(net nn.Sequential) tensor.Tensor { return nn.CrossEntropy(net.Apply(x), y).Mean() })
	}
}

const (
	layers     = 4
	width      = 128
	heads      = 8
	length     = 128
	batch      = 4
	vocabulary = 256
)

// A transformer predicts the token after each.
type transformer struct {
	Tokens    nn.Embedding
	Positions tensor.Tensor // [length width]
	Blocks    []block
	Norm      nn.LayerNorm
	Head      nn.Linear
}

type block struct {
	Norm1, Norm2       nn.LayerNorm
	QKV, Out, Up, Down nn.Linear
}

func newTransformer(in *inputs) transformer {
	norm := func() nn.LayerNorm {
		return nn.LayerNorm{Weight: tensor.Ones(width).To(in.device), Bias: tensor.Zeros(width).To(in.device)}
	}
	m := transformer{Tokens: nn.Embedding{Weight: in.floats(0.1, vocabulary, width)}, Positions: in.floats(0.1, length, width)}
	for range layers {
		m.Blocks = append(m.Blocks, block{
			Norm1: norm(), Norm2: norm(),
			QKV: in.linear(width, 3*width), Out: in.linear(width, width),
			Up: in.linear(width, 4*width), Down: in.linear(4*width, width),
		})
	}
	m.Norm, m.Head = norm(), in.linear(width, vocabulary)
	return m
}

// Apply maps tokens of shape [batch length] to logits, [batch length vocabulary].
func (m transformer) Apply(ids tensor.Tensor) tensor.Tensor {
	x := m.Tokens.Apply(ids).Add(m.Positions)
	past := tensor.Ones(length, length).Tril(0).Eq(1)
	for _, b := range m.Blocks {
		x = x.Add(b.attend(b.Norm1.Apply(x), past))
		x = x.Add(b.Down.Apply(b.Up.Apply(b.Norm2.Apply(x)).GELU()))
	}
	return m.Head.Apply(m.Norm.Apply(x))
}

// attend returns the attention of x, [batch length width], to positions in the past.
func (b block) attend(x, past tensor.Tensor) tensor.Tensor {
	qkv := b.QKV.Apply(x)
	split := func(i int) tensor.Tensor { // [batch heads length width/heads]
		return qkv.Slice(-1, i*width, (i+1)*width).Reshape(batch, length, heads, width/heads).Transpose(1, 2)
	}
	q, k, v := split(0), split(1), split(2)
	scores := q.MatMul(k.T()).Mul(1 / math.Sqrt(width/heads))
	p := tensor.Where(past, scores, math.Inf(-1)).Softmax(-1)
	return b.Out.Apply(p.MatMul(v).Transpose(1, 2).Reshape(batch, length, width))
}

func trainTransformer(in *inputs) func() (tensor.Tensor, error) {
	ids, targets := in.ints(vocabulary, batch, length), in.ints(vocabulary, batch, length)
	return trained(newTransformer(in), func(m transformer) tensor.Tensor {
		return nn.CrossEntropy(m.Apply(ids), targets).Mean()
	})
}
