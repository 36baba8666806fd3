package nn

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// BCE returns the binary cross-entropy -y·log p - (1-y)·log(1-p) of each probability p and
// target y from 0 to 1, both of one shape and type. Logarithms count as at least -100, so
// that it is finite. Its derivative by p is (p-y)/max(p·(1-p), 1e-12), as in PyTorch, so that
// a p of 0 or 1 that is wrong still learns. [BCEWithLogits] is more accurate where a model
// has logits.
func BCE(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("BCE", pred, target)
	return bce(bceOperands{pred, target})
}

type bceOperands struct{ P, Y tensor.Tensor }

// bce computes BCE. The limit of the logarithms would make its own derivative 0.
var bce = grad.CustomJVP(func(x bceOperands) tensor.Tensor {
	yes, no := x.logs()
	return x.Y.Mul(yes).Add(x.Y.Neg().Add(1).Mul(no)).Neg()
}, func(x, v bceOperands) (tensor.Tensor, tensor.Tensor) {
	d := x.P.DType().ComputeType() // 1e-12 is 0 in float16
	p := x.P.Cast(d)
	slope := p.Sub(x.Y.Cast(d)).Div(p.Mul(p.Neg().Add(1)).Maximum(1e-12)).Cast(x.P.DType())
	yes, no := x.logs()
	return tensor.Tensor{}, v.P.Mul(slope).Add(v.Y.Mul(no.Sub(yes)))
})

// logs returns log p and log(1-p), at least -100.
func (x bceOperands) logs() (yes, no tensor.Tensor) {
	log := func(log func(tensor.Tensor) tensor.Tensor, none float64) tensor.Tensor {
		zero := x.P.Eq(none)
		return tensor.Where(zero, -100, log(tensor.Where(zero, 0.5, x.P)).Maximum(-100))
	}
	return log(tensor.Tensor.Log, 0), log(func(p tensor.Tensor) tensor.Tensor { return p.Neg().Log1p() }, 1)
}

// PoissonNLL returns the negative log-likelihood eˣ - x·y of each count y for the logarithm
// x of a Poisson rate, less the term log y!, which does not depend on x. Both have one
// shape and type.
func PoissonNLL(pred, target tensor.Tensor) tensor.Tensor {
	checkTarget("PoissonNLL", pred, target)
	rate := pred.Exp()
	large := rate.IsInf() // where eˣ - x·y is eˣ
	return rate.Sub(weighted(tensor.Where(large, 0, pred), target))
}

// GaussianNLL returns the negative log-likelihood (log v + (pred - target)²/v)/2 of each
// target under a normal distribution of mean pred and variance v, less the constant
// log(2π)/2. The three have one shape and type. A variance below 1e-6 counts as that, and has
// the derivative 0.
func GaussianNLL(pred, target, variance tensor.Tensor) tensor.Tensor {
	checkTarget("GaussianNLL", pred, target)
	checkTarget("GaussianNLL", pred, variance)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		d, v := ts[0].Sub(ts[1]), ts[2].Maximum(1e-6)
		return v.Log().Add(d.Mul(d.Div(v))).Mul(0.5)
	}, pred, target, variance)
}

// SmoothL1 returns d²/(2·beta) where |d| < beta and |d| - beta/2 elsewhere, with d = pred -
// target, for each element; both have one shape and type. Times beta it is PyTorch's
// huber_loss of that delta; with beta = 0 it is [L1], with 1 [Huber].
func SmoothL1(pred, target tensor.Tensor, beta float64) tensor.Tensor {
	checkTarget("SmoothL1", pred, target)
	if setting("SmoothL1", "beta", beta, limits.NotNegative) == 0 {
		return L1(pred, target)
	}
	return wide(func(ts ...tensor.Tensor) tensor.Tensor { return huber(ts[0].Sub(ts[1]), atLeast(ts[0], beta)) }, pred, target)
}

// TripletMargin returns max(0, |anchor - positive| - |anchor - negative| + margin), with
// distances along the last axis, which it drops. The three have one shape and type. As in
// PyTorch, 1e-6 is added to differences.
func TripletMargin(anchor, positive, negative tensor.Tensor, margin float64) tensor.Tensor {
	checkTarget("TripletMargin", anchor, positive)
	checkTarget("TripletMargin", anchor, negative)
	if anchor.Rank() == 0 {
		fail("TripletMargin", "the anchor has rank 0, want at least 1")
	}
	setting("TripletMargin", "the margin", margin, limits.Finite)
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		distance := func(x tensor.Tensor) tensor.Tensor {
			d := ts[0].Sub(x).Add(1e-6)
			far := d.IsInf() // whose norm has no derivative
			n := tensor.Where(far, 0, d).NormP(2, -1)
			return tensor.Where(far.Any(-1), math.Inf(1), n).Squeeze(-1)
		}
		return distance(ts[1]).Sub(distance(ts[2])).Add(margin).ReLU()
	}, anchor, positive, negative)
}

// CTC returns the connectionist temporal classification loss of each sequence: minus the
// logarithm of the probability of its target, summed over all alignments. Log-probabilities
// are [time, batch, classes], targets [batch, length] labels other than blank, lengths
// [batch] how many steps and labels of each sequence count; the result is [batch]. It is Inf
// where no alignment is possible. Labels and lengths are integers other than uint64; labels that
// do not count may be anything. A label or length out of range is found when the loss is
// computed: Eval and Data return the error. Of 16 bits the sum is computed in float32.
//
// Source: Graves et al., "Connectionist Temporal Classification", 2006.
func CTC(logp, targets, inputLengths, targetLengths tensor.Tensor, blank int) tensor.Tensor {
	const op = "CTC"
	checkPred(op, logp, "targets", targets)
	for _, l := range []tensor.Tensor{inputLengths, targetLengths} {
		if !l.IsValid() {
			fail(op, "lengths are absent")
		}
		checkIndices(op, "lengths", l)
	}
	checkIndices(op, "targets", targets)
	if logp.Rank() != 3 || targets.Rank() != 2 || logp.Dim(0) == 0 || targets.Dim(0) != logp.Dim(1) ||
		!slices.Equal(inputLengths.Shape(), targets.Shape()[:1]) || !slices.Equal(targetLengths.Shape(), targets.Shape()[:1]) {
		fail(op, "want log-probabilities [time batch classes], targets [batch length] and lengths [batch], not %v, %v, %v and %v",
			logp.Shape(), targets.Shape(), inputLengths.Shape(), targetLengths.Shape())
	}
	if blank < 0 || blank >= logp.Dim(2) {
		fail(op, "blank is %d, want one of %d classes", blank, logp.Dim(2))
	}
	time, batch, length := logp.Dim(0), logp.Dim(1), targets.Dim(1)
	positions := func(noun, of string, t tensor.Tensor, n int) tensor.Tensor {
		return tensor.Internal.Positions(graph.Token{}, "nn."+op, noun, of, logp, t, n)
	}
	inputs := positions("input length", "lengths below %d", inputLengths, time+1).Unsqueeze(1)
	lengths := positions("target length", "lengths below %d", targetLengths, length+1).Unsqueeze(1)
	ends := lengths.Mul(2) // the last state: the blank after all labels

	// The states are a blank before, between and after the labels: [batch, 2·length+1].
	labels := tensor.Internal.Narrow(graph.Token{}, "nn."+op, targets)
	labels = tensor.Where(lengths.Gt(tensor.Arange(length)), labels, blank) // padding may be no class
	labels = positions("label", "%d classes", labels, logp.Dim(2))
	state := tensor.FullLike(labels, blank)
	states := tensor.Cat(1, tensor.Interleave(1, state, labels), tensor.FullOf(tensor.Int32, blank, batch, 1))
	n := 2*length + 1
	position := tensor.Arange(n)
	// A label may follow the one before at once, without a blank, if it differs.
	before := tensor.Cat(1, tensor.FullOf(tensor.Int32, blank, batch, min(2, n)), states.Slice(1, 0, max(n-2, 0)))
	skips := states.Ne(before).And(position.Ge(2))
	within := position.Le(ends)
	impossible := math.Inf(-1)

	half := logp
	logp = widened(logp) // rounding would add up from step to step
	// From here on, alpha is the logarithm of the probability of each state's prefixes.
	alpha := tensor.Where(position.Lt(2).And(within), emitted(logp.At(0), states), impossible)
	empty := tensor.Where(position.Eq(0), 0, tensor.FullOf(logp.DType(), impossible, n)) // before the first step
	alpha = tensor.Where(inputs.Gt(0), alpha, empty)
	type step struct{ Logp, Time tensor.Tensor }
	alpha, _ = grad.Scan(func(alpha tensor.Tensor, s step) (tensor.Tensor, tensor.Tensor) {
		next := alpha.LogAddExp(delayed(alpha, 1))
		next = next.LogAddExp(tensor.Where(skips, delayed(alpha, 2), impossible))
		next = tensor.Where(within, next.Add(emitted(s.Logp, states)), impossible)
		return tensor.Where(inputs.Gt(s.Time), next, alpha), tensor.Tensor{}
	}, alpha, step{logp.Slice(0, 1, time), tensor.Arange(1, time)}, nil)
	last := alpha.TakeAlong(1, ends)
	label := tensor.Where(ends.Gt(0), alpha.TakeAlong(1, ends.Sub(1).Maximum(0)), impossible)
	return narrowed(last.LogAddExp(label).Neg().Squeeze(1), half)
}

// emitted returns the log-probability of each state's class at one step of time.
func emitted(logp, states tensor.Tensor) tensor.Tensor { return logp.TakeAlong(1, states) }

// delayed moves states up by k, and fills the first k with probability 0.
func delayed(alpha tensor.Tensor, k int) tensor.Tensor {
	k = min(k, alpha.Dim(1))
	none := tensor.FullLike(alpha.Slice(1, 0, k), math.Inf(-1))
	return tensor.Cat(1, none, alpha.Slice(1, 0, alpha.Dim(1)-k))
}
