package exec

import (
	"slices"
	"sync"

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

// A Journal learns of the transactions that fail after Step has returned.
type Journal struct{ *failures }

type failures struct {
	mu     sync.Mutex
	faults []*fault // since Failed
}

func (f *failures) add(x *fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.faults = append(f.faults, x)
}

// Failed returns the number of transactions newly known to have failed, and the
// first of their errors that nobody has read.
func (j *Journal) Failed() (n int, err error) {
	if j.failures == nil {
		return 0, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, f := range j.faults {
		if first := !f.reported.Swap(true); first && err == nil {
			err = f.err
		}
	}
	n = len(j.faults)
	j.faults = nil
	return n, err
}

// note makes the journal learn of a transaction's failure.
func (j *Journal) note(x *execution) {
	if j.failures == nil {
		j.failures = new(failures)
	}
	x.journal = j.failures
}

// isTransaction reports whether the capture belongs to a Step.
func (c *capture) isTransaction() bool { return len(c.old) > 0 }

// findOld finds the leaves that have the old elements of a transaction's outputs, if an
// asynchronous device checks indices in it. The transaction falls back to all of them or, if an
// output has none, to none.
func (c *capture) findOld() {
	isCheck := func(n node) bool { return n.Op.Class() == ir.Indexed }
	if !c.isTransaction() || !c.device.limits.Async || !slices.ContainsFunc(c.nodes, isCheck) {
		return
	}
	for i, old := range c.old {
		n := c.roots[i]
		if n.Value() != nil || n.Len() == 0 {
			continue
		}
		number, out := c.leafOf(old, n), &c.outputs[c.outputOf(n)]
		if number < 0 || out.old >= 0 && out.old != number {
			return
		}
		out.old = number
	}
	c.fallsBack = true
	for i := range c.outputs {
		c.keyInt(int(c.outputs[i].old))
	}
}

// leafOf returns the number of the leaf that old is, if n may replace it; -1 otherwise.
func (c *capture) leafOf(old, n *graph.Node) int32 {
	if old == nil || old.DType != n.DType || !slices.Equal(old.Shape, n.Shape) {
		return -1
	}
	if v := old.Value(); v == nil || v.Err != nil {
		return -1
	}
	c.walk(old)
	number, _ := c.number.Get(old)
	if c.nodes[number].leaf < 0 { // it was numbered before it had a value
		return -1
	}
	return int32(number)
}
