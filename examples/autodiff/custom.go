package main

import (
	"math"

	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
)

// bent is a curve up to 3 and a line beyond.
func bent(x tensor.Tensor) tensor.Tensor {
	if x.Item() < 3 {
		return x.Pow(3).Mul(2)
	}
	return x.Mul(math.Pi)
}

func branches(p printer) {
	p.title("Branches")
	p.say(`A function may look at a value while it is being differentiated. The derivative
is that of the branch taken.

    func bent(x tensor.Tensor) tensor.Tensor {
        if x.Item() < 3 {
            return x.Pow(3).Mul(2)
        }
        return x.Mul(math.Pi)
    }`)
	p.show("grad.Of(bent)(tensor.Scalar(2))", grad.Of(bent)(tensor.Scalar(2)))
	p.show("grad.Of(bent)(tensor.Scalar(4))", grad.Of(bent)(tensor.Scalar(4)))
}

// A Move in a game leads from one state to another and earns a reward.
type Move struct{ From, Reward, To tensor.Tensor }

func newMove() Move {
	return Move{tensor.New([]float32{1, 2, -1}), tensor.Scalar(1), tensor.New([]float32{2, 1, 0})}
}

// objective returns -½(reward + v(To) - v(From))², with values v(s) = s·theta: it grows
// as both estimates of the first state's value agree.
func (m Move) objective(theta tensor.Tensor) tensor.Tensor {
	target := m.Reward.Add(m.To.Dot(theta))
	return target.Sub(m.From.Dot(theta)).Square().Mul(-0.5)
}

// stopped is objective with a derivative only through v(From).
func (m Move) stopped(theta tensor.Tensor) tensor.Tensor {
	target := grad.StopGradient(m.Reward.Add(m.To.Dot(theta)))
	return target.Sub(m.From.Dot(theta)).Square().Mul(-0.5)
}

// roundThrough rounds, and has the derivative of the identity.
func roundThrough(x tensor.Tensor) tensor.Tensor {
	return x.Add(grad.StopGradient(x.Round().Sub(x)))
}

func stops(p printer) {
	p.title("Where no derivative shall flow")
	p.say(`Who learns by temporal differences guesses what the state of a game is worth, and
moves the guess towards a later, better one: the reward of a move, and what the
next state is worth. The later guess is made with the same parameters, but is to
stay where it is. grad.StopGradient holds the derivative back. Here a state is
worth its product with theta.

    func (m Move) stopped(theta tensor.Tensor) tensor.Tensor {
        target := grad.StopGradient(m.Reward.Add(m.To.Dot(theta)))
        return target.Sub(m.From.Dot(theta)).Square().Mul(-0.5)
    }`)
	theta := tensor.New([]float32{0.1, -0.1, 0})
	m := newMove()
	p.show("m", m)
	p.show("theta", theta)
	p.show("grad.Of(m.stopped)(theta)", grad.Of(m.stopped)(theta))
	p.show("grad.Of(m.objective)(theta), which is without StopGradient", grad.Of(m.objective)(theta))

	p.say(`It can also give a function the derivative of another. Rounding has the
derivative 0, and a network that rounds could not learn. This function rounds,
and has the derivative of x.

    func roundThrough(x tensor.Tensor) tensor.Tensor {
        return x.Add(grad.StopGradient(x.Round().Sub(x)))
    }`)
	x := tensor.Scalar(3.2)
	p.show("x := tensor.Scalar(3.2); roundThrough(x)", roundThrough(x))
	p.show("grad.Of(tensor.Tensor.Round)(x)", grad.Of(tensor.Tensor.Round)(x))
	p.show("grad.Of(roundThrough)(x)", grad.Of(roundThrough)(x))
}

// naive is log(1 + exp(x)).
func naive(x tensor.Tensor) tensor.Tensor { return x.Exp().Add(1).Log() }

// log1pexp is naive, with a derivative that does not overflow.
var log1pexp = grad.CustomJVP(naive, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
	return naive(x), v.Mul(x.Sigmoid())
})

// clip returns the identity with a derivative that clamps the cotangent to ±limit.
func clip(limit float64) function {
	return grad.Custom(
		func(x tensor.Tensor) tensor.Tensor { return x },
		func(_, _, ct tensor.Tensor) tensor.Tensor { return ct.Clamp(-limit, limit) },
	)
}

func customs(p printer) {
	p.title("Derivatives of your own")
	p.say(`The derivative of log(1 + exp(x)) is 1 - 1/(1 + exp(x)). By the chain rule it is
found as exp(x)/(1 + exp(x)), which for great x is Inf/Inf.

    func naive(x tensor.Tensor) tensor.Tensor { return x.Exp().Add(1).Log() }`)
	x, great := tensor.Scalar(3), tensor.Scalar(100)
	p.show("x, great := tensor.Scalar(3), tensor.Scalar(100); naive(x)", naive(x))
	p.show("grad.Of(naive)(x)", grad.Of(naive)(x))
	p.show("grad.Of(naive)(great)", grad.Of(naive)(great))

	p.say(`grad.CustomJVP gives a function a rule of its own: its value, and the change of
it along v. That one rule serves both modes, and for higher orders it is itself
differentiated.

    var log1pexp = grad.CustomJVP(naive, func(x, v tensor.Tensor) (tensor.Tensor, tensor.Tensor) {
        return naive(x), v.Mul(x.Sigmoid())
    })`)
	p.show("log1pexp(x)", log1pexp(x))
	p.show("grad.Of(log1pexp)(x)", grad.Of(log1pexp)(x))
	p.show("grad.Of(log1pexp)(great)", grad.Of(log1pexp)(great))
	p.show("grad.Diff(log1pexp)(great)", grad.Diff(log1pexp)(great))
	p.show("grad.Of(grad.Of(log1pexp))(x)", grad.Of(grad.Of(log1pexp))(x))
	p.show("grad.Vmap(grad.Of(log1pexp))(tensor.Linspace(0, 2, 3))", grad.Vmap(grad.Of(log1pexp))(tensor.Linspace(0, 2, 3)))

	p.say(`grad.Custom states the pullback instead, for reverse mode alone. That can be any
function: here x itself, through which no great cotangent comes back.

    func clip(limit float64) function {
        return grad.Custom(
            func(x tensor.Tensor) tensor.Tensor { return x },
            func(_, _, ct tensor.Tensor) tensor.Tensor { return ct.Clamp(-limit, limit) },
        )
    }`)
	xs := tensor.Linspace(-2, 2, 5)
	p.show("xs := tensor.Linspace(-2, 2, 5)", xs)
	cube := func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() }
	clipped := func(x tensor.Tensor) tensor.Tensor { return cube(clip(5)(x)) }
	p.show("grad.Of(func(x tensor.Tensor) tensor.Tensor { return x.Pow(3).Sum() })(xs)", grad.Of(cube)(xs))
	p.show("grad.Of(func(x tensor.Tensor) tensor.Tensor { return clip(5)(x).Pow(3).Sum() })(xs)", grad.Of(clipped)(xs))
}
