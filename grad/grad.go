package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Of returns the function that computes the gradient of f: a tree like f's
// argument, with the derivative of f's result by each tensor in place of the
// tensor. f must return one element of a floating-point type; otherwise the
// function panics with a [*tensor.Error].
//
// In the gradient, leaves that are not floating-point or are tagged ",state"
// are absent, and leaves that the result does not depend on are zeros.
func Of[P any](f func(P) tensor.Tensor) func(P) P {
	needFuncs("grad.Of", f)
	return gradient("grad.Of", f)
}

func gradient[P any](op string, f func(P) tensor.Tensor) func(P) P {
	return func(p P) P {
		c := differentiate(op, noAux(f), p)
		return rebuild(op, c.arg.tree, tensors(c.grads))
	}
}

// ValueAndGrad returns the function that computes f and its gradient; see
// [Of]. Reading the gradient also computes and stores the value, so that the
// work for both is done once.
func ValueAndGrad[P any](f func(P) tensor.Tensor) func(P) (tensor.Tensor, P) {
	needFuncs("grad.ValueAndGrad", f)
	return func(p P) (tensor.Tensor, P) {
		value, _, g := differentiate("grad.ValueAndGrad", noAux(f), p).withCoOutputs()
		return value, g
	}
}

// ValueAndGradAux is [ValueAndGrad] for a function that also returns an
// auxiliary tree, such as new running statistics or predictions to look at.
// The gradient ignores that tree, which is stored along with the value.
func ValueAndGradAux[P, A any](f func(P) (tensor.Tensor, A)) func(P) (tensor.Tensor, A, P) {
	needFuncs("grad.ValueAndGradAux", f)
	return func(p P) (tensor.Tensor, A, P) {
		return differentiate("grad.ValueAndGradAux", f, p).withCoOutputs()
	}
}

// noAux is f with an empty auxiliary output.
func noAux[P any](f func(P) tensor.Tensor) func(P) (tensor.Tensor, struct{}) {
	return func(p P) (tensor.Tensor, struct{}) { return f(p), struct{}{} }
}

// A differentiated call has a function's results and its gradient.
type differentiated[P, A any] struct {
	arg       *argument[P]
	value     *graph.Node
	aux       A
	auxLeaves []*graph.Node
	passed    []bool // which of them are the argument's
	grads     []*graph.Node
}

func differentiate[P, A any](op string, f func(P) (tensor.Tensor, A), p P) *differentiated[P, A] {
	arg := newArgument(op, p)
	defer arg.scope.Close()
	value, aux := f(arg.private())
	y := floatNode(op, "the function's result", value)
	if y.Len() != 1 {
		misuse(op, "the function's result must have one element: take its Sum or Mean, or use VJP", y)
	}
	others := leafNodes(op, aux)
	t := arg.record(append(others, y))
	cts := t.backward([]*graph.Node{y}, []*graph.Node{like(y, 1)})
	outer := t.outwards(others)
	passed := make([]bool, len(others))
	for i, n := range others {
		passed[i] = n != outer[i]
	}
	result := &differentiated[P, A]{arg, t.outward(y), aux, outer, passed, arg.gradient(cts)}
	t.recycle()
	return result
}

// floatNode returns the node of an argument or a result, which must have a derivative; the
// argument what names it in errors.
func floatNode(op, what string, x tensor.Tensor) *graph.Node {
	n := node(x)
	switch {
	case n == nil:
		misuse(op, what+" is the absent tensor (the zero Tensor)")
	case !n.DType.IsFloat():
		misuse(op, what+" is not floating-point: Cast it", n)
	}
	return n
}

// withCoOutputs marks the results so that a plan that computes one also stores the value
// and the auxiliary output.
func (c *differentiated[P, A]) withCoOutputs() (tensor.Tensor, A, P) {
	co := new(graph.CoOutputs)
	value := graph.CoOutput(c.value, co)
	co.Nodes = append(co.Nodes, value)
	for i, n := range c.auxLeaves {
		if n != nil && n.Value() == nil && !c.passed[i] {
			c.auxLeaves[i] = graph.CoOutput(n, co)
			co.Nodes = append(co.Nodes, c.auxLeaves[i])
		}
	}
	for i, n := range c.grads {
		if n != nil {
			c.grads[i] = graph.CoOutput(n, co)
		}
	}
	return tensorOf(value), rebuild(c.arg.op, c.aux, tensors(c.auxLeaves)), rebuild(c.arg.op, c.arg.tree, tensors(c.grads))
}

// VJP returns f(at) and its pullback, which takes a cotangent of f's result
// (a tree like it) to the cotangent of the argument: the vector-Jacobian
// product. With f's Jacobian J it is the product ct·J, never J itself.
//
// In a cotangent an absent tensor counts as zero, and leaves that are not floating-point or are
// tagged ",state" are ignored. In the result, such leaves are absent.
//
// The pullback may be called any number of times, from any goroutine. After its first call,
// the next plan that computes f's intermediate results stores those that the pullback
// reads.
func VJP[P, R any](f func(P) R, at P) (R, func(R) P) {
	needFuncs("grad.VJP", f)
	const op = "grad.VJP"
	c := recordCall(op, f, at)
	return c.value(), func(ct R) P {
		cts := match(op+"'s pullback", "the cotangent", c.leaves, differentiable(c.leaves), ct)
		grads := c.tape.backward(c.results, cts)
		c.tape.keepResiduals(grads, cts)
		return rebuild(op, c.arg.tree, tensors(c.arg.gradient(grads)))
	}
}
