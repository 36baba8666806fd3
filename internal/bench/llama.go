package bench

import (
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// llama7B is the first Llama of 6.7 billion parameters, without biases, and its batches.
var llama7B = llamaSize{size{layers: 32, width: 4096, heads: 32, length: 1024, batch: 8, vocabulary: 32000}, 11008}

type llamaSize struct {
	size
	inner int // width of a block's network
}

// A llama is a transformer with rotary positions and gated networks, whose backward pass computes its blocks again.
type llama struct {
	Tokens nn.Embedding
	Blocks []llamaBlock
	Norm   nn.RMSNorm
	Head   nn.Linear
}

type llamaBlock struct {
	Norm1, Norm2               nn.RMSNorm
	Q, K, V, O, Gate, Up, Down nn.Linear
	heads                      int
}

// new returns a model. Each weight is a part of one table, times a number, so that it is made fast.
func (s llamaSize) new(in *inputs) llama {
	table := in.floats(1, max(s.inner, s.vocabulary)*s.width)
	n := 0
	weight := func(out, width int) tensor.Tensor {
		n++
		return table.Slice(0, 0, out*width).Reshape(out, width).Mul((1 + float64(n)/1024) / math.Sqrt(float64(width))).Keep()
	}
	linear := func(width, out int) nn.Linear { return nn.Linear{Weight: weight(out, width)} }
	norm := func() nn.RMSNorm {
		return nn.RMSNorm{Weight: tensor.Ones(s.width).Cast(in.dtype).To(in.device)}
	}
	m := llama{Tokens: nn.Embedding{Weight: weight(s.vocabulary, s.width)}, Norm: norm(), Head: linear(s.width, s.vocabulary)}
	for range s.layers {
		m.Blocks = append(m.Blocks, llamaBlock{
			Norm1: norm(), Norm2: norm(),
			Q: linear(s.width, s.width), K: linear(s.width, s.width), V: linear(s.width, s.width), O: linear(s.width, s.width),
			Gate: linear(s.width, s.inner), Up: linear(s.width, s.inner), Down: linear(s.inner, s.width),
			heads: s.heads,
		})
	}
	return m
}

// Apply maps tokens of shape [batch length] to logits, [batch length vocabulary].
func (m llama) Apply(ids tensor.Tensor) tensor.Tensor {
	type step struct {
		Block llamaBlock
		X     tensor.Tensor
	}
	block := grad.Checkpoint(func(s step) tensor.Tensor { return s.Block.apply(s.X) })
	x := m.Tokens.Apply(ids)
	for _, b := range m.Blocks {
		x = block(step{b, x})
	}
	return m.Head.Apply(m.Norm.Apply(x))
}

func (b llamaBlock) apply(x tensor.Tensor) tensor.Tensor {
	y, rotary, positions := b.Norm1.Apply(x), nn.Rotary{Base: 10000}, tensor.Arange(x.Dim(1))
	split := func(l nn.Linear) tensor.Tensor {
		return l.Apply(y).Reshape(x.Dim(0), x.Dim(1), b.heads, -1).Transpose(1, 2) // [batch heads length width/heads]
	}
	q, k := rotary.Apply(split(b.Q), positions), rotary.Apply(split(b.K), positions)
	x = x.Add(b.O.Apply(tensor.Attention(q, k, split(b.V), &tensor.AttentionOptions{Causal: true}).Transpose(1, 2).Flatten(2)))
	y = b.Norm2.Apply(x)
	return x.Add(b.Down.Apply(b.Gate.Apply(y).SiLU().Mul(b.Up.Apply(y))))
}

// train makes a model whose parameters have the type of the inputs, and returns its step.
func (s llamaSize) train(in *inputs, o *optim.Optimizer) func() (tensor.Tensor, error) {
	b := batch{in.ints(uint32(s.vocabulary), s.batch, s.length), in.ints(uint32(s.vocabulary), s.batch, s.length)}
	return trained(o, s.new(in), b, func(m llama, b batch) tensor.Tensor {
		return nn.CrossEntropy(m.Apply(b.X).Cast(tensor.Float32), b.Y).Mean()
	})
}
