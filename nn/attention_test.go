package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/grad/gradtest"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// attentions has settings of an Attention of 4 heads of width 6, for keys of 2 or 4.
var attentions = map[string]nn.Attention{
	"plain":           {},
	"causal":          {Causal: true},
	"grouped queries": {Causal: true, KVHeads: 2},
	"one head of K":   {Causal: true, KVHeads: 1},
	"rotary":          {Causal: true, KVHeads: 2, Rotary: nn.Rotary{Base: 100}},
	"partial rotary":  {Causal: true, Rotary: nn.Rotary{Base: 100, Width: 4, Interleaved: true}},
	"YaRN":            {Causal: true, Rotary: nn.Rotary{Base: 100, Scaling: nn.YaRNScaling{Factor: 2, Length: 20}}},
	"window":          {Causal: true, Window: 3, KVHeads: 2},
	"both sides":      {Window: 2},
	"soft cap":        {Causal: true, SoftCap: 0.5, Scale: 1},
	"ALiBi":           {Causal: true, KVHeads: 2, ALiBi: true},
	"ALiBi, acausal":  {ALiBi: true},
	"norms of heads": {
		Causal: true, KVHeads: 2, Rotary: nn.Rotary{Base: 100},
		QNorm: &nn.RMSNorm{Weight: tensor.Arange(6).Add(1).Mul(tensor.Scalar(0.2))}, KNorm: &nn.RMSNorm{Weight: tensor.Arange(6).Mul(tensor.Scalar(-0.3))},
	},
}

// newAttention returns a layer with the settings of l and random weights, 8 to 8.
func newAttention(rng *tensor.RNG, l nn.Attention) nn.Attention {
	l.Heads = 4
	shared := 4
	if l.KVHeads > 0 {
		shared = l.KVHeads
	}
	l.Q, l.O = nn.NewLinear(rng, 8, 24), nn.NewLinear(rng, 24, 8)
	l.K, l.V = nn.NewLinear(rng, 8, 6*shared), nn.NewLinear(rng, 8, 6*shared)
	return l
}

// defined is the result of an Attention for x, [time 8] of float64, by loops over heads,
// queries and keys.
func defined(t *testing.T, l nn.Attention, x tensor.Tensor, allowed func(i, j int) bool) tensor.Tensor {
	t.Helper()
	n, shared := x.Dim(0), l.K.Weight.Dim(0)/6
	scale := l.Scale
	if scale == 0 {
		scale = 1 / math.Sqrt(6)
	}
	var heads []tensor.Tensor
	for h := range 4 {
		g := h / (4 / shared)
		part := func(p nn.Linear, h int) tensor.Tensor { return p.Apply(x).Slice(1, 6*h, 6*h+6) }
		q, k := part(l.Q, h), part(l.K, g)
		if l.QNorm != nil {
			q, k = l.QNorm.Apply(q), l.KNorm.Apply(k)
		}
		q, k = l.Rotary.Apply(q, tensor.Arange(n)), l.Rotary.Apply(k, tensor.Arange(n))
		s := numbers(t, q.MatMul(k.T()).Mul(scale))
		for i := range n {
			sum := 0.0
			for j := range n {
				v := &s[i*n+j]
				if l.SoftCap > 0 {
					*v = l.SoftCap * math.Tanh(*v/l.SoftCap)
				}
				if l.ALiBi {
					*v -= math.Abs(float64(i-j)) * math.Pow(2, -2*float64(h+1))
				}
				if *v = math.Exp(*v); !allowed(i, j) || l.Causal && j > i || l.Window > 0 && (i-j >= l.Window || j-i >= l.Window) {
					*v = 0
				}
				sum += *v
			}
			for j := range n {
				s[i*n+j] /= sum
			}
		}
		heads = append(heads, tensor.New(s, n, n).MatMul(part(l.V, g)))
	}
	return l.O.Apply(tensor.Cat(1, heads...))
}

func TestAttention(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 5, 8).Cast(tensor.Float64)
	all := func(i, j int) bool { return true }
	for name, l := range attentions {
		l = tree.Cast(newAttention(rng, l), tensor.Float64)
		want := tensor.Stack(0, defined(t, l, x.At(0), all), defined(t, l, x.At(1), all))
		near(t, name, l.Apply(x), want, 1e-11)
		near(t, name+", without a batch", l.Apply(x.At(1)), want.At(1), 1e-11)
		for _, d := range []tensor.DType{tensor.Float32, tensor.BFloat16} {
			tol := map[tensor.DType]float64{tensor.Float32: 1e-4, tensor.BFloat16: 0.03}[d]
			near(t, fmt.Sprintf("%s in %v", name, d), tree.Cast(l, d).Apply(x.Cast(d)), want.Cast(d), tol)
		}
		// The last two positions are padding.
		valid := tensor.New([]bool{true, true, true, false, false}, 1, 5)
		want = defined(t, l, x.At(0), func(i, j int) bool { return j < 3 })
		for kind, mask := range map[string]tensor.Tensor{
			"bools":  nn.PaddingMask(valid),
			"floats": tensor.Where(nn.PaddingMask(valid), 0, math.Inf(-1)),
		} {
			got := l.Attend(x.Slice(0, 0, 1), tensor.Tensor{}, mask, nil)
			near(t, name+" with a mask of "+kind, got.At(0).Slice(0, 0, 3), want.Slice(0, 0, 3), 1e-11)
		}
	}
}

// Decode equals Apply, however the positions are split into calls.
func TestDecode(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 6, 8)
	for name, l := range attentions {
		l = newAttention(rng, l)
		l.Causal = true
		want := l.Apply(x)
		for _, parts := range [][]int{{6}, {3, 1, 1, 1}, {1, 1, 1, 1, 1, 1}, {1, 3, 2}} {
			for _, d := range []tensor.DType{tensor.Float32, tensor.Float64, tensor.BFloat16} {
				if testing.Short() && (d == tensor.Float64 || d == tensor.BFloat16 && parts[0] != 3) {
					continue
				}
				l, c := tree.Cast(l, d), l.NewCache(2, 7)
				var rows []tensor.Tensor
				for i, part := range x.Cast(d).Split(1, parts...) {
					if i == 2 { // from here on with a tensor for the position
						c = c.OnDevice()
					}
					var y tensor.Tensor
					y, c = l.Decode(part, c)
					rows = append(rows, y)
				}
				tol := map[tensor.DType]float64{tensor.Float32: 1e-5, tensor.Float64: 1e-5, tensor.BFloat16: 0.03}[d]
				near(t, fmt.Sprintf("%s in parts of %v", name, parts), tensor.Cat(1, rows...), want.Cast(d), tol)
				held := float64(c.Len)
				if len(parts) > 2 {
					held = c.Pos.Item()
				}
				if held != 6 {
					t.Errorf("%s: the cache holds %v positions, want 6", name, held)
				}
			}
		}
	}
}

// Masks of bools and floats are combined with each other, with the cache's and with ALiBi.
func TestDecodeMasked(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 5, 8)
	bias := nn.NewRelativeBias(rng, 4, 4)
	bias.MaxDistance = 6
	some := tensor.New([]bool{true, true, false, true, true, true, true}, 1, 1, 7)
	valid := tensor.New([]bool{true, true, true, true, true, true, true, true, false, true, true, true, true, true}, 2, 7)
	inf := math.Inf(-1)
	for name, mask := range map[string]func(queries, at int) tensor.Tensor{
		"none":    func(queries, at int) tensor.Tensor { return tensor.Tensor{} },
		"bools":   func(queries, at int) tensor.Tensor { return some },
		"floats":  func(queries, at int) tensor.Tensor { return bias.Apply(queries, 7, at) },
		"limited": func(queries, at int) tensor.Tensor { return tensor.Where(some, bias.Apply(queries, 7, at), inf) },
	} {
		for _, alibi := range []bool{false, true} {
			l := newAttention(rng, nn.Attention{Causal: true, KVHeads: 2, ALiBi: alibi})
			for _, padded := range []bool{false, true} {
				c := l.NewCache(2, 7)
				whole := mask(5, 0)
				if whole.IsValid() {
					whole = whole.Slice(-1, 0, 5)
				}
				if padded {
					c.Valid = valid
					floats := tensor.Where(nn.PaddingMask(valid.Slice(1, 0, 5)), 0, inf)
					switch {
					case !whole.IsValid():
						whole = floats
					case whole.DType() == tensor.Bool:
						whole = tensor.Where(whole, floats, inf)
					default:
						whole = whole.Add(floats)
					}
				}
				var rows []tensor.Tensor
				for _, part := range x.Split(1, 2, 1, 2) {
					var y tensor.Tensor
					y, c = l.DecodeMasked(part, mask(part.Dim(1), c.Len), c)
					rows = append(rows, y)
				}
				want := l.Attend(x, tensor.Tensor{}, whole, nil)
				near(t, fmt.Sprintf("a mask of %s, ALiBi %v, padding %v", name, alibi, padded), tensor.Cat(1, rows...), want, 1e-5)
			}
		}
	}
}

// Recall attends to a memory as Attend does.
func TestRecall(t *testing.T) {
	rng := tensor.NewRNG(1)
	x, memory := rng.Normal(2, 3, 8), rng.Normal(2, 5, 8)
	valid := tensor.New([]bool{true, true, true, true, true, true, true, true, false, false}, 2, 5)
	l := newAttention(rng, nn.Attention{KVHeads: 2})
	c := l.Memory(memory)
	near(t, "Recall", l.Recall(x, c), l.Attend(x, memory, tensor.Tensor{}, nil), 1e-6)
	c.Valid = valid
	near(t, "Recall with padding", l.Recall(x, c), l.Attend(x, memory, nn.PaddingMask(valid), nil), 1e-6)
	l.Rotary.Base = 100
	if err := tensor.Try(func() { l.Attend(x, memory, tensor.Tensor{}, nil) }); err == nil {
		t.Error("Rotary for 3 queries and 5 keys: no error")
	}
}

func TestAttentionDerivatives(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 3, 8).Cast(tensor.Float64)
	for _, name := range []string{"rotary", "partial rotary", "soft cap", "ALiBi"} {
		l := tree.Cast(newAttention(rng, attentions[name]), tensor.Float64)
		gradtest.Check(t, func(x tensor.Tensor) tensor.Tensor { return l.Apply(x) }, x.At(0), 2)
		gradtest.Check(t, func(l nn.Attention) tensor.Tensor { return l.Apply(x) }, l, 1)
		near(t, "Vmap of "+name, grad.Vmap(l.Apply)(x), l.Apply(x), 1e-12)
	}
}

func TestAttentionTrain(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(1, 5, 8)
	l := newAttention(rng, nn.Attention{Dropout: 0.5})
	y, _ := nn.Train(l, x, rng)
	if y.Sub(l.Apply(x)).Norm().Item() == 0 {
		t.Error("no dropout with an RNG")
	}
	y, _ = nn.Train(l, x, nil)
	near(t, "without an RNG", y, l.Apply(x), 0)
	m := nn.NewMultiheadAttention(rng, 8, 2)
	y, _ = nn.Train(m, x, rng)
	near(t, "without Dropout", y, m.Apply(x), 1e-6)
	if a := nn.NewAttention(rng, 8, 2); fmt.Sprint(a.Q.Weight.Shape(), a.O.Bias.Shape(), a.Apply(x).Shape()) != "[8 8] [8] [1 5 8]" {
		t.Errorf("NewAttention(rng, 8, 2): Q.Weight %v, O.Bias %v, result %v", a.Q.Weight.Shape(), a.O.Bias.Shape(), a.Apply(x).Shape())
	}
}

func TestAttentionMisuse(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 3, 8)
	l := nn.NewAttention(rng, 8, 2)
	with := func(f func(l *nn.Attention)) func() {
		return func() {
			l := l
			f(&l)
			l.Apply(x)
		}
	}
	c := l.NewCache(2, 4)
	for name, f := range map[string]func(){
		"heads of 3":          func() { nn.NewAttention(rng, 8, 3) },
		"no heads":            with(func(l *nn.Attention) { l.Heads = 0 }),
		"KVHeads of 3":        with(func(l *nn.Attention) { l.KVHeads = 3 }),
		"more KVHeads":        with(func(l *nn.Attention) { l.KVHeads = 4 }),
		"an absent weight":    with(func(l *nn.Attention) { l.K.Weight = tensor.Tensor{} }),
		"a negative window":   with(func(l *nn.Attention) { l.Window = -1 }),
		"an odd rotary":       with(func(l *nn.Attention) { l.Rotary = nn.Rotary{Base: 10, Width: 3} }),
		"a row":               func() { l.Apply(x.At(0, 0)) },
		"another width":       func() { l.Apply(rng.Normal(2, 3, 7)) },
		"too many positions":  func() { l.Decode(rng.Normal(2, 5, 8), c) },
		"another batch":       func() { l.Decode(rng.Normal(1, 1, 8), c) },
		"no cache":            func() { l.Decode(x, nn.KVCache{}) },
		"a mask of integers":  func() { l.Attend(x, tensor.Tensor{}, tensor.New([]int32{1, 1, 0}), nil) },
		"PaddingMask of rows": func() { nn.PaddingMask(tensor.New([]bool{true})) },
		"a layer of PyTorch":  func() { nn.MultiheadAttention{InProjWeight: rng.Normal(8, 8), Heads: 2}.Apply(x) },
	} {
		if err := tensor.Try(f); err == nil {
			t.Errorf("%s: no error", name)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
