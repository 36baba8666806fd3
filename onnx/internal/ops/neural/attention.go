package neural

import (
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Attentions has the functions of transformers.
var Attentions = []op.Row{
	op.New("Attention", op.Many(attention)),
	op.New("FlexAttention", flexAttention).Of("ai.onnx.preview"),
	op.New("LinearAttention", op.Many(linearAttention)),
	op.New("RotaryEmbedding", op.One(rotary)),
	op.New("SwiGLU", op.One(swiGLU)),
}

// Heads takes [batch length heads·width] to [batch heads length width].
func Heads(c *op.Call, x T, heads int) T {
	if heads < 1 || x.Dim(-1)%heads != 0 {
		c.Fail("%d heads, for a width of %d", heads, x.Dim(-1))
	}
	return x.Reshape(x.Dim(0), x.Dim(1), heads, x.Dim(2)/heads).Transpose(1, 2)
}

// joined takes [batch heads length width] to [batch length heads·width].
func joined(x T) T { return x.Transpose(1, 2).Flatten(2) }

// shared repeats heads of keys or values, so that there are n.
func shared(c *op.Call, x T, n int) T {
	if x.Dim(1) < 1 || n%x.Dim(1) != 0 {
		c.Fail("%d heads of queries, and %d of keys", n, x.Dim(1))
	}
	return x.Repeat(1, n/x.Dim(1))
}

// attention returns y, the keys and values after the past ones, and the scores of a stage.
func attention(c *op.Call) []T {
	q, k, v := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	flat := q.Rank() == 3
	if flat {
		kv := c.Int("kv_num_heads", 0)
		q, k, v = Heads(c, q, c.Int("q_num_heads", 0)), Heads(c, k, kv), Heads(c, v, kv)
	}
	scale := c.Float("scale", 1/math.Sqrt(float64(q.Dim(3))))
	past := 0
	if c.Has(4) {
		past = c.Tensor(4).Dim(2)
		k, v = tensor.Cat(2, c.Tensor(4), k), tensor.Cat(2, c.Tensor(5), v)
	}
	d := q.DType()
	half := math.Sqrt(scale) // of both factors, so that halves do not overflow
	raw := q.Mul(half).MatMul(shared(c, k, q.Dim(1)).Mul(half).Transpose(2, 3)).Cast(d)
	scores := raw
	if limit := c.Float("softcap", 0); limit > 0 {
		scores = scores.Div(limit).Tanh().Mul(limit)
	}
	capped := scores
	scores, masked := mask(c, scores, past)
	biased := scores
	if e := c.Elem("softmax_precision", op.ElemOf(d)); e != op.ElemOf(d) {
		scores = scores.Cast(c.DType(e))
	}
	p := scores.Softmax(-1)
	if masked { // a query that sees nothing gives zeros
		p = tensor.Where(scores.Max(-1).Eq(math.Inf(-1)), tensor.ZerosLike(p), p)
	}
	y := p.Cast(d).MatMul(shared(c, v, q.Dim(1)).Cast(d)).Cast(d)
	if flat {
		y = joined(y)
	}
	stages := []T{raw, capped, biased, p.Cast(d)}
	mode := c.Int("qk_matmul_output_mode", 0)
	if mode < 0 || mode >= len(stages) {
		c.Fail("qk_matmul_output_mode is %d", mode)
	}
	return []T{y, k, v, stages[mode]}
}

// mask adds the biases of input 3, or -Inf where a query does not see a key. Queries and keys are at
// positions of one text: the first query is after the keys of the past, or before the end of the keys, which input 6 has.
func mask(c *op.Call, scores T, past int) (_ T, masked bool) {
	queries, keys := scores.Dim(2), scores.Dim(3)
	hide := func(seen T) {
		scores, masked = tensor.Where(seen, scores, math.Inf(-1)), true
	}
	if c.Has(3) {
		m := c.Tensor(3)
		short := keys - m.Dim(-1)
		if m.DType() == tensor.Bool {
			hide(m.Pad(-1, 0, max(short, 0)))
		} else {
			scores, masked = scores.Add(pad(m, m.Rank()-1, 0, max(short, 0), math.Inf(-1))), true
		}
	}
	key := tensor.Arange(keys).Cast(tensor.Int64)
	first := tensor.New([]int64{int64(past)}, 1, 1, 1, 1) // the position of the first query
	if c.Has(6) {
		lengths := c.Tensor(6).Cast(tensor.Int64).Reshape(-1, 1, 1, 1)
		hide(key.Lt(lengths))
		if past == 0 {
			first = lengths.Sub(queries)
		}
	}
	query := tensor.Arange(queries).Cast(tensor.Int64).Reshape(-1, 1).Add(first) // [… queries 1]
	right := c.Int("right_window_size", -1)
	if c.Bool("is_causal", false) {
		right = 0
	}
	if right >= 0 {
		hide(key.Le(query.Add(right)))
	}
	if left := c.Int("left_window_size", -1); left >= 0 {
		hide(key.Ge(query.Sub(left)))
	}
	return scores, masked
}

// flexAttention has graphs that change scores and probabilities.
func flexAttention(c *op.Call) []op.Value {
	q, k, v := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	d := q.DType()
	half := math.Sqrt(c.Float("scale", 1/math.Sqrt(float64(q.Dim(3)))))
	scores := q.Mul(half).MatMul(shared(c, k, q.Dim(1)).Mul(half).Transpose(2, 3)).Cast(d)
	precision := op.ElemOf(d)
	if d.Size() == 2 {
		precision = op.Float
	}
	scores = scores.Cast(c.DType(c.Elem("softmax_precision", precision)))
	change := func(name string, x T) T {
		if c.Attr(name) == nil {
			return x
		}
		out := c.Runner.Body(c.Graph(name), []op.Value{op.Of(x)})
		if len(out) != 1 || out[0].Kind != op.TensorKind {
			c.Fail("%s does not give a tensor", name)
		}
		return out[0].Tensor
	}
	p := change("prob_mod", change("mask_mod", change("score_mod", scores)).Softmax(-1))
	return []op.Value{op.Of(p.Cast(d).MatMul(shared(c, v, q.Dim(1))).Cast(d))}
}

// rotary turns pairs of elements by angles whose cosines and sines are inputs.
func rotary(c *op.Call) T {
	x, cos, sin := c.Tensor(0), c.Tensor(1), c.Tensor(2)
	flat := x.Rank() == 3
	if flat {
		x = Heads(c, x, c.Int("num_heads", 0))
	}
	if c.Has(3) {
		cos, sin = cos.Take(0, c.Tensor(3)), sin.Take(0, c.Tensor(3))
	}
	cos, sin = cos.Unsqueeze(1), sin.Unsqueeze(1) // [batch 1 length half]
	n := c.Int("rotary_embedding_dim", 0)
	if n == 0 {
		n = x.Dim(3)
	}
	rest := x.Slice(-1, n, x.Dim(3))
	x = x.Slice(-1, 0, n)
	a, b := x.Slice(-1, 0, n/2), x.Slice(-1, n/2, n)
	interleaved := c.Bool("interleaved", false)
	if interleaved {
		a, b = x.Slice(-1, 0, n, 2), x.Slice(-1, 1, n, 2)
	}
	real, imaginary := a.Mul(cos).Sub(b.Mul(sin)), a.Mul(sin).Add(b.Mul(cos))
	y := tensor.Cat(-1, real, imaginary)
	if interleaved {
		y = tensor.Stack(-1, real, imaginary).Reshape(x.Shape()...)
	}
	if rest.Dim(-1) > 0 {
		y = tensor.Cat(-1, y, rest)
	}
	if flat {
		return joined(y)
	}
	return y
}

// linearAttention keeps a state, [batch heads keys values], which each step decays, corrects, adds to
// and reads.
func linearAttention(c *op.Call) []T {
	heads, kv := c.Int("q_num_heads", 0), c.Int("kv_num_heads", 0)
	rule := c.String("update_rule", "gated_delta")
	gated, delta := rule == "gated" || rule == "gated_delta", rule == "delta" || rule == "gated_delta"
	if !gated && !delta && rule != "linear" {
		c.Fail("there is no update_rule %q", rule)
	}
	if kv < 1 || heads%kv != 0 || gated != c.Has(4) || delta != c.Has(5) {
		c.Fail("%d heads of queries, %d of keys, and a decay or a beta where update_rule %q has none, or no one", heads, kv, rule)
	}
	d := c.Tensor(0).DType()
	// By steps: [length batch heads …], in float32.
	by := func(i, heads int) T {
		return Heads(c, c.Tensor(i), heads).Permute(2, 0, 1, 3).Cast(tensor.Float32)
	}
	type step struct {
		Q, K, V            T
		Decay, Beta, Erase T `tensor:",optional"`
	}
	xs := step{Q: by(0, heads), K: by(1, kv), V: by(2, kv)}
	width := xs.K.Dim(3)
	if gated {
		xs.Decay = by(4, kv).Exp().Unsqueeze(-1) // of heads, or of their keys
	}
	if delta {
		xs.Beta = by(5, c.Tensor(5).Dim(-1)) // of heads, or one of all
	}
	if c.Has(6) {
		xs.Erase = by(6, kv)
	}
	stateType := d
	state := tensor.Zeros(xs.K.Dim(1), kv, width, xs.V.Dim(3))
	if c.Has(3) {
		state, stateType = c.Tensor(3).Cast(tensor.Float32), c.Tensor(3).DType()
	}
	scale := c.Float("scale", 0)
	if scale == 0 {
		scale = 1 / math.Sqrt(float64(width))
	}
	last, ys := grad.Scan(func(s T, x step) (T, T) {
		if gated {
			s = s.Mul(x.Decay)
		}
		v := x.V
		if delta {
			k := x.K
			if x.Erase.IsValid() {
				k = k.Mul(x.Erase)
			}
			v = v.Sub(k.Unsqueeze(-2).MatMul(s).Squeeze(-2)).Mul(x.Beta)
		}
		s = s.Add(x.K.Unsqueeze(-1).Mul(v.Unsqueeze(-2)))
		return s, x.Q.Unsqueeze(-2).MatMul(s.Repeat(1, heads/kv)).Squeeze(-2).Mul(scale)
	}, state, xs, nil)
	return []T{joined(ys.Permute(1, 2, 0, 3)).Cast(d), last.Cast(stateType)}
}

// swiGLU is the product of x and y, or of the halves of x, gated by the first.
func swiGLU(c *op.Call) T {
	x := c.Tensor(0)
	var y T
	if c.Has(1) {
		y = c.Tensor(1)
	} else {
		parts := x.Chunk(-1, 2)
		x, y = parts[0], parts[1]
	}
	return x.Mul(x.Mul(c.Float("alpha", 1)).Sigmoid()).Mul(y)
}
