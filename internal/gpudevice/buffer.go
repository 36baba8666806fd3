package gpudevice

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
)

// A Buffer embeds Memory.
type Buffer interface {
	driver.Buffer
	Base() *Memory
}

// Memory is a Device's record of a buffer.
type Memory struct {
	Room   int64   // bytes as allocated: a multiple of 16, so that vectors fit
	size   int     // as requested
	device *Device // nil once the buffer is freed
}

// Base returns the Memory that a buffer embeds.
func (m *Memory) Base() *Memory { return m }

// Size implements driver.Buffer.
func (m *Memory) Size() int { return m.size }

// IsFreed reports whether Forget was called.
func (m *Memory) IsFreed() bool { return m.device == nil }

// Alloc implements driver.Device.
func (d *Device) Alloc(bytes int) (driver.Buffer, error) {
	leave, err := d.driver.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	b, err := d.Take(bytes)
	if err != nil { // the caller may try again
		d.MakeRoom()
		return nil, err
	}
	return b, nil
}

// Take is Alloc on a device that was entered. It does not free memory that is kept for
// reuse.
func (d *Device) Take(bytes int) (driver.Buffer, error) {
	if bytes < 0 || int64(bytes) > d.Limit {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for; this GPU takes at most %d in one tensor, and %d are held: %s", d.name, driver.ErrMemory, bytes, d.Limit, d.Held, d.Advice)
	}
	m := Memory{max(16, (int64(bytes)+15)&^15), bytes, d}
	if m.Room > d.Budget-d.Held {
		return nil, fmt.Errorf("%s: %w: %d bytes asked for, %d of %d held", d.name, driver.ErrMemory, bytes, d.Held, d.Budget)
	}
	b, err := d.driver.NewBuffer(m)
	if err != nil {
		return nil, err
	}
	d.buffers[b] = struct{}{}
	d.Held += m.Room
	return b, nil
}

// Forget notes that a buffer is freed.
func (d *Device) Forget(b Buffer) {
	m := b.Base()
	delete(d.buffers, b)
	d.Held -= m.Room
	m.device = nil
}

// FreeBuffers frees all buffers.
func (d *Device) FreeBuffers() {
	for b := range d.buffers {
		b.Free()
	}
}

// CheckBuffer returns an error unless x is a buffer of this device with n bytes from an offset on.
func (d *Device) CheckBuffer(x driver.Buffer, offset, n int) error {
	b, ok := x.(Buffer)
	switch {
	case ok && b.Base().IsFreed():
		return fmt.Errorf("%s: a buffer that was freed", d.name)
	case !ok || b.Base().device != d:
		return fmt.Errorf("%s: a buffer of another device", d.name)
	case offset < 0 || n < 0 || n > b.Size()-offset:
		return fmt.Errorf("%s: bytes %d to %d of a buffer of %d", d.name, offset, offset+n, b.Size())
	}
	return nil
}

// SizeOf returns the size of a buffer of the device that is not freed.
func (d *Device) SizeOf(x driver.Buffer) (bytes int, ok bool) {
	b, ok := x.(Buffer)
	if !ok || b.Base().device != d {
		return 0, false
	}
	return b.Size(), true
}
