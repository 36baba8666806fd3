package capture

import (
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
)

// A dependent is a node that fails if some CoOutputs fail, without being one of their
// nodes. Both are given by number.
type dependent struct{ number, coOutputs int32 }

// addCoOutputs adds to the roots the nodes of CoOutputs that have no value yet and
// belong to the capture's device.
func (c *Capture) addCoOutputs(sets []*graph.CoOutputs) {
	for _, b := range sets {
		for _, m := range b.Nodes {
			switch v := m.Value(); {
			case v != nil && v.Err != nil:
				c.Failed = v.Err
			case v == nil && !c.isForeign(m):
				c.roots = append(c.roots, m)
			}
		}
	}
}

// noteCoOutputs notes the CoOutputs of n, which has number i.
func (c *Capture) noteCoOutputs(n *graph.Node, i int32, co *graph.CoOutputs) {
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

// Depends returns the dependencies of each output: the reads of its kernels, which of has, and the
// nodes that fail along with CoOutputs.
func (c *Capture) Depends(of []compile.Set) []compile.Set {
	sets := make([]compile.Set, len(c.nodes))
	for i, d := range of {
		sets[c.Outputs[i].number] = d
	}
	c.spread(sets)
	outputs := make([]compile.Set, len(c.Outputs))
	for i, o := range c.Outputs {
		outputs[i] = sets[o.number]
	}
	return outputs
}

// spread adds to each node's set the sets of its operands, and of the CoOutputs that fail with it.
func (c *Capture) spread(sets []compile.Set) {
	for more := true; more; {
		more = false
		add := func(i int32, s compile.Set) {
			if !sets[i].Includes(s) {
				sets[i], more = sets[i].With(s), true
			}
		}
		for i := range c.nodes {
			for _, s := range c.src(&c.nodes[i]) {
				add(int32(i), sets[s])
			}
		}
		shared := make([]compile.Set, len(c.coOutputs))
		for k, b := range c.coOutputs {
			for _, m := range b.Nodes {
				if i, ok := c.number.Get(m); ok {
					shared[k] = shared[k].With(sets[i])
				}
			}
		}
		for _, d := range c.dependents {
			add(d.number, shared[d.coOutputs])
		}
	}
}
