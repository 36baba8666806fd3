package graph

import "github.com/tensorken/tensorken/ir"

// The functions of this file make aliases: nodes of class [ir.Alias], equal to
// their operand.

func alias(op ir.Op, x *Node) *Node { return makeNode(op, x.DType, x.Shape, nil, x) }

// Argument is x as an argument of a call of a transformed function, in the
// call's scope.
func Argument(x *Node, s *Scope) *Node {
	n := alias(ir.Argument, x)
	n.scopes = &scopes{s, n.scopes}
	return n
}

// Placeholder is an argument of a call, without a value, for tensors like x without some of
// its first axes: for any of the examples of a batch, say, which lie along the first one.
func Placeholder(x *Node, axes int, s *Scope) *Node {
	any := Const(x.DType, 0, x.Shape[axes:])
	any.typing = x.typing
	n := Argument(any, s)
	n.Device, n.RematLevel = x.Device, x.RematLevel
	return n
}

// StopGradient is x as a constant: no derivative flows through it.
func StopGradient(x *Node) *Node { return alias(ir.StopGradient, x) }

// ToDevice is x committed to a device, to which package storage copies it.
func ToDevice(x *Node, d Device) *Node {
	n := alias(ir.ToDevice, x)
	n.Device = d
	return n
}

// CoOutput is x as a result that is worth computing only together with others. It
// is a node of its own, because x may be among other CoOutputs, or the caller's.
func CoOutput(x *Node, with *CoOutputs) *Node {
	n := alias(ir.CoOutput, x)
	n.SetCoOutputs(with)
	return n
}
