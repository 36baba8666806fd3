package capture

import (
	"bytes"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// AddToSlab puts an output into a slab, given from 1, unless it is in one.
func (c *Capture) AddToSlab(output, slab int) {
	o := &c.Outputs[output]
	if o.Slab > 0 || slab == 0 {
		return
	}
	o.Slab = slab
	for len(c.Slabs) < slab {
		c.Slabs = append(c.Slabs, 0)
	}
	c.Slabs[slab-1]++
}

// StoreFirst makes the capture a program's step, which stores the first outputs alone.
func (c *Capture) StoreFirst(outputs int) {
	c.Stored = outputs
	c.keyInt(-2) // no number of a leaf
	c.keyInt(outputs)
}

// Detach drops fields that runs of a plan do not read. No node gets a value. Replayed says that
// they are runs of a Recording.
func (c *Capture) Detach(replayed bool) {
	c.Outputs, c.Named, c.Known, c.Replayed, c.first = c.Outputs[:c.Stored], nil, Known{}, replayed, nil
}

// Run returns a copy of a detached capture for one run. It reuses the memory of a run before,
// which EndRun has emptied, if that is not nil.
func (c *Capture) Run(before *Capture) *Capture {
	r := before
	if r == nil {
		r = &Capture{Replayed: c.Replayed, IsAwaited: c.IsAwaited, Slabs: c.Slabs, Sites: c.Sites, nodes: c.nodes, old: c.old, Replacing: c.Replacing, Inside: c.Inside}
	}
	r.Leaves = append(r.Leaves, c.Leaves...)
	r.Outputs = append(r.Outputs, c.Outputs...)
	r.Scalars = append(r.Scalars, c.Scalars...)
	return r
}

// EndRun drops the references of a run.
func (c *Capture) EndRun() {
	c.Leaves, c.Outputs, c.Scalars = Emptied(c.Leaves), Emptied(c.Outputs), c.Scalars[:0]
	c.Begun = 0
}

// ScalarsOf returns which of the capture's scalars each number is, -1 for one that no result
// depends on.
func (c *Capture) ScalarsOf(numbers []*graph.Node) []int {
	nodes := c.scalarNodes()
	scalars := make([]int, len(numbers))
	for k, n := range numbers {
		scalars[k] = slices.Index(nodes, n)
	}
	return scalars
}

// scalarNodes returns the nodes of the capture's scalars.
func (c *Capture) scalarNodes() (ns []*graph.Node) {
	for i := range c.nodes {
		if n := &c.nodes[i]; n.leaf < 0 && n.Op == ir.Scalar {
			ns = append(ns, n.Node)
		}
	}
	return ns
}

// Equal reports whether two captures differ in their scalars alone, and in leaves that view
// arguments, given by leaf.
func (c *Capture) Equal(o *Capture, args []int) bool {
	same := func(x, y *graph.Node) bool { return x.Call().(*graph.HostFunc).Same(y.Call().(*graph.HostFunc)) }
	if !bytes.Equal(c.Key, o.Key) || !slices.EqualFunc(c.Inside, o.Inside, same) {
		return false
	}
	for i, arg := range args {
		x, y := &c.Leaves[i], &o.Leaves[i]
		if x.View.Offset != y.View.Offset || arg < 0 && !storage.Same(x.Stored, y.Stored) {
			return false
		}
	}
	return true
}
