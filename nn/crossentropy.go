package nn

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// CrossEntropyOptions are the options of [CrossEntropyWith].
type CrossEntropyOptions struct {
	Weight    tensor.Tensor // [classes], the weight of each class; absent: 1
	Ignore    []int         // labels that do not count, such as -100, which need not be classes
	Smoothing float64       // the part of a target that is spread over all classes, from 0 to 1
}

// CrossEntropyWith returns [CrossEntropy] with options, for each label: the loss times the
// weight of the label's class, and that weight; both are 0 for labels that are ignored.
// PyTorch's mean is loss.Sum().Div(weight.Sum()). With Smoothing s the loss is
//
//	(1-s)·weight[label]·-logp[label] + s/classes·Σ weight[c]·-logp[c]
func CrossEntropyWith(logits, labels tensor.Tensor, o *CrossEntropyOptions) (loss, weight tensor.Tensor) {
	const op = "CrossEntropyWith"
	if o == nil {
		o = &CrossEntropyOptions{}
	}
	checkLabels(op, logits, labels)
	if !(o.Smoothing >= 0 && o.Smoothing <= 1) {
		fail(op, "Smoothing is %v, want 0 to 1", o.Smoothing)
	}
	labels = tensor.Internal.Narrow(graph.Token{}, "nn."+op, logits, labels)
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
	}
	logp := logits.LogSoftmax(-1)
	pick := func(x tensor.Tensor) tensor.Tensor { return tensor.Internal.Pick(graph.Token{}, "nn."+op, x, labels) }
	weight = tensor.OnesLike(pick(logp))
	weighted := logp
	if o.Weight.IsValid() {
		weighted = logp.Mul(o.Weight)
		weight = pick(o.Weight.Expand(logp.Shape()...))
	}
	loss = pick(weighted).Neg()
	if o.Smoothing > 0 && classes > 0 {
		all := weighted.Sum(-1).Squeeze(-1).Mul(o.Smoothing / float64(classes))
		loss = loss.Mul(1 - o.Smoothing).Sub(all)
	}
	if ignored.IsValid() {
		loss, weight = tensor.Where(ignored, 0, loss), tensor.Where(ignored, 0, weight)
	}
	return loss, weight
}
