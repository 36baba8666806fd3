package optim_test

import (
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
)

// A transformer is a language model so small that its steps take no longer than building
// the graph, finding the plan and calling its kernels.
type transformer struct {
	Tokens, Positions nn.Embedding
	Layers            []transformerLayer
	Norm              nn.LayerNorm
}

type transformerLayer struct {
	Norm1, Norm2   nn.LayerNorm
	Attention, Out nn.Linear
	Up, Down       nn.Linear
}

func newTransformer(rng *tensor.RNG, layers, width, vocabulary, length int) transformer {
	m := transformer{Tokens: nn.NewEmbedding(rng, vocabulary, width), Positions: nn.NewEmbedding(rng, length, width), Norm: nn.NewLayerNorm(width)}
	linear := func(in, out int) nn.Linear { return nn.NewLinear(rng, in, out) }
	for range layers {
		m.Layers = append(m.Layers, transformerLayer{
			Norm1: nn.NewLayerNorm(width), Norm2: nn.NewLayerNorm(width),
			Attention: linear(width, 3*width), Out: linear(width, width),
			Up: linear(width, 4*width), Down: linear(4*width, width),
		})
	}
	return m
}

func (m transformer) Apply(ids tensor.Tensor, heads int) tensor.Tensor {
	b, t := ids.Dim(0), ids.Dim(1)
	x := m.Tokens.Apply(ids).Add(m.Positions.Weight)
	past := tensor.Ones(t, t).Tril(0).Eq(1)
	for _, l := range m.Layers {
		qkv := l.Attention.Apply(l.Norm1.Apply(x)).Reshape(b, t, 3, heads, -1).Transpose(1, 3)
		q, k, v := qkv.Index(tensor.All, tensor.All, 0), qkv.Index(tensor.All, tensor.All, 1), qkv.Index(tensor.All, tensor.All, 2)
		scores := q.MatMul(k.T()).Div(math.Sqrt(float64(q.Dim(-1))))
		p := tensor.Where(past, scores, math.Inf(-1)).Softmax(-1)
		x = x.Add(l.Out.Apply(p.MatMul(v).Transpose(1, 2).Reshape(b, t, -1)))
		x = x.Add(l.Down.Apply(l.Up.Apply(l.Norm2.Apply(x)).GELU()))
	}
	return m.Norm.Apply(x).MatMul(m.Tokens.Weight.T())
}

// BenchmarkTinyTransformer is a step of Adam of 4 layers of width 8, a graph of about 2,400
// nodes and 140 kernels.
func BenchmarkTinyTransformer(b *testing.B) {
	const layers, width, heads, vocabulary, length = 4, 8, 2, 16, 8
	rng := tensor.NewRNG(1)
	m := newTransformer(rng, layers, width, vocabulary, length)
	ids := rng.Ints(vocabulary, 1, length+1)
	x, y := ids.Slice(1, 0, length), ids.Slice(1, 1, length+1)
	opt := optim.New(optim.Adam{}, 1e-3)
	loss := func(m transformer) tensor.Tensor { return nn.CrossEntropy(m.Apply(x, heads), y).Mean() }
	step := func() {
		_, g := grad.ValueAndGrad(loss)(m)
		if err := opt.Step(&m, g); err != nil {
			b.Fatal(err)
		}
	}
	step()
	b.ReportAllocs()
	for b.Loop() {
		step()
	}
}
