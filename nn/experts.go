package nn

import (
	"github.com/tensorken/tensorken/tensor"
)

// A MixtureOfExperts sends each row to the TopK experts for which Gate has the greatest
// logits, and adds up their results, weighted by the softmax of these logits, as Mixtral
// does.
//
// All experts compute all rows, and results of experts that were not chosen are dropped:
// shapes do not depend on the choice, so all batches share one plan. It takes
// len(Experts)/TopK times the arithmetic that the chosen experts need.
//
// Source: Jiang et al., "Mixtral of Experts", 2024; Shazeer et al., "Outrageously Large Neural
// Networks: The Sparsely-Gated Mixture-of-Experts Layer", 2017.
type MixtureOfExperts struct {
	Gate    Linear // to one logit an expert
	Experts []GatedFeedForward
	TopK    int // 0 is 2
	// Unnormalized weights are parts of the softmax over all experts, as in Qwen 2, and add up to less than 1.
	Unnormalized bool
}

// NewMixtureOfExperts returns a layer of experts, made by [NewSwiGLU]; topK of them compute
// a row.
func NewMixtureOfExperts(rng *tensor.RNG, width, hidden, experts, topK int) MixtureOfExperts {
	l := MixtureOfExperts{Gate: Linear{Weight: NewLinear(rng, width, experts).Weight}, TopK: topK}
	for range experts {
		l.Experts = append(l.Experts, NewSwiGLU(rng, width, hidden))
	}
	l.check()
	return l
}

func (l MixtureOfExperts) check() int {
	k := l.TopK
	if k == 0 {
		k = 2
	}
	if k < 1 || k > len(l.Experts) {
		fail("MixtureOfExperts", "TopK is %d, want 1 to the number of experts, %d", k, len(l.Experts))
	}
	return k
}

// Apply maps x of shape [... width] to the same shape.
func (l MixtureOfExperts) Apply(x tensor.Tensor) tensor.Tensor {
	y, _ := l.Route(x)
	return y
}

// Route returns Apply(x) and the logits of the gate, [... experts], for [LoadBalance].
func (l MixtureOfExperts) Route(x tensor.Tensor) (y, logits tensor.Tensor) {
	defer named("MixtureOfExperts")
	k := l.check()
	logits = l.Gate.Apply(x)
	if logits.Dim(-1) != len(l.Experts) {
		fail("MixtureOfExperts", "Gate has %d outputs for %d experts", logits.Dim(-1), len(l.Experts))
	}
	best, chosen := logits.TopK(-1, k)
	weights := best.Softmax(-1)
	if l.Unnormalized {
		weights = logits.Softmax(-1).TakeAlong(-1, chosen)
	}
	for i, e := range l.Experts {
		here := chosen.Eq(i)
		weight := tensor.Where(here, weights, 0).Sum(-1)
		part := tensor.Where(here.Any(-1), e.Apply(x).Mul(weight), 0) // although it may be infinite
		if i > 0 {
			part = y.Add(part)
		}
		y = part
	}
	return y, logits
}

// LoadBalance returns a loss, a scalar, that is least if a gate with logits [... experts]
// chooses all experts equally often: experts·Σ f·p, where f is an expert's part of the rows,
// topK in all, and p its mean probability. Mixtral adds 0.001 to 0.02 times the loss. For the
// layers of a model, concatenate their logits.
//
// Source: Fedus, Zoph, Shazeer, "Switch Transformers", 2022, and, for topK > 1, Hugging Face's
// Mixtral.
func LoadBalance(logits tensor.Tensor, topK int) tensor.Tensor {
	defer named("LoadBalance")
	if logits.Rank() == 0 || topK < 1 || topK > logits.Dim(-1) {
		fail("LoadBalance", "topK is %d for logits %v, want 1 to the number of experts", topK, logits.Shape())
	}
	experts := logits.Dim(-1)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		logits := ts[0].Reshape(-1, experts)
		_, chosen := logits.TopK(-1, topK)
		f := chosen.OneHot(experts).Cast(logits.DType()).Sum(1).Mean(0)
		return f.Mul(logits.Softmax(-1).Mean(0)).Sum().Mul(experts)
	}, logits)
}
