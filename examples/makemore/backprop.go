package main

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tensorken/tensorken/examples/internal/names"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/plot"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// The network of the lecture "Becoming a Backprop Ninja": an embedding, a linear layer, batch
// norm, a tanh and a linear layer.
type ninja struct {
	C, W1, B1, BNGain, BNBias, W2, B2 tensor.Tensor
}

const (
	ninjaWidth = 64
	ninjaBatch = 32
	bnEps      = 1e-5
)

func newNinja(rng *tensor.RNG) ninja {
	const embedding, time = 10, 3
	normal := func(sigma float64, shape ...int) tensor.Tensor { return rng.Normal(shape...).Mul(sigma).Keep() }
	return ninja{
		C: normal(1, symbols, embedding), W1: normal(0.3, time*embedding, ninjaWidth), B1: normal(0.1, ninjaWidth),
		// Not 1 and 0, so that no mistake is hidden.
		BNGain: normal(0.1, 1, ninjaWidth).Add(1), BNBias: normal(0.1, 1, ninjaWidth),
		W2: normal(0.1, ninjaWidth, symbols), B2: normal(0.1, symbols),
	}
}

// values are the intermediate results of the forward pass, or their gradients, by name.
type values map[string]tensor.Tensor

// forward computes the loss in steps small enough to derive each by hand. It adds a probe, a
// zero of its shape, to each step that has one: the gradient of the probe is the step's.
func (p ninja) forward(e examples, probes values) (loss tensor.Tensor, v values) {
	v = values{}
	n := e.X.Dim(0)
	step := func(name string, t tensor.Tensor) tensor.Tensor {
		if probe, ok := probes[name]; ok {
			t = t.Add(probe)
		}
		v[name] = t
		return t
	}
	emb := step("emb", p.C.Take(0, e.X))
	embcat := step("embcat", emb.Reshape(n, -1))
	hprebn := step("hprebn", embcat.MatMul(p.W1).Add(p.B1))
	bnmean := step("bnmean", hprebn.Mean(0))
	bndiff := step("bndiff", hprebn.Sub(bnmean))
	bndiff2 := step("bndiff2", bndiff.Square())
	bnvar := step("bnvar", bndiff2.Sum(0).Div(n-1))
	bnvarInv := step("bnvar_inv", bnvar.Add(bnEps).Rsqrt())
	bnraw := step("bnraw", bndiff.Mul(bnvarInv))
	hpreact := step("hpreact", bnraw.Mul(p.BNGain).Add(p.BNBias))
	h := step("h", hpreact.Tanh())
	logits := step("logits", h.MatMul(p.W2).Add(p.B2))
	maxes := step("logit_maxes", logits.Max(1))
	normLogits := step("norm_logits", logits.Sub(maxes))
	counts := step("counts", normLogits.Exp())
	sum := step("counts_sum", counts.Sum(1))
	sumInv := step("counts_sum_inv", sum.Reciprocal())
	probs := step("probs", counts.Mul(sumInv))
	logprobs := step("logprobs", probs.Log())
	return logprobs.TakeAlong(1, e.Y.Unsqueeze(1)).Mean().Neg(), v
}

// backward is the backward pass by hand: the gradient of each step from the gradients of
// the steps that use it.
func (p ninja) backward(e examples, v values) (values, ninja) {
	n := e.X.Dim(0)
	d := values{}
	isLabel := oneHot(e.Y)
	d["logprobs"] = isLabel.Div(-n)
	d["probs"] = d["logprobs"].Div(v["probs"])
	d["counts_sum_inv"] = v["counts"].Mul(d["probs"]).Sum(1)
	d["counts_sum"] = d["counts_sum_inv"].Mul(v["counts_sum_inv"].Square()).Neg()
	d["counts"] = v["counts_sum_inv"].Mul(d["probs"]).Add(d["counts_sum"]) // used twice
	d["norm_logits"] = v["counts"].Mul(d["counts"])
	d["logit_maxes"] = d["norm_logits"].Sum(1).Neg()
	isMax := oneHot(v["logits"].ArgMax(1))
	d["logits"] = d["norm_logits"].Add(isMax.Mul(d["logit_maxes"]))
	d["h"] = d["logits"].MatMul(p.W2.T())
	d["hpreact"] = tensor.Scalar(1).Sub(v["h"].Square()).Mul(d["h"])
	d["bnraw"] = p.BNGain.Mul(d["hpreact"])
	d["bnvar_inv"] = v["bndiff"].Mul(d["bnraw"]).Sum(0)
	d["bnvar"] = v["bnvar_inv"].Pow(3).Mul(-0.5).Mul(d["bnvar_inv"])
	d["bndiff2"] = d["bnvar"].Div(n-1).Expand(n, -1)
	d["bndiff"] = v["bnvar_inv"].Mul(d["bnraw"]).Add(v["bndiff"].Mul(2).Mul(d["bndiff2"]))
	d["bnmean"] = d["bndiff"].Sum(0).Neg()
	d["hprebn"] = d["bndiff"].Add(d["bnmean"].Div(n))
	d["embcat"] = d["hprebn"].MatMul(p.W1.T())
	d["emb"] = d["embcat"].Reshape(v["emb"].Shape()...)
	return d, p.parameters(e, v, d)
}

// parameters returns the gradients of the parameters from the gradients of the steps.
func (p ninja) parameters(e examples, v, d values) ninja {
	rows := e.X.Reshape(-1, 1).Expand(-1, p.C.Dim(1))
	return ninja{
		C:  tensor.ZerosLike(p.C).ScatterAdd(0, rows, d["emb"].Reshape(rows.Shape()...)),
		W1: v["embcat"].T().MatMul(d["hprebn"]), B1: d["hprebn"].Sum(0).Squeeze(0),
		BNGain: v["bnraw"].Mul(d["hpreact"]).Sum(0), BNBias: d["hpreact"].Sum(0),
		W2: v["h"].T().MatMul(d["logits"]), B2: d["logits"].Sum(0).Squeeze(0),
	}
}

// short is backward with two formulas in place of the steps of cross-entropy and of batch
// norm.
func (p ninja) short(e examples, v values) (values, ninja) {
	n := float64(e.X.Dim(0))
	d := values{}
	d["logits"] = v["logits"].Softmax(1).Sub(oneHot(e.Y)).Div(n)
	d["h"] = d["logits"].MatMul(p.W2.T())
	d["hpreact"] = tensor.Scalar(1).Sub(v["h"].Square()).Mul(d["h"])
	byRaw := d["hpreact"].Mul(v["bnraw"]).Sum(0)
	d["hprebn"] = d["hpreact"].Mul(n).Sub(d["hpreact"].Sum(0)).Sub(v["bnraw"].Mul(byRaw).Mul(n / (n - 1))).
		Mul(p.BNGain).Mul(v["bnvar_inv"]).Div(n)
	d["emb"] = d["hprebn"].MatMul(p.W1.T()).Reshape(v["emb"].Shape()...)
	return d, p.parameters(e, v, d)
}

func oneHot(labels tensor.Tensor) tensor.Tensor { return labels.OneHot(symbols).Cast(tensor.Float32) }

// A derived network has probes, and after differentiation the gradients of all.
type derived struct {
	Net    ninja
	Probes values
}

// gradients returns the loss, the steps and the gradients that package grad finds.
func gradients(p ninja, e examples) (loss tensor.Tensor, v values, g derived) {
	_, v = p.forward(e, nil)
	probes := tree.Map(v, func(_ string, t tensor.Tensor) tensor.Tensor { return tensor.ZerosLike(t) })
	return grad.ValueAndGradAux(func(d derived) (tensor.Tensor, values) {
		return d.Net.forward(e, d.Probes)
	})(derived{p, probes})
}

// backprop is the stage that compares gradients by hand with package grad's, and trains with
// both.
func backprop(s *session) error {
	e := contexts(s.data.train, 3)
	size := min(ninjaBatch, e.X.Dim(0))
	batch := examples{e.X.Slice(0, 0, size), e.Y.Slice(0, 0, size)}
	p := newNinja(s.rng())
	_, v, want := gradients(p, batch)
	d, net := p.backward(batch, v)
	shortD, shortNet := p.short(batch, v)
	if err := tensor.Eval(v, want, d, net, shortD, shortNet); err != nil {
		return err
	}
	for _, c := range []struct {
		how string
		got derived
	}{{"step by step", derived{net, d}}, {"with formulas", derived{shortNet, shortD}}} {
		fmt.Fprintf(s.w, "  %s:\n", c.how)
		for name, got := range tree.All(c.got) {
			want := find(want, name)
			_, short, _ := strings.Cut(name, ".") // net.w1, probes.logits
			fmt.Fprintf(s.w, "    %-14s %-9s greatest %.4f, %s\n", short, fmt.Sprint(got.Shape()), want.Abs().Max().Item(), verdict(got, want))
		}
	}
	if err := s.draw("dlogits", func() *plot.Figure {
		f := plot.Heatmap(d["logits"])
		f.Title, f.X.Label, f.Y.Label = "The gradient of the logits", "symbol", "example"
		f.X.Names = strings.Split(names.Alphabet, "")
		return f
	}); err != nil {
		return err
	}
	return s.trainBoth(e)
}

// find returns the tensor of a name in a tree.
func find(v any, name string) tensor.Tensor {
	for n, t := range tree.All(v) {
		if n == name {
			return t
		}
	}
	return tensor.Tensor{}
}

// verdict compares gradients by their largest element.
func verdict(got, want tensor.Tensor) string {
	difference := got.Sub(want).Abs().Max().Item()
	if difference <= 1e-5*want.Abs().Max().Item()+1e-7 {
		return "equal"
	}
	return fmt.Sprintf("differs by %.2g", difference)
}

// trainBoth trains with gradients of package grad and with those by hand.
func (s *session) trainBoth(e examples) error {
	steps := cmp.Or(s.steps, 200)
	byGrad := func(p ninja, b examples) (tensor.Tensor, ninja) {
		return grad.ValueAndGrad(func(p ninja) tensor.Tensor { loss, _ := p.forward(b, nil); return loss })(p)
	}
	byHand := func(p ninja, b examples) (tensor.Tensor, ninja) {
		loss, v := p.forward(b, nil)
		_, g := p.short(b, v)
		return loss, g
	}
	for _, c := range []struct {
		how string
		f   func(p ninja, b examples) (tensor.Tensor, ninja)
	}{{"grad", byGrad}, {"hand", byHand}} {
		rng, mean := s.rng(), 0.0
		p := newNinja(rng)
		for range steps {
			at := rng.Ints(e.X.Dim(0), ninjaBatch)
			loss, g := c.f(p, examples{e.X.Take(0, at), e.Y.Take(0, at)})
			p = descend(p, g)
			if err := tensor.Eval(p, loss); err != nil {
				return err
			}
			mean += loss.Item() / float64(steps)
		}
		fmt.Fprintf(s.w, "  %d steps of gradient descent by %s: mean loss %.4f\n", steps, c.how, mean)
	}
	return nil
}

// descentRate is the learning rate of stages with a loop of their own.
const descentRate = 0.1

// descend returns a model after a step of gradient descent.
func descend[M any](m, g M) M {
	return tree.Zip(m, g, func(_ string, w, g tensor.Tensor) tensor.Tensor {
		if !g.IsValid() { // a running average
			return w
		}
		return w.Sub(g.Mul(descentRate))
	})
}
