package nn_test

import (
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/safetensors"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A reference has layers of PyTorch, made by testdata/transformer.py.
type reference struct {
	Encoder struct {
		Model       nn.TransformerEncoderLayer
		X, Valid, Y tensor.Tensor
	}
	Stack struct {
		Model nn.TransformerEncoder
		X, Y  tensor.Tensor
	}
	Decoder, DecoderFirst decoderCase
}

type decoderCase struct {
	Model               nn.TransformerDecoderLayer
	X, Memory, Valid, Y tensor.Tensor
}

func loadReference(t *testing.T) (r reference) {
	t.Helper()
	r.Encoder.Model.SelfAttn.Heads = 2
	r.Encoder.Model.Act = tensor.Tensor.GELU
	r.Stack.Model.Layers = make([]nn.TransformerEncoderLayer, 2)
	for i := range r.Stack.Model.Layers {
		l := &r.Stack.Model.Layers[i]
		l.SelfAttn.Heads, l.NormFirst = 4, true
	}
	for i, c := range []*decoderCase{&r.Decoder, &r.DecoderFirst} {
		l := &c.Model
		l.SelfAttn.Heads, l.MultiheadAttn.Heads, l.SelfAttn.Causal, l.NormFirst = 2, 2, true, i == 1
	}
	if err := safetensors.Load("testdata/transformer.safetensors", &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTransformerLayers(t *testing.T) {
	r := loadReference(t)
	e := r.Encoder
	masked := e.Model.ApplyMasked(e.X, nn.PaddingMask(e.Valid), nil)
	// PyTorch's rows of padding are of no use.
	kept := e.Valid.Unsqueeze(2)
	near(t, "encoder layer with padding", tensor.Where(kept, masked, 0), tensor.Where(kept, e.Y, 0), 1e-5)
	near(t, "stack of encoder layers", r.Stack.Model.Apply(r.Stack.X), r.Stack.Y, 1e-5)
	for name, c := range map[string]decoderCase{"decoder layer": r.Decoder, "decoder layer, norms first": r.DecoderFirst} {
		padding := nn.PaddingMask(c.Valid)
		near(t, name, c.Model.ApplyMasked(c.X, c.Memory, tensor.Tensor{}, padding, nil), c.Y, 1e-5)

		cache := c.Model.NewCache(c.Memory, 7)
		cache.Memory.Valid = c.Valid
		var rows []tensor.Tensor
		for _, x := range c.X.Split(1, 2, 1, 2) {
			var y tensor.Tensor
			y, cache = c.Model.Decode(x, cache)
			rows = append(rows, y)
		}
		near(t, name+", with a cache", tensor.Cat(1, rows...), c.Y, 1e-5)
	}
}

// Layers of the constructors train: gradients reach all tensors, and dropout differs from
// call to call, only with an RNG.
func TestTransformerTrains(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, memory := rng.Normal(2, 5, 8), rng.Normal(2, 3, 8)
	norm := nn.NewLayerNorm(8)
	type model struct {
		Encoder nn.TransformerEncoder
		Decoder nn.TransformerDecoder
	}
	m := model{
		nn.TransformerEncoder{Layers: []nn.TransformerEncoderLayer{nn.NewTransformerEncoderLayer(rng, 8, 2, 16)}, Norm: &norm},
		nn.TransformerDecoder{Layers: []nn.TransformerDecoderLayer{nn.NewTransformerDecoderLayer(rng, 8, 2, 16), nn.NewTransformerDecoderLayer(rng, 8, 2, 16)}},
	}
	apply := func(m model, rng *tensor.RNG) tensor.Tensor {
		y, _ := nn.Train(m.Encoder, memory, rng)
		return m.Decoder.ApplyMasked(x, y, tensor.Tensor{}, tensor.Tensor{}, rng)
	}
	loss := func(m model) tensor.Tensor { return apply(m, rng).Pow(3).Mul(rng.Normal(2, 5, 8)).Sum() }
	for name, g := range tree.All(grad.Of(loss)(m)) {
		if g.Norm().Item() == 0 && name != "x" {
			t.Errorf("the gradient of %s is 0", name)
		}
	}
	near(t, "without an RNG", apply(m, nil), m.Decoder.Apply(x, m.Encoder.Apply(memory)), 1e-6)
	a, b := apply(m, rng), apply(m, rng)
	if a.Sub(b).Norm().Item() == 0 {
		t.Error("two calls with an RNG drop the same elements")
	}
	caches := m.Decoder.NewCaches(memory, 5)
	y, caches := m.Decoder.Decode(x, caches)
	near(t, "TransformerDecoder.Decode", y, m.Decoder.Apply(x, memory), 1e-5)
	if caches[1].Self.Len != 5 || caches[1].Memory.Len != 3 {
		t.Errorf("caches hold %d and %d positions, want 5 and 3", caches[1].Self.Len, caches[1].Memory.Len)
	}
	if err := tensor.Try(func() { m.Decoder.Decode(x, caches[:1]) }); err == nil {
		t.Error("Decode with one cache for two layers: no error")
	}
}
