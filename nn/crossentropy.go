package nn

import (
	"reflect"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/tensor"
)

// CrossEntropyOptions are the options of [CrossEntropyWith].
type CrossEntropyOptions struct {
	Weight    tensor.Tensor // [classes], the weight of each class; absent: 1
	Ignore    []int         // labels that do not count, such as -100, which need not be classes
	Smoothing float64       // the part of a target that is spread over all classes, from 0 to 1
	Gamma     float64       // not 0: the loss is multiplied by (1-p)^Gamma, p being the label's probability
}

// CrossEntropyWith returns [CrossEntropy] with options, for each label: the loss times the
// weight of the label's class, and that weight; both are 0 for labels that are ignored.
// PyTorch's mean is loss.Sum().Div(weight.Sum()). With Smoothing s the loss is
//
//	(1-s)·weight[label]·-logp[label] + s/classes·Σ weight[c]·-logp[c]
//
// With Gamma it is the focal loss of [Focal].
func CrossEntropyWith(logits, labels tensor.Tensor, o *CrossEntropyOptions) (loss, weight tensor.Tensor) {
	const op = "CrossEntropyWith"
	if o == nil {
		o = &CrossEntropyOptions{}
	}
	checkLabels(op, logits, labels)
	setting(op, "Smoothing", o.Smoothing, limits.Probability)
	if o.Gamma != 0 {
		setting(op, "Gamma", o.Gamma, limits.AtLeastOne)
	}
	labels = tensor.Internal.Narrow(graph.Token{}, "nn."+op, labels)
	classes := logits.Dim(-1)
	if w := o.Weight; w.IsValid() && (w.Rank() != 1 || w.Len() != classes) {
		fail(op, "Weight is %v, want [%d]: one for each class", w.Shape(), classes)
	}
	var ignored tensor.Tensor
	for _, label := range o.Ignore {
		here := labels.Eq(label)
		if ignored.IsValid() {
			here = ignored.Or(here)
		}
		ignored = here
	}
	if ignored.IsValid() {
		labels = tensor.Where(ignored, 0, labels)
		logits = tensor.Where(ignored.Unsqueeze(-1), 0, logits) // which may be NaN
	}
	logp := logits.LogSoftmax(-1)
	pick := func(x tensor.Tensor) tensor.Tensor { return tensor.Internal.Pick(graph.Token{}, "nn."+op, x, labels) }
	own := pick(logp)
	weight = tensor.OnesLike(own)
	if o.Weight.IsValid() {
		weight = pick(o.Weight.Expand(logp.Shape()...))
	}
	loss = wide(func(ts ...tensor.Tensor) tensor.Tensor {
		own, logp, weight, weights := ts[0], ts[1], ts[2], ts[3]
		loss := own.Neg()
		if weights.IsValid() {
			loss, logp = weighted(loss, weight), weighted(logp, weights.Expand(logp.Shape()...))
		}
		if o.Smoothing > 0 && logits.Dim(-1) > 0 {
			all := logp.Mean(-1).Squeeze(-1).Mul(o.Smoothing)
			if loss = loss.Mul(1 - o.Smoothing).Sub(all); o.Smoothing == 1 {
				loss = all.Neg()
			}
		}
		if o.Gamma > 0 {
			loss = focused(loss, own.Neg(), own.Expm1().Neg(), o.Gamma)
		}
		return loss
	}, own, logp, weight, o.Weight)
	if ignored.IsValid() {
		loss, weight = tensor.Where(ignored, 0, loss), tensor.Where(ignored, 0, weight)
	}
	return loss, weight
}

// SoftCrossEntropy returns -Σ target·log softmax(logits), the cross-entropy of probabilities
// instead of labels, as of mixed examples or another model. Both are [... classes] of one
// type; it drops the last axis.
func SoftCrossEntropy(logits, target tensor.Tensor) tensor.Tensor {
	checkTarget("SoftCrossEntropy", logits, target)
	if logits.Rank() == 0 {
		fail("SoftCrossEntropy", "predictions have rank 0, want at least 1")
	}
	return weighted(logits.LogSoftmax(-1), target).Sum(-1).Squeeze(-1).Neg()
}

// BCEWithPosWeight is [BCEWithLogits] with the term of targets of 1 multiplied by weight, a
// number or a tensor that broadcasts to the predictions: with a weight above 1 a model
// finds more of the rare positives.
func BCEWithPosWeight(pred, target tensor.Tensor, weight tensor.Operand) tensor.Tensor {
	checkTarget("BCEWithPosWeight", pred, target)
	defer named("BCEWithPosWeight")
	switch v := reflect.ValueOf(weight); {
	case v.CanFloat():
		setting("BCEWithPosWeight", "the weight", v.Float(), limits.NotNegative)
	case v.CanInt():
		setting("BCEWithPosWeight", "the weight", float64(v.Int()), limits.NotNegative)
	}
	w, ok := weight.(tensor.Tensor)
	if !ok {
		w = tensor.Scalar(0).Add(weight)
	}
	return wide(func(ts ...tensor.Tensor) tensor.Tensor {
		x, y := ts[0], ts[1]
		return weighted(x.Neg().Softplus(), y.Mul(ts[2])).Add(weighted(x.Softplus(), y.Neg().Add(1)))
	}, pred, target, w)
}
