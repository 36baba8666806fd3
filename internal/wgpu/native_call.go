//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/internal/cachedir"
	"github.com/tensorken/tensorken/internal/dynlib"
)

// functions has the addresses of C functions: CreateInstance is wgpuCreateInstance.
type functions struct {
	CreateInstance, InstanceRelease, InstanceProcessEvents, InstanceRequestAdapter        uintptr
	AdapterRelease, AdapterGetInfo, AdapterGetLimits, AdapterGetFeatures                  uintptr
	AdapterInfoFreeMembers, SupportedFeaturesFreeMembers                                  uintptr
	AdapterPropertiesMemoryHeapsFreeMembers, AdapterRequestDevice, DeviceRelease          uintptr
	DeviceDestroy, DeviceGetQueue                                                         uintptr
	DeviceCreateBuffer, BufferDestroy, BufferRelease, BufferMapAsync                      uintptr
	BufferGetConstMappedRange, BufferGetMappedRange, BufferUnmap, ShaderModuleRelease     uintptr
	DeviceCreateShaderModule, DeviceCreateBindGroupLayout, BindGroupLayoutRelease         uintptr
	DeviceCreatePipelineLayout, PipelineLayoutRelease, ComputePipelineRelease             uintptr
	DeviceCreateComputePipelineAsync, DeviceCreateBindGroup, BindGroupRelease             uintptr
	DeviceCreateCommandEncoder, CommandEncoderRelease, ComputePassEncoderRelease          uintptr
	CommandEncoderBeginComputePass, CommandEncoderFinish                                  uintptr
	ComputePassEncoderSetPipeline, ComputePassEncoderSetBindGroup                         uintptr
	ComputePassEncoderDispatchWorkgroups, ComputePassEncoderEnd                           uintptr
	CommandEncoderCopyBufferToBuffer, QueueWriteBuffer, QueueSubmit                       uintptr
	QueueOnSubmittedWorkDone, CommandBufferRelease, QueueRelease                          uintptr
	DeviceCreateQuerySet, QuerySetDestroy, QuerySetRelease, CommandEncoderResolveQuerySet uintptr
}

// library is a native library.
type library struct {
	path string
	abi  *abi
	functions
	kept atomic.Bool // an instance is kept
}

func (l *library) String() string { return l.path + " (" + l.abi.name + ")" }

// loaded has the libraries of this process. They are never unloaded, because their
// threads may outlive the devices.
var loaded struct {
	sync.Mutex
	of map[string]*library
}

// Load loads the native library at path or, if path is empty, the one named by the
// environment variable TENSORKEN_WEBGPU_LIB, or else the first in the user's cache folder,
// in the executable's and in the system's. The error lists the attempts and a remedy.
func Load(path string) (Library, error) {
	return search(currentEnv(runtime.GOOS, runtime.GOARCH, path), load)
}

// currentEnv returns the searchEnv of this process. A given path overrides the
// environment variable.
func currentEnv(goos, goarch, path string) searchEnv {
	p := searchEnv{goos: goos, goarch: goarch, named: path, cache: cachedir.Path(Cache)}
	if p.named == "" {
		p.named = os.Getenv(Variable)
		p.env = p.named != ""
	}
	if exe, err := os.Executable(); err == nil {
		p.exe = filepath.Dir(exe)
	}
	return p
}

func load(path string) (Library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.of[path]; l != nil {
		return l, nil
	}
	open := dynlib.OpenSystem
	if filepath.IsAbs(path) {
		if err := checkComplete(path); err != nil {
			return nil, err
		}
		open = dynlib.Open
	}
	handle, err := open(path)
	if err != nil {
		return nil, err
	}
	a, err := detect(func(name string) bool { return dynlib.Symbol(handle, name) != 0 })
	if err != nil {
		return nil, err
	}
	l := &library{path: path, abi: a}
	if missing := dynlib.Find(handle, "wgpu", &l.functions); missing != "" {
		return nil, &unusable{"it lacks " + missing}
	}
	if loaded.of == nil {
		loaded.of = map[string]*library{}
	}
	loaded.of[path] = l
	return l, nil
}

// pointer returns a pointer to C's memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// cString returns a zero-terminated copy of s.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }
