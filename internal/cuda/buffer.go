//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"unsafe"

	"github.com/tensorken/tensorken/internal/gpudevice"
)

// A buffer is memory of a device.
type buffer struct {
	gpudevice.Memory
	device     *device
	address    uintptr
	collective int // the number of the last one that uses it, see beside
	alias      int // a number among the arguments of some calls
}

// Free gives the memory back once the work submitted so far is done.
func (b *buffer) Free() {
	d := b.device
	if b.IsFreed() {
		return
	}
	if leave, err := d.Enter(); err == nil {
		d.beside.await(d, b.collective)
		d.lib.call("cuMemFreeAsync", d.lib.MemFreeAsync, b.address, d.stream)
		leave()
	}
	d.Forget(b)
}

// FreeUnused implements gpudevice.Driver.
func (d *device) FreeUnused() {
	d.wait()
	d.lib.call("cuMemPoolTrimTo", d.lib.MemPoolTrimTo, d.pool, 0)
}

// NewBuffer implements gpudevice.Driver.
func (d *device) NewBuffer(m gpudevice.Memory) (gpudevice.Buffer, error) {
	b := &buffer{Memory: m, device: d}
	if err := d.lib.call("cuMemAllocAsync", d.lib.MemAllocAsync, uintptr(unsafe.Pointer(&b.address)), uintptr(m.Room), d.stream); err != nil {
		return nil, d.fail(err)
	}
	return b, nil
}
