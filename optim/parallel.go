package optim

import (
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// Ranks are processes that train one model, each on its part of the data. A *dist.Group is one of them.
type Ranks interface {
	Rank() int // of this process, from 0
	Size() int // the number of ranks
	// Mean returns the means of floating-point tensors over the ranks, equal on all of them. The ranks call
	// it with tensors of the same shapes, and compute all of them together.
	Mean(ts ...tensor.Tensor) []tensor.Tensor
}

// average replaces gradients, the loss and the model's floating-point state, such as the running means of a
// batch norm, by their means over the ranks. The loss may be absent.
func (o *Optimizer) average(params []pytree.Leaf[tensor.Tensor], gs []tensor.Tensor, loss *tensor.Tensor) {
	if o.Parallel == nil || o.Parallel.Size() == 1 {
		return
	}
	var from []tensor.Tensor
	var to []*tensor.Tensor
	add := func(t *tensor.Tensor) {
		if t.IsValid() && t.DType().IsFloat() {
			from, to = append(from, *t), append(to, t)
		}
	}
	for i := len(gs) - 1; i >= 0; i-- { // as the backward pass computes them
		add(&gs[i])
	}
	for i := range params {
		if params[i].State {
			add(&params[i].Value)
		}
	}
	if loss != nil {
		add(loss)
	}
	for i, t := range o.Parallel.Mean(from...) {
		*to[i] = t
	}
}
