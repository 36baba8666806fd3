package models

import (
	"math"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// A GPT2 is a decoder with learned positions.
//
// Source: Radford et al., "Language Models are Unsupervised Multitask Learners", 2019.
type GPT2 struct {
	Transformer struct {
		Wte, Wpe nn.Embedding
		H        []GPT2Block
		LnF      nn.LayerNorm
	}
	LMHead *nn.Linear `tensor:",optional"` // nil if Tied, and in files of the body alone
	Tied   bool       // the weight of the head is Wte's
}

// A GPT2Block is a layer of a [GPT2].
type GPT2Block struct {
	LN1  nn.LayerNorm `tensor:"ln_1"`
	Attn GPT2Attention
	LN2  nn.LayerNorm `tensor:"ln_2"`
	MLP  struct {
		CFc, CProj Conv1D
		Act        nn.Func
	}
}

// A GPT2Attention projects to queries, keys and values by one weight.
type GPT2Attention struct {
	CAttn, CProj Conv1D
	Heads        int
	Scale        float64 // the factor of scores
}

// A Conv1D is a linear layer with a weight [in out].
type Conv1D struct{ Weight, Bias tensor.Tensor }

// Apply maps x of shape [... in] to [... out].
func (l Conv1D) Apply(x tensor.Tensor) tensor.Tensor { return x.MatMul(l.Weight).Add(l.Bias) }

var gpt2Kinds = []string{"gpt2"}

// LoadGPT2 reads a GPT-2 from a folder.
func LoadGPT2(dir string) (*GPT2, error) { return loadKind(dir, gpt2Kinds, loadGPT2) }

func loadGPT2(c config) (*GPT2, error) {
	s := struct {
		Width     int     `config:"n_embd,positive,required"`
		Heads     int     `config:"n_head,positive,required"`
		Layers    int     `config:"n_layer,count,required"`
		Positions int     `config:"n_positions,positive"`
		Vocab     int     `config:"vocab_size,positive"`
		Inner     int     `config:"n_inner"`
		Act       string  `config:"activation_function"`
		Eps       float64 `config:"layer_norm_epsilon,epsilon"`
		Scaled    bool    `config:"scale_attn_weights"`
		ByLayer   bool    `config:"scale_attn_by_inverse_layer_idx"`
		Tied      bool    `config:"tie_word_embeddings"`
	}{Vocab: 50257, Positions: 1024, Act: "gelu_new", Eps: 1e-5, Scaled: true, Tied: true}
	if err := c.read(&s); err != nil {
		return nil, err
	}
	act, err := c.activation("activation_function", s.Act)
	if err != nil {
		return nil, err
	}
	if err := c.divides("n_head", s.Heads, "n_embd", s.Width); err != nil {
		return nil, err
	}
	m := &GPT2{Tied: s.Tied}
	t := &m.Transformer
	t.LnF.Eps = s.Eps
	for i := range s.Layers {
		b := GPT2Block{LN1: nn.LayerNorm{Eps: s.Eps}, LN2: nn.LayerNorm{Eps: s.Eps}, Attn: GPT2Attention{Heads: s.Heads, Scale: 1}}
		if s.Scaled {
			b.Attn.Scale = 1 / math.Sqrt(float64(s.Width/s.Heads))
		}
		if s.ByLayer {
			b.Attn.Scale /= float64(i + 1)
		}
		b.MLP.Act = act
		t.H = append(t.H, b)
	}
	l := layout{base: "transformer", skip: []string{".attn.bias", ".attn.masked_bias"}, biased: not(contains("wte", "wpe", "lm_head"))}
	if err := l.withHead("lm_head", s.Tied).load(c, m); err != nil {
		return nil, err
	}
	sizes := []size{{"wte", t.Wte.Weight, []int{s.Vocab, s.Width}}, {"wpe", t.Wpe.Weight, []int{s.Positions, s.Width}}}
	if s.Inner > 0 && len(t.H) > 0 {
		sizes = append(sizes, size{"mlp.c_fc", t.H[0].MLP.CFc.Weight, []int{s.Width, s.Inner}})
	}
	return m, c.check(sizes...)
}

// Apply maps tokens, [batch time], to the logits of those that follow, [batch time vocabulary].
func (m *GPT2) Apply(ids tensor.Tensor) tensor.Tensor { return m.Logits(m.hidden(ids, newPass(nil))) }

// Logits maps the results of Decode, [... width], to logits [... vocabulary].
func (m *GPT2) Logits(x tensor.Tensor) tensor.Tensor {
	return logits(x, m.LMHead, m.Tied, m.Transformer.Wte)
}

// NewCache returns an empty cache for length positions.
func (m *GPT2) NewCache(batch, length int) Cache {
	return newCache(m.Transformer.H, func(b GPT2Block) (nn.KVCache, tensor.Tensor) {
		w := b.Attn.CProj.Weight
		return nn.NewKVCache(batch, b.Attn.Heads, length, w.Dim(0)/max(b.Attn.Heads, 1)), w
	})
}

// Positions returns the greatest length of a text.
func (m *GPT2) Positions() int { return m.Transformer.Wpe.Weight.Dim(0) }

// Decode implements [Decoder].
func (m *GPT2) Decode(ids tensor.Tensor, c Cache) (tensor.Tensor, Cache) {
	p := newPass(&c)
	return m.hidden(ids, p), p.next
}

func (m *GPT2) hidden(ids tensor.Tensor, p *pass) tensor.Tensor {
	t := m.Transformer
	x := t.Wte.Apply(ids).Add(t.Wpe.Apply(p.positions(ids.Dim(-1))))
	for i, b := range t.H {
		x = x.Add(b.Attn.apply(b.LN1.Apply(x), p, i))
		x = x.Add(b.MLP.CProj.Apply(b.MLP.Act(b.MLP.CFc.Apply(b.LN2.Apply(x)))))
	}
	return t.LnF.Apply(x)
}

func (l GPT2Attention) apply(x tensor.Tensor, p *pass, layer int) tensor.Tensor {
	qkv := l.CAttn.Apply(x).Reshape(x.Dim(0), x.Dim(1), 3, l.Heads, -1).Permute(2, 0, 3, 1, 4)
	q, k, v := qkv.At(0), qkv.At(1), qkv.At(2)
	var y tensor.Tensor
	if p.cache == nil {
		y = tensor.Attention(q, k, v, &tensor.AttentionOptions{Causal: true, Scale: l.Scale})
	} else {
		q = q.Mul(l.Scale * math.Sqrt(float64(q.Dim(-1)))) // Attend divides by the root
		y = p.step(layer, func(c nn.KVCache) (tensor.Tensor, nn.KVCache) { return c.Attend(q, k, v) })
	}
	return l.CProj.Apply(y.Transpose(1, 2).Flatten(2))
}
