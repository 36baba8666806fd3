package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
)

// A Device computes tensors. Any number of goroutines may use one.
type Device exec.Device

// NewDevice returns a device over a driver, for packages that open hardware. Package
// device opens devices by name.
func NewDevice(d driver.Device) *Device { return (*Device)(exec.New(d)) }

func (d *Device) exec() *exec.Device { return (*exec.Device)(d) }

// String returns the device's name, such as "cpu".
func (d *Device) String() string { return d.exec().String() }

// Sync waits until the device has done all work, and returns the first failure since
// the last Sync.
func (d *Device) Sync() error { return failure("Sync", d.exec(), d.exec().Sync()) }

// Close frees all resources of the device. Later calls fail.
//
// The device of [CPU], which the whole program shares, is an exception: Close frees its
// pooled memory, and the device keeps working. So code that opens a device may close
// it, whichever device it is.
func (d *Device) Close() error {
	end := d.exec().Close
	if d == CPU() {
		end = d.exec().Trim
	}
	return failure("Close", d.exec(), end())
}

var host = sync.OnceValue(func() *Device { return NewDevice(cpu.New(cpu.Options{})) })

// CPU returns the host's processor as a device, the same device each time.
func CPU() *Device { return host() }

var fallback atomic.Pointer[Device]

// Default returns the device for tensors that are committed to none: the CPU, unless
// [SetDefault] has changed it.
func Default() *Device {
	if d := fallback.Load(); d != nil {
		return d
	}
	return CPU()
}

// SetDefault makes d the default device for all goroutines. Nil means the CPU.
//
// Computing with a type that d lacks is an error: a GPU lacks [Float64] and [Int64]. Cast
// such tensors, or keep them on the CPU by To(CPU()).
func SetDefault(d *Device) { fallback.Store(d) }

// Stats counts the memory and compiled programs of all devices.
type Stats struct {
	Plans    int   // compiled graphs in the cache
	Programs int   // compiled kernels in the cache
	Held     int64 // bytes of live tensors and of running work
	Pooled   int64 // bytes of free buffers kept for reuse
	Peak     int64 // greatest Held so far
}

// Info returns the state of all caches and pools.
func Info() Stats { return Stats(exec.Info()) }
