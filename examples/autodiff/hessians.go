package main

import (
	"fmt"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// A product computes the product of a function's Hessian with v.
type product func(f function, at, v tensor.Tensor) tensor.Tensor

// forwardOverReverse is the change of the gradient along v, as grad.HVP.
func forwardOverReverse(f function, at, v tensor.Tensor) tensor.Tensor {
	_, hv := grad.JVP(grad.Of(f), at, v)
	return hv
}

// reverseOverForward is the gradient of the change along v.
func reverseOverForward(f function, at, v tensor.Tensor) tensor.Tensor {
	return grad.Of(func(x tensor.Tensor) tensor.Tensor {
		_, df := grad.JVP(f, x, v)
		return df
	})(at)
}

// reverseOverReverse is the gradient of the product of the gradient and v.
func reverseOverReverse(f function, at, v tensor.Tensor) tensor.Tensor {
	return grad.Of(func(x tensor.Tensor) tensor.Tensor { return grad.Of(f)(x).Mul(v).Sum() })(at)
}

// byHessian makes the whole Hessian.
func byHessian(f function, at, v tensor.Tensor) tensor.Tensor {
	n := at.Len()
	return grad.Hessian(f)(at).Reshape(n, n).MatMul(v.Flatten(0)).Reshape(v.Shape()...)
}

// energy is the example function of the products.
func energy(x tensor.Tensor) tensor.Tensor { return x.Tanh().Square().Sum() }

func hessianProducts(p printer) {
	p.title("Products of the Hessian with a vector")
	p.say(`The Hessian of a function of a million parameters does not fit anywhere. Its
product with a vector does, and is often all that is needed. There are several
ways to it; grad.HVP goes the first, which does the least work.

    // The change of the gradient along v.
    func forwardOverReverse(f function, at, v tensor.Tensor) tensor.Tensor {
        _, hv := grad.JVP(grad.Of(f), at, v)
        return hv
    }

    // The gradient of the change along v.
    func reverseOverForward(f function, at, v tensor.Tensor) tensor.Tensor {
        return grad.Of(func(x tensor.Tensor) tensor.Tensor {
            _, df := grad.JVP(f, x, v)
            return df
        })(at)
    }

    // The gradient of the product of the gradient and v.
    func reverseOverReverse(f function, at, v tensor.Tensor) tensor.Tensor {
        return grad.Of(func(x tensor.Tensor) tensor.Tensor { return grad.Of(f)(x).Mul(v).Sum() })(at)
    }

    func energy(x tensor.Tensor) tensor.Tensor { return x.Tanh().Square().Sum() }`)
	x := tensor.From([][]float32{{0.5, -1, 0.25}, {2, 0.75, -0.5}})
	v := tensor.From([][]float32{{1, 2, 3}, {-1, 0.5, 0.25}})
	p.show("x := tensor.From([][]float32{{0.5, -1, 0.25}, {2, 0.75, -0.5}})", x)
	p.show("v := tensor.From([][]float32{{1, 2, 3}, {-1, 0.5, 0.25}})", v)
	for _, way := range products {
		p.show(way.name+"(energy, x, v)", way.product(energy, x, v))
	}
	h := grad.Hessian(energy)(x)
	p.show("grad.Hessian(energy)(x).Shape()", h.Shape())
	p.show("grad.Hessian(energy)(x).Reshape(6, 6).MatMul(v.Flatten(0)).Reshape(2, 3)", byHessian(energy, x, v))

	p.say(`grad.HVP takes a model as it is.`)
	p.show("grad.HVP(loss, model, model)", grad.HVP(loss, model, model))
}

var products = []struct {
	name    string
	product product
}{
	{"grad.HVP", grad.HVP[tensor.Tensor]},
	{"forwardOverReverse", forwardOverReverse},
	{"reverseOverForward", reverseOverForward},
	{"reverseOverReverse", reverseOverReverse},
}

// penalized is the loss plus a penalty on large parameters.
func penalized(m Model) tensor.Tensor {
	flat, _ := tree.Ravel(m)
	return loss(m).Add(flat.Square().Sum().Mul(0.05))
}

// solve returns the solution x of a(x) = b, for a product a with a symmetric positive
// definite matrix, by conjugate gradients. It does not need the matrix and, except for
// rounding, takes at most as many steps as x has elements.
func solve(a function, b tensor.Tensor) tensor.Tensor {
	x, residual, along := tensor.ZerosLike(b), b, b
	size := residual.Dot(residual)
	enough := size.Item() * 1e-12
	for range b.Len() {
		if size.Item() <= enough {
			break
		}
		change := a(along)
		step := size.Div(along.Dot(change))
		x = x.Add(along.Mul(step))
		residual = residual.Sub(change.Mul(step))
		next := residual.Dot(residual)
		along = residual.Add(along.Mul(next.Div(size)))
		size = next
	}
	return x
}

// newton returns a step of Newton's method: the minimum of the quadratic function with
// f's gradient and Hessian at m.
func newton(f func(Model) tensor.Tensor, m Model) Model {
	at, back := tree.Ravel(m)
	flat := func(x tensor.Tensor) tensor.Tensor { return f(back(x)) }
	hessian := func(v tensor.Tensor) tensor.Tensor { return grad.HVP(flat, at, v) }
	return back(at.Sub(solve(hessian, grad.Of(flat)(at))))
}

func newtonSteps(p printer) {
	p.title("Newton's method")
	p.say(`Newton's method goes to where the gradient would be zero if the Hessian were the
same everywhere: it solves H·d = g for the step d. The method of conjugate
gradients, which is the function solve of this example, needs only products of
H with vectors. Written for vectors, it serves models as well: tree.Ravel makes
a vector of a model, and a model of a vector.

    func newton(f func(Model) tensor.Tensor, m Model) Model {
        at, back := tree.Ravel(m)
        flat := func(x tensor.Tensor) tensor.Tensor { return f(back(x)) }
        hessian := func(v tensor.Tensor) tensor.Tensor { return grad.HVP(flat, at, v) }
        return back(at.Sub(solve(hessian, grad.Of(flat)(at))))
    }

A plane divides the examples by their labels, so the loss has no minimum: the
greater the parameters, the less it is. A penalty on great parameters gives it
one. Once it is near, each step about squares the error, until rounding is all
that is left.

    func penalized(m Model) tensor.Tensor {
        flat, _ := tree.Ravel(m)
        return loss(m).Add(flat.Square().Sum().Mul(0.05))
    }`)
	m := Model{tensor.Zeros(3), tensor.Scalar(0)}
	table := "steps loss    gradient's length"
	for steps := range 6 {
		value, g := grad.ValueAndGrad(penalized)(m)
		flat, _ := tree.Ravel(g)
		table += fmt.Sprintf("\n%-5d %.5f %.4f", steps, value, flat.Norm())
		m = newton(penalized, m)
	}
	p.say(table)
	p.show("m.predict(inputs), shown by %.4f", fmt.Sprintf("%.4f", m.predict(inputs)))
}
