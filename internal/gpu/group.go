package gpu

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// maxGroups is the most bind groups that are kept, groupBlock how many are one object in memory.
const (
	maxGroups  = 1 << 14
	groupBlock = 64
)

// A groupKey is everything that a bind group depends on. No two buffers have the same
// id.
type groupKey struct {
	layout wgpu.Layout
	n      int
	ids    [maxBindings]uint32
}

// A bindGroup is an entry of device.groups. There are thousands: without pointers and in blocks
// they take Go's collector little time.
type bindGroup = lru.Entry[groupKey, wgpu.Group]

// bound is the buffer of a binding.
func (d *device) bound(b *shader.Buffer, args []driver.Arg) *buffer {
	if b.Arg < 0 {
		return d.Kept.Scratch[b.Scratch].(*buffer)
	}
	return args[b.Arg].Buffer.(*buffer)
}

// newBindGroup makes and caches the bind group of a pass.
func (d *device) newBindGroup(key groupKey, q *pass, args []driver.Arg) (*bindGroup, error) {
	bindings := make([]wgpu.Binding, 0, maxBindings+1)
	for i := range q.bindings {
		for k := range i {
			if key.ids[k] == key.ids[i] && (q.bindings[i].Write || q.bindings[k].Write) {
				return nil, fmt.Errorf("%s: arguments %d and %d are one buffer, which is written", d.Name(), q.bindings[k].Arg, q.bindings[i].Arg)
			}
		}
		b := d.bound(&q.bindings[i], args)
		bindings = append(bindings, wgpu.Binding{Buffer: b.handle, Size: b.Room})
	}
	if len(q.params) > 0 {
		b, err := d.uniforms.bind(d, q.room)
		if err != nil {
			return nil, err
		}
		bindings = append(bindings, b)
	}
	handle, err := d.dev.NewGroup(key.layout, bindings)
	if err != nil {
		return nil, d.fail(err)
	}
	g := d.groups.Put(key, handle)
	for i := range q.bindings {
		d.bound(&q.bindings[i], args).join(g)
	}
	return g, nil
}

// join notes that the buffer is in a bind group. Before the list grows, it loses the groups that the
// device has forgotten.
func (b *buffer) join(g *bindGroup) {
	if b.groups == nil {
		b.groups = b.few[:0]
	}
	if len(b.groups) == cap(b.groups) {
		b.groups = slices.DeleteFunc(b.groups, func(g *bindGroup) bool { return !b.device.groups.Has(g) })
		b.groups = slices.Grow(b.groups, len(b.groups)+1) // so that the next time is far
	}
	b.groups = append(b.groups, g)
}

// leaveGroups frees the bind groups that the buffer is in.
func (b *buffer) leaveGroups() {
	d := b.device
	for _, g := range b.groups {
		if d.groups.Has(g) { // the buffer may be bound twice
			d.groups.Delete(g.Key)
			d.dev.FreeGroup(g.Value)
		}
	}
	b.groups, b.few = nil, [4]*bindGroup{}
}
