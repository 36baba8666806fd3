package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
	"github.com/tensorken/tensorken/tensor"
)

// Losses has the losses of classes.
var Losses = []op.Row{
	op.New("NegativeLogLikelihoodLoss", op.One(func(c *op.Call) T { return likelihood(c, c.Tensor(0)) })),
	op.New("SoftmaxCrossEntropyLoss", op.Many(crossEntropy)),
}

func crossEntropy(c *op.Call) []T {
	logp := c.Tensor(0).LogSoftmax(1)
	return []T{likelihood(c, logp), logp}
}

// likelihood is the weighted negative of the elements of logp, [batch classes …], at the labels of
// input 1, [batch …].
func likelihood(c *op.Call, logp T) T {
	labels := c.Tensor(1)
	weights := tensor.OnesOf(logp.DType(), labels.Shape()...)
	if a := c.Attr("ignore_index"); a != nil {
		seen := labels.Ne(int(a.I))
		weights = seen.Cast(logp.DType())
		labels = tensor.Where(seen, labels, tensor.ZerosLike(labels))
	}
	if c.Has(2) {
		weights = weights.Mul(c.Tensor(2).Take(0, labels))
	}
	loss := logp.TakeAlong(1, labels.Unsqueeze(1)).Squeeze(1).Mul(weights).Neg()
	switch r := c.String("reduction", "mean"); r {
	case "none":
		return loss
	case "sum":
		return loss.Sum().Reshape()
	case "mean":
		return loss.Sum().Reshape().Div(weights.Sum().Reshape())
	default:
		c.Fail("there is no reduction %q", r)
		return T{}
	}
}
