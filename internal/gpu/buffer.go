package gpu

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/wgpu"
)

type buffer struct {
	device *device
	handle wgpu.Buffer
	id     uint32
	size   int           // as requested
	room   int64         // as allocated: a multiple of 16, so that vectors fit
	groups []*bindGroup  // that it is in, and some that the device has forgotten
	few    [4]*bindGroup // the array of groups, until it is full

	recording uint64 // the last whose commands use it
}

func (b *buffer) Size() int { return b.size }

// Free gives the memory back. WebGPU keeps it until submitted work is done.
func (b *buffer) Free() {
	d := b.device
	if b.handle == 0 || d.dev == nil {
		return
	}
	d.flushFor(b)
	b.leaveGroups()
	d.dev.FreeBuffer(b.handle)
	delete(d.buffers, b)
	d.held -= b.room
	b.handle = 0
}

// flushFor submits the recorded commands if they use a buffer.
func (d *device) flushFor(b *buffer) {
	if b.recording == d.recording && d.closed == nil {
		d.flush()
	}
}

func (d *device) Alloc(bytes int) (driver.Buffer, error) {
	if d.closed != nil {
		return nil, d.closed
	}
	b, err := d.alloc(bytes)
	if err != nil { // the caller may try again
		d.makeRoom()
		return nil, err
	}
	return b, nil
}

func (d *device) alloc(bytes int) (*buffer, error) {
	if bytes < 0 || int64(bytes) > d.limit {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for; this adapter takes at most %d in one tensor, and %d are held: "+schedule.WebGPUAdvice, d.name, driver.ErrMemory, bytes, d.limit, d.held)
	}
	b := &buffer{device: d, size: bytes, room: max(16, (int64(bytes)+15)&^15)}
	if b.room > d.budget-d.held {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for, %d of %d held", d.name, driver.ErrMemory, bytes, d.held, d.budget)
	}
	var err error
	if b.handle, err = d.dev.NewBuffer(b.room, wgpu.Storage); err != nil {
		return nil, d.returned(err)
	}
	d.lastID++
	b.id = d.lastID
	d.buffers[b] = struct{}{}
	d.held += b.room
	return b, nil
}

// returned is fail for an error that the caller gets: Sync does not return it
// again.
func (d *device) returned(err error) error {
	before := d.failed
	err = d.fail(err)
	d.failed = before
	return err
}

// own returns a buffer of this device with n bytes from an offset on.
func (d *device) own(b driver.Buffer, offset, n int) (*buffer, error) {
	own, ok := b.(*buffer)
	switch {
	case !ok || own.device != d:
		return nil, fmt.Errorf("%s: a buffer of another device", d.name)
	case own.handle == 0:
		return nil, fmt.Errorf("%s: a buffer that was freed", d.name)
	case offset < 0 || n > own.size-offset:
		return nil, fmt.Errorf("%s: bytes %d to %d of a buffer of %d", d.name, offset, offset+n, own.size)
	}
	return own, nil
}
