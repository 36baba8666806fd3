package cpu

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu/vector"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A buffer is memory of the host.
type buffer struct {
	device  *device
	data    []byte // nil after Free
	wraps   bool   // data belongs to the caller of Wrap
	counted bool   // in device.held
}

func (b *buffer) Size() int { return len(b.data) }

func (b *buffer) Free() {
	if b.counted {
		b.device.held.Add(-int64(len(b.data)))
	}
	b.data = nil
}

// at is the address of byte n.
func (b *buffer) at(n int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.data)), n)
}

func (d *device) Alloc(bytes int) (driver.Buffer, error) {
	if d.Closed.Load() {
		return nil, vector.ErrClosed
	}
	const room = 63 // for alignment
	if err := reserve(&d.held, bytes, d.limit); err != nil {
		return nil, err
	}
	b := &buffer{device: d, counted: true}
	if bytes > 0 {
		data, err := hostmem.Make(bytes+room, 1)
		if err != nil {
			d.held.Add(-int64(bytes))
			return nil, err
		}
		off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(data))) & room)
		b.data = data[off : off+bytes : off+bytes]
	}
	return b, nil
}

// AllocHost implements driver.HostAllocator.
func (d *device) AllocHost(bytes int) (driver.Buffer, error) {
	if err := hostmem.Check(bytes, 1); err != nil {
		return nil, err
	}
	return &buffer{device: d, data: make([]byte, bytes)}, nil
}

// span returns n bytes of a buffer from an offset on.
func (d *device) span(b driver.Buffer, offset, n int) ([]byte, error) {
	buf, ok := b.(*buffer)
	switch {
	case d.Closed.Load():
		return nil, vector.ErrClosed
	case !ok || buf.device != d:
		return nil, fmt.Errorf("cpu: a buffer of another device")
	case offset < 0 || n > len(buf.data)-offset:
		return nil, fmt.Errorf("cpu: bytes %d to %d of a buffer of %d", offset, offset+n, len(buf.data))
	}
	return buf.data[offset : offset+n], nil
}

// View implements driver.Viewer: Go's collector frees the memory of a buffer.
func (d *device) View(b driver.Buffer) ([]byte, error) { return d.span(b, 0, b.Size()) }

// wrapAlign is the alignment, in bytes, that kernels may expect of a buffer.
const wrapAlign = 8

// Wrap returns a buffer over memory of the caller, see driver.Wrapper. Its bytes do not
// count against the device's limit.
func (d *device) Wrap(data []byte) driver.Buffer {
	if d.Closed.Load() || uintptr(unsafe.Pointer(unsafe.SliceData(data)))%wrapAlign != 0 {
		return nil
	}
	return &buffer{device: d, data: data, wraps: true}
}

// reserve counts n bytes as held, unless that would be more than the limit.
func reserve(held *atomic.Int64, n, limit int) error {
	for {
		h := held.Load()
		if n < 0 || int64(n) > int64(limit)-h {
			return fmt.Errorf("%w: %s asked for, %s of %s held", driver.ErrMemory, hostmem.Size(n), hostmem.Size(int(h)), hostmem.Size(limit))
		}
		if held.CompareAndSwap(h, h+int64(n)) {
			return nil
		}
	}
}
