package cpu

import (
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
)

// A buffer is memory of the host.
type buffer struct {
	device *device
	data   []byte // aligned to a cache line; nil once freed
}

func (b *buffer) Size() int { return len(b.data) }

func (b *buffer) Free() {
	b.device.held.Add(-int64(len(b.data)))
	b.data = nil
}

// at is the address of byte n.
func (b *buffer) at(n int) unsafe.Pointer {
	return unsafe.Add(unsafe.Pointer(unsafe.SliceData(b.data)), n)
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
