package nn

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// CrossEntropy is -log softmax(logits)[label]: logits of shape [... classes],
// labels int32, uint32 or int64 of shape [...], which is the result's. A label
// out of range, such as -1, is an error when it is computed.
func CrossEntropy(logits, labels tensor.Tensor) tensor.Tensor {
	return nll("CrossEntropy", logits, labels, func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(-1) })
}

// NLL is -logp[label]: CrossEntropy of log-probabilities.
func NLL(logp, labels tensor.Tensor) tensor.Tensor {
	return nll("NLL", logp, labels, func(x tensor.Tensor) tensor.Tensor { return x })
}

func nll(op string, pred, labels tensor.Tensor, logp func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	if pred.Rank() == 0 || !slices.Equal(pred.Shape()[:pred.Rank()-1], labels.Shape()) {
		fail(op, "labels %v do not fit predictions %v: want one label for each row of the last axis", labels.Shape(), pred.Shape())
	}
	if d := labels.DType(); d != tensor.Int32 && d != tensor.Uint32 && d != tensor.Int64 {
		fail(op, "labels are %v, want int32, uint32 or int64: labels.Cast(tensor.Int32)", d)
	}
	last := pred.Rank() - 1
	return tensor.Internal.Gather(graph.Token{}, "nn."+op, logp(pred), last, labels.Unsqueeze(last)).Squeeze(last).Neg()
}

// BCE is the binary cross-entropy of logits x and targets y between 0 and 1,
// log(1+eˣ) - x·y, element by element. It does not overflow.
func BCE(pred, target tensor.Tensor) tensor.Tensor {
	alike("BCE", pred, target)
	// log(1+eˣ) is x + log(1+e⁻ˣ) above 0. At 0 both parts are those below, so
	// that all derivatives there are right; and x-x·y is x·(1-y), so that the
	// small loss of a great logit on the right side is not rounded away.
	above := pred.Gt(0)
	decay := tensor.Where(above, pred.Neg(), pred).Exp()
	return pred.Mul(above.Cast(pred.DType()).Sub(target)).Add(decay.Log1p())
}

// MSE is (pred - target)², element by element.
func MSE(pred, target tensor.Tensor) tensor.Tensor {
	alike("MSE", pred, target)
	return pred.Sub(target).Square()
}

// L1 is |pred - target|, element by element.
func L1(pred, target tensor.Tensor) tensor.Tensor {
	alike("L1", pred, target)
	return pred.Sub(target).Abs()
}

// Huber is d²/2 where |d| ≤ 1, elsewhere |d| - ½, of d = pred - target,
// element by element.
//
// Source: Huber, "Robust Estimation of a Location Parameter", 1964.
func Huber(pred, target tensor.Tensor) tensor.Tensor {
	alike("Huber", pred, target)
	d := pred.Sub(target)
	c := d.Clamp(-1, 1)
	return c.Mul(d.Sub(c.Mul(0.5)))
}

// KL is the Kullback-Leibler divergence Σ t·(log t - logp) over the last axis,
// which it drops, of log-probabilities and target probabilities. Its Mean is
// PyTorch's "batchmean" for rank 2.
func KL(logp, target tensor.Tensor) tensor.Tensor {
	alike("KL", logp, target)
	some := target.Gt(0)
	logt := tensor.Where(some, target, 1).Log() // 0·log 0 is 0
	return dropLast("KL", target.Mul(logt.Sub(logp)))
}

// Hinge is max(0, 1 - pred·target), element by element; targets are -1 or 1.
func Hinge(pred, target tensor.Tensor) tensor.Tensor {
	alike("Hinge", pred, target)
	return pred.Mul(target).Neg().Add(1).ReLU()
}

// Cosine is 1 - cos of the angle between the vectors along the last axis,
// which it drops. A vector of zeros is at right angles to all.
func Cosine(pred, target tensor.Tensor) tensor.Tensor {
	alike("Cosine", pred, target)
	dot := dropLast("Cosine", pred.Mul(target))
	squares := dropLast("Cosine", pred.Square()).Mul(dropLast("Cosine", target.Square()))
	return dot.Div(squares.Maximum(1e-16).Sqrt()).Neg().Add(1)
}

func dropLast(op string, x tensor.Tensor) tensor.Tensor {
	if x.Rank() == 0 {
		fail(op, "predictions have rank 0, want at least 1")
	}
	return x.Sum(-1).Squeeze(-1)
}

// alike panics unless predictions and targets have one shape: broadcasting
// [n 1] against [n] is a mistake more often than a wish.
func alike(op string, pred, target tensor.Tensor) {
	if !slices.Equal(pred.Shape(), target.Shape()) {
		fail(op, "predictions %v and targets %v differ in shape", pred.Shape(), target.Shape())
	}
}
