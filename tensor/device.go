package tensor

import (
	"cmp"
	"fmt"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu"
	"github.com/tensorken/tensorken/internal/exec"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/simd"
)

// A Device computes tensors. Any number of goroutines may use one.
type Device exec.Device

// NewDevice returns a device over a driver, for packages that open hardware. Package
// device opens devices by name.
func NewDevice(d driver.Device) *Device {
	if d == nil {
		fail("NewDevice", "the driver is nil")
	}
	return (*Device)(exec.New(d))
}

func (d *Device) exec() *exec.Device { return (*exec.Device)(d) }

// String returns the device's name, such as "cpu".
func (d *Device) String() string {
	if d == nil {
		return "no device"
	}
	return d.exec().String()
}

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

var host = sync.OnceValue(func() *Device { return NewCPU(nil) })

// CPU returns the host's processor as a device, the same device each time. The
// environment variable TENSORKEN_THREADS limits its threads, TENSORKEN_MEMORY the memory
// of the process, and TENSORKEN_SIMD names the instructions that it computes with: avx512,
// avx2, neon or go, by default the best that the processor has. CPU panics with a
// [*DeviceError] if one of them has a bad value.
// [NewCPU] makes devices with other limits.
func CPU() *Device { return host() }

// threads returns the value of TENSORKEN_THREADS, or 0 if it is not set.
func threads() (int, error) {
	const variable = "TENSORKEN_THREADS"
	text := os.Getenv(variable)
	if text == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s: %q is no number of threads", variable, text)
	}
	return n, nil
}

// CPUOptions limit the resources of a device of [NewCPU]. Zero fields are the defaults.
type CPUOptions struct {
	// Threads is the greatest number of goroutines that compute at once: by default
	// TENSORKEN_THREADS or, if that is not set, runtime.GOMAXPROCS(0). It does not
	// change the bits of results.
	Threads int
	// Memory is the greatest number of bytes that computed tensors and work under way take:
	// by default TENSORKEN_MEMORY or, if that is not set, the machine's memory, or the
	// limit of the process's control group or job object if it is lower. Data of New, From
	// and files count against the process's limit only.
	Memory int64
}

// NewCPU returns the host's processor as a device separate from [CPU], for [SetDefault] or
// [Tensor.To]. As with any two devices, its tensors do not mix with tensors of [CPU]. It
// panics with a [*DeviceError] if an environment variable has a bad value, as [CPU] does.
func NewCPU(o *CPUOptions) *Device {
	if o == nil {
		o = new(CPUOptions)
	}
	if o.Threads < 0 || o.Memory < 0 {
		fail("NewCPU", fmt.Sprintf("%d threads and %d bytes of memory: neither may be negative", o.Threads, o.Memory))
	}
	threads, errThreads := threads()
	memory, errMemory := hostmem.Limit()
	if err := cmp.Or(errThreads, errMemory, simd.Err); err != nil {
		panic(&DeviceError{Device: "cpu", Op: "NewCPU", Err: err})
	}
	return NewDevice(cpu.New(cpu.Options{
		Threads: cmp.Or(o.Threads, threads),
		Memory:  cmp.Or(int(min(o.Memory, math.MaxInt)), memory),
	}))
}

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
// Computing with a type that d lacks is an error: WebGPU lacks [Float64]. Cast such tensors,
// or keep them on the CPU by To(CPU()).
func SetDefault(d *Device) { fallback.Store(d) }

// Stats counts the memory and compiled programs of all devices.
type Stats struct {
	Plans    int   // compiled graphs in the cache
	Programs int   // compiled kernels in the cache
	Held     int64 // bytes of live tensors and of running work; on the CPU, of those over 4 KiB
	Pooled   int64 // bytes of free buffers kept for reuse
	Peak     int64 // greatest Held so far
}

// Info returns the state of all caches and pools.
func Info() Stats { return Stats(exec.Info()) }
