package optim

import (
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Ranks are processes that train one model, each on its part of the data. A *dist.Group is one of them.
type Ranks interface {
	Rank() int // of this process, from 0
	Size() int // the number of ranks
	// Mean returns the means of floating-point tensors over the ranks, equal on all of them. The ranks call
	// it with tensors of the same shapes, and compute all of them together.
	Mean(ts ...tensor.Tensor) []tensor.Tensor
	// MeanIn is Mean of tensors that are rounded to a type of 16 bits, divided by Size, and added in that type.
	MeanIn(d tensor.DType, ts ...tensor.Tensor) []tensor.Tensor
	// ReduceScatter returns this rank's parts of such means, whose axis 0 is divided by rank: of MeanIn, or of Mean
	// if d is 0. AllGather returns the ranks' tensors, one after the other along axis 0. The ranks call them as Mean.
	ReduceScatter(d tensor.DType, ts ...tensor.Tensor) []tensor.Tensor
	AllGather(parts ...tensor.Tensor) []tensor.Tensor
}

// meet makes a collective of a number before the first step of a model, so that the ranks know whether their devices have
// collectives, which the plan of the step then has among its kernels.
func (o *Optimizer) meet(model any) error {
	if o.Parallel == nil || o.Parallel.Size() == 1 || o.isStateOurs() {
		return nil
	}
	x := tensor.Scalar(0).Cast(tensor.Float32)
	for _, t := range tree.All(model) {
		if d := t.Device(); d != nil {
			x = x.To(d)
			break
		}
	}
	return tensor.Eval(o.Parallel.Mean(x))
}

// average replaces gradients, the loss and the model's floating-point state, such as the running means of a
// batch norm, by their means over the ranks, with ZeRO 2 gradients by this rank's parts. The loss may be absent.
func (o *Optimizer) average(params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor, loss *tensor.Tensor) {
	if o.Parallel == nil || o.Parallel.Size() == 1 {
		return
	}
	var means, gradients []*tensor.Tensor
	if loss != nil {
		means = append(means, loss)
	}
	for i := range params {
		if params[i].State {
			means = append(means, &params[i].Value)
		}
	}
	for i := len(gs) - 1; i >= 0; i-- { // as the backward pass computes them
		gradients = append(gradients, &gs[i])
	}
	r := o.sharding()
	switch {
	case r != nil && o.ZeRO > 1:
		replace(gradients, func(ts ...tensor.Tensor) []tensor.Tensor { return reduced(ts, o.ParallelPrecision, r) })
		gradients = nil
	case o.ParallelPrecision == 0:
		means, gradients = append(means, gradients...), nil
	}
	replace(means, o.Parallel.Mean)
	replace(gradients, func(ts ...tensor.Tensor) []tensor.Tensor { return o.Parallel.MeanIn(o.ParallelPrecision, ts...) })
}

// replace replaces floating-point tensors by their means.
func replace(list []*tensor.Tensor, mean func(ts ...tensor.Tensor) []tensor.Tensor) {
	var from []tensor.Tensor
	var to []*tensor.Tensor
	for _, t := range list {
		if t.IsValid() && t.DType().IsFloat() {
			from, to = append(from, *t), append(to, t)
		}
	}
	if from == nil {
		return
	}
	for i, t := range mean(from...) {
		*to[i] = t
	}
}
