package gpu

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/wgpu"
)

// maxGroups is the most groups that are kept.
const maxGroups = 1 << 12

// A groupKey is all that a group depends on. Numbers of buffers are not used
// twice.
type groupKey struct {
	layout wgpu.Layout
	n      int
	ids    [maxBindings]uint32
}

// A group is buffers bound together, kept for the next time.
type group struct {
	key     groupKey
	handle  wgpu.Group
	buffers []*buffer
}

// bound is the buffer of a binding.
func (d *device) bound(b *shader.Buffer, args []driver.Arg) *buffer {
	if b.Arg < 0 {
		return d.scratch[b.Scratch]
	}
	return args[b.Arg].Buffer.(*buffer)
}

// group makes a group.
func (d *device) group(key groupKey, q *pass, args []driver.Arg) (*group, error) {
	g := &group{key: key}
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

// freeGroup frees a group that d.groups no longer has.
func (d *device) freeGroup(g *group) {
	d.dev.FreeGroup(g.handle)
	for _, b := range g.buffers {
		delete(b.groups, g)
	}
}
