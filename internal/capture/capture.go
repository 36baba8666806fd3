// Package capture has graphs in canonical form. A capture numbers the nodes of a graph (capture.go) and
// stops at known values (known.go). It finds the stored elements that nodes view (leaf.go), results that
// are stored together (cooutputs.go), nodes that a plan should store (retain.go) and the old values of a
// transaction (old.go). It gives the compiler its graph (graph.go), and a recording its inputs of each run
// (run.go). Layouts and structures say when two calls have equal captures (layout.go).
package capture

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A Capture is a graph to be computed, in canonical form: nodes are numbered
// operands first, aliases have the number of their operand, and views of stored
// elements are leaves. Captures with equal keys have equal plans. Capturing
// leaves the graph as it is.
type Capture struct {
	device    *storage.Device    // that computes the graph; nil for any
	Replayed  bool               // it is a run of a Recording
	IsAwaited bool               // a later step of the program, a transaction, waits until it is known to have succeeded
	Slabs     []int              // of a Recording: the numbers of outputs in slabs
	Sites     []*graph.IndexSite // of a step of a program: see exec's sitesOf; nil if they are not known yet
	Key       []byte
	nodes     []node // by number
	uses      []use  // of the nodes; not of those added for old elements
	number    graph.Numbers
	Leaves    []Leaf
	Scalars   []ir.Number
	Outputs   []Output
	Replacing int           // how many of the outputs a transaction may replace later, the first ones
	Stored    int           // how many of the outputs a step of a program stores, the first ones; 0 for all
	Named     []Named       // the nodes that are outputs
	Empty     []*graph.Node // roots without elements

	Known        // Given is nil, unless the Capture is of a program or of a Structure
	IsBody  bool // it is the body of a recurrence
	Stacked int  // how many of a body's outputs, the last ones, are stacked

	roots      []*graph.Node // to be stored: those asked for, then those retained
	asked      int           // how many of them are asked for
	old        []*graph.Node // in a transaction, the previous values of the roots asked for
	fallsBack  bool          // outputs have old elements to fall back to
	coOutputs  []*graph.CoOutputs
	coIndex    map[*graph.CoOutputs]int32 // the index in coOutputs
	first      map[*storage.Storage]int32 // see firstOf
	views      map[*storage.Storage]int32 // the number from 1 of the last leaf of a storage
	dependents []dependent

	Foreign []*graph.Node // to be computed by other devices before this capture can run
	Calls   []Call        // to be computed before this capture is made again
	Inside  []*graph.Node // collectives that the plan has among its kernels
	Begun   int           // how many of them a run has started
	Failed  error         // of a CoOutput

	walker   graph.Walker
	done     []int32 // numbers of the finished operands of the nodes on the stack
	operands []int32 // of the nodes; see src
	strides  []int   // backs Leaf.View.Strides
}

// A node is a node of a Capture.
type node struct {
	*graph.Node
	first, end int32 // of its operands in Capture.operands
	leaf       int32 // the index of its leaf; -1 if it is computed
	output     int32 // the index of its output; -1: it is not an output
}

// An Output is a number to be stored.
type Output struct {
	number int32
	Old    int32        // in a transaction that falls back, the number of the leaf with the old elements; -1 of others
	Value  *graph.Value // nil until the plan has run
	Slab   int          // of a Recording: which of Capture.Slabs its storage is in, from 1; 0 if none
	Node   *graph.Node  // that is allocated with the elements; nil if it is elsewhere
}

// A Named is a node whose value is an output, given by index.
type Named struct {
	Node   *graph.Node
	Output int32
}

// A Call is a node of a capture that no plan computes: a HostCall, a Recur, or a Cast from a
// type that the device lacks.
type Call struct {
	Node *graph.Node
	Src  []*graph.Node
}

var captures = sync.Pool{New: func() any {
	return &Capture{coIndex: map[*graph.CoOutputs]int32{}, views: map[*storage.Storage]int32{}}
}}

// New captures the graph of roots for a device, nil for any. For old see
// exec.Step. The caller releases it.
func New(d *storage.Device, roots, old []*graph.Node, known Known) *Capture {
	c := captures.Get().(*Capture)
	c.device, c.Known = d, known
	c.roots = append(c.roots, roots...)
	c.old = append(c.old, old...)
	for i := 0; i < len(c.roots); i++ {
		known := len(c.coOutputs)
		c.walk(c.roots[i])
		c.addCoOutputs(c.coOutputs[known:])
	}
	c.asked = len(c.roots)
	c.addRetained()
	for i, n := range c.roots {
		if c.addOutput(n); i < len(c.old) {
			c.Replacing = len(c.Outputs)
		}
	}
	c.keyOutputs()
	c.findOld()
	return c
}

// NewBody captures a graph whose arguments have the given values, such as the body of a
// recurrence; its last outputs are stacked.
func NewBody(d *storage.Device, roots []*graph.Node, given map[*graph.Node]*graph.Value, stacked int) *Capture {
	c := captures.Get().(*Capture)
	c.device, c.Known, c.IsBody, c.Stacked = d, Known{Given: given, Keeps: true}, true, stacked
	c.Key = append(c.Key, 0xff) // no operation: other keys begin with one
	c.keyInt(stacked)
	c.roots = append(c.roots, roots...)
	for _, n := range roots {
		c.walk(n)
	}
	for _, n := range roots {
		c.addOutput(n)
	}
	c.keyOutputs()
	return c
}

// keyOutputs appends the numbers to be stored to the key, and the sets of them that fail
// together.
func (c *Capture) keyOutputs() {
	c.keyInt(len(c.Outputs))
	for i := range c.Outputs {
		c.keyInt(int(c.Outputs[i].number))
	}
	for _, b := range c.coOutputs {
		c.keyInt(len(b.Nodes))
		for _, m := range b.Nodes {
			c.keyInt(c.OutputOf(m))
		}
	}
	c.keyInt(len(c.old)) // a transaction may keep donated elements
	c.keyInt(len(c.dependents))
	for _, b := range c.dependents {
		c.keyInt(int(b.number))
		c.keyInt(int(b.coOutputs))
	}
}

// Release makes the Capture available for reuse. It drops all references to the
// graph.
func (c *Capture) Release() {
	c.number.Clear()
	clear(c.coIndex)
	clear(c.first)
	clear(c.views)
	*c = Capture{
		Key: c.Key[:0], nodes: Emptied(c.nodes), uses: c.uses[:0], number: c.number, Leaves: Emptied(c.Leaves), Scalars: c.Scalars[:0],
		Outputs: Emptied(c.Outputs), Named: Emptied(c.Named), Empty: Emptied(c.Empty),
		roots: Emptied(c.roots), old: Emptied(c.old),
		coOutputs: Emptied(c.coOutputs), coIndex: c.coIndex, first: c.first, views: c.views, dependents: c.dependents[:0],
		Foreign: Emptied(c.Foreign), Calls: Emptied(c.Calls), Inside: Emptied(c.Inside),
		walker: c.walker, done: c.done[:0], operands: c.operands[:0], strides: c.strides[:0],
	}
	captures.Put(c)
}

// Emptied returns s without elements, cleared for the garbage collector.
func Emptied[E any](s []E) []E {
	clear(s)
	return s[:0]
}

// keyInt appends an integer to the key.
func (c *Capture) keyInt(x int) { c.Key = binary.AppendVarint(c.Key, int64(x)) }

// walk numbers root and the nodes it depends on. Finished operands push their numbers on a
// stack, c.done; leave pops the operands of its node.
func (c *Capture) walk(root *graph.Node) {
	c.walker.Walk([]*graph.Node{root}, c.enter, c.leave)
	c.done = c.done[:0]
}

// leave numbers a node whose operands are numbered.
func (c *Capture) leave(n *graph.Node, src graph.Operands) {
	first := len(c.done) - src.Len()
	i := c.visit(n, c.done[first:])
	c.number.Set(n, int(i))
	c.done = append(c.done[:first], i)
	if co := n.CoOutputs(); co != nil {
		c.noteCoOutputs(n, i, co)
	}
}

// enter numbers a node that was met before or needs no operands. For any other node it
// returns the operands. It loads them once: n drops them when another goroutine computes
// it.
func (c *Capture) enter(n *graph.Node) (src graph.Operands, ok bool) {
	known, ok := c.number.Get(n)
	i := int32(known)
	if !ok {
		var v *graph.Value
		src, v = c.state(n)
		var host *graph.Node
		if n.Op == ir.Cast && v == nil {
			host = c.castOnHost(src.At(0))
		}
		switch {
		case v != nil:
			i = c.addLeaf(n, v, shape.Strided{Offset: v.Offset, Strides: v.Strides})
		case host != nil:
			i = c.addCall(n, n, graph.OperandsOf([]*graph.Node{host}))
		case n.Op == ir.HostCall && !(c.IsInside != nil && c.IsInside(n)):
			i = c.addCall(n, n, src)
		case c.isForeign(n) && !(isAlias(n) && c.ValueOf(src.At(0)) != nil):
			c.Foreign = append(c.Foreign, n)
			i = c.add(n, nil, -1)
		case n.Op == ir.Pick:
			i = c.addCall(src.At(0), n, src.At(0).Src())
		default:
			return src, true
		}
		c.number.Set(n, int(i))
	}
	c.done = append(c.done, i)
	return src, false
}

// isForeign reports whether a node is committed to another device.
func (c *Capture) isForeign(n *graph.Node) bool {
	return c.device != nil && n.Device != nil && n.Device != c.device.Handle
}

// visit returns the number of n, whose operands have the numbers src.
func (c *Capture) visit(n *graph.Node, src []int32) int32 {
	if isAlias(n) {
		return src[0]
	}
	if n.Op.Class() == ir.Movement && n.Op != ir.Cat && n.Op != ir.Copy && n.Len() > 0 && c.nodes[src[0]].leaf >= 0 {
		l := &c.Leaves[c.nodes[src[0]].leaf]
		if l.Value.Err != nil {
			return src[0] // a movement of a failed value fails
		}
		m := shape.Move{Op: n.Op, Ints: n.Ints, From: l.shape, To: n.Shape}
		c.strides = slices.Grow(c.strides, len(n.Shape))
		used := len(c.strides)
		if view, ok := m.View(l.View, c.strides[used:]); ok && graph.Len(l.shape) > 0 {
			c.strides = c.strides[:used+len(n.Shape)]
			return c.addLeaf(n, l.Value, view)
		}
	}
	k := append(room(c.Key, 64), byte(n.Op), byte(n.DType), byte(n.Kind))
	k = binary.AppendUvarint(k, uint64(len(n.Shape)))
	k = binary.AppendUvarint(k, uint64(len(n.Ints)))
	k = binary.AppendVarint(k, int64(n.RematLevel))
	for _, d := range n.Shape {
		k = binary.AppendUvarint(k, uint64(d))
	}
	for _, i := range n.Ints {
		k = binary.AppendVarint(k, int64(i))
	}
	switch n.Op {
	case ir.Const, ir.Pad:
		k = binary.LittleEndian.AppendUint64(k, uint64(n.Num))
	case ir.Scalar:
		c.Scalars = append(c.Scalars, n.Num)
	case ir.Cat:
		k = binary.AppendUvarint(k, uint64(len(src)))
	case ir.HostCall:
		k = binary.AppendUvarint(k, uint64(len(src)))
		c.Inside = append(c.Inside, n)
	}
	for _, s := range src {
		k = binary.AppendUvarint(k, uint64(s))
	}
	c.Key = k
	return c.add(n, src, -1)
}

// isAlias reports whether n is another name for its operand.
func isAlias(n *graph.Node) bool { return n.Op.Class() == ir.Alias }

// add returns the next number, for n.
func (c *Capture) add(n *graph.Node, src []int32, leaf int32) int32 {
	first := len(c.operands)
	c.operands = append(c.operands, src...)
	c.nodes = append(room(c.nodes, 1), node{n, int32(first), int32(len(c.operands)), leaf, -1})
	return int32(len(c.nodes) - 1)
}

// Node returns a node by number.
func (c *Capture) Node(number int) *graph.Node { return c.nodes[number].Node }

// Has reports whether the graph includes a node.
func (c *Capture) Has(n *graph.Node) bool {
	_, ok := c.number.Get(n)
	return ok
}

// src returns the numbers of the operands of a node.
func (c *Capture) src(n *node) []int32 { return c.operands[n.first:n.end] }

// room returns s with capacity for n more elements. It doubles the capacity, where append
// would grow a long slice by a quarter and copy it more often.
func room[E any](s []E, n int) []E {
	if cap(s)-len(s) < n {
		return slices.Grow(s, len(s)+n)
	}
	return s
}

// addCall notes a call and returns the number of n, a result of it, which becomes a leaf
// without elements.
func (c *Capture) addCall(of, n *graph.Node, src graph.Operands) int32 {
	if !slices.ContainsFunc(c.Calls, func(x Call) bool { return x.Node == of }) {
		c.Calls = append(c.Calls, Call{of, src.Append(nil)})
	}
	v := &graph.Value{Store: storage.FromHost(nil), Strides: shape.RowMajor(n.Shape)}
	return c.addLeaf(n, v, shape.Strided{Strides: v.Strides})
}

// addOutput adds n to the outputs, with the nodes that it is an alias of.
func (c *Capture) addOutput(n *graph.Node) {
	if n.Value() != nil {
		return
	}
	if n.Len() == 0 {
		c.Empty = append(c.Empty, n)
		return
	}
	number, _ := c.number.Get(n)
	x := &c.nodes[number]
	if x.output < 0 {
		x.output = int32(len(c.Outputs))
		c.Outputs = append(c.Outputs, Output{number: int32(number), Old: -1})
	}
	for {
		if n.Value() == nil {
			c.Named = append(c.Named, Named{n, x.output})
		}
		src := n.Src()
		if !isAlias(n) || src.Len() == 0 {
			return
		}
		n = src.At(0)
	}
}

// OutputOf returns the index of n among the outputs, or -1 if n is not an output.
func (c *Capture) OutputOf(n *graph.Node) int {
	i, ok := c.number.Get(n)
	if !ok {
		return -1
	}
	return int(c.nodes[i].output)
}

// castOnHost returns the node that a Cast of x converts on the host: x or, if x is an
// alias such as a copy to the device, the node that it stands for. It returns nil unless
// the elements are on the host, in row-major order and of a type that the device lacks.
func (c *Capture) castOnHost(x *graph.Node) *graph.Node {
	if c.device == nil || c.device.Limits.Has(x.DType) {
		return nil
	}
	src, v := c.state(x)
	for v == nil && isAlias(x) {
		x = src.At(0)
		src, v = c.state(x)
	}
	if v == nil || v.Err != nil || v.Store.Device() != nil || !shape.IsRowMajor(x.Shape, v.Strides) {
		return nil
	}
	return x
}
