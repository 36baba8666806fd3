//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/internal/dynlib"
)

// functions has the addresses of the driver's functions: Init is cuInit.
type functions struct {
	Init, DriverGetVersion, GetErrorName, GetErrorString                            uintptr
	DeviceGetCount, DeviceGet, DeviceGetName, DeviceTotalMem_v2                     uintptr
	DeviceGetAttribute, DevicePrimaryCtxRetain, DevicePrimaryCtxRelease_v2          uintptr
	CtxSetCurrent, StreamCreate, StreamDestroy_v2, StreamSynchronize                uintptr
	StreamCreateWithPriority                                                        uintptr
	MemAllocAsync, MemFreeAsync, MemcpyHtoDAsync_v2, MemcpyDtoHAsync_v2             uintptr
	MemHostAlloc, MemFreeHost                                                       uintptr
	DeviceGetDefaultMemPool, MemPoolSetAttribute, MemPoolTrimTo, MemGetInfo_v2      uintptr
	LinkCreate_v2, LinkAddData_v2, LinkComplete, LinkDestroy                        uintptr
	ModuleLoadData, ModuleUnload, ModuleGetFunction, FuncSetAttribute, LaunchKernel uintptr
	EventCreate, EventRecord, EventSynchronize, EventElapsedTime, EventDestroy_v2   uintptr
	EventQuery, StreamWaitEvent, MemcpyPeerAsync, MemcpyDtoDAsync_v2                uintptr
	DeviceCanAccessPeer, MemPoolSetAccess                                           uintptr
}

// graphFunctions has the addresses of functions for graphs, 0 if the driver lacks one.
type graphFunctions struct {
	GraphCreate, GraphDestroy, GraphAddKernelNode_v2, GraphInstantiateWithFlags uintptr
	GraphExecKernelNodeSetParams_v2, GraphLaunch, GraphExecDestroy              uintptr
}

// edgeFunctions has the addresses of functions for edges of a kind, 0 if the driver lacks them.
type edgeFunctions struct{ GraphAddDependencies_v2 uintptr }

// A library is the driver's library.
type library struct {
	functions
	graphFunctions
	edgeFunctions
	version int // of CUDA that the driver has: 12040 is 12.4
	nccl    func() (*nccl, error)
	written atomic.Int64 // bytes of the cache folder since it was measured, 0 before the first time
}

// ErrNoDriver says that this machine has no driver of NVIDIA.
var ErrNoDriver = errors.New("cuda: there is no driver of NVIDIA")

// load loads the driver's library once.
var load = sync.OnceValues(func() (*library, error) {
	names := map[string]string{"linux": "libcuda.so.1", "windows": "nvcuda.dll"}
	handle, err := dynlib.OpenSystem(names[runtime.GOOS])
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoDriver, err)
	}
	l := &library{nccl: loadNCCL}
	if missing := dynlib.Find(handle, "cu", &l.functions); missing != "" {
		return nil, fmt.Errorf("cuda: the driver lacks %s: install one for CUDA 11.4 or later", missing)
	}
	if dynlib.Find(handle, "cu", &l.graphFunctions) != "" {
		l.graphFunctions = graphFunctions{}
	}
	dynlib.Find(handle, "cu", &l.edgeFunctions)
	return l, l.init()
})

func (l *library) init() error {
	if err := l.call("cuInit", l.Init, 0); err != nil {
		return err
	}
	var version int32
	err := l.call("cuDriverGetVersion", l.DriverGetVersion, uintptr(unsafe.Pointer(&version)))
	l.version = int(version)
	return err
}

// An Error is the failure of a function of the driver.
type Error struct {
	Func string
	Code int
	Text string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s (error %d)", e.Func, e.Text, e.Code) }

// isFault reports whether a kernel made an invalid access or instruction.
func (e *Error) isFault() bool {
	const illegalAddress, launchFailed = 700, 719 // and the errors between
	return e.Code >= illegalAddress && e.Code <= launchFailed
}

// Codes of an Error.
const (
	outOfMemory = 2   // the GPU has not enough memory
	notReady    = 600 // the work is not done
)

// call calls a function of the driver. Convert pointers in the argument list, as for
// dynlib.Call.
//
//go:uintptrescapes
func (l *library) call(name string, fn uintptr, args ...uintptr) error {
	code := int(uint32(dynlib.Call(fn, args...)))
	if code == 0 {
		return nil
	}
	return &Error{name, code, l.text(code)}
}

// text describes a failure.
func (l *library) text(code int) string {
	var text *byte
	if dynlib.Call(l.GetErrorString, uintptr(code), uintptr(unsafe.Pointer(&text))) != 0 || text == nil {
		return "an unknown failure"
	}
	return goString(text)
}

// goString copies a zero-terminated string.
func goString(text *byte) string {
	n := 0
	for *(*byte)(unsafe.Add(unsafe.Pointer(text), n)) != 0 {
		n++
	}
	return string(unsafe.Slice(text, n))
}
