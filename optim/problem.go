package optim

import (
	"errors"
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/internal/pytree"
	"github.com/tensorken/tensorken/tensor"
)

// A problem is a loss as a function of one vector, the elements of all parameters that
// have a gradient.
type problem[M any] struct {
	loss   func(M) tensor.Tensor
	like   M
	leaves []pytree.Leaf[tensor.Tensor]
	flat   []bool        // the leaf is a part of the vector
	start  tensor.Tensor // [n] float32, or float64 if a parameter is
}

func newProblem[M any](m M, loss func(M) tensor.Tensor) (*problem[M], error) {
	leaves, err := pytree.Flatten[tensor.Tensor](m)
	if err != nil {
		return nil, err
	}
	p := &problem[M]{loss: loss, like: m, leaves: leaves, flat: make([]bool, len(leaves))}
	d := tensor.Float32
	var parts []tensor.Tensor
	for i, l := range leaves {
		if !l.Value.IsValid() || l.State || !l.Value.DType().IsFloat() {
			continue
		}
		p.flat[i] = true
		parts = append(parts, l.Value)
		if l.Value.DType() == tensor.Float64 {
			d = tensor.Float64
		}
	}
	if parts == nil {
		return nil, errors.New("optim: Minimize: the model has no floating-point parameter")
	}
	p.start = joined(parts, d)
	return p, tensor.Eval(p.start)
}

// joined returns the elements of all tensors as one vector of type d.
func joined(parts []tensor.Tensor, d tensor.DType) tensor.Tensor {
	flat := make([]tensor.Tensor, len(parts))
	for i, t := range parts {
		flat[i] = t.Reshape(-1).Cast(d)
	}
	return tensor.Cat(0, flat...)
}

// model returns the model whose parameters are the elements of x.
func (p *problem[M]) model(x tensor.Tensor) (M, error) {
	out := make([]tensor.Tensor, len(p.leaves))
	from := 0
	for i, l := range p.leaves {
		out[i] = l.Value
		if p.flat[i] {
			to := from + l.Value.Len()
			out[i] = x.Slice(0, from, to).Reshape(l.Value.Shape()...).Cast(l.Value.DType())
			from = to
		}
	}
	return pytree.Rebuild(p.like, out)
}

// eval returns the trial at start + t·d. A loss that is NaN is +Inf: the line search
// then takes a shorter step.
func (p *problem[M]) eval(d tensor.Tensor, t float64) (trial[evaluation], error) {
	x := p.start.Add(d.Mul(t)).Keep()
	m, err := p.model(x)
	if err != nil {
		return trial[evaluation]{}, err
	}
	loss, grads := grad.ValueAndGrad(p.loss)(m)
	leaves, err := pytree.Flatten[tensor.Tensor](grads)
	if err != nil {
		return trial[evaluation]{}, err
	}
	var parts []tensor.Tensor
	for i, l := range leaves {
		if p.flat[i] {
			parts = append(parts, l.Value)
		}
	}
	g := joined(parts, x.DType()).Keep()
	size := g.Abs()
	of, err := numbers(loss.Cast(x.DType()), g.Mul(d).Sum(), size.Max(), size.Sum())
	if err != nil {
		return trial[evaluation]{}, err
	}
	if math.IsNaN(of[0]) {
		of[0] = math.Inf(1)
	}
	return trial[evaluation]{t, of[0], of[1], evaluation{x, g, of[2], of[3]}}, nil
}
