package exec

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A call is a node of a capture that no plan computes: a HostCall or a Recur.
type call struct {
	node *graph.Node
	src  []*graph.Node
}

// addCall notes a call and returns the number of n, a result of it, which becomes a leaf
// without elements.
func (c *capture) addCall(of, n *graph.Node, src graph.Operands) int32 {
	if !slices.ContainsFunc(c.calls, func(x call) bool { return x.node == of }) {
		c.calls = append(c.calls, call{of, src.Append(nil)})
	}
	strides := shape.RowMajor(n.Shape)
	return c.addLeaf(n, &graph.Value{Store: FromHost(nil), Strides: strides}, shape.Strided{Strides: strides})
}

// A computed is what is known of nodes before a capture of them.
type computed struct {
	given map[*graph.Node]*graph.Value // the values of some
	nodes map[*graph.Node]bool         // those that a plan computes, as if marked so
}

// callLayers returns calls, those that their operands need, and so on. Carries that may be no
// buffer of their own, as the steps of a recurrence store them, are copied.
func (d *Device) callLayers(calls []call, known computed, ownsBuffer func(*graph.Node) bool) [][]call {
	var layers [][]call
	for len(calls) > 0 {
		for _, c := range calls {
			if c.node.Op != ir.Recur {
				continue
			}
			for i, n := range c.src[:graph.RecurrenceOf(c.node).Carries] {
				if !ownsBuffer(n) {
					c.src[i] = graph.Copy(n)
				}
			}
		}
		layers = append(layers, calls)
		c := newCapture(d, operandsOf(calls), nil, known)
		calls = slices.Clone(c.calls)
		c.release()
	}
	return layers
}

// operandsOf returns the operands of calls.
func operandsOf(calls []call) (all []*graph.Node) {
	for _, c := range calls {
		all = append(all, c.src...)
	}
	return all
}

// shared returns the nodes that a plan of operands had better store, because a later plan of
// roots reads them, and notes what that plan of operands computes.
func (d *Device) shared(operands, roots []*graph.Node, known computed) (list []*graph.Node) {
	c := newCapture(d, operands, nil, known)
	defer c.release()
	for i, u := range c.uses {
		if n := &c.nodes[i]; u.worth(n) == second {
			known.nodes[n.Node] = true
		}
	}
	later := newCapture(d, roots, nil, known)
	defer later.release()
	for _, n := range later.roots[later.asked:] {
		if _, ok := c.number.Get(n); ok && n.Value() == nil {
			list = append(list, n)
		}
	}
	return list
}

// runCalls computes calls for a plan of roots: layer by layer, the operands in one plan and
// then the calls.
func (d *Device) runCalls(calls []call, roots []*graph.Node) error {
	known := computed{nodes: map[*graph.Node]bool{}}
	layers := d.callLayers(calls, known, func(n *graph.Node) bool {
		v := n.Value()
		return v != nil && (v.Err != nil || v.Offset == 0 && shape.IsRowMajor(n.Shape, v.Strides))
	})
	for k, layer := range slices.Backward(layers) {
		layer = slices.DeleteFunc(layer, call.isDone)
		operands, later := operandsOf(layer), slices.Clone(roots)
		for _, l := range layers[:k] {
			later = append(later, operandsOf(l)...)
		}
		if err := Eval(d, append(operands, d.shared(operands, later, known)...)); err != nil {
			return err
		}
		for i := range layer {
			c := &layer[i]
			if c.isDone() {
				continue
			}
			run := c.runHost
			if c.node.Op == ir.Recur {
				run = c.runRecurrence
			}
			if err := run(d); err != nil {
				return err
			}
		}
	}
	return nil
}

// isDone reports whether the call has run, for another one that reads it.
func (c call) isDone() bool {
	v := c.node.Value()
	if v == nil || v.Err != nil || c.node.Op != ir.Recur {
		return v != nil
	}
	return len(v.Store.(*bundle).values) == len(graph.RecurrenceOf(c.node).Results())
}
