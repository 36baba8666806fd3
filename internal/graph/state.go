package graph

import "sync/atomic"

// A state is a node's operands and its value. A node gets a value once, and may then
// drop its operands, while other goroutines read both. It stores the value first, and
// drops the first operand first.
type state struct {
	value atomic.Pointer[Value] // nil until computed
	// The first two operands. All are in the node's details if they are more.
	first, second atomic.Pointer[Node]
}

// A list is a slice with its elements, if they are three.
type list struct {
	src   []*Node
	three [3]*Node
}

// Operands are the nodes that a node is made of, at one time.
type Operands struct {
	first, second *Node
	all           *[]*Node // if they are more than two
}

// OperandsOf returns nodes as Operands. It keeps the slice.
func OperandsOf(src []*Node) Operands {
	switch len(src) {
	case 0:
		return Operands{}
	case 1:
		return Operands{first: src[0]}
	case 2:
		return Operands{first: src[0], second: src[1]}
	}
	all := src // so that src itself stays on the stack
	return Operands{first: src[0], second: src[1], all: &all}
}

// Len returns the number of operands.
func (o Operands) Len() int {
	switch {
	case o.all != nil:
		return len(*o.all)
	case o.second != nil:
		return 2
	case o.first != nil:
		return 1
	}
	return 0
}

// At returns operand i.
func (o Operands) At(i int) *Node {
	switch {
	case o.all != nil:
		return (*o.all)[i]
	case i == 0:
		return o.first
	}
	return o.second
}

// All yields the operands.
func (o Operands) All() func(yield func(int, *Node) bool) {
	return func(yield func(int, *Node) bool) {
		for i := range o.Len() {
			if !yield(i, o.At(i)) {
				return
			}
		}
	}
}

// Append appends the operands to a list.
func (o Operands) Append(list []*Node) []*Node {
	for _, n := range o.All() {
		list = append(list, n)
	}
	return list
}

// setSrc sets the operands of a node that is being made.
func (n *Node) setSrc(src []*Node) {
	if len(src) > 0 {
		n.first.Store(src[0])
	}
	if len(src) > 1 {
		n.second.Store(src[1])
	}
	if len(src) > 2 {
		l := new(list)
		l.src = append(l.three[:0], src...)
		n.detail().operands.Store(&l.src)
	}
}

// Src returns the operands, none once they are dropped.
func (n *Node) Src() Operands {
	o := Operands{second: n.second.Load()}
	if d := n.details.Load(); d != nil {
		o.all = d.operands.Load()
	}
	if o.first = n.first.Load(); o.first == nil { // dropped, maybe since the loads above
		return Operands{}
	}
	return o
}

// Operand returns operand i of a node that is not computed.
func (n *Node) Operand(i int) *Node { return n.Src().At(i) }

// State returns the operands and the value at one time: where there is no value, the
// operands are all there.
func (n *Node) State() (src Operands, v *Value) {
	src = n.Src()
	return src, n.value.Load()
}

// Value returns the node's value, nil if it is not computed.
func (n *Node) Value() *Value { return n.value.Load() }

// SetValue sets the value of n and drops its operands, unless an open scope needs
// them. Later values are ignored.
func (n *Node) SetValue(v *Value) {
	if n.value.CompareAndSwap(nil, v) {
		n.DropSources()
	}
}

// MoveValue replaces the value of a computed node by one with the same elements.
func (n *Node) MoveValue(v *Value) { n.value.Store(v) }

// ReplaceValue sets the value of n, which may have one of fewer results, and drops its
// operands as SetValue does.
func (n *Node) ReplaceValue(v *Value) {
	n.value.Store(v)
	n.DropSources()
}

// DropSources drops the operands of a computed node that no open scope needs.
func (n *Node) DropSources() {
	if n.first.Load() != nil && n.Value() != nil && !n.Traced() {
		n.first.Store(nil)
		n.second.Store(nil)
		if d := n.details.Load(); d != nil {
			d.operands.Store(nil)
			d.custom.Store(nil)
			d.wide.Store(nil)
			d.inFloat64.Store(nil)
		}
	}
}
