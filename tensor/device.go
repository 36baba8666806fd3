package tensor

import (
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
)

// A Device computes. Any number of goroutines may use one.
type Device exec.Device

// NewDevice makes a device of a driver, for packages that open hardware; the
// device package opens by name what there is.
func NewDevice(d driver.Device) *Device { return (*Device)(exec.New(d)) }

func (d *Device) exec() *exec.Device { return (*exec.Device)(d) }

// String returns the device's name, such as "cpu".
func (d *Device) String() string { return d.exec().String() }

// Sync waits until all that was asked of the device is done, and returns the
// first failure since the last Sync.
func (d *Device) Sync() error { return failure("Sync", d.exec(), d.exec().Sync()) }

// Close gives back all that the device holds. What is asked of it later fails.
//
// Only the device that [CPU] returns works on, as all of the program shares it:
// Close frees the memory that waits there for its next use. So what opens a
// device may close it, whichever it is.
func (d *Device) Close() error {
	end := d.exec().Close
	if d == CPU() {
		end = d.exec().Trim
	}
	return failure("Close", d.exec(), end())
}

var host = sync.OnceValue(func() *Device { return NewDevice(cpu.New(cpu.Options{})) })

// CPU returns the host's processor as a device, the same each time.
func CPU() *Device { return host() }

var fallback atomic.Pointer[Device]

// Default returns the device that computes tensors which are not committed to
// one: the CPU until [SetDefault].
func Default() *Device {
	if d := fallback.Load(); d != nil {
		return d
	}
	return CPU()
}

// SetDefault makes d the default device, for all goroutines. Nil means the
// CPU.
//
// To compute with a type that d lacks, as a GPU does [Float64] and [Int64], is an
// error. Cast such tensors, or keep them on the CPU by To(CPU()).
func SetDefault(d *Device) { fallback.Store(d) }

// Stats says what all devices hold and have compiled.
type Stats struct {
	Plans    int   // compiled graphs that are kept
	Programs int   // compiled kernels that are kept
	Held     int64 // bytes of tensors that are alive, and of work under way
	Pooled   int64 // bytes that wait for their next use
	Peak     int64 // the most bytes held so far
}

// Info returns the state of all caches and pools.
func Info() Stats { return Stats(exec.Info()) }
