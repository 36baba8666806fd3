package train

import (
	"fmt"

	"github.com/tensorken/tensorken/optim"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// gradients returns the loss of a batch, the model with its new state, and the gradients,
// computed in the precision of the optimizer.
func (l *Loop[M, B]) gradients(m M, batch B) (loss tensor.Tensor, next, grads M) {
	if d := l.Optimizer.Precision; d != 0 {
		batch = tree.Cast(batch, d)
	}
	return optim.ValueAndGradAux(l.Optimizer, func(m M) (tensor.Tensor, M) {
		loss, next := l.Loss(m, batch, l.RNG)
		return l.weigh(loss), next
	})(m)
}

// An input is a step's argument besides the model.
type input[M, B any] struct {
	Batch B
	Loss  func(m M, b B, rng *tensor.RNG) (tensor.Tensor, M)
}

// isReplayed reports whether steps are recorded and replayed. AfterStep may change variables
// that Loss reads.
func (l *Loop[M, B]) isReplayed() bool {
	return !l.Eager && !l.FindNaN && l.Accumulate <= 1 && l.AfterStep == nil
}

// replay steps the model by one batch.
func (r *runner[M, B]) replay(batch B) error {
	if o := r.Optimizer; r.replays != o {
		r.replays = o
		r.jitted = optim.Jit(o, func(m M, in input[M, B], rng *tensor.RNG) (tensor.Tensor, M) {
			if d := o.Precision; d != 0 {
				in.Batch = tree.Cast(in.Batch, d)
			}
			return in.Loss(m, in.Batch, rng)
		})
	}
	rate, m := r.rate(), r.Model
	loss, err := r.jitted(&m, input[M, B]{batch, r.Loss}, r.RNG)
	if err != nil {
		return err
	}
	return r.stepDone(m, loss, r.count(batch), rate)
}

// An accumulator has the batches of a step so far.
type accumulator[M any] struct {
	batches, examples int
	loss              tensor.Tensor
	next, grads       M
	sums              *optim.Accumulator[M] // of gradients over the examples, if several batches make a step
}

// add adds a batch to a pending step.
func (r *runner[M, B]) add(p *accumulator[M], batch B) error {
	m := r.Model
	if p.batches > 0 {
		m = p.next
	}
	var drawn uint64
	if r.RNG != nil {
		drawn = r.RNG.Count
	}
	loss, next, g := r.gradients(m, batch)
	if err := checkNext(r.Model, next); err != nil {
		return err
	}
	if r.FindNaN {
		if err := r.diagnose(m, batch, drawn, loss, g); err != nil {
			return err
		}
	}
	n := r.count(batch)
	if r.Accumulate > 1 {
		if p.sums == nil {
			p.sums, p.loss = &optim.Accumulator[M]{}, tensor.Scalar(0)
		}
		err := p.sums.Add(tree.Map(g, func(_ string, t tensor.Tensor) tensor.Tensor {
			return inFloat32(t, func(t tensor.Tensor) tensor.Tensor { return t.Mul(n) })
		}))
		if err != nil {
			return err
		}
		loss = loss.Mul(n).Add(p.loss)
		if err := tensor.Eval(loss, next); err != nil { // so that they hold no batch
			return err
		}
	}
	p.batches++
	p.examples += n
	p.loss, p.next, p.grads = loss, next, g
	return nil
}

// mean returns the mean loss of the batches, the model with its new state and the mean
// gradients.
func (p *accumulator[M]) mean() (loss tensor.Tensor, next, grads M) {
	if p.sums == nil {
		return p.loss, p.next, p.grads
	}
	return p.loss.Div(p.examples), p.next, tree.Map(p.sums.Sum, func(_ string, t tensor.Tensor) tensor.Tensor {
		return inFloat32(t, func(t tensor.Tensor) tensor.Tensor { return t.Div(p.examples) })
	})
}

// inFloat32 returns f of a gradient, computed in float32 if it has 16 bits, which lack some
// numbers of examples.
func inFloat32(t tensor.Tensor, f func(tensor.Tensor) tensor.Tensor) tensor.Tensor {
	d := t.DType()
	return f(t.Cast(d.ComputeType())).Cast(d)
}

// diagnose returns an error if the loss or a gradient of a batch is not finite. Gradients
// in float16 may be: the optimizer skips such steps. drawn is the RNG's Count before they
// were computed.
func (r *runner[M, B]) diagnose(m M, batch B, drawn uint64, loss tensor.Tensor, g M) error {
	results := []any{loss, g}
	if r.Optimizer.Precision == tensor.Float16 {
		results = results[:1]
	}
	if bad, err := anyNotFinite(results...); !bad || err != nil {
		return err
	}
	step := fmt.Sprintf("train: step %d", r.Step+1)
	for _, given := range []struct {
		what string
		tree any
	}{{"batch", batch}, {"model", m}} {
		for name, t := range tree.All(given.tree) {
			if bad, err := anyNotFinite(t); bad || err != nil {
				return fmt.Errorf("%s: tensor %q of the %s is not finite", step, name, given.what)
			}
		}
	}
	if r.RNG != nil {
		r.RNG.Count = drawn
	}
	found, err := FindNaN(func() any {
		loss, _, g := r.gradients(m, batch)
		return []any{loss, g}
	})
	switch {
	case err != nil:
		return err
	case found == nil:
		return fmt.Errorf("%s: the loss or a gradient is not finite, but each operation on its own gives finite numbers", step)
	}
	return fmt.Errorf("%s: %v", step, found)
}
