// Package graph has the nodes behind tensors: immutable operations on other nodes, with
// shape and type inferred when they are made. It computes nothing: package exec does, and
// stores the value in the node. Read node.go first, then make.go.
package graph

import (
	"slices"
	"sync/atomic"

	"github.com/tensorken/tensorken/ir"
)

// A Node is an operation on the results of other nodes. Only its operands, which it
// drops, its value and its marks change once it is made. Nodes may share the slices.
type Node struct {
	Op         ir.Op
	DType      ir.DType
	Kind       ir.Op // Scatter: how updates combine; Mul: Where, by a weight; Erfc: Cast, to the digits of bfloat16; elementwise: Gather, see Maskable
	typing     typing
	marks      atomic.Uint32
	RematLevel int32     // 0 but for copies that Checkpoint makes
	Number     int32     // in a graph to be compiled, the number in the capture of the node that it is made of
	Num        ir.Number // Const, Scalar: the value; Pad: the fill
	Shape      []int
	Ints       []int // the op's attributes; see package ir

	// Device is the device that must compute the node: the first operand's that has one.
	// Nil if any device may.
	Device Device

	details atomic.Pointer[details] // nil for most
	scopes  *scopes
	state
}

// A Value is a node's elements: a view of stored ones.
type Value struct {
	Store   Store
	Offset  int   // in elements
	Strides []int // in elements, one an axis, of any sign
	Err     error // why they could not be computed; Store is nil
}

// A Store holds elements, on a device or the host; package storage makes them.
type Store interface{ Device() Device }

// A Device is the identity of a device; package exec has the rest.
type Device interface{ String() string }

// CoOutputs are nodes to be stored together, such as the value and auxiliary outputs
// of one differentiated call.
type CoOutputs struct{ Nodes []*Node }

// A Token is the key to tensor.Internal. Other modules cannot import this package
// to name the type, and have no literal that is assignable to it: it is no pointer
// and has an unexported field.
type Token struct{ _ struct{} }

// Len is the number of elements.
func (n *Node) Len() int { return Len(n.Shape) }

// SameForm reports whether two nodes have the same element type and the same shape.
func SameForm(x, y *Node) bool { return x.DType == y.DType && slices.Equal(x.Shape, y.Shape) }

// Len is the number of elements of a shape.
func Len(shape []int) int {
	l := 1
	for _, d := range shape {
		l *= d
	}
	return l
}

// The marks of a node.
const (
	keep     = 1 << iota // to be stored by the first plan that computes it
	computed             // a plan has computed it without storing it
	passed               // a plan has, and did not mark it as worth storing
)

// Keep asks that n be stored by the first plan that computes it.
func (n *Node) Keep() { n.marks.Or(keep) }

// MarkComputed notes that a plan computed n without storing it.
func (n *Node) MarkComputed() { n.marks.Or(computed) }

// Pass notes that a plan computed n and did not mark it as worth storing. It
// reports whether one did before.
func (n *Node) Pass() bool { return n.marks.Or(passed)&passed != 0 }

// IsKept reports whether Keep was called.
func (n *Node) IsKept() bool { return n.marks.Load()&keep != 0 }

// IsComputed reports whether a plan has computed n without storing it.
func (n *Node) IsComputed() bool { return n.marks.Load()&computed != 0 }

// A Scope is a call of a transformed function. While it is open, nodes that
// depend on its arguments keep their operands when they are computed.
type Scope struct {
	// PlaceholdersOf names the function, "grad.Vmap" or "grad.Jit", whose arguments are
	// placeholders, for any example of a batch, say: nodes that depend on them have no
	// value. It is "" if the arguments have values.
	PlaceholdersOf string
	closed         atomic.Bool
}

// Close ends the scope.
func (s *Scope) Close() { s.closed.Store(true) }

// ended reports whether nodes made from now on need not be in the scope. A scope of
// placeholders never ends: nodes that depend on one never have a value.
func (s *Scope) ended() bool { return s.PlaceholdersOf == "" && s.closed.Load() }

// scopes is a set of scopes, shared by nodes that depend on the same ones.
type scopes struct {
	scope *Scope
	next  *scopes
}

// any reports whether f holds for one of the scopes.
func (s *scopes) any(f func(*Scope) bool) bool {
	for ; s != nil; s = s.next {
		if f(s.scope) {
			return true
		}
	}
	return false
}

func (s *scopes) has(x *Scope) bool { return s.any(func(y *Scope) bool { return y == x }) }

// union returns the set of scopes in a or b, without the ended ones of b, so that a
// parameter that a loop updates does not collect the scopes of all iterations.
func union(a, b *scopes) *scopes {
	if a == b || b == nil {
		return a
	}
	if a == nil && !b.any((*Scope).ended) {
		return b
	}
	for ; b != nil; b = b.next {
		if !b.scope.ended() && !a.has(b.scope) {
			a = &scopes{b.scope, a}
		}
	}
	return a
}

// Traced reports whether n depends on an argument of an open scope.
func (n *Node) Traced() bool {
	return n.scopes.any(func(s *Scope) bool { return !s.closed.Load() })
}

// In reports whether n depends on an argument of s.
func (n *Node) In(s *Scope) bool { return n.scopes.has(s) }

// PlaceholdersOf names a function on whose placeholders n depends: n has no value. It is ""
// for other nodes. Ended says that the function has returned.
func (n *Node) PlaceholdersOf() (of string, ended bool) {
	for s := n.scopes; s != nil; s = s.next {
		if x := s.scope; x.PlaceholdersOf != "" && (of == "" || x.closed.Load()) {
			of, ended = x.PlaceholdersOf, x.closed.Load()
		}
	}
	return of, ended
}

// IsLeftOver reports whether n depends on a placeholder of a function that has returned.
func (n *Node) IsLeftOver() bool {
	_, ended := n.PlaceholdersOf()
	return ended
}
