package gpu

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// maxGroups is the most bind groups that are kept.
const maxGroups = 1 << 14

// A groupKey is everything that a bind group depends on. No two buffers have the same
// id.
type groupKey struct {
	layout wgpu.Layout
	n      int
	ids    [maxBindings]uint32
}

// A bindGroup is the buffers that a pass binds, cached in device.groups.
type bindGroup struct {
	key     groupKey
	handle  wgpu.Group
	buffers []*buffer
}

// bound is the buffer of a binding.
func (d *device) bound(b *shader.Buffer, args []driver.Arg) *buffer {
	if b.Arg < 0 {
		return d.kept.Scratch[b.Scratch]
	}
	return args[b.Arg].Buffer.(*buffer)
}

// newBindGroup makes and caches a bind group.
func (d *device) newBindGroup(key groupKey, q *pass, args []driver.Arg) (*bindGroup, error) {
	g := &bindGroup{key: key}
	var bindings []wgpu.Binding
	for i := range q.bindings {
		b := d.bound(q.bindings[i], args)
		for k := range i {
			if g.buffers[k] == b && (q.bindings[i].Write || q.bindings[k].Write) {
				return nil, fmt.Errorf("%s: arguments %d and %d are one buffer, which is written", d.name, q.bindings[k].Arg, q.bindings[i].Arg)
			}
		}
		g.buffers = append(g.buffers, b)
		bindings = append(bindings, wgpu.Binding{Buffer: b.handle, Size: b.room})
	}
	if len(q.params) > 0 {
		b, err := d.uniforms.bind(d)
		if err != nil {
			return nil, err
		}
		bindings = append(bindings, b)
	}
	var err error
	if g.handle, err = d.dev.NewGroup(key.layout, bindings); err != nil {
		return nil, d.fail(err)
	}
	d.groups.Put(key, g)
	for _, b := range g.buffers {
		b.groups[g] = struct{}{}
	}
	return g, nil
}

// freeGroup frees a bind group that d.groups no longer has.
func (d *device) freeGroup(g *bindGroup) {
	d.dev.FreeGroup(g.handle)
	for _, b := range g.buffers {
		delete(b.groups, g)
	}
}
