package optim

import (
	"fmt"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/limits"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// Averaged is the average of the models of a training, which often does better than the
// last one. With a Decay it is an exponential average (EMA), otherwise the mean of all
// (SWA), usually the models of the last epochs. It is a tree, with the names that PyTorch's
// AveragedModel has in files. The zero value averages no models.
//
// Source: Polyak, Juditsky, "Acceleration of Stochastic Approximation by Averaging",
// 1992; Izmailov et al., "Averaging Weights Leads to Wider Optima and Better
// Generalization", 2018.
type Averaged[M any] struct {
	Model M             `tensor:"module"`
	Count tensor.Tensor `tensor:"n_averaged,optional"` // how many models it is of: one int64
	Decay float64       // of the average so far, for each model: 0.999, say; 0 is the mean of all
}

// Add adds a model, in one plan: the first is the average as it is. Floating-point tensors
// are averaged, statistics of batch norms too, in their own type, so it should be float32;
// others are taken from the last model.
func (a *Averaged[M]) Add(m M) (err error) {
	defer tensor.Catch(&err)
	if err := limits.BelowOne.Check("Decay", a.Decay); err != nil {
		return fmt.Errorf("optim: Averaged: %w", err)
	}
	if !a.Count.IsValid() {
		a.Model, a.Count = tree.Copy(m), tensor.New([]int64{1}).Reshape() // the next step donates m
		return outlive(a.Model)
	}
	if a.Count.DType() != tensor.Int64 || a.Count.Len() != 1 {
		return fmt.Errorf("optim: the Count of Averaged is %s, want one int64", describe(a.Count))
	}
	n, err := tensor.Data[int64](a.Count)
	if err != nil {
		return err
	}
	keep := a.Decay
	if keep == 0 {
		keep = float64(n[0]) / float64(n[0]+1)
	}
	next := tree.Map(Average(a.Model, m, keep), func(_ string, t tensor.Tensor) tensor.Tensor {
		if t.DType().IsFloat() {
			return t
		}
		return tensor.Internal.Copy(graph.Token{}, t) // the next step donates m
	})
	if err := tensor.Eval(next); err != nil {
		return err
	}
	a.Model, a.Count = next, tensor.New([]int64{n[0] + 1}).Reshape()
	return outlive(a.Model)
}

// An Accumulator adds gradients up, so that a step may be one of more examples than fit
// in memory at once:
//
//	for _, b := range microBatches {
//		loss, g := grad.ValueAndGrad(…)(m)
//		err := sum.Add(g)
//		…
//	}
//	err := opt.Step(&m, sum.Mean())
type Accumulator[G any] struct {
	Sum   G
	Count int
}

// Add adds gradients, in one plan with the loss that they were computed with. A gradient
// may be absent in some of them.
func (a *Accumulator[G]) Add(g G) (err error) {
	defer tensor.Catch(&err)
	next := g
	if a.Count > 0 {
		if next, err = sum(a.Sum, g); err != nil {
			return fmt.Errorf("optim: Accumulator: %w", err)
		}
	}
	if err := tensor.Eval(next); err != nil {
		return err
	}
	a.Sum = next
	a.Count++
	return outlive(a.Sum)
}

// outlive takes the tensors of an Averaged or an Accumulator out of the caller's Scopes.
func outlive(kept any) error {
	ts, err := pytree.Values[tensor.Tensor](kept)
	if err != nil {
		return fmt.Errorf("optim: %w", err)
	}
	tensor.Internal.Outlive(graph.Token{}, ts...)
	return nil
}

// Mean returns the mean of the gradients added, or the zero G without gradients, and starts over.
func (a *Accumulator[G]) Mean() G {
	sum, n := a.Sum, a.Count
	*a = Accumulator[G]{}
	if n < 2 {
		return sum
	}
	return mapFloats(sum, func(t tensor.Tensor) tensor.Tensor { return t.Div(n) })
}

// sum adds two trees of gradients, either of which may lack some.
func sum[G any](a, b G) (total G, err error) {
	xs, err := pytree.Flatten[tensor.Tensor](a)
	if err != nil {
		return total, err
	}
	ys, err := pytree.Flatten[tensor.Tensor](b)
	if err != nil {
		return total, err
	}
	out, err := pytree.Align(xs, ys)
	if err != nil {
		return total, err
	}
	for i, x := range xs {
		switch {
		case !out[i].IsValid():
			out[i] = x.Value
		case x.Value.IsValid():
			out[i] = x.Value.Add(out[i])
		}
	}
	return pytree.Rebuild(a, out)
}
