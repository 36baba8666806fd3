package gpu

import (
	"github.com/tensorken/tensorken/internal/gpudevice"
	"github.com/tensorken/tensorken/internal/wgpu"
)

type buffer struct {
	gpudevice.Memory
	device *device
	handle wgpu.Buffer
	id     uint32
	groups []*bindGroup  // that it is in, and some that the device has forgotten
	few    [4]*bindGroup // the array of groups, until it is full

	recording uint64 // the last whose commands use it
}

// Free gives the memory back. WebGPU keeps it until submitted work is done.
func (b *buffer) Free() {
	d := b.device
	if b.IsFreed() || d.dev == nil {
		return
	}
	d.flushFor(b)
	b.leaveGroups()
	d.dev.FreeBuffer(b.handle)
	d.Forget(b)
}

// flushFor submits the recorded commands if they use a buffer.
func (d *device) flushFor(b *buffer) {
	if b.recording == d.recording && d.Closed == nil {
		d.flush()
	}
}

// NewBuffer implements gpudevice.Driver.
func (d *device) NewBuffer(m gpudevice.Memory) (gpudevice.Buffer, error) {
	handle, err := d.dev.NewBuffer(m.Room, wgpu.Storage)
	if err != nil {
		return nil, d.returned(err)
	}
	d.lastID++
	return &buffer{Memory: m, device: d, handle: handle, id: d.lastID}, nil
}

// returned is fail for an error that the caller gets: Sync does not return it
// again.
func (d *device) returned(err error) error {
	before := d.Failed
	err = d.fail(err)
	d.Failed = before
	return err
}
