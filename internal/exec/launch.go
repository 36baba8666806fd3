package exec

import (
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A launch has the buffers and calls of one execution of a plan.
type launch struct {
	slots    []pooled   // of the plan; zero where an output's storage has taken it over
	storages []*storage // by slot
	calls    []driver.Call
	args     []driver.Arg // of all calls
}

var launches = sync.Pool{New: func() any { return new(launch) }}

// release returns the slots that are left to the pool.
func (l *launch) release(d *Device) {
	d.pool.release(l.slots...)
	*l = launch{emptied(l.slots), emptied(l.storages), emptied(l.calls), emptied(l.args)}
	launches.Put(l)
}

// bufferOn returns the buffer of d that has the leaf's elements. The caller holds d.queue.
func (l *leaf) bufferOn(d *Device) (driver.Buffer, error) {
	b, err := l.stored.blockOn(d)
	if err == nil {
		err = l.stored.failed() // since ready
	}
	if err != nil {
		return nil, err
	}
	return b.buffer, nil
}

// bind sets l.calls to the calls of the plan.
func (l *launch) bind(d *Device, p *loadedPlan, c *capture, x *execution) error {
	l.args = slices.Grow(l.args, len(p.bindings))[:len(p.bindings)]
	for k := range p.bindings {
		a, arg := &p.bindings[k], &l.args[k]
		switch a.from {
		case fromScalar:
			arg.Num = c.scalars[a.index]
		case fromReport:
			arg.Buffer, arg.Offset = x.reports, ir.StatusLen*(x.firstCheck+int(a.index))
		case fromLeaf:
			leaf := &c.leaves[a.index]
			b, err := leaf.bufferOn(d)
			if err != nil {
				return err
			}
			arg.Buffer, arg.Offset = b, leaf.view.Offset+a.offset
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
	return nil
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
				b, err := s.blockOn(d)
				if err != nil {
					return err
				}
				s = &storage{device: d, block: b, origin: origin{epoch: b.epoch}}
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
			if x != nil && x.mayFail(p, out.Index) {
				s.exec, s.buffer = x, out.Index
			}
			l.storages[slot] = s
			l.slots[slot] = pooled{}
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
	for _, n := range c.empty {
		n.SetValue(&graph.Value{Store: FromHost(nil), Strides: make([]int, len(n.Shape))})
	}
	return nil
}
