package gpu

import (
	"bytes"

	"github.com/tensorken/tensorken/internal/wgpu"
)

const (
	// maxUniforms is the most parameters of dispatches in the uniform buffer.
	maxUniforms = 4096
	// maxBlocks is the most submissions whose parameters are found again.
	maxBlocks = 32
)

// uniforms is the parameters of dispatches, in a uniform buffer of the device. Those of a
// submission are a block.
type uniforms struct {
	buffer  wgpu.Buffer // 0 if there is none yet
	content []byte      // of the buffer
	blocks  []block     // the last ones written, in their order
	next    int         // where the next one begins
}

// A block is a part of the uniform buffer.
type block struct{ begin, end int }

// bind returns the binding of a dispatch's parameters.
func (u *uniforms) bind(d *device) (wgpu.Binding, error) {
	if u.buffer == 0 {
		var err error
		if u.buffer, err = d.dev.NewBuffer(maxUniforms*slot, wgpu.Params); err != nil {
			return wgpu.Binding{}, d.returned(err)
		}
		u.content = make([]byte, maxUniforms*slot)
	}
	return wgpu.Binding{Buffer: u.buffer, Size: slot}, nil
}

// put returns where the buffer has the parameters: where it has them already, as after a run of
// the same plan, or in the next block.
func (u *uniforms) put(d *device, params []byte) (begin int) {
	for _, b := range u.blocks {
		if b.end-b.begin >= len(params) && bytes.Equal(u.content[b.begin:b.begin+len(params)], params) {
			return b.begin
		}
	}
	if u.next+len(params) > len(u.content) {
		u.next = 0
	}
	b := block{u.next, u.next + len(params)}
	for len(u.blocks) > 0 && (len(u.blocks) == maxBlocks || u.blocks[0].overlaps(b)) {
		u.blocks = append(u.blocks[:0], u.blocks[1:]...)
	}
	u.blocks, u.next = append(u.blocks, b), b.end
	copy(u.content[b.begin:], params)
	d.dev.Write(u.buffer, int64(b.begin), params)
	return b.begin
}

func (b block) overlaps(c block) bool { return b.begin < c.end && c.begin < b.end }

func (u *uniforms) free(d *device) {
	if u.buffer != 0 {
		d.dev.FreeBuffer(u.buffer)
	}
	*u = uniforms{}
}
