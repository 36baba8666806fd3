package exec

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/storage"
)

// A launch has the buffers and calls of one execution of a plan.
type launch struct {
	slots    []memory.Pooled    // of the plan; zero where an output's storage has taken it over
	buffers  []driver.Buffer    // by leaf
	blocks   []*memory.Block    // by leaf: of the buffer; nil where a slot has it
	taken    []*memory.Block    // by taking: whose buffer a slot is; nil where the slot is a copy
	storages []*storage.Storage // by slot
	slabs    []storage.Slab     // of a Recording
	calls    []driver.Call
	args     []driver.Arg // of all calls
}

var launches = sync.Pool{New: func() any { return new(launch) }}

// release returns the remaining slots to the pool, and ends the use of the leaves.
func (l *launch) release(d *Device) {
	for _, b := range l.blocks {
		if b != nil {
			b.Done()
		}
	}
	d.memory.Pool.Release(l.slots...)
	*l = launch{capture.Emptied(l.slots), capture.Emptied(l.buffers), capture.Emptied(l.blocks), capture.Emptied(l.taken), capture.Emptied(l.storages), capture.Emptied(l.slabs), capture.Emptied(l.calls), capture.Emptied(l.args)}
	launches.Put(l)
}

// acquire acquires the slots, and holds the leaves' blocks until release. The caller holds d.memory.Queue.
func (l *launch) acquire(d *Device, c *capture.Capture, slots []memory.Request) (err error) {
	if l.slots, err = d.memory.Pool.Acquire(l.slots, slots...); err != nil {
		return err
	}
	l.storages = slices.Grow(l.storages, len(slots))[:len(slots)]
	for i := range c.Leaves {
		b, err := c.Leaves[i].Stored.Use(d.memory)
		if err != nil {
			return err
		}
		l.blocks, l.buffers = append(l.blocks, b), append(l.buffers, b.Buffer)
	}
	return nil
}

// take makes the buffers of leaves slots whose memory results take. Where others may read a leaf's memory, or
// it is larger than the slot, the slot is a copy. The caller holds d.memory.Queue.
func (l *launch) take(d *Device, p *loadedPlan, c *capture.Capture) (err error) {
	for _, t := range p.takes {
		leaf, b := &c.Leaves[t.leaf], l.blocks[t.leaf]
		if leaf.View.Offset == 0 && leaf.Donation() != nil && b.Buffer.Size() <= t.Class {
			if taken, ok := b.TakeAlone(len(t.same)); ok {
				l.slots[t.slot] = taken
				l.taken = append(l.taken, b)
				l.setBlocks(t.same, nil)
				continue
			}
		}
		l.taken = append(l.taken, nil)
		first := leaf.View.Offset * leaf.DType.Size()
		if l.slots[t.slot], err = leaf.Stored.CopyTo(d.memory, t.Request, first, first+leaf.Bytes()); err != nil {
			l.putBack(p)
			return err
		}
	}
	return nil
}

// putBack undoes take.
func (l *launch) putBack(p *loadedPlan) {
	for i, b := range l.taken {
		if t := p.takes[i]; b != nil {
			b.PutBack(l.slots[t.slot], len(t.same))
			l.slots[t.slot] = memory.Pooled{}
			l.setBlocks(t.same, b)
		}
	}
	l.taken = l.taken[:0]
}

// hasTaken reports whether the calls overwrite a leaf.
func (l *launch) hasTaken() bool {
	return slices.ContainsFunc(l.taken, func(b *memory.Block) bool { return b != nil })
}

func (l *launch) setBlocks(leaves []int, b *memory.Block) {
	for _, leaf := range leaves {
		l.blocks[leaf] = b
	}
}

// bind sets l.calls to the calls of the plan.
func (l *launch) bind(p *loadedPlan, c *capture.Capture, x *storage.Execution) {
	l.args = slices.Grow(l.args, len(p.bindings))[:len(p.bindings)]
	leaf := func(i int) (driver.Buffer, int) { return l.buffers[i], c.Leaves[i].View.Offset }
	slot := func(i int) (driver.Buffer, int) { return l.slots[i].Buffer, 0 }
	l.calls = p.appendCalls(l.calls, l.args, c, x, leaf, slot)
}

// finish gives each output its value: a view of a leaf, or of a slot's buffer, which
// moves from l.slots to a storage.
func (l *launch) finish(d *Device, p *loadedPlan, c *capture.Capture, x *storage.Execution) error {
	for _, n := range c.Slabs {
		l.slabs = append(l.slabs, storage.NewSlab(n))
	}
	region := regionOfReplay(c)
	for i := range c.Outputs {
		out, o := &p.compiled.Outputs[i], &c.Outputs[i]
		if out.Leaf {
			leaf := &c.Leaves[out.Index]
			s, err := leaf.Stored.On(d.memory)
			if err != nil {
				return err
			}
			if e := leaf.Donation(); s == leaf.Stored && e != nil && !e.Replaced {
				s = s.Shared()
			}
			o.Value = &graph.Value{Store: s, Offset: out.Offset + leaf.View.Offset, Strides: out.Strides}
			continue
		}
		slot := p.slot[out.Index]
		s := l.storages[slot]
		if s == nil {
			switch {
			case o.Slab > 0:
				e := l.slabs[o.Slab-1].Next(d.memory, l.slots[slot])
				s, o.Node = &e.Storage, &e.Node
			case c.Replayed:
				e := d.memory.StoreNode(l.slots[slot])
				s, o.Node = &e.Storage, &e.Node
			default:
				s = d.memory.Store(l.slots[slot])
			}
			s.OfStep = i < c.Replacing
			l.store(p, x, slot, s, &l.slots[slot])
		}
		o.Value = s.NewValue(out.Offset, out.Strides)
		storage.NoteStored(region, o.Value)
	}
	for _, n := range c.Named {
		n.Node.SetValue(c.Outputs[n.Output].Value)
	}
	noteRegions(p, c)
	for _, n := range c.Empty {
		n.SetValue(&graph.Value{Store: storage.FromHost(nil), Strides: make([]int, len(n.Shape))})
	}
	return nil
}

// store notes that a storage has the buffer of a slot.
func (l *launch) store(p *loadedPlan, x *storage.Execution, slot int, s *storage.Storage, b *memory.Pooled) {
	p.checks.Attach(s, x, slot)
	l.storages[slot], *b = s, memory.Pooled{}
}

// noteRegions notes the slots of a plan whose outputs all belong to regions that the goroutine is in: the
// outermost of these regions owns the memory.
func noteRegions(p *loadedPlan, c *capture.Capture) {
	r := graph.CurrentRegion()
	if r == nil || c.Replayed {
		return
	}
	var array [4]*graph.Region
	owners := append(array[:0], make([]*graph.Region, len(p.slots))...) // by slot; elsewhere for one that stays
	for _, n := range c.Named {
		out := &p.compiled.Outputs[n.Output]
		if out.Leaf {
			continue
		}
		of, owner := r.RegionOf(n.Node), &owners[p.slot[out.Index]]
		switch {
		case of == nil:
			*owner = elsewhere
		case *owner == nil || *owner != elsewhere && of.Enclosing((*owner).Number()) == nil: // of is around it
			*owner = of
		}
	}
	for i := range c.Outputs {
		if out := &p.compiled.Outputs[i]; !out.Leaf {
			if of := owners[p.slot[out.Index]]; of != nil && of != elsewhere {
				storage.NoteStored(of, c.Outputs[i].Value)
			}
		}
	}
}

// regionOfReplay returns the region of a Recording's results: the innermost. It is nil for plans of others,
// and outside of regions.
func regionOfReplay(c *capture.Capture) *graph.Region {
	if !c.Replayed {
		return nil
	}
	return graph.CurrentRegion()
}

// elsewhere stands for no region.
var elsewhere = new(graph.Region)
