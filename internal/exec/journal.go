package exec

import (
	"slices"
	"sync/atomic"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// Step is Eval as a transaction, for an optimizer: roots[i] is the new value of
// old[i], which is nil for a value that is new. If anything computed along with the
// roots meets a bad index, Step fails and the caller keeps the old values. The roots
// of each device are a transaction of their own.
//
// An asynchronous device meets the bad index after Step has returned. There the
// roots come to hold the elements of old, so that training continues from them, and
// the journal reports the failure once it is known.
func Step(def *Device, j *Journal, roots, old []*graph.Node) error { return eval(def, j, roots, old) }

// A Journal remembers the transactions whose outcome is not known yet.
type Journal struct {
	pending []*execution
	settled int64 // executions, when Failed looked at pending
}

// settled counts the executions whose outcome is known.
var settled atomic.Int64

// settle makes the outcome of an execution known.
func (x *execution) settle() {
	x.done.Store(true)
	settled.Add(1)
}

// Failed returns the number of transactions newly known to have failed, and the
// first of their errors that nobody has read.
func (j *Journal) Failed() (n int, err error) {
	now := settled.Load()
	if now == j.settled { // there may be thousands of pending ones
		return 0, nil
	}
	j.settled = now
	j.pending = slices.DeleteFunc(j.pending, func(x *execution) bool {
		if !x.done.Load() {
			return false
		}
		if x.fault != nil {
			n++
			if first := !x.fault.reported.Swap(true); first && err == nil {
				err = x.fault.err
			}
		}
		return true
	})
	return n, err
}

// isTransaction reports whether the capture belongs to a Step.
func (c *capture) isTransaction() bool { return len(c.old) > 0 }

// addFallbacks pairs the outputs of a transaction, if an asynchronous device checks
// indices in it, with the leaves of the old values. Either all outputs have a
// fallback or none.
func (c *capture) addFallbacks() {
	isCheck := func(n node) bool { return n.Op.Class() == ir.Indexed }
	if !c.isTransaction() || !c.device.limits.Async || !slices.ContainsFunc(c.nodes, isCheck) {
		return
	}
	for i, old := range c.old {
		n := c.roots[i]
		if n.Value() != nil {
			continue
		}
		l := c.fallback(n, old)
		if l < 0 {
			c.fallbacks = c.fallbacks[:0]
			return
		}
		c.fallbacks = append(c.fallbacks, compile.Fallback{Output: c.outputOf(n), Leaf: int(l), Strides: c.leaves[l].view.Strides})
	}
	c.keyInt(len(c.fallbacks))
	for _, f := range c.fallbacks {
		c.keyInt(f.Output)
		c.keyInt(f.Leaf)
	}
}

// fallback returns the leaf of the previous value of n, -1 if it has none.
func (c *capture) fallback(n, old *graph.Node) int32 {
	if old == nil || old.DType != n.DType || !slices.Equal(old.Shape, n.Shape) {
		return -1
	}
	if v := old.Value(); v == nil || v.Err != nil {
		return -1
	}
	c.walk(old)
	number, _ := c.number.Get(old)
	return c.nodes[number].leaf // -1 if it was numbered before it had a value
}
