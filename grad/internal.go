package grad

import (
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/tensor"
)

// Internal is for other packages of this module: its methods need a graph.Token, which
// other modules cannot name.
var Internal internal

type internal struct{}

// A tensorRule gives tangents or cotangents from others, the arguments and the results.
// Absent tensors are zero, given and returned.
type tensorRule func(args, outs, ts []tensor.Tensor) []tensor.Tensor

// Custom calls f and gives its results a rule for each mode. Without vjp the transpose of
// jvp takes its place; a function that is linear in an argument, so that its jvp calls it,
// needs a vjp.
func (internal) Custom(_ graph.Token, op string, f func(args []tensor.Tensor) []tensor.Tensor, jvp, vjp tensorRule, args ...tensor.Tensor) []tensor.Tensor {
	c := callCustom(op, f, args)
	rule := func(r tensorRule) graph.CustomRule {
		return func(args, outs, ts []*graph.Node) []*graph.Node {
			return nodes(r(tensors(args), tensors(outs), tensors(ts)))
		}
	}
	c.JVP = rule(jvp)
	if vjp != nil {
		c.VJP = rule(vjp)
	} else {
		c.VJP = transposed(op, c.JVP)
	}
	return c.output(c.Outs)
}
