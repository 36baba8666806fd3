package nn_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

func TestResidual(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(4, 3)
	l := nn.Residual{Body: nn.Sequential{nn.NewBatchNorm(3), nn.NewLinear(rng, 3, 2)}, Shortcut: nn.Sequential{nn.NewLinear(rng, 3, 2)}}
	near(t, "Residual.Apply", l.Apply(x), l.Body.Apply(x).Add(l.Shortcut.Apply(x)), 1e-6)
	near(t, "Residual without shortcut", nn.Residual{Body: nn.Sequential{nn.Func(tensor.Tensor.Neg)}}.Apply(x), tensor.ZerosLike(x), 0)
	y, next := nn.Train(nn.Sequential{l}, x, rng)
	bn, want := nn.Train(l.Body, x, rng)
	near(t, "Residual.Train", y, bn.Add(l.Shortcut.Apply(x)), 1e-6)
	mean := func(l nn.Sequential) tensor.Tensor { return l[0].(nn.BatchNorm).Mean }
	near(t, "the new running mean", mean(next[0].(nn.Residual).Body), mean(want), 1e-6)
	if err := tensor.Try(func() { nn.Residual{Body: nn.Sequential{nn.NewLinear(rng, 3, 1)}}.Apply(x) }); err == nil {
		t.Error("a body that gives [4 1] for [4 3]: no error")
	}
}

func TestFeedForward(t *testing.T) {
	rng := tensor.NewRNG(1)
	x := rng.Normal(2, 3, 4)
	f, g := nn.NewFeedForward(rng, 4, 6, tensor.Tensor.GELU), nn.NewSwiGLU(rng, 4, 6)
	near(t, "FeedForward", f.Apply(x), f.Down.Apply(f.Up.Apply(x).GELU()), 1e-6)
	f.Act = nil
	near(t, "FeedForward with ReLU", f.Apply(x), f.Down.Apply(f.Up.Apply(x).ReLU()), 1e-6)
	product := func(act nn.Func) tensor.Tensor {
		return act(x.MatMul(g.Gate.Weight.T())).Mul(x.MatMul(g.Up.Weight.T())).MatMul(g.Down.Weight.T())
	}
	near(t, "SwiGLU", g.Apply(x), product(tensor.Tensor.SiLU), 1e-6)
	g.Act = tensor.Tensor.GELU
	near(t, "GeGLU", g.Apply(x), product(tensor.Tensor.GELU), 1e-6)
	if g.Up.Bias.IsValid() {
		t.Error("NewSwiGLU has a bias")
	}
}

// Rows of a mixture are computed one by one, by the experts that are chosen.
func TestMixtureOfExperts(t *testing.T) {
	rng := tensor.NewRNG(1)
	const experts, rows = 5, 7
	for _, k := range []int{1, 2, 5} {
		l := nn.NewMixtureOfExperts(rng, 4, 6, experts, k)
		l.Gate.Weight = rng.Normal(experts, 4).Mul(2)
		x := rng.Normal(1, rows, 4)
		y, logits := l.Route(x)
		var want []tensor.Tensor
		counts, probabilities := make([]float64, experts), make([]float64, experts)
		for r := range rows {
			z := numbers(t, logits.At(0, r))
			sum, row := 0.0, tensor.ZerosOf(tensor.Float32, 4)
			all := 0.0
			for _, v := range z {
				all += math.Exp(v)
			}
			for e, v := range z {
				probabilities[e] += math.Exp(v) / all / rows
				greater := 0
				for _, w := range z {
					if w > v {
						greater++
					}
				}
				if greater < k {
					counts[e] += 1. / rows
					sum += math.Exp(v)
					row = row.Add(l.Experts[e].Apply(x.At(0, r)).Mul(math.Exp(v)))
				}
			}
			want = append(want, row.Div(sum))
		}
		near(t, fmt.Sprintf("MixtureOfExperts of %d", k), y, tensor.Stack(0, want...).Unsqueeze(0), 1e-5)
		near(t, "Apply", l.Apply(x), y, 1e-6)
		balance := 0.0
		for e := range counts {
			balance += counts[e] * probabilities[e] * experts
		}
		near(t, "LoadBalance", nn.LoadBalance(logits, k), tensor.FullOf(tensor.Float32, balance), 1e-5)
	}
	// An expert that overflows where it was not chosen changes nothing.
	l := nn.NewMixtureOfExperts(rng, 4, 6, 2, 1)
	l.Gate.Weight = tensor.From([][]float32{{1, 0, 0, 0}, {-1, 0, 0, 0}})
	l.Experts[1].Down.Weight = l.Experts[1].Down.Weight.Add(math.Inf(1))
	x := tensor.From([][]float32{{1, 2, 3, 4}})
	near(t, "a mixture with an infinite expert", l.Apply(x), l.Experts[0].Apply(x), 1e-6)
	// Equal logits choose the first experts, with equal probabilities.
	if got := nn.LoadBalance(tensor.ZerosOf(tensor.Float32, 6, 4), 2).Item(); math.Abs(got-2) > 1e-6 {
		t.Errorf("LoadBalance of equal probabilities is %v, want topK, 2", got)
	}
}
