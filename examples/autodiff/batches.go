package main

import (
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// An Example has the features and the label of one example, or of several.
type Example struct{ X, Y tensor.Tensor }

// exampleGradients returns the gradient of the model's loss for each example.
func exampleGradients(m Model, examples Example) Model {
	gradient := func(e Example) Model {
		return grad.Of(func(m Model) tensor.Tensor { return m.loss(e.X, e.Y) })(m)
	}
	return grad.Vmap(gradient)(examples)
}

func batches(p printer) {
	p.title("Many at once")
	p.say(`grad.Vmap takes a function of one example and returns that of a batch of them.
There is no loop: each operation works on all examples. With grad.Of it gives
the gradient of each example by itself, which no gradient of a sum tells.

    type Example struct{ X, Y tensor.Tensor }

    func exampleGradients(m Model, examples Example) Model {
        gradient := func(e Example) Model {
            return grad.Of(func(m Model) tensor.Tensor { return m.loss(e.X, e.Y) })(m)
        }
        return grad.Vmap(gradient)(examples)
    }`)
	each := exampleGradients(model, Example{inputs, targets})
	p.show("each := exampleGradients(model, Example{inputs, targets}); each.W", each.W)
	p.show("each.B", each.B)
	p.show("each.W.Sum(0)", each.W.Sum(0))
	p.show("grad.Of(loss)(model).W", grad.Of(loss)(model).W)

	p.say(`A pullback is a function too. Applied to many vectors at once, the rows of a
matrix, it is the product of that matrix and the Jacobian.`)
	_, pull := grad.VJP(predictions, model.W)
	rows := tensor.From([][]float32{{1, 1, 1, 1}, {1, -1, 1, -1}})
	p.show("rows := tensor.From([][]float32{{1, 1, 1, 1}, {1, -1, 1, -1}})", rows)
	p.show("_, pull := grad.VJP(predictions, model.W); grad.Vmap(pull)(rows)", grad.Vmap(pull)(rows))
	p.show("rows.MatMul(grad.JacRev(predictions)(model.W))", rows.MatMul(grad.JacRev(predictions)(model.W)))

	p.say(`With the identity matrix the product is the Jacobian itself: this is how
grad.JacRev works. grad.JacFwd pushes the identity forward: out come the columns
of the Jacobian, so they go along the last axis.`)
	p.show("grad.Vmap(pull)(tensor.Eye(4))", grad.Vmap(pull)(tensor.Eye(4)))
	push := func(v tensor.Tensor) tensor.Tensor {
		_, u := grad.JVP(predictions, model.W, v)
		return u
	}
	p.show("push := func(v tensor.Tensor) tensor.Tensor { _, u := grad.JVP(predictions, model.W, v); return u }\n"+
		"grad.VmapAxes(push, 0, -1)(tensor.Eye(3))", grad.VmapAxes(push, 0, -1)(tensor.Eye(3)))
}
