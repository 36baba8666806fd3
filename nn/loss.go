package nn

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// CrossEntropy is -log softmax(logits)[label], one number a label: logits of
// shape [... classes], labels int32, uint32 or int64 of shape [...], which is
// the result's. On a GPU, which lacks int64, labels are int32 or uint32. A
// label out of range, such as -1, is an error when the loss is computed.
func CrossEntropy(logits, labels tensor.Tensor) tensor.Tensor {
	return nll("CrossEntropy", logits, labels, func(x tensor.Tensor) tensor.Tensor { return x.LogSoftmax(-1) })
}

// NLL is -logp[label], one number a label: CrossEntropy of log-probabilities,
// of the same shapes and types.
func NLL(logp, labels tensor.Tensor) tensor.Tensor {
	return nll("NLL", logp, labels, func(x tensor.Tensor) tensor.Tensor { return x })
}

func nll(op string, pred, labels tensor.Tensor, logp func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	checkPred(op, pred, "labels", labels)
	if pred.Rank() == 0 || !slices.Equal(pred.Shape()[:pred.Rank()-1], labels.Shape()) {
		fail(op, "labels %v do not fit predictions %v: want one label for each row of the last axis", labels.Shape(), pred.Shape())
	}
	checkIndices(op, "labels", labels)
	return tensor.Internal.Pick(graph.Token{}, "nn."+op, logp(pred), labels).Neg()
}

// BCE is the binary cross-entropy of logits x and targets y between 0 and 1,
// log(1+eˣ) - x·y, for each element; both are of one shape and type. It does
// not overflow.
func BCE(pred, target tensor.Tensor) tensor.Tensor {
	alike("BCE", pred, target)
	// log(1+eˣ) is x + log(1+e⁻ˣ) above 0. At 0 both parts are those below, so
	// that all derivatives there are right; and x-x·y is x·(1-y), so that the
	// small loss of a great logit on the right side is not rounded away.
	above := pred.Gt(0)
	decay := tensor.Where(above, pred.Neg(), pred).Exp()
	return pred.Mul(above.Cast(pred.DType()).Sub(target)).Add(decay.Log1p())
}

// MSE is (pred - target)² for each element; both are of one shape and type.
func MSE(pred, target tensor.Tensor) tensor.Tensor {
	alike("MSE", pred, target)
	return pred.Sub(target).Square()
}

// L1 is |pred - target| for each element; both are of one shape and type.
func L1(pred, target tensor.Tensor) tensor.Tensor {
	alike("L1", pred, target)
	return pred.Sub(target).Abs()
}

// Huber is d²/2 where |d| ≤ 1, elsewhere |d| - ½, of d = pred - target, for
// each element; both are of one shape and type.
//
// Source: Huber, "Robust Estimation of a Location Parameter", 1964.
func Huber(pred, target tensor.Tensor) tensor.Tensor {
	alike("Huber", pred, target)
	d := pred.Sub(target)
	c := d.Clamp(-1, 1)
	return c.Mul(d.Sub(c.Mul(0.5)))
}

// KL is the Kullback-Leibler divergence Σ t·(log t - logp) over the last axis,
// which it drops, of log-probabilities and target probabilities of one shape
// and type, [... classes]. Its Mean is PyTorch's "batchmean" for rank 2.
func KL(logp, target tensor.Tensor) tensor.Tensor {
	alike("KL", logp, target)
	some := target.Gt(0)
	logt := tensor.Where(some, target, 1).Log() // 0·log 0 is 0
	return dropLast("KL", target.Mul(logt.Sub(logp)))
}

// Hinge is max(0, 1 - pred·target) for each element; both are of one shape and
// type, targets -1 or 1.
func Hinge(pred, target tensor.Tensor) tensor.Tensor {
	alike("Hinge", pred, target)
	return pred.Mul(target).Neg().Add(1).ReLU()
}

// Cosine is 1 - cos of the angle between the vectors along the last axis,
// which it drops; both are of one shape and type, [... width]. A vector of
// zeros is at right angles to all.
func Cosine(pred, target tensor.Tensor) tensor.Tensor {
	alike("Cosine", pred, target)
	if d := pred.DType(); d.IsHalf() { // in which the least of the squares below is 0
		return Cosine(pred.Cast(tensor.Float32), target.Cast(tensor.Float32)).Cast(d)
	}
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

// alike panics unless predictions and targets have one type and shape:
// broadcasting [n 1] against [n] is a mistake more often than a wish.
func alike(op string, pred, target tensor.Tensor) {
	checkPred(op, pred, "targets", target)
	if !slices.Equal(pred.Shape(), target.Shape()) {
		fail(op, "predictions %v and targets %v differ in shape", pred.Shape(), target.Shape())
	}
	if p, t := pred.DType(), target.DType(); p != t {
		fail(op, "targets are %v, want %v, the type of the predictions: Cast them", t, p)
	}
}

// checkPred panics unless a loss has predictions, of a floating-point type,
// and what they are compared with.
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
