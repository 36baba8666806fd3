package exec

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A capture is a graph to be computed, in canonical form: nodes are numbered
// operands first, aliases have the number of their operand, and views of stored
// elements are leaves. Captures with equal keys have equal plans. Capturing
// leaves the graph as it is.
type capture struct {
	device    *Device // that computes the graph; nil for any
	replayed  bool    // it is a run of a Recording
	slabs     []int   // of a Recording: the numbers of outputs in slabs
	key       []byte
	nodes     []node // by number
	uses      []use  // of the nodes; not of those added for old elements
	number    graph.Numbers
	leaves    []leaf
	scalars   []ir.Number
	outputs   []output
	replacing int           // how many of the outputs a transaction may replace later, the first ones
	stored    int           // how many of the outputs a step of a program stores, the first ones; 0 for all
	named     []named       // the nodes that are outputs
	empty     []*graph.Node // roots without elements

	computed      // given is nil, unless the capture is of a program or of a Structure
	isBody   bool // it is the body of a recurrence
	stacked  int  // how many of a body's outputs, the last ones, are stacked

	roots      []*graph.Node // to be stored: those asked for, then those retained
	asked      int           // how many of them are asked for
	old        []*graph.Node // in a transaction, the previous values of the roots asked for
	fallsBack  bool          // outputs have old elements to fall back to
	coOutputs  []*graph.CoOutputs
	coIndex    map[*graph.CoOutputs]int32 // the index in coOutputs
	first      map[*storage]int32         // see firstOf
	dependents []dependent

	foreign []*graph.Node // to be computed by other devices before this capture can run
	calls   []call        // to be computed before this capture is made again, see fill
	failed  error         // of a CoOutput

	walker   graph.Walker
	done     []int32 // numbers of the finished operands of the nodes on the stack
	operands []int32 // of the nodes; see src
	strides  []int   // backs leaf.view.Strides
}

// A node is a node of a capture.
type node struct {
	*graph.Node
	first, end int32 // of its operands in capture.operands
	leaf       int32 // the index of its leaf; -1 if it is computed
	output     int32 // the index of its output; -1 if it is none
}

// An output is a number to be stored.
type output struct {
	number int32
	old    int32        // in a transaction that falls back, the number of the leaf with the old elements; -1 of others
	value  *graph.Value // nil until the plan has run
	slab   int          // of a Recording: which of capture.slabs its storage is in, from 1; 0 if none
	node   *graph.Node  // in the slab; nil if it is elsewhere
}

// A named is a node whose value is an output, given by index.
type named struct {
	node   *graph.Node
	output int32
}

// A dependent is a node that fails if some CoOutputs fail, without being one of their
// nodes. Both are given by number.
type dependent struct{ number, coOutputs int32 }

var captures = sync.Pool{New: func() any {
	return &capture{coIndex: map[*graph.CoOutputs]int32{}}
}}

// newCapture captures the graph of roots for a device, nil for any. For old see
// Step. The caller releases it.
func newCapture(d *Device, roots, old []*graph.Node, known computed) *capture {
	c := captures.Get().(*capture)
	c.device, c.computed = d, known
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
			c.replacing = len(c.outputs)
		}
	}
	c.keyOutputs()
	c.findOld()
	return c
}

// newBody captures a graph whose arguments have the given values, such as the body of a
// recurrence; its last outputs are stacked.
func newBody(d *Device, roots []*graph.Node, given map[*graph.Node]*graph.Value, stacked int) *capture {
	c := captures.Get().(*capture)
	c.device, c.computed, c.isBody, c.stacked = d, computed{given: given, keeps: true}, true, stacked
	c.key = append(c.key, 0xff) // no operation: other keys begin with one
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
func (c *capture) keyOutputs() {
	c.keyInt(len(c.outputs))
	for i := range c.outputs {
		c.keyInt(int(c.outputs[i].number))
	}
	for _, b := range c.coOutputs {
		c.keyInt(len(b.Nodes))
		for _, m := range b.Nodes {
			c.keyInt(c.outputOf(m))
		}
	}
	c.keyInt(len(c.old)) // a transaction may keep what is donated
	c.keyInt(len(c.dependents))
	for _, b := range c.dependents {
		c.keyInt(int(b.number))
		c.keyInt(int(b.coOutputs))
	}
}

// release makes the capture available for reuse. It drops all references to the
// graph.
func (c *capture) release() {
	c.number.Clear()
	clear(c.coIndex)
	clear(c.first)
	*c = capture{
		key: c.key[:0], nodes: emptied(c.nodes), uses: c.uses[:0], number: c.number, leaves: emptied(c.leaves), scalars: c.scalars[:0],
		outputs: emptied(c.outputs), named: emptied(c.named), empty: emptied(c.empty),
		roots: emptied(c.roots), old: emptied(c.old),
		coOutputs: emptied(c.coOutputs), coIndex: c.coIndex, first: c.first, dependents: c.dependents[:0],
		foreign: emptied(c.foreign), calls: emptied(c.calls),
		walker: c.walker, done: c.done[:0], operands: c.operands[:0], strides: c.strides[:0],
	}
	captures.Put(c)
}

// emptied returns s without elements, cleared for the garbage collector.
func emptied[E any](s []E) []E {
	clear(s)
	return s[:0]
}

// keyInt appends an integer to the key.
func (c *capture) keyInt(x int) { c.key = binary.AppendVarint(c.key, int64(x)) }

// walk numbers root and the nodes it depends on. Finished operands push their numbers on a
// stack, c.done; leave pops the operands of its node.
func (c *capture) walk(root *graph.Node) {
	c.walker.Walk([]*graph.Node{root}, c.enter, c.leave)
	c.done = c.done[:0]
}

// leave numbers a node whose operands are numbered.
func (c *capture) leave(n *graph.Node, src graph.Operands) {
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
func (c *capture) enter(n *graph.Node) (src graph.Operands, ok bool) {
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
		case n.Op == ir.HostCall:
			i = c.addCall(n, n, src)
		case c.device != nil && deviceOf(n, c.device) != c.device && !(isAlias(n) && c.valueOf(src.At(0)) != nil):
			c.foreign = append(c.foreign, n)
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

// visit returns the number of n, whose operands have the numbers src.
func (c *capture) visit(n *graph.Node, src []int32) int32 {
	if isAlias(n) {
		return src[0]
	}
	if n.Op.Class() == ir.Movement && n.Op != ir.Cat && n.Op != ir.Copy && n.Len() > 0 && c.nodes[src[0]].leaf >= 0 {
		l := &c.leaves[c.nodes[src[0]].leaf]
		if l.value.Err != nil {
			return src[0] // a movement of a failed value fails
		}
		m := shape.Move{Op: n.Op, Ints: n.Ints, From: l.shape, To: n.Shape}
		c.strides = slices.Grow(c.strides, len(n.Shape))
		used := len(c.strides)
		if view, ok := m.View(l.view, c.strides[used:]); ok && graph.Len(l.shape) > 0 {
			c.strides = c.strides[:used+len(n.Shape)]
			return c.addLeaf(n, l.value, view)
		}
	}
	k := append(room(c.key, 64), byte(n.Op), byte(n.DType), byte(n.Kind))
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
		c.scalars = append(c.scalars, n.Num)
	case ir.Cat:
		k = binary.AppendUvarint(k, uint64(len(src)))
	}
	for _, s := range src {
		k = binary.AppendUvarint(k, uint64(s))
	}
	c.key = k
	return c.add(n, src, -1)
}

// isAlias reports whether n is another name for its operand.
func isAlias(n *graph.Node) bool { return n.Op.Class() == ir.Alias }

// add returns the next number, for n.
func (c *capture) add(n *graph.Node, src []int32, leaf int32) int32 {
	first := len(c.operands)
	c.operands = append(c.operands, src...)
	c.nodes = append(room(c.nodes, 1), node{n, int32(first), int32(len(c.operands)), leaf, -1})
	return int32(len(c.nodes) - 1)
}

// src returns the numbers of the operands of a node.
func (c *capture) src(n *node) []int32 { return c.operands[n.first:n.end] }

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
func (c *capture) addCall(of, n *graph.Node, src graph.Operands) int32 {
	v := &graph.Value{Store: FromHost(nil), Strides: shape.RowMajor(n.Shape)}
	if !slices.ContainsFunc(c.calls, func(x call) bool { return x.node == of }) {
		c.calls = append(c.calls, call{of, src.Append(nil), v})
	}
	return c.addLeaf(n, v, shape.Strided{Strides: v.Strides})
}

// noteCoOutputs notes the CoOutputs of n, which has number i.
func (c *capture) noteCoOutputs(n *graph.Node, i int32, co *graph.CoOutputs) {
	b, ok := c.coIndex[co]
	if !ok {
		b = int32(len(c.coOutputs))
		c.coIndex[co] = b
		c.coOutputs = append(c.coOutputs, co)
	}
	if !slices.Contains(co.Nodes, n) {
		c.dependents = append(c.dependents, dependent{i, b})
	}
}

// addOutput adds n to the outputs, with the nodes that it is an alias of.
func (c *capture) addOutput(n *graph.Node) {
	if n.Value() != nil {
		return
	}
	if n.Len() == 0 {
		c.empty = append(c.empty, n)
		return
	}
	number, _ := c.number.Get(n)
	x := &c.nodes[number]
	if x.output < 0 {
		x.output = int32(len(c.outputs))
		c.outputs = append(c.outputs, output{number: int32(number), old: -1})
	}
	for {
		if n.Value() == nil {
			c.named = append(c.named, named{n, x.output})
		}
		src := n.Src()
		if !isAlias(n) || src.Len() == 0 {
			return
		}
		n = src.At(0)
	}
}

// outputOf returns the index of n among the outputs, -1 if it is none.
func (c *capture) outputOf(n *graph.Node) int {
	i, ok := c.number.Get(n)
	if !ok {
		return -1
	}
	return int(c.nodes[i].output)
}
