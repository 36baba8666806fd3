package main

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func gradients(p printer) {
	p.title("Gradients")
	p.say(`grad.Of takes a function that gives one number and returns the function that
computes its gradient. That is a function again, so it can be differentiated
again, as often as you like.`)
	x := tensor.Scalar(2)
	p.show("x := tensor.Scalar(2)", x)
	tanh := tensor.Tensor.Tanh
	p.show("grad.Of(tensor.Tensor.Tanh)(x)", grad.Of(tanh)(x))
	p.show("grad.Of(grad.Of(tensor.Tensor.Tanh))(x)", grad.Of(grad.Of(tanh))(x))
	p.show("grad.Of(grad.Of(grad.Of(tensor.Tensor.Tanh)))(x)", grad.Of(grad.Of(grad.Of(tanh)))(x))

	p.say(`grad.Of works backwards, from the result to what it was computed from.
grad.Diff gives the derivative by a single number, and works forwards.`)
	p.show("grad.Diff(grad.Diff(grad.Diff(tensor.Tensor.Tanh)))(x)", grad.Diff(grad.Diff(grad.Diff(tanh)))(x))
}

// A Model is a logistic regression: the probability of a label is the sigmoid of a
// weighted sum of the features.
type Model struct {
	W tensor.Tensor // [features]
	B tensor.Tensor // []
}

// predict returns the probability of a label for each example of x [n features], or for
// one example, x [features].
func (m Model) predict(x tensor.Tensor) tensor.Tensor { return x.MatMul(m.W).Add(m.B).Sigmoid() }

// loss returns the negative log-likelihood of the labels y, bool [n] or [].
func (m Model) loss(x, y tensor.Tensor) tensor.Tensor {
	p := m.predict(x)
	return tensor.Where(y, p, p.Neg().Add(1)).Log().Sum().Neg()
}

// The arguments of the functions to differentiate.
var (
	inputs, targets tensor.Tensor // four examples of three features, and their labels
	model           Model
	direction       tensor.Tensor // a direction in the space of weights, of length 1
	tangent         tensor.Tensor // another direction, of any length
	cotangent       tensor.Tensor // weights of the predictions
	jaxModel        Model         // the random model of JAX's cookbook, with key 0
)

// setup makes the tensors above, on the default device.
func setup() {
	inputs = tensor.From([][]float32{
		{0.52, 1.12, 0.77},
		{0.88, -1.08, 0.15},
		{0.52, 0.06, -1.30},
		{0.74, -2.49, 1.39},
	})
	targets = tensor.New([]bool{true, true, false, true})
	model = Model{tensor.New([]float32{0.712813, 0.85833144, -2.4362438}), tensor.Scalar(0.16334426)}
	direction = tensor.New([]float32{0.81863336, -0.4763145, 0.32087992})
	tangent = tensor.New([]float32{-1.2750102, 1.287171, -1.4814075})
	cotangent = tensor.New([]float32{0.61259484, 0.6178097, 1.7388334, 1.5375168})
	jaxModel = Model{tensor.New([]float32{-0.36838782, -2.2756889, 0.011447567}), tensor.Scalar(0.85355175)}
}

// loss returns the model's loss on all examples.
func loss(m Model) tensor.Tensor { return m.loss(inputs, targets) }

// predictions returns the predictions for all examples as a function of the weights.
func predictions(w tensor.Tensor) tensor.Tensor { return Model{w, model.B}.predict(inputs) }

func regression(p printer) {
	p.title("Gradients of a model")
	p.say(`A logistic regression says how likely it is that an example has a label. Here
are four examples of three features, and a model that knows nothing yet.

    type Model struct {
        W tensor.Tensor // [features]
        B tensor.Tensor // []
    }

    func (m Model) predict(x tensor.Tensor) tensor.Tensor {
        return x.MatMul(m.W).Add(m.B).Sigmoid()
    }

    func (m Model) loss(x, y tensor.Tensor) tensor.Tensor {
        p := m.predict(x)
        return tensor.Where(y, p, p.Neg().Add(1)).Log().Sum().Neg()
    }

    func loss(m Model) tensor.Tensor { return m.loss(inputs, targets) }`)
	p.show("inputs", inputs)
	p.show("targets", targets)
	p.show("model", model)
	p.show("model.predict(inputs)", model.predict(inputs))
	p.show("loss(model)", loss(model))

	p.say(`By one of the parameters: give grad.Of a function of that one. What a function
captures, and is not given, is a constant.

    func byW(w tensor.Tensor) tensor.Tensor { return loss(Model{w, model.B}) }
    func byB(b tensor.Tensor) tensor.Tensor { return loss(Model{model.W, b}) }`)
	p.show("grad.Of(byW)(model.W)", grad.Of(byW)(model.W))
	p.show("grad.Of(byB)(model.B)", grad.Of(byB)(model.B))

	p.say(`By all at once: a function's argument can be any Go value made of tensors, and
its gradient has the same type. Structs, slices, maps and what they hold will
do.

    byName := func(m map[string]tensor.Tensor) tensor.Tensor {
        return loss(Model{m["w"], m["b"]})
    }`)
	p.show("grad.Of(loss)(model)", grad.Of(loss)(model))
	byName := func(m map[string]tensor.Tensor) tensor.Tensor { return loss(Model{m["w"], m["b"]}) }
	p.show(`grad.Of(byName)(map[string]tensor.Tensor{"w": model.W, "b": model.B})`,
		grad.Of(byName)(map[string]tensor.Tensor{"w": model.W, "b": model.B}))

	p.say(`Whoever wants the gradient mostly wants the value too. Both share their work.`)
	value, g := grad.ValueAndGrad(loss)(model)
	p.show("value, g := grad.ValueAndGrad(loss)(model)", fmt.Sprint(value, " ", g))

	p.say(`A step against the gradient makes the model much better.`)
	next := Model{model.W.Sub(g.W), model.B.Sub(g.B)}
	p.show("next := Model{model.W.Sub(g.W), model.B.Sub(g.B)}", next)
	p.show("next.predict(inputs)", next.predict(inputs))
	p.show("loss(next)", loss(next))
}

// byW returns the loss as a function of the weights.
func byW(w tensor.Tensor) tensor.Tensor { return loss(Model{w, model.B}) }

// byB returns the loss as a function of the offset.
func byB(b tensor.Tensor) tensor.Tensor { return loss(Model{model.W, b}) }

// A function maps a tensor to a tensor.
type function = func(tensor.Tensor) tensor.Tensor

// slope returns the central difference quotient of f at a point in a direction.
func slope(f function, at, direction tensor.Tensor, step float64) tensor.Tensor {
	d := direction.Mul(step / 2)
	return f(at.Add(d)).Sub(f(at.Sub(d))).Div(step)
}

func differences(p printer) {
	p.title("Checking against differences")
	p.say(`A derivative is the limit of differences, and they are a good check of it. But
not a good way to get one: float32 has seven digits, and of the difference of
two numbers that are nearly equal only the last of them are left. A step of
1e-4 gives two right digits here, the longer one below gives four.

    type function = func(tensor.Tensor) tensor.Tensor

    func slope(f function, at, direction tensor.Tensor, step float64) tensor.Tensor {
        d := direction.Mul(step / 2)
        return f(at.Add(d)).Sub(f(at.Sub(d))).Div(step)
    }`)
	p.show("slope(byB, model.B, tensor.Scalar(1), 0.02), shown by %.3f",
		fmt.Sprintf("%.3f", slope(byB, model.B, tensor.Scalar(1), 0.02)))
	p.show("grad.Of(byB)(model.B), shown by %.3f", fmt.Sprintf("%.3f", grad.Of(byB)(model.B)))

	p.say(`For a vector, one direction tells as much as all axes: the slope along it is the
product with the gradient.`)
	p.show("direction", direction)
	p.show("slope(byW, model.W, direction, 0.02), shown by %.3f",
		fmt.Sprintf("%.3f", slope(byW, model.W, direction, 0.02)))
	p.show("grad.Of(byW)(model.W).Dot(direction), shown by %.3f",
		fmt.Sprintf("%.3f", grad.Of(byW)(model.W).Dot(direction)))
	p.say(`gradtest.Check does this for tests, in both modes and to any order.`)
}
