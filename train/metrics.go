package train

import "github.com/tensorken/tensorken/tensor"

// Accuracy is the share of predictions that are right: pred has a score for
// each class on its last axis, [... classes], or is the class, as target is:
// integers of shape [...]. The result is a scalar.
func Accuracy(pred, target tensor.Tensor) tensor.Tensor {
	return classes(pred, target).Eq(target.Cast(tensor.Int32)).Cast(tensor.Float32).Mean()
}

// F1 is the mean of 2·tp/(2·tp + fp + fn) over the classes that are predicted
// or a target, where pred has a score for each class on its last axis,
// [... classes], and target is the class, [...]. The result is a scalar.
func F1(pred, target tensor.Tensor) tensor.Tensor {
	n := pred.Dim(-1)
	oneHot := func(t tensor.Tensor) tensor.Tensor {
		return t.Cast(tensor.Int32).Reshape(-1).OneHot(n).Cast(tensor.Float32)
	}
	p, t := oneHot(pred.ArgMax(-1)), oneHot(target)
	both, all := p.Mul(t).Sum(0), p.Add(t).Sum(0)
	return both.Mul(2).Div(all.Maximum(1)).Sum().Div(all.Gt(0).Cast(tensor.Float32).Sum())
}

// MAE is the mean of |pred - target|, of one shape. The result is a scalar.
func MAE(pred, target tensor.Tensor) tensor.Tensor { return pred.Sub(target).Abs().Mean() }

// R2 is the share of target's variance that pred explains,
// 1 - Σ(target - pred)²/Σ(target - mean)². The result is a scalar.
func R2(pred, target tensor.Tensor) tensor.Tensor {
	rest := target.Sub(pred).Square().Sum()
	return rest.Div(target.Sub(target.Mean()).Square().Sum()).Neg().Add(1)
}

// classes is pred's classes as int32: the highest scores, or pred itself.
func classes(pred, target tensor.Tensor) tensor.Tensor {
	if pred.Rank() == target.Rank()+1 {
		return pred.ArgMax(-1)
	}
	return pred.Cast(tensor.Int32)
}
