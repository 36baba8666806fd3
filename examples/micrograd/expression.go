package main

import (
	"fmt"
	"io"

	"github.com/tensorken/tensorken/draw"
	"github.com/tensorken/tensorken/grad"
	"github.com/tensorken/tensorken/tensor"
	"github.com/tensorken/tensorken/tree"
)

// inputs are the numbers that an expression depends on.
type inputs struct{ A, B tensor.Tensor }

// expression is g of micrograd's README.
func expression(in inputs) tensor.Tensor {
	a, b := in.A, in.B
	c := a.Add(b)
	d := a.Mul(b).Add(b.Pow(3))
	c = c.Add(c).Add(1)
	c = c.Add(1).Add(c).Sub(a)
	d = d.Add(d.Mul(2)).Add(b.Add(a).ReLU())
	d = d.Add(d.Mul(3)).Add(b.Sub(a).ReLU())
	f := c.Sub(d).Square()
	return f.Div(2).Add(f.Reciprocal().Mul(10))
}

// derivatives returns dg/da and dg/db.
var derivatives = grad.Of(expression)

// A neuron is all numbers of a neuron's graph: two inputs, two weights and a bias, and the
// results of these.
type neuron struct {
	X1, X2, W1, W2, B       tensor.Tensor
	X1W1, X2W2, Sum, N, Out tensor.Tensor
}

// lecture returns the inputs of the lecture's neuron, whose bias makes the derivatives round
// numbers.
func lecture() neuron {
	return neuron{X1: tensor.Scalar(2), X2: tensor.Scalar(0), W1: tensor.Scalar(-3), W2: tensor.Scalar(1), B: tensor.Scalar(6.8813735870195432)}
}

// apply returns n with its results. It adds the values that n has in these fields, if any,
// which are zeros: the derivatives by the zeros are the derivatives by the results.
func (n neuron) apply() neuron {
	n.X1W1 = plus(n.X1.Mul(n.W1), n.X1W1)
	n.X2W2 = plus(n.X2.Mul(n.W2), n.X2W2)
	n.Sum = plus(n.X1W1.Add(n.X2W2), n.Sum)
	n.N = plus(n.Sum.Add(n.B), n.N)
	n.Out = plus(n.N.Tanh(), n.Out)
	return n
}

// plus returns x + zero, x if zero is absent.
func plus(x, zero tensor.Tensor) tensor.Tensor {
	if !zero.IsValid() {
		return x
	}
	return x.Add(zero)
}

// gradient returns the derivatives of the output by all numbers of n.
func (n neuron) gradient() neuron {
	zero := tensor.Scalar(0)
	n.X1W1, n.X2W2, n.Sum, n.N, n.Out = zero, zero, zero, zero, zero
	return grad.Of(func(n neuron) tensor.Tensor { return n.apply().Out })(n)
}

// printNeuron prints the numbers of the neuron and the derivatives of its output.
func printNeuron(w io.Writer) error {
	labels, err := neuronLabels()
	for _, s := range labels {
		fmt.Fprintln(w, s)
	}
	return err
}

// neuronLabels describes the numbers of the neuron in the order of its fields.
func neuronLabels() (labels []string, err error) {
	values, derivatives := lecture().apply(), lecture().gradient()
	if err := tensor.Eval(values, derivatives); err != nil {
		return nil, err
	}
	tree.Zip(values, derivatives, func(name string, x, d tensor.Tensor) tensor.Tensor {
		labels = append(labels, fmt.Sprintf("%s = %.3f, grad %.3f", name, x.Item(), d.Item()))
		return x
	})
	return labels, nil
}

// drawNeuron draws the graph of the neuron. The names of its numbers have their values.
func drawNeuron() (draw.SVG, error) {
	labels, err := neuronLabels()
	if err != nil {
		return "", err
	}
	named := map[string]tensor.Tensor{}
	for _, t := range tree.All(lecture().apply()) { // not computed yet: an expression
		named[labels[len(named)]] = t
	}
	return draw.Graph(named), nil
}
