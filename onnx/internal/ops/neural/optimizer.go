package neural

import (
	"github.com/tensorken/tensorken/onnx/internal/op"
)

// Optimizers has the updates of training.
var Optimizers = []op.Row{
	op.New("Adagrad", op.Many(update(1, adagrad))).Of("ai.onnx.preview.training"),
	op.New("Adam", op.Many(update(2, adam))).Of("ai.onnx.preview.training"),
	op.New("Momentum", op.Many(update(1, momentum))).Of("ai.onnx.preview.training"),
}

// update makes a Func of an update of a parameter x by its gradient g and a number of states. The
// inputs are the rate, the number of updates before, and then all parameters, gradients and states.
func update(states int, f func(c *op.Call, rate, count, x, g T, state []T) []T) func(c *op.Call) []T {
	return func(c *op.Call) []T {
		lists := states + 2
		n := (len(c.In) - 2) / lists
		if n*lists != len(c.In)-2 {
			c.Fail("it has %d inputs, want 2 and %d for each parameter", len(c.In), lists)
		}
		out := make([]T, n*(states+1))
		for i := range n {
			state := make([]T, states)
			for s := range state {
				state[s] = c.Tensor(2 + (2+s)*n + i)
			}
			g := c.Tensor(2 + n + i)
			x := c.Tensor(2 + i)
			if l2 := c.Float("norm_coefficient", 0); l2 != 0 {
				g = g.Add(x.Mul(l2))
			}
			for k, t := range f(c, c.Tensor(0).Reshape().Cast(x.DType()), c.Tensor(1).Reshape().Cast(x.DType()), x, g, state) {
				out[k*n+i] = t
			}
		}
		return out
	}
}

func adagrad(c *op.Call, rate, count, x, g T, state []T) []T {
	h := state[0].Add(g.Square())
	rate = rate.Div(count.Mul(c.Float("decay_factor", 0)).Add(1))
	return []T{x.Sub(g.Mul(rate).Div(h.Sqrt().Add(c.Float("epsilon", 1e-6)))), h}
}

func adam(c *op.Call, rate, count, x, g T, state []T) []T {
	alpha, beta := c.Float("alpha", 0.9), c.Float("beta", 0.999)
	v := state[0].Mul(alpha).Add(g.Mul(1 - alpha))
	h := state[1].Mul(beta).Add(g.Square().Mul(1 - beta))
	if c.Floats(1)[0] > 0 {
		power := func(b float64) T { return count.Mul(0).Add(b).Pow(count).Neg().Add(1) }
		rate = rate.Mul(power(beta).Sqrt()).Div(power(alpha))
	}
	x = x.Sub(v.Div(h.Sqrt().Add(c.Float("epsilon", 1e-6))).Mul(rate))
	return []T{x.Mul(1 - c.Float("norm_coefficient_post", 0)), v, h}
}

func momentum(c *op.Call, rate, count, x, g T, state []T) []T {
	alpha, beta := c.Float("alpha", 0), c.Float("beta", 0)
	if c.Floats(1)[0] == 0 {
		beta = 1
	}
	v := state[0].Mul(alpha).Add(g.Mul(beta))
	if c.String("mode", "standard") == "nesterov" {
		return []T{x.Sub(g.Add(v.Mul(alpha)).Mul(rate)), v}
	}
	return []T{x.Sub(v.Mul(rate)), v}
}
