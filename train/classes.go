package train

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/nn"
	"github.com/tensorken/tensorken/tensor"
)

// TopK returns the share of targets among the k classes with the highest scores, a scalar.
// Pred has a score for each class, [... classes]; target has the classes, integers [...].
func TopK(pred, target tensor.Tensor, k int) tensor.Tensor {
	checkClasses("TopK", pred, target)
	if n := pred.Dim(-1); k < 1 || k > n {
		misuse("TopK", "want k of at least 1, and no more than there are classes", k, pred.Shape())
	}
	_, best := pred.TopK(-1, k)
	hits := best.Eq(labels("TopK", target, pred.Dim(-1)).Unsqueeze(-1))
	return hits.Any(-1).Cast(tensor.Float32).Mean()
}

// F1 returns the mean of 2·tp/(2·tp + fp + fn) over the classes that are predicted or
// occur in target, a scalar: the macro F1. Pred has a score for each class, [... classes],
// and target the classes, integers [...]; or, if an example may have several classes, both
// are bool [... classes].
func F1(pred, target tensor.Tensor) tensor.Tensor {
	c := count("F1", pred, target)
	all := c.predicted.Add(c.occurring)
	return meanWhere(c.both.Mul(2).Div(all.Maximum(1)), all.Gt(0))
}

// F1Micro returns 2·tp/(2·tp + fp + fn) of all classes together, a scalar; operands are as
// for [F1]. With one class for each example it is the [Accuracy].
func F1Micro(pred, target tensor.Tensor) tensor.Tensor {
	c := count("F1Micro", pred, target)
	return c.both.Sum().Mul(2).Div(c.predicted.Sum().Add(c.occurring.Sum()).Maximum(1))
}

// Precision returns the mean of tp/(tp + fp) over the classes that are predicted or occur
// in target, a scalar; it is 0 for one that is not predicted. Operands are as for [F1].
func Precision(pred, target tensor.Tensor) tensor.Tensor {
	c := count("Precision", pred, target)
	return meanWhere(c.both.Div(c.predicted.Maximum(1)), c.predicted.Add(c.occurring).Gt(0))
}

// Recall returns the mean of tp/(tp + fn) over the classes that are predicted or occur in
// target, a scalar; it is 0 for one that does not occur. Operands are as for [F1].
func Recall(pred, target tensor.Tensor) tensor.Tensor {
	c := count("Recall", pred, target)
	return meanWhere(c.both.Div(c.occurring.Maximum(1)), c.predicted.Add(c.occurring).Gt(0))
}

// Confusion returns the confusion matrix, int32 [classes classes]: the number of examples of
// each class, a row, for which each class, a column, has the highest score. Pred has a score
// for each class, [... classes]; target has the classes, integers [...].
func Confusion(pred, target tensor.Tensor) tensor.Tensor {
	checkClasses("Confusion", pred, target)
	n := pred.Dim(-1)
	cell := labels("Confusion", target, n).Mul(n).Add(pred.ArgMax(-1)).Reshape(-1)
	ones := tensor.OnesLike(cell)
	return tensor.Zeros(n*n).Cast(tensor.Int32).ScatterAdd(0, cell, ones).Reshape(n, n)
}

// Perplexity returns exp of the mean cross-entropy of logits [... classes] and targets,
// integers [...], a scalar. Of 16-bit logits it is a float32: exp would multiply the rounding of the mean.
func Perplexity(logits, target tensor.Tensor) tensor.Tensor {
	checkClasses("Perplexity", logits, target)
	if d := logits.DType(); d.IsFloat() {
		logits = logits.Cast(d.ComputeType())
	}
	return nn.CrossEntropy(logits, target).Mean().Exp()
}

// counts are numbers of examples by class, [classes].
type counts struct{ both, predicted, occurring tensor.Tensor }

// count counts on behalf of op, from operands that F1 describes.
func count(op string, pred, target tensor.Tensor) counts {
	p, t := pred, target
	if pred.DType() != tensor.Bool {
		checkClasses(op, pred, target)
		n := pred.Dim(-1)
		p, t = pred.ArgMax(-1).OneHot(n), labels(op, target, n).OneHot(n)
	} else if checkAlike(op, pred, target); target.DType() != tensor.Bool || target.Rank() == 0 {
		misuse(op, "want bool targets [... classes], as the predictions are", target.DType(), target.Shape())
	}
	flat := func(t tensor.Tensor) tensor.Tensor {
		return t.Cast(tensor.Int32).Ne(0).Reshape(-1, t.Dim(-1))
	}
	p, t = flat(p), flat(t)
	sum := func(t tensor.Tensor) tensor.Tensor { // of bools, which is exact
		return t.Sum(0).Squeeze(0).Cast(tensor.Float32)
	}
	return counts{both: sum(p.And(t)), predicted: sum(p), occurring: sum(t)}
}

// labels returns targets on behalf of op as int32; each must be one of n classes.
func labels(op string, target tensor.Tensor, n int) tensor.Tensor {
	checkIntegers(op, wantLabels, target)
	return tensor.Internal.Positions(graph.Token{}, "train."+op, "label", "%d classes", target, target, n)
}

// meanWhere returns the mean of the elements of t where chosen, 0 if chosen nowhere.
func meanWhere(t, chosen tensor.Tensor) tensor.Tensor {
	return tensor.Where(chosen, t, 0).Sum().Div(chosen.Cast(tensor.Float32).Sum().Maximum(1))
}
