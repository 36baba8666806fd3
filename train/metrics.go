package train

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Accuracy returns the share of correct predictions, a scalar. Target has classes,
// integers of shape [...]; pred has a score for each class, [... classes], or the
// predicted classes, [...].
func Accuracy(pred, target tensor.Tensor) tensor.Tensor {
	return classes("Accuracy", pred, target).Eq(target.Cast(tensor.Int32)).Cast(tensor.Float32).Mean()
}

// MAE returns the mean of |pred - target|, a scalar. Both have one shape.
func MAE(pred, target tensor.Tensor) tensor.Tensor {
	checkAlike("MAE", pred, target)
	return pred.Sub(target).Abs().Mean()
}

// R2 returns 1 - Σ(target - pred)²/Σ(target - mean)², the share of target's variance
// that pred explains, a scalar. Both have one shape.
func R2(pred, target tensor.Tensor) tensor.Tensor {
	checkAlike("R2", pred, target)
	rest := target.Sub(pred).Square().Sum()
	return rest.Div(target.Sub(target.Mean()).Square().Sum()).Neg().Add(1)
}

// classes returns the predicted classes as int32: ArgMax of scores, or pred itself.
func classes(op string, pred, target tensor.Tensor) tensor.Tensor {
	if pred.Rank() != target.Rank() {
		checkClasses(op, pred, target)
		return pred.ArgMax(-1)
	}
	checkAlike(op, pred, target)
	return pred.Cast(tensor.Int32)
}

// checkClasses panics unless pred has a row of scores for each target.
func checkClasses(op string, pred, target tensor.Tensor) {
	if p, t := pred.Shape(), target.Shape(); len(p) == 0 || !slices.Equal(p[:len(p)-1], t) {
		misuse(op, "want one target for each row of the last axis of the predictions", p, t)
	}
}

// checkAlike panics unless pred and target have one shape: broadcasting [n 1] against
// [n] is usually a mistake.
func checkAlike(op string, pred, target tensor.Tensor) {
	if p, t := pred.Shape(), target.Shape(); !slices.Equal(p, t) {
		misuse(op, "predictions and targets differ in shape", p, t)
	}
}

// misuse panics with a *tensor.Error on behalf of op.
func misuse(op, reason string, operands ...any) {
	tensor.Internal.Misuse(graph.Token{}, "train."+op, reason, operands...)
}
