package nn

import (
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// CrossEntropy returns -log softmax(logits)[label] for each label. Logits have
// shape [... classes]; labels, and the result, have shape [...]. Labels are int32,
// uint32 or int64. A label out of range, such as -1, is an error
// when the loss is computed.
func CrossEntropy(logits, labels tensor.Tensor) tensor.Tensor {
	return nll("CrossEntropy", logits, labels, func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(-1) })
}

// NLL returns -logp[label] for each label: CrossEntropy of log-probabilities, with
// the same shapes and types.
func NLL(logp, labels tensor.Tensor) tensor.Tensor {
	return nll("NLL", logp, labels, func(x tensor.Tensor) tensor.Tensor { return x })
}

func nll(op string, pred, labels tensor.Tensor, logp func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	checkLabels(op, pred, labels)
	return tensor.Internal.Pick(graph.Token{}, "nn."+op, logp(pred), labels).Neg()
}

// checkLabels panics unless there is a label for each row of predictions.
func checkLabels(op string, pred, labels tensor.Tensor) {
	checkPred(op, pred, "labels", labels)
	if pred.Rank() == 0 || !slices.Equal(pred.Shape()[:pred.Rank()-1], labels.Shape()) {
		fail(op, "labels %v do not fit predictions %v: want one label for each row of the last axis", labels.Shape(), pred.Shape())
	}
	checkIndices(op, "labels", labels)
}

// BCEWithLogits returns the binary cross-entropy log(1+eˣ) - x·y of each logit x and
// target y from 0 to 1, both of one shape and type. It does not overflow.
func BCEWithLogits(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("BCEWithLogits", pred, target)
	// For x > 0, log(1+eˣ) = x + log(1+e⁻ˣ). Zero takes the other branch, in both
	// terms, so that all derivatives at 0 are right. x - x·y is written x·(1-y), so
	// that the small loss of a large correct logit is not rounded to 0.
	above := pred.Gt(0)
	decay := tensor.Where(above, pred.Neg(), pred).Exp()
	return weighted(pred, above.Cast(pred.DType()).Sub(target)).Add(decay.Log1p())
}

// MSE returns (pred - target)² for each element; both have one shape and type.
func MSE(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("MSE", pred, target)
	return pred.Sub(target).Square()
}

// L1 returns |pred - target| for each element; both have one shape and type.
func L1(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("L1", pred, target)
	return pred.Sub(target).Abs()
}

// Huber returns d²/2 where |d| ≤ 1 and |d| - ½ elsewhere, with d = pred - target,
// for each element; both have one shape and type.
//
// Source: Huber, "Robust Estimation of a Location Parameter", 1964.
func Huber(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("Huber", pred, target)
	return huber(pred.Sub(target), 1)
}

// huber returns d²/(2·beta) where |d| ≤ beta and |d| - beta/2 elsewhere. It has a derivative of
// its own, in which the derivative 0 of a limit does not meet an infinite d.
func huber(d tensor.Tensor, beta float64) tensor.Tensor {
	slope := func(c tensor.Tensor) tensor.Tensor {
		if beta == 1 {
			return c // a division takes time
		}
		return c.Div(beta)
	}
	return grad.CustomJVP(func(d tensor.Tensor) tensor.Tensor {
		c := d.Clamp(-beta, beta)
		return slope(c).Mul(d.Sub(c.Mul(0.5)))
	}, func(d, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
		return tensor.Tensor{}, v.Mul(slope(d.Clamp(-beta, beta)))
	})(d)
}

// KLDiv returns the Kullback-Leibler divergence Σ t·(log t - logp) of
// log-probabilities and target probabilities t, both [... classes] of one type. It
// sums over the last axis and drops it. For rank 2 its Mean is PyTorch's
// "batchmean".
func KLDiv(logp, target tensor.Tensor) tensor.Tensor {
	checkTarget("KLDiv", logp, target)
	some := target.Gt(0)
	logt := tensor.Where(some, target, 1).Log() // 0·log 0 is 0
	return dropLast("KLDiv", weighted(logt.Sub(logp), target))
}

// Hinge returns max(0, 1 - pred·target) for each element; both have one shape and
// type, and targets are -1 or 1.
func Hinge(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("Hinge", pred, target)
	return weighted(pred, target).Neg().Add(1).ReLU()
}

// CosineDistance returns 1 - cos of the angle between vectors along the last axis,
// which it drops; both are [... width] of one type. The distance to a zero vector
// is 1.
func CosineDistance(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("CosineDistance", pred, target)
	if pred.Rank() == 0 {
		fail("CosineDistance", "predictions have rank 0, want at least 1")
	}
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		// For unit vectors 1 - u·v = |u - v|²/2, which is 0 for equal ones.
		d := dropLast("CosineDistance", unit(ts[0], -1).Sub(unit(ts[1], -1)).Square()).Mul(0.5)
		none := ts[0].Ne(0).Any(-1).And(ts[1].Ne(0).Any(-1)).Not().Squeeze(-1)
		return tensor.Where(none, 1, d)
	}, pred, target)
}

// dropLast sums over the last axis and drops it.
func dropLast(op string, x tensor.Tensor) tensor.Tensor {
	if x.Rank() == 0 {
		fail(op, "predictions have rank 0, want at least 1")
	}
	return x.Sum(-1).Squeeze(-1)
}

// checkTarget panics unless predictions and targets have one type and shape:
// broadcasting [n 1] against [n] is usually a mistake.
func checkTarget(op string, pred, target tensor.Tensor) {
	checkPred(op, pred, "targets", target)
	if !slices.Equal(pred.Shape(), target.Shape()) {
		fail(op, "predictions %v and targets %v differ in shape", pred.Shape(), target.Shape())
	}
	if p, t := pred.DType(), target.DType(); !tensor.Internal.TakesType(graph.Token{}, target, p) && !tensor.Internal.TakesType(graph.Token{}, pred, t) {
		fail(op, "targets are %v, want %v, the type of the predictions: Cast them", t, p)
	}
}

// checkPred panics if predictions or targets are absent, or predictions are not of a
// floating-point type.
func checkPred(op string, pred tensor.Tensor, what string, target tensor.Tensor) {
	if !pred.IsValid() {
		fail(op, "the predictions are absent")
	}
	if !target.IsValid() {
		fail(op, "the %s are absent", what)
	}
	if d := pred.DType(); !d.IsFloat() {
		fail(op, "predictions are %v, want a floating-point type: Cast them", d)
	}
}
