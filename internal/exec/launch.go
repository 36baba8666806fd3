package exec

import (
	"runtime"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/ir"
)

// A launch has the buffers and calls of one execution of a plan.
type launch struct {
	slots    []memory.Pooled // of the plan; zero where an output's storage has taken it over
	buffers  []driver.Buffer // by leaf
	blocks   []*memory.Block // by leaf: of the buffer; nil where a slot has it
	taken    []*memory.Block // by taking: whose buffer a slot is; nil where the slot is a copy
	storages []*storage      // by slot
	calls    []driver.Call
	args     []driver.Arg // of all calls
}

var launches = sync.Pool{New: func() any { return new(launch) }}

// release returns the slots that are left to the pool, and ends the use of the leaves.
func (l *launch) release(d *Device) {
	for _, b := range l.blocks {
		if b != nil {
			b.Done()
		}
	}
	d.pool.Release(l.slots...)
	*l = launch{emptied(l.slots), emptied(l.buffers), emptied(l.blocks), emptied(l.taken), emptied(l.storages), emptied(l.calls), emptied(l.args)}
	launches.Put(l)
}

// use makes the leaves' buffers those of blocks that stay until release. The caller holds d.queue.
func (l *launch) use(d *Device, c *capture) error {
	for i := range c.leaves {
		b, err := c.leaves[i].use(d)
		if err != nil {
			return err
		}
		l.blocks, l.buffers = append(l.blocks, b), append(l.buffers, b.Buffer)
	}
	return nil
}

// use returns the block of d that has the leaf's elements, in use. The caller holds d.queue.
func (l *leaf) use(d *Device) (*memory.Block, error) {
	for {
		on, err := l.stored.on(d)
		if err != nil {
			return nil, err
		}
		used := on.block.Use()
		if err := l.stored.failed(); err != nil { // since ready
			if used {
				on.block.Done()
			}
			return nil, err
		}
		if used {
			return on.block, nil
		}
		runtime.Gosched() // a Scope freed the copy, or another plan takes the buffer and then says why it is gone
	}
}

// take makes the buffers of leaves slots whose memory results take. Where others may read a leaf's memory
// the slot is a copy. The caller holds d.queue.
func (l *launch) take(d *Device, p *loadedPlan, c *capture) (err error) {
	for _, t := range p.takes {
		leaf, b := &c.leaves[t.leaf], l.blocks[t.leaf]
		if leaf.view.Offset == 0 && leaf.donation() != nil {
			if taken, ok := b.TakeAlone(len(t.same)); ok {
				l.slots[t.slot] = taken
				l.taken = append(l.taken, b)
				l.setBlocks(t.same, nil)
				continue
			}
		}
		l.taken = append(l.taken, nil)
		if l.slots[t.slot], err = leaf.copyTo(d, t.Request); err != nil {
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

// copyTo returns a copy of the leaf's elements, which are in row-major order, in a new buffer of d.
func (l *leaf) copyTo(d *Device, r memory.Request) (memory.Pooled, error) {
	s, first, n := l.stored, l.view.Offset*l.dtype.Size(), l.bytes()
	var host []byte
	if s.device == nil {
		host = s.host[first : first+n]
	} else {
		on, err := s.on(d)
		if err != nil {
			return memory.Pooled{}, err
		}
		if host, err = hostmem.Make(n, 1); err != nil {
			return memory.Pooled{}, err
		}
		if err := d.stream.download(host, on.block.Buffer, first); err != nil {
			return memory.Pooled{}, err
		}
	}
	buffers, err := d.pool.Acquire(nil, r)
	if err != nil {
		return memory.Pooled{}, err
	}
	if err := d.drv.Upload(buffers[0].Buffer, 0, host); err != nil {
		d.pool.Release(buffers...)
		return memory.Pooled{}, err
	}
	return buffers[0], nil
}

// bind sets l.calls to the calls of the plan.
func (l *launch) bind(p *loadedPlan, c *capture, x *execution) {
	l.args = slices.Grow(l.args, len(p.bindings))[:len(p.bindings)]
	for k := range p.bindings {
		a, arg := &p.bindings[k], &l.args[k]
		switch a.from {
		case fromScalar:
			arg.Num = c.scalars[a.index]
		case fromReport:
			arg.Buffer, arg.Offset = x.reports.Buffer, ir.StatusLen*(x.firstCheck+int(a.index))
		case fromLeaf:
			arg.Buffer, arg.Offset = l.buffers[a.index], c.leaves[a.index].view.Offset+a.offset
		case fromSlot:
			arg.Buffer, arg.Offset = l.slots[a.index].Buffer, a.offset
		}
	}
	args := l.args
	for i, program := range p.programs {
		n := len(p.compiled.Steps[i].Args)
		l.calls = append(l.calls, driver.Call{Program: program, Args: args[:n:n]})
		args = args[n:]
	}
}

// finish gives each output its value: a view of a leaf, or of a slot's buffer, which
// moves from l.slots to a storage.
func (l *launch) finish(d *Device, p *loadedPlan, c *capture, x *execution) error {
	l.storages = slices.Grow(l.storages, len(p.slots))[:len(p.slots)]
	slabs := make([]slab, len(c.slabs))
	for i, n := range c.slabs {
		if n > 0 {
			slabs[i] = newSlab(d, n)
		}
	}
	for i := range c.outputs {
		out := &p.compiled.Outputs[i]
		if out.Leaf {
			leaf := &c.leaves[out.Index]
			s := leaf.stored
			if s.device != nil && s.device != d { // a copy, which outlives the other device
				on, err := s.on(d)
				if err != nil {
					return err
				}
				on.block.MarkShared()
				s = on.storage()
			} else if e := leaf.donation(); e != nil && !e.Replaced {
				s = s.shared()
			}
			c.outputs[i].value = &graph.Value{Store: s, Offset: out.Offset + leaf.view.Offset, Strides: out.Strides}
			continue
		}
		slot := p.slot[out.Index]
		s := l.storages[slot]
		if s == nil {
			if k := c.outputs[i].slab; k > 0 {
				h := slabs[k-1].next(d, &l.slots[slot])
				s, c.outputs[i].node = &h.storage, &h.node
			} else {
				s = d.newStorage(l.slots[slot])
			}
			if x != nil && p.depends[slot].Intersects(x.unknown) {
				s.exec, s.slot = x, slot
			}
			s.ofStep = i < c.replacing
			l.storages[slot] = s
			l.slots[slot] = memory.Pooled{}
		} else if s.first.Offset == out.Offset && slices.Equal(s.first.Strides, out.Strides) { // equal, and no view
			s = s.shared()
		}
		if err := s.failed(); err != nil {
			c.outputs[i].value = &graph.Value{Err: err}
			continue
		}
		v := s.newValue()
		v.Store, v.Offset, v.Strides = s, out.Offset, out.Strides
		c.outputs[i].value = v
	}
	for _, n := range c.named {
		n.node.SetValue(c.outputs[n.output].value)
	}
	c.noteRegions(p)
	for _, n := range c.empty {
		n.SetValue(&graph.Value{Store: FromHost(nil), Strides: make([]int, len(n.Shape))})
	}
	return nil
}
