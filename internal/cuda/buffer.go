//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
)

// A buffer is memory of a device.
type buffer struct {
	device  *device
	address uintptr
	size    int   // as requested
	room    int64 // as allocated
}

func (b *buffer) Size() int { return b.size }

// Free gives the memory back once the work submitted so far is done.
func (b *buffer) Free() {
	d := b.device
	if b.address == 0 {
		return
	}
	if leave, err := d.enter(); err == nil {
		d.lib.call("cuMemFreeAsync", d.lib.MemFreeAsync, b.address, d.stream)
		leave()
	}
	delete(d.buffers, b)
	d.held -= b.room
	b.address = 0
}

func (d *device) Alloc(bytes int) (driver.Buffer, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	b, err := d.alloc(bytes)
	if err != nil { // the caller may try again
		d.makeRoom()
		return nil, err
	}
	return b, nil
}

// makeRoom frees what is only kept for reuse.
func (d *device) makeRoom() {
	d.kept.Free()
	d.wait()
	d.lib.call("cuMemPoolTrimTo", d.lib.MemPoolTrimTo, d.pool, 0)
}

// alloc allocates a buffer in the context that is current.
func (d *device) alloc(bytes int) (*buffer, error) {
	if bytes < 0 {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for", d.name, driver.ErrMemory, bytes)
	}
	b := &buffer{device: d, size: bytes, room: max(16, (int64(bytes)+15)&^15)} // vectors fit
	if b.room > d.budget-d.held {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for, %d of %d held", d.name, driver.ErrMemory, bytes, d.held, d.budget)
	}
	if err := d.lib.call("cuMemAllocAsync", d.lib.MemAllocAsync, uintptr(unsafe.Pointer(&b.address)), uintptr(b.room), d.stream); err != nil {
		return nil, d.fail(err)
	}
	d.buffers[b] = struct{}{}
	d.held += b.room
	return b, nil
}

// own returns a buffer of this device with n bytes from an offset on.
func (d *device) own(b driver.Buffer, offset, n int) (*buffer, error) {
	own, ok := b.(*buffer)
	switch {
	case !ok || own.device != d:
		return nil, fmt.Errorf("%s: a buffer of another device", d.name)
	case own.address == 0:
		return nil, fmt.Errorf("%s: a buffer that was freed", d.name)
	case offset < 0 || n < 0 || n > own.size-offset:
		return nil, fmt.Errorf("%s: bytes %d to %d of a buffer of %d", d.name, offset, offset+n, own.size)
	}
	return own, nil
}
