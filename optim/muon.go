package optim

import (
	"cmp"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Muon steps a matrix by its averaged gradient, orthogonalized: b ← μ·b + (1-μ)·g, and
// p ← p·(1 - lr·WeightDecay) - lr·a·O(μ·b + (1-μ)·g), where O(x) is about U·Vᵀ for the
// singular value decomposition U·S·Vᵀ of x, and a is √max(1, rows/columns). Parameters
// of more axes, as of convolutions, are matrices of [first axis, all others].
//
// Parameters of fewer axes follow [AdamW] with the same WeightDecay. So should
// embeddings and the last layer, which are matrices too: [Groups] gives them a rule of
// their own, by name, and the learning rate that AdamW needs.
//
// O is five steps of a Newton–Schulz iteration, x ← a·x + b·(x·xᵀ)·x + c·(x·xᵀ)²·x from
// x/‖x‖, which bring singular values to between 0.7 and 1.2.
//
// Source: Jordan et al., "Muon: An optimizer for hidden layers in neural networks",
// 2024, in PyTorch's form; MatchAdamW: Liu et al., "Muon is Scalable for LLM Training",
// 2025.
type Muon struct {
	Momentum    float64 // μ; 0 is 0.95
	WeightDecay float64 // 0 is off; PyTorch's default is 0.1
	Eps         float64 // least norm; 0 is 1e-7
	Plain       bool    // O of b alone, without Nesterov's momentum
	MatchAdamW  bool    // a is 0.2·√max(rows, columns): steps are as long as AdamW's, and so may be lr
}

func (r Muon) slots(p tensor.Tensor) int {
	if p.Rank() < 2 {
		return r.vectors().slots(p)
	}
	return 1
}

// vectors is the rule of parameters that are not matrices.
func (r Muon) vectors() AdamW { return AdamW{WeightDecay: r.WeightDecay} }

// Update implements [Rule]; the slot of a matrix is b.
func (r Muon) Update(p, g tensor.Tensor, slots []tensor.Tensor, lr float64, step int) (tensor.Tensor, []tensor.Tensor) {
	if p.Rank() < 2 {
		return r.vectors().Update(p, g, slots, lr, step)
	}
	mu := cmp.Or(r.Momentum, 0.95)
	b := average(orZeros(p, slots, 1)[0], g, mu)
	u := b
	if !r.Plain {
		u = average(b, g, mu)
	}
	rows, columns := p.Dim(0), p.Len()/max(p.Dim(0), 1)
	o := orthogonalize(u.Reshape(rows, columns), max(cmp.Or(r.Eps, 1e-7), least(u))).Reshape(p.Shape()...)
	ratio := math.Sqrt(max(1, float64(rows)/float64(max(columns, 1))))
	if r.MatchAdamW {
		ratio = 0.2 * math.Sqrt(float64(max(rows, columns)))
	}
	return shrink(p, lr, r.WeightDecay).Sub(o.Mul(lr * ratio)), []tensor.Tensor{b}
}

// orthogonalize is O of [Muon] of a matrix of any shape. As in PyTorch every result is
// rounded to bfloat16, in which sums and products of one result are not.
func orthogonalize(x tensor.Tensor, eps float64) tensor.Tensor {
	const a, b, c, steps = 3.4445, -4.7750, 2.0315, 5 // steepest at 0 of those that stay near 1
	tall := x.Dim(0) > x.Dim(1)
	if tall { // x·xᵀ is then the smaller product
		x = x.T()
	}
	x = roundBF16(x)
	x = roundBF16(x.Div(roundBF16(x.NormP(2)).Maximum(eps)))
	for range steps {
		gram := roundBF16(x.MatMul(x.T()))
		update := roundBF16(gram.Mul(b).Add(gram.MatMul(gram).Mul(c)))
		x = roundBF16(x.Mul(a).Add(update.MatMul(x)))
	}
	if tall {
		x = x.T()
	}
	return x
}

// roundBF16 rounds x to numbers that bfloat16 has. Derivatives pass it as they pass a Cast.
func roundBF16(x tensor.Tensor) tensor.Tensor {
	still := grad.StopGradient(x)
	return x.Add(tensor.Internal.RoundBF16(graph.Token{}, still.Cast(tensor.Float32)).Cast(x.DType()).Sub(still))
}
