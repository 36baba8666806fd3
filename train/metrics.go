package train

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Accuracy returns the share of correct predictions, a scalar. Target has classes, integers
// or bool of shape [...]; pred has a score for each class, [... classes], or the predicted
// classes, integers or bool [...]. A single score for each example does not name a class:
// compare it with a threshold first, such as probability.Gt(0.5) or logit.Gt(0).
func Accuracy(pred, target tensor.Tensor) tensor.Tensor {
	return correct("Accuracy", pred, target).Cast(tensor.Float32).Mean()
}

// MAE returns the mean of |pred - target|, a scalar. Both have the same shape.
func MAE(pred, target tensor.Tensor) tensor.Tensor {
	checkAlike("MAE", pred, target)
	return pred.Sub(target).Abs().Mean()
}

// R2 returns 1 - Σ(target - pred)²/Σ(target - mean)², the share of target's variance that
// pred explains, a scalar. Both have the same shape. If all targets are equal, R2 is 1 if all
// predictions are right and 0 otherwise, as in scikit-learn.
func R2(pred, target tensor.Tensor) tensor.Tensor {
	checkAlike("R2", pred, target)
	constant := target.Max().Eq(target.Min())
	// Sums of squares may overflow or underflow where their ratio does not, so it sums squared ratios.
	deviation := target.Sub(target.Mean()).NormP(2)
	unexplained := target.Sub(pred).Div(tensor.Where(constant, 1, deviation)).Square().Sum()
	perfect := target.Eq(pred).All().Cast(unexplained.DType())
	return tensor.Where(constant, perfect, unexplained.Neg().Add(1))
}

// correct returns a bool for each target: whether the predicted class, which is pred itself or
// the ArgMax of its scores, equals it.
func correct(op string, pred, target tensor.Tensor) tensor.Tensor {
	if pred.Rank() == target.Rank() {
		checkAlike(op, pred, target)
		checkIntegers(op, "the predictions have the shape of the targets, so want classes: integers or bool; "+
			"compare scores of class 1, as probability.Gt(0.5), and of one-hot targets take ArgMax(-1)", pred)
		checkIntegers(op, wantLabels, target)
		return equalClasses(pred, target)
	}
	checkClasses(op, pred, target)
	n := pred.Dim(-1)
	if n == 1 {
		misuse(op, "there is one score for each target, want one for each class; "+
			"compare a score of class 1, as logit.Squeeze(-1).Gt(0)", pred.Shape(), target.Shape())
	}
	return pred.ArgMax(-1).Eq(labels(op, target, n))
}

// equalClasses returns whether classes are equal, element by element; each may be of any type of
// integers or bool. It compares in the wider of the two types, because a device may lack a
// type that holds all values of both.
func equalClasses(pred, target tensor.Tensor) tensor.Tensor {
	wide, other := pred, target
	if valueBits(pred.DType()) < valueBits(target.DType()) {
		wide, other = target, pred
	}
	same := wide.Eq(other.Cast(wide.DType()))
	if other.DType().IsSigned() && !wide.DType().IsSigned() {
		return same.And(other.Ge(0))
	}
	return same
}

// valueBits returns the number of bits of the greatest value of a type of integers or bool.
func valueBits(d tensor.DType) int {
	bits := 8 * d.Size()
	switch {
	case d == tensor.Bool:
		return 1
	case d.IsSigned():
		return bits - 1
	}
	return bits
}

// checkClasses panics unless pred has a row of scores for each target.
func checkClasses(op string, pred, target tensor.Tensor) {
	if p, t := pred.Shape(), target.Shape(); len(p) == 0 || !slices.Equal(p[:len(p)-1], t) {
		misuse(op, "want one target for each row of the last axis of the predictions", p, t)
	}
}

// checkAlike panics unless pred and target have the same shape: broadcasting [n 1] against
// [n] is usually a mistake.
func checkAlike(op string, pred, target tensor.Tensor) {
	if p, t := pred.Shape(), target.Shape(); !slices.Equal(p, t) {
		misuse(op, "predictions and targets differ in shape", p, t)
	}
}

// wantLabels ends errors about labels of a wrong type.
const wantLabels = "want labels that are integers or bool: Cast(tensor.Int32)"

// checkIntegers panics with a reason if t has floats.
func checkIntegers(op, reason string, t tensor.Tensor) {
	if t.DType().IsFloat() {
		misuse(op, reason, t.DType(), t.Shape())
	}
}

// misuse panics with a *tensor.Error on behalf of op.
func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, "train."+op, reason, operands...)
}
