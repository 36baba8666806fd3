//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/gpudevice"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/terminal"
	"github.com/tensorken/tensorken/internal/tune"
)

// A GPU is one that the driver lists.
type GPU struct {
	Index      int
	Name       string
	Memory     int64 // bytes
	Capability int   // 90 is compute capability 9.0
	Driver     int   // the version of CUDA that the driver has: 12040 is 12.4
	handle     int32
	units      int
	shared     int // bytes that a workgroup may share
	bus        string
	rates      rates
}

// deviceName is the name of a device on the GPU.
func (g GPU) deviceName() string { return fmt.Sprintf("cuda:%d (%s)", g.Index, g.Name) }

// Attributes of a GPU.
const (
	attributeClock       = 13
	attributeUnits       = 16
	attributeBus         = 33
	attributeBusDevice   = 34
	attributeMemoryClock = 36
	attributeBusBits     = 37
	attributeBusDomain   = 50
	attributeMajor       = 75
	attributeMinor       = 76
	attributeShared      = 97
)

// List returns the GPUs of this machine. The error says why there is no driver.
func List() ([]GPU, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	return l.list()
}

func (l *library) list() ([]GPU, error) {
	var n int32
	if err := l.call("cuDeviceGetCount", l.DeviceGetCount, uintptr(unsafe.Pointer(&n))); err != nil {
		return nil, err
	}
	list := make([]GPU, n)
	for i := range list {
		var err error
		if list[i], err = l.gpu(i); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// gpu returns the i-th GPU.
func (l *library) gpu(i int) (GPU, error) {
	g := GPU{Index: i, Driver: l.version}
	if err := l.call("cuDeviceGet", l.DeviceGet, uintptr(unsafe.Pointer(&g.handle)), uintptr(i)); err != nil {
		return g, err
	}
	var name [256]byte
	if err := l.call("cuDeviceGetName", l.DeviceGetName, uintptr(unsafe.Pointer(&name[0])), uintptr(len(name)), uintptr(g.handle)); err != nil {
		return g, err
	}
	g.Name = terminal.Escape(goString(&name[0]), "")
	if err := l.call("cuDeviceTotalMem", l.DeviceTotalMem_v2, uintptr(unsafe.Pointer(&g.Memory)), uintptr(g.handle)); err != nil {
		return g, err
	}
	var units, major, minor, shared, domain, bus, slot int32
	for attribute, value := range map[uintptr]*int32{
		attributeUnits: &units, attributeMajor: &major, attributeMinor: &minor, attributeShared: &shared,
		attributeBusDomain: &domain, attributeBus: &bus, attributeBusDevice: &slot,
		attributeClock: &g.rates.clock, attributeMemoryClock: &g.rates.memoryClock, attributeBusBits: &g.rates.busBits,
	} {
		if err := l.call("cuDeviceGetAttribute", l.DeviceGetAttribute, uintptr(unsafe.Pointer(value)), attribute, uintptr(g.handle)); err != nil {
			return g, err
		}
	}
	g.units, g.Capability, g.shared = int(units), int(10*major+minor), int(shared)
	g.bus = fmt.Sprintf("%04x:%02x:%02x", domain, bus, slot)
	return g, nil
}

// A device is a GPU that is open.
type device struct {
	gpudevice.Device
	lib      *library
	gpu      GPU
	context  uintptr
	stream   uintptr
	pool     uintptr       // of memory
	peers    map[int]*peer // by index of the GPU
	modules  lru.Cache[string, *module]
	staging  staging
	snapshot chunk // used counts the snapshots
	clock    gpuClock

	generation int // counts changes of Kept
	// The sizes that the calls of a Run need of Kept.
	tempSizes, scratchSizes []int

	beside    beside
	pending   pending
	list      launchList // of the call that is made
	block     *launchBlock
	args      [11]uintptr            // of cuLaunchKernel
	replays   bool                   // plans that run again are graphs
	oneByOne  bool                   // a kernel ends before the next one is launched, so that one that fails is known
	sequences sequences              // of Runs
	batches   sequences              // of calls that were held
	graphs    map[*sequence]struct{} // those with graphs
	joined    []*communicator        // that have run collectives
	nodes     int                    // of all graphs
	aliases   []int                  // of the arguments of the calls that run
	aliased   int                    // the last number given to a buffer, over all calls
}

// Options are the options of the package cuda that users import.
type Options struct {
	Memory int64 // the greatest number of bytes in buffers; 0 for all there is
	TF32   bool  // products of float32 are computed in TF32
	Graphs bool  // plans that run again are launched as CUDA graphs
	Tune   tune.Mode
}

// maxBindings is the most buffers of a kernel: a launch has 4 KiB for their addresses.
const maxBindings = 64

// Open opens a GPU.
func Open(g GPU, o Options) (driver.Device, error) {
	l, err := load()
	if err != nil {
		return nil, err
	}
	d, err := l.open(g, o)
	if err != nil {
		return nil, err
	}
	return d, nil
}

func (l *library) open(g GPU, o Options) (*device, error) {
	d := &device{
		lib: l, gpu: g, peers: map[int]*peer{}, replays: o.Graphs && l.GraphLaunch != 0, graphs: map[*sequence]struct{}{},
		Device: gpudevice.Device{
			Advice: schedule.PartsAdvice, Budget: g.Memory,
			Tuner: tune.New(o.Tune, fmt.Sprintf("%s, compute capability %d, CUDA %d", g.Name, g.Capability, g.Driver)),
			Target: schedule.Target{
				Family: schedule.Discrete, MaxThreads: 1024, SharedBytes: usualShared, MaxGroups: math.MaxInt32,
				SubgroupMin: 32, SubgroupMax: 32, Units: g.units, Machine: g.machine(), TileBytes: g.shared, TF32: o.TF32, Wide: true, Matrices: g.Capability >= 80, SharedMatrices: g.Capability == 90 && g.Driver >= 12000,
			},
		},
	}
	d.Target.Machine.DeepTiles = d.Target.SharedMatrices
	d.Init(g.deviceName(), d)
	if d.oneByOne = os.Getenv("TENSORKEN_CUDA_SYNC") != ""; d.oneByOne {
		d.replays = false
	}
	if o.Memory > 0 {
		d.Budget = min(d.Budget, o.Memory)
	}
	d.Limit, d.Target.Memory = d.Budget, int(d.Budget)
	if err := l.call("cuDevicePrimaryCtxRetain", l.DevicePrimaryCtxRetain, uintptr(unsafe.Pointer(&d.context)), uintptr(g.handle)); err != nil {
		return nil, err
	}
	leave, err := d.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	const notBlocking = 1 // by the default stream
	if err := l.call("cuStreamCreate", l.StreamCreate, uintptr(unsafe.Pointer(&d.stream)), notBlocking); err != nil {
		return nil, err
	}
	var block uintptr
	if err := l.call("cuMemHostAlloc", l.MemHostAlloc, uintptr(unsafe.Pointer(&block)), unsafe.Sizeof(*d.block), 0); err != nil {
		return nil, err
	}
	d.block = (*launchBlock)(pointer(block))
	if err := l.call("cuDeviceGetDefaultMemPool", l.DeviceGetDefaultMemPool, uintptr(unsafe.Pointer(&d.pool)), uintptr(g.handle)); err != nil {
		return nil, err
	}
	const releaseThreshold = 4
	all := uint64(math.MaxUint64)
	return d, l.call("cuMemPoolSetAttribute", l.MemPoolSetAttribute, d.pool, releaseThreshold, uintptr(unsafe.Pointer(&all)))
}

// Enter is enterContext, and launches the calls that are held. They are lost with the device.
func (d *device) Enter() (leave func(), err error) {
	switch leave, err = d.enterContext(); {
	case err != nil:
		d.dropPending()
	case d.Holds():
		d.launchPending()
	}
	return leave, err
}

// enterContext keeps the goroutine in its thread and makes the context current there, until leave.
func (d *device) enterContext() (leave func(), err error) {
	if d.Closed != nil {
		return nil, d.Closed
	}
	runtime.LockOSThread()
	if err := d.lib.call("cuCtxSetCurrent", d.lib.CtxSetCurrent, d.context); err != nil {
		runtime.UnlockOSThread()
		return nil, d.fail(err)
	}
	return runtime.UnlockOSThread, nil
}

func (d *device) Limits() driver.Limits {
	return driver.Limits{Types: d.Target.Types(), Bindings: maxBindings, Memory: int(d.Budget), Async: true, Machine: d.Target.Machine, Blocks: driver.GroupedBlocks}
}

// fail returns an error of the driver with the device's name, and notes it. After one that
// is not about memory no call works.
func (d *device) fail(err error) error {
	var e *Error
	switch {
	case !errors.As(err, &e):
		return err
	case e.Code == outOfMemory:
		return fmt.Errorf("%s: %w: %d bytes held: %w", d.Name(), driver.ErrMemory, d.Held, err)
	}
	if d.Closed == nil {
		hint := ""
		if e.isFault() && !d.oneByOne {
			hint = "\nA kernel has failed, a fault of a tensor.Kernel or of the library. Please report the latter: with TENSORKEN_CUDA_SYNC=1 in the environment the error has the kernel"
		}
		d.Closed = fmt.Errorf("%s: the GPU is lost to this process: %w%s", d.Name(), err, hint)
	}
	return d.Closed
}

// waitFor waits for the kernel of a pass, which an error names.
func (d *device) waitFor(q *pass) error {
	err := d.wait()
	if err != nil && err == d.Closed {
		whose := "the library: please report it, with the kernel:"
		if q.module.raw {
			whose = "a kernel of the program:"
		}
		d.Closed = fmt.Errorf("%w\nThis is a fault of %s\n%v", err, whose, q.kernel)
		return d.Closed
	}
	return err
}

// Wait waits for all work, and notes failures of peers and of collectives.
func (d *device) Wait() error {
	err := d.wait()
	if err == nil {
		d.checkPeers()
		d.checkCommunicators(true)
	}
	return err
}

// wait waits for all work.
func (d *device) wait() error {
	if err := d.beside.await(d, d.beside.started); err != nil {
		return err
	}
	if err := d.lib.call("cuStreamSynchronize", d.lib.StreamSynchronize, d.stream); err != nil {
		return d.fail(err)
	}
	return nil
}

func (d *device) Close() error {
	if d.context == 0 {
		return nil
	}
	if leave, err := d.Enter(); err == nil {
		defer leave()
		for _, c := range d.joined {
			c.Close() // waits for the other ranks, which would wait for an aborted one
			c.Abort(fmt.Errorf("%s: the device is closed", d.Name()))
		}
		d.FreeBuffers()
		d.MakeRoom() // a device that copied from this GPU keeps its context
		d.modules.Trim(0, d.unload)
		d.freeAllGraphs()
		d.freeEvents()
		for _, p := range d.peers {
			p.freeEvents(d)
		}
		d.staging.free(d)
		d.snapshot.free(d)
		d.beside.free(d)
		d.lib.call("cuMemFreeHost", d.lib.MemFreeHost, uintptr(unsafe.Pointer(d.block)))
		d.lib.call("cuStreamDestroy", d.lib.StreamDestroy_v2, d.stream)
	}
	for _, p := range d.peers {
		p.release(d)
	}
	err := d.lib.call("cuDevicePrimaryCtxRelease", d.lib.DevicePrimaryCtxRelease_v2, uintptr(d.gpu.handle))
	d.context, d.Closed = 0, fmt.Errorf("%s: the device is closed", d.Name())
	return err
}
