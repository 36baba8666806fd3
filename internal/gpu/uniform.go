package gpu

import (
	"bytes"

	"github.com/tensorken/tensorken/internal/wgpu"
)

// maxUniforms is the most uniform buffers. They are written in turn, so that a write
// does not wait for the commands that read the buffer before.
const maxUniforms = 8

// A uniformRing is the uniform buffers for the parameters of dispatches.
type uniformRing struct {
	buffers []*uniformBuffer
	next    int // to be written
}

type uniformBuffer struct {
	buffer  wgpu.Buffer
	group   wgpu.Group // of its first bytes
	size    int
	content []byte
}

// put returns a buffer that holds params: one that has them already, as after a run
// of the same plan, or the next.
func (r *uniformRing) put(d *device, l wgpu.Layout, params []byte) (*uniformBuffer, error) {
	for _, u := range r.buffers {
		if len(u.content) >= len(params) && bytes.Equal(u.content[:len(params)], params) {
			return u, nil
		}
	}
	if len(r.buffers) < maxUniforms {
		r.next = len(r.buffers)
		r.buffers = append(r.buffers, new(uniformBuffer))
	}
	u := r.buffers[r.next]
	r.next = (r.next + 1) % maxUniforms
	if u.size < len(params) {
		u.free(d)
		var err error
		size := max(2*len(params), batch*slot)
		if u.buffer, err = d.dev.NewBuffer(int64(size), wgpu.Params); err != nil {
			return nil, d.returned(err)
		}
		if u.group, err = d.dev.NewParams(l, u.buffer); err != nil {
			return nil, d.fail(err)
		}
		u.size = size
	}
	d.dev.Write(u.buffer, 0, params)
	u.content = append(u.content[:0], params...)
	return u, nil
}

func (u *uniformBuffer) free(d *device) {
	if u.group != 0 {
		d.dev.FreeGroup(u.group)
	}
	if u.buffer != 0 {
		d.dev.FreeBuffer(u.buffer)
	}
	*u = uniformBuffer{}
}

func (r *uniformRing) free(d *device) {
	for _, u := range r.buffers {
		u.free(d)
	}
	r.buffers = nil
}
