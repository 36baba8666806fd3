package gpu

import (
	"bytes"
	"slices"

	"github.com/tensorken/tensorken/internal/wgpu"
)

const (
	// maxUniforms is the most slots of parameters in the uniform buffer.
	maxUniforms = 4096
	// maxFound is the most submissions whose parameters are found again.
	maxFound = 32
)

// uniforms is the parameters of dispatches, in a uniform buffer of the device. One is enough: GPUs
// order each write after all earlier dispatches, whichever buffers these read.
type uniforms struct {
	buffer  wgpu.Buffer // 0 before the first
	content []byte      // of the buffer, as far as it was written
	begins  []int       // of the parameters of the last submissions
	next    int         // where the next ones begin
}

// bind returns the binding of a dispatch's parameters, for which there is so much room.
func (u *uniforms) bind(d *device, room int) (wgpu.Binding, error) {
	if u.buffer == 0 {
		var err error
		if u.buffer, err = d.dev.NewBuffer(maxUniforms*slot, wgpu.Params); err != nil {
			return wgpu.Binding{}, d.returned(err)
		}
	}
	return wgpu.Binding{Buffer: u.buffer, Size: int64(room)}, nil
}

// put returns where the buffer has the parameters of a submission: where it has them already, as after
// a run of the same plan, or where it writes them.
func (u *uniforms) put(d *device, params []byte) (begin int) {
	for _, begin := range u.begins {
		if bytes.HasPrefix(u.content[begin:], params) {
			return begin
		}
	}
	if u.next+len(params) > maxUniforms*slot {
		u.next = 0
	}
	begin = u.next
	u.next += len(params)
	u.content = slices.Grow(u.content, len(params))[:max(len(u.content), u.next)]
	if len(u.begins) == maxFound {
		u.begins = slices.Delete(u.begins, 0, 1)
	}
	u.begins = append(u.begins, begin)
	copy(u.content[begin:], params)
	d.dev.Write(u.buffer, int64(begin), params)
	return begin
}

// forget drops the record of uploaded data that put consults: a write may have failed.
func (u *uniforms) forget() { u.begins = nil }

func (u *uniforms) free(d *device) {
	if u.buffer != 0 {
		d.dev.FreeBuffer(u.buffer)
	}
	*u = uniforms{}
}
