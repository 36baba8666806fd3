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
	if err != nil { // the caller may try again: free what is only kept for reuse
		d.freeScratch()
		d.wait()
		d.lib.call("cuMemPoolTrimTo", d.lib.MemPoolTrimTo, d.pool, 0)
		return nil, err
	}
	return b, nil
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
	case offset < 0 || n > own.size-offset:
		return nil, fmt.Errorf("%s: bytes %d to %d of a buffer of %d", d.name, offset, offset+n, own.size)
	}
	return own, nil
}

// Upload copies src. The driver has read it when the call returns, as it is no pinned memory.
func (d *device) Upload(dst driver.Buffer, offset int, src []byte) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	b, err := d.own(dst, offset, len(src))
	if err != nil || len(src) == 0 {
		return err
	}
	err = d.lib.call("cuMemcpyHtoDAsync", d.lib.MemcpyHtoDAsync_v2, b.address+uintptr(offset), uintptr(unsafe.Pointer(&src[0])), uintptr(len(src)), d.stream)
	if err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *device) Download(dst []byte, src driver.Buffer, offset int) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	b, err := d.own(src, offset, len(dst))
	if err != nil {
		return err
	}
	if len(dst) > 0 {
		err = d.lib.call("cuMemcpyDtoHAsync", d.lib.MemcpyDtoHAsync_v2, uintptr(unsafe.Pointer(&dst[0])), b.address+uintptr(offset), uintptr(len(dst)), d.stream)
		if err != nil {
			return d.fail(err)
		}
	}
	if err := d.wait(); err != nil {
		return err
	}
	return d.failed // Sync returns it as well
}
