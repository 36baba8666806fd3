package main

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

func jacobians(p printer) {
	p.title("Jacobians and Hessians")
	p.say(`A function with many results has a row of derivatives for each. grad.JacRev
computes this matrix, the Jacobian, by rows and grad.JacFwd by columns; take the
one with less to do. Both take all of them in one pass.

    func predictions(w tensor.Tensor) tensor.Tensor { return Model{w, model.B}.predict(inputs) }`)
	p.show("grad.JacFwd(predictions)(model.W)", grad.JacFwd(predictions)(model.W))
	p.show("grad.JacRev(predictions)(model.W)", grad.JacRev(predictions)(model.W))
	p.say(`The sum of its rows is the gradient of the sum of the predictions.`)
	sum := func(w tensor.Tensor) tensor.Tensor { return predictions(w).Sum() }
	p.show("grad.JacRev(predictions)(model.W).Sum(0), shown by %.5f", fmt.Sprintf("%.5f", grad.JacRev(predictions)(model.W).Sum(0)))
	p.show("grad.Of(func(w tensor.Tensor) tensor.Tensor { return predictions(w).Sum() })(model.W), shown by %.5f",
		fmt.Sprintf("%.5f", grad.Of(sum)(model.W)))

	p.say(`By a model, the Jacobian is a model: of each parameter by itself.`)
	all := func(m Model) tensor.Tensor { return m.predict(inputs) }
	p.show("j := grad.JacRev(func(m Model) tensor.Tensor { return m.predict(inputs) })(model)", grad.JacRev(all)(model))

	p.say(`The Jacobian of the Jacobian has the second derivatives: a matrix for each of
the four predictions. Any two of the functions will do. Forwards over backwards
does the least work, as the outer one differentiates as many results as
arguments.`)
	h := grad.JacFwd(grad.JacRev(predictions))(model.W)
	p.show("h := grad.JacFwd(grad.JacRev(predictions))(model.W); h.Shape()", h.Shape())
	p.show("h.At(0)", h.At(0))

	p.say(`grad.Hessian does this for a function with one result.`)
	p.show("grad.Hessian(byW)(model.W)", grad.Hessian(byW)(model.W))
}

func forward(p printer) {
	p.title("Forward mode: products of the Jacobian with a vector")
	p.say(`Everything above is built on two functions. The first is grad.JVP. It gives a
function's value and the change of it along a vector v: the product of the
Jacobian J and v. It goes through the function once, along with the value, and
takes about three times as long; J is never made.`)
	p.show("v := tangent", tangent)
	y, u := grad.JVP(predictions, model.W, tangent)
	p.show("y, u := grad.JVP(predictions, model.W, v); u", u)
	p.show("y", y)
	p.show("grad.JacFwd(predictions)(model.W).MatMul(v)", grad.JacFwd(predictions)(model.W).MatMul(tangent))

	p.say(`grad.Linearize gives the same as a function of v, for many vectors at one point.`)
	_, push := grad.Linearize(predictions, model.W)
	p.show("_, push := grad.Linearize(predictions, model.W); push(v)", push(tangent))
	p.show("push(v.Mul(10))", push(tangent.Mul(10)))
}

func reverse(p printer) {
	p.title("Reverse mode: products of a vector with the Jacobian")
	p.say(`The second is grad.VJP. It gives a function's value and its pullback, which
takes a vector u to the product of u and J. For a function with one result, and
u = 1, that is the gradient, in one call, however many arguments there are.
Training is possible because of this. The price is memory: what the function
computed on its way is needed again, in reverse. grad.Checkpoint lowers it.`)
	p.show("u := cotangent", cotangent)
	_, pull := grad.VJP(predictions, model.W)
	p.show("_, pull := grad.VJP(predictions, model.W); pull(u)", pull(cotangent))
	p.show("u.MatMul(grad.JacRev(predictions)(model.W))", cotangent.MatMul(grad.JacRev(predictions)(model.W)))

	p.say(`Of a function of each element by itself, the pullback of ones is the derivative
at each.`)
	ones := tensor.Ones(2, 2)
	_, pull = grad.VJP(func(x tensor.Tensor) tensor.Tensor { return x.Square().Mul(3) }, ones)
	p.show("ones := tensor.Ones(2, 2)", ones)
	p.show("_, pull = grad.VJP(func(x tensor.Tensor) tensor.Tensor { return x.Square().Mul(3) }, ones); pull(ones)", pull(ones))
}

func jaxPoint(p printer) {
	p.title("At JAX's parameters")
	p.say(`The parameters above are Tensorken's own. JAX's cookbook draws others at random:
these, before JAX 0.5 changed its random numbers. Compare with what it prints.`)
	m := jaxModel
	p.show("m", m)
	value, g := grad.ValueAndGrad(loss)(m)
	p.show("value, g := grad.ValueAndGrad(loss)(m)", fmt.Sprint(value, " ", g))
	p.show("g.W.Dot(direction)", g.W.Dot(direction))
	all := func(m Model) tensor.Tensor { return m.predict(inputs) }
	j := grad.JacRev(all)(m)
	p.show("j := grad.JacRev(func(m Model) tensor.Tensor { return m.predict(inputs) })(m); j.W", j.W)
	p.show("j.B", j.B)
	at := func(w tensor.Tensor) tensor.Tensor { return Model{w, m.B}.predict(inputs) }
	p.show("grad.JacFwd(grad.JacRev(func(w tensor.Tensor) tensor.Tensor { return Model{w, m.B}.predict(inputs) }))(m.W).At(0)",
		grad.JacFwd(grad.JacRev(at))(m.W).At(0))
}
