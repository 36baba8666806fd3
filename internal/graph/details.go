package graph

import "sync/atomic"

// The details of a node are the fields that few nodes need, kept apart: a program makes
// many nodes, and without them a node fits in two cache lines, 128 bytes. All but operands,
// custom, wide and inFloat64 are set before others see the node.
type details struct {
	coOutputs *CoOutputs
	call      any
	site      CallSite // the target of call if a site was recorded
	stack     []uintptr
	program   int     // the part of stack up to the program's call
	exact     float64 // Const, Scalar of floats: the value before it was rounded
	isRounded bool    // exact is not the node's number

	operands  atomic.Pointer[[]*Node]      // if they are more than two, until they are dropped
	custom    atomic.Pointer[CustomResult] // of a CallResult, until it is dropped
	wide      atomic.Pointer[Node]         // in float64, see widened; the node itself if it can only be cast
	inFloat64 atomic.Pointer[func() *Node] // makes the node in float64, see ByType and Table
}

// detail returns the details of a node, which are empty if it had none.
func (n *Node) detail() *details {
	if d := n.details.Load(); d != nil {
		return d
	}
	n.details.CompareAndSwap(nil, new(details))
	return n.details.Load()
}

// CoOutputs names nodes to be stored whenever n is computed; it may be nil.
func (n *Node) CoOutputs() *CoOutputs {
	if d := n.details.Load(); d != nil {
		return d.coOutputs
	}
	return nil
}

// SetCoOutputs sets the CoOutputs of a node that is being made.
func (n *Node) SetCoOutputs(c *CoOutputs) {
	if c != nil {
		n.detail().coOutputs = c
	}
}

// Call is the call that made the node: of a Gather or Scatter an [*IndexSite]; of a HostCall its
// [*HostFunc]; of other nodes the [*CallSite], if it was recorded. Nil if unknown.
func (n *Node) Call() any {
	if d := n.details.Load(); d != nil {
		return d.call
	}
	return nil
}

// setCall sets the call of a node that is being made.
func (n *Node) setCall(call any) {
	if call != nil {
		n.detail().call = call
	}
}

// setSite sets the call of a node that is being made to a site of its own.
func (n *Node) setSite(s CallSite) {
	d := n.detail()
	d.site = s
	d.call = &d.site
}

// Exactly notes the number of a Const or Scalar of floats before it was rounded to the type,
// and returns n.
func (n *Node) Exactly(v float64) *Node {
	if v != n.Num.Float64(n.DType) {
		d := n.detail()
		d.exact, d.isRounded = v, true
	}
	return n
}

// exact is the number of a Const or Scalar of floats, not rounded if that is known.
func (n *Node) exact() float64 {
	if d := n.details.Load(); d != nil && d.isRounded {
		return d.exact
	}
	return n.Num.Float64(n.DType)
}
