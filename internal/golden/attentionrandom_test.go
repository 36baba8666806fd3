package golden

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/ir"
	"github.com/tensorken/tensorken/tensor"
)

// A form is attention written in some way, by random choices that have names.
type form struct {
	rng   *rand.Rand
	names []string
}

// one chooses a name.
func (f *form) one(names ...string) string {
	n := names[f.rng.IntN(len(names))]
	f.names = append(f.names, n)
	return n
}

// attend is the value of attention to keys and values, [batch heads length width], and other results.
func (f *form) attend(q, k, v, bias, mask tensor.Tensor) []tensor.Tensor {
	heads := q.Dim(1)
	if n := heads / k.Dim(1); n > 1 {
		repeat := func(x tensor.Tensor) tensor.Tensor {
			b, h, t, w := x.Dim(0), x.Dim(1), x.Dim(2), x.Dim(3)
			return x.Unsqueeze(2).Expand(b, h, n, t, w).Reshape(b, h*n, t, w)
		}
		switch f.one("repeated heads", "split heads", "options") {
		case "repeated heads":
			k, v = repeat(k), repeat(v)
		case "split heads":
			q = q.Reshape(q.Dim(0), k.Dim(1), n, q.Dim(2), q.Dim(3))
			k, v, bias = k.Unsqueeze(2), v.Unsqueeze(2), bias.Reshape(k.Dim(1), n, bias.Dim(1), bias.Dim(2))
		default:
			o := &tensor.AttentionOptions{Mask: mask, Causal: f.rng.IntN(2) == 0, Window: f.rng.IntN(3), Offset: f.rng.IntN(3)}
			return []tensor.Tensor{tensor.Attention(q, k, v, o)}
		}
	}
	s := q.MatMul(k.T())
	for range f.rng.IntN(3) {
		switch f.one("scale", "bias", "cap", "mask", "causal", "product") {
		case "scale":
			s = s.Mul(0.3)
		case "bias":
			s = s.Add(bias)
		case "cap":
			s = s.Div(2).Tanh().Mul(2)
		case "mask":
			s = tensor.Where(mask, s, math.Inf(-1))
		case "causal":
			at := func(n int) tensor.Tensor { return tensor.Arange(n).To(q.Device()) }
			s = tensor.Where(at(s.Dim(-1)).Le(at(s.Dim(-2)).Unsqueeze(1)), s, -1e30)
		default:
			s = s.Add(q.Exp().MatMul(k.Neg().T()).Mul(0.1))
		}
	}
	var p tensor.Tensor
	switch f.one("softmax", "exponentials", "logarithm") {
	case "softmax":
		p = s.Softmax(-1)
	case "exponentials":
		e := s.Sub(s.Max(-1)).Exp()
		p = e.Div(e.Sum(-1))
	default:
		p = s.LogSoftmax(-1).Exp()
	}
	switch f.one("weights", "masked weights", "scaled weights") {
	case "masked weights":
		p = tensor.Where(bias.Gt(-0.5), p.Mul(1.5), tensor.ZerosLike(p))
	case "scaled weights":
		p = p.Mul(s.Sum(-1).Tanh().Add(2))
	}
	y := p.MatMul(v)
	switch f.one("result", "function of it", "other axes") {
	case "function of it":
		y = y.Mul(y).Add(y.Tanh())
	case "other axes":
		y = y.Transpose(-2, -3).Mul(2)
	}
	switch f.one("", "", "", "sums too", "scores too", "weights too", "sums of columns too", "another product too") {
	case "sums too":
		return []tensor.Tensor{y, s.LogSumExp(-1)}
	case "scores too":
		return []tensor.Tensor{y, s.Clamp(-9, 9)}
	case "weights too":
		return []tensor.Tensor{y, p}
	case "sums of columns too":
		return []tensor.Tensor{y, p.Sum(-2)}
	case "another product too":
		return []tensor.Tensor{y, p.MatMul(v.Cos())}
	}
	return []tensor.Tensor{y}
}

// TestRandomAttention compares attention and its gradients, written in random ways, in kernels of attention with
// those without. The kernels are interpreted.
func TestRandomAttention(t *testing.T) {
	compile.Verify()
	n := 600
	if testing.Short() {
		n = 40
	}
	plain := tensor.NewDevice(cpu.New(cpu.Options{}))
	kernels := 0
	for i := range n {
		results := func(d *tensor.Device) (list []tensor.Tensor, f *form) {
			rng := rand.New(rand.NewPCG(7, uint64(i)))
			f = &form{rng: rng}
			size := func(least, most int) int { return least + rng.IntN(most-least+1) }
			normal := func(dims ...int) tensor.Tensor {
				x := make([]float32, tensor.Zeros(dims...).Len())
				for i := range x {
					x[i] = float32(rng.NormFloat64())
				}
				return tensor.New(x, dims...).To(d)
			}
			b, h, group, queries, keys := size(1, 2), size(1, 2), size(1, 2), size(2, 5), size(3, 6)
			w, across := size(2, 3), size(2, 3)
			in := [3]tensor.Tensor{normal(b, h*group, queries, w), normal(b, h, keys, w), normal(b, h, keys, across)}
			if f.one("heads first", "heads later") == "heads later" {
				for i, x := range in {
					in[i] = normal(x.Dim(0), x.Dim(2), x.Dim(1), x.Dim(3)).Transpose(1, 2)
				}
			}
			bias, mask := normal(h*group, queries, keys), normal(queries, keys).Gt(-1)
			loss := func(x [3]tensor.Tensor) tensor.Tensor {
				choices := *rng // the same for each call
				g := &form{rng: rand.New(rand.NewPCG(choices.Uint64(), 1))}
				defer func() { f.names = append(f.names, g.names...) }()
				list = g.attend(x[0], x[1], x[2], bias, mask)
				if g.one("once", "once", "twice") == "twice" && list[0].Dim(-1) == w && list[0].Rank() == 4 && list[0].Dim(1) == h*group {
					list = g.attend(list[0], x[1], x[2], bias, mask)
				}
				sum := tensor.Zeros().To(d)
				for _, x := range list {
					sum = sum.Add(x.Mul(x.Cos()).Sum())
				}
				return sum
			}
			switch f.one("values", "gradients", "gradients", "checkpoint", "second derivatives") {
			case "values":
				loss(in)
			case "gradients":
				y, g := grad.ValueAndGrad(loss)(in)
				list = []tensor.Tensor{y, g[0], g[1], g[2]}
			case "second derivatives":
				_, g := grad.ValueAndGrad(func(x [3]tensor.Tensor) tensor.Tensor {
					g := grad.Of(loss)(x)
					return g[0].Square().Sum().Add(g[1].Square().Sum()).Add(g[2].Square().Sum())
				})(in)
				list = g[:]
			default:
				y, g := grad.ValueAndGrad(grad.Checkpoint(loss))(in)
				list = []tensor.Tensor{y, g[0], g[1], g[2]}
			}
			return list, f
		}
		ref := drivertest.Oracle()
		ref.Loops = ir.LoopLimits{Bytes: 1 << 10, Rows: 4, Columns: 2, Attention: 8, AttentionBytes: 1 << 20, Scores: i / 2 % 2, Skips: i/4%2 == 1}
		ref.Machine.Halves = float64((i + 1) % 2)
		want, f := results(plain)
		got, _ := results(tensor.NewDevice(ref))
		if err := errors.Join(tensor.Eval(want), tensor.Eval(got)); err != nil {
			t.Fatalf("form %d, %q: %v", i, f.names, err)
		}
		kernels += ref.Templates["attention"]
		for k := range want {
			a, b := flat(t, want[k]), flat(t, got[k])
			for j := range a {
				if a[j] != b[j] && !(math.Abs(a[j]-b[j]) <= 1e-2*(1+math.Abs(a[j]))) && !(a[j] != a[j] && b[j] != b[j]) {
					t.Errorf("form %d, %q: result %d, element %d is %v, want %v", i, f.names, k, j, b[j], a[j])
					break
				}
			}
		}
	}
	if kernels < n {
		t.Errorf("%d kernels of attention in %d forms", kernels, n)
	}
}

// The result of attention may be a score of the next, and weights multiply weights.
func TestAttentionChain(t *testing.T) {
	compile.Verify()
	run := func(d *tensor.Device) []float64 {
		rng := tensor.NewRNG(1)
		x := [3]tensor.Tensor{rng.Normal(5, 6).To(d), rng.Normal(6, 6).To(d), rng.Normal(6, 6).To(d)}
		f := func(x [3]tensor.Tensor) tensor.Tensor {
			p := x[0].MatMul(x[1].T()).Softmax(1)
			o := p.MatMul(x[2])
			q := o.Softmax(1).MatMul(x[1])
			z := q.Softmax(1).MatMul(x[2].T()).Softmax(1)
			return z.MatMul(x[0].T()).Add(p.MatMul(p.T())).Square().Sum()
		}
		y, g := grad.ValueAndGrad(f)(x)
		out := flat(t, y)
		for _, x := range g {
			out = append(out, flat(t, x)...)
		}
		return out
	}
	want := run(tensor.NewDevice(cpu.New(cpu.Options{})))
	for _, halves := range []float64{0, 1} {
		ref := drivertest.Oracle()
		ref.Loops = ir.LoopLimits{Bytes: 1 << 10, Rows: 4, Columns: 2, Attention: 8, AttentionBytes: 1 << 20}
		ref.Machine.Halves = halves
		got := run(tensor.NewDevice(ref))
		if ref.Templates["attention"] == 0 {
			t.Error("no kernel is of attention")
		}
		for i := range want {
			if d := want[i] - got[i]; d > 1e-4 || d < -1e-4 {
				t.Errorf("element %d is %v, want %v", i, got[i], want[i])
			}
		}
	}
}
