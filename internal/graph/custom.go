package graph

import "github.com/tensorken/tensorken/ir"

// A CustomCall is a call that is differentiated as a whole, by its own rules. Its
// arguments and results are known from outside; how it computes the results is
// seen only where they are computed.
type CustomCall struct {
	Args []*Node
	Outs []*Node // nodes of op CallResult
	// VJP gives the cotangents of the arguments from the cotangents of the results; JVP
	// gives the tangents of the results from the tangents of the arguments.
	VJP, JVP CustomRule
	// Function names a function of package tensor that is not linear, such as Softmax. Nodes that its
	// rules make have the line of the call. Empty for a function of the user's.
	Function string
}

// A CustomRule gives tangents or cotangents from others; nil is zero. It uses the
// arguments and results that it is given, which may be others than the call's.
type CustomRule func(args, outs, ts []*Node) []*Node

// A CustomResult names the custom call of a node that is a result.
type CustomResult struct {
	*CustomCall
	Index int // in Outs
}

// CustomResultOf returns the CustomResult that n stands for, nil if n is no result of a
// custom call, or has dropped its operands.
func CustomResultOf(n *Node) *CustomResult {
	if d := n.details.Load(); d != nil {
		return d.custom.Load()
	}
	return nil
}

// Inputs are the operands of n and, of a result of a custom call, the call's arguments.
func (n *Node) Inputs() Operands {
	src := n.Src()
	if r := CustomResultOf(n); r != nil {
		return OperandsOf(append(src.Append(nil), r.Args...))
	}
	return src
}

// Result makes n the i-th result of the call.
func (k *CustomCall) Result(i int, n *Node) *Node {
	r := alias(ir.CallResult, n)
	r.detail().custom.Store(&CustomResult{k, i})
	r.inherit(k.Args)
	k.Outs[i] = r
	return r
}

// Results makes nodes the results of the call.
func (k *CustomCall) Results(ns []*Node) []*Node {
	k.Outs = make([]*Node, len(ns))
	for i, n := range ns {
		k.Result(i, n)
	}
	return k.Outs
}
