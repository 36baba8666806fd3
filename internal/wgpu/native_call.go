//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/ebitengine/purego"
)

// functions has the addresses of the C functions.
type functions struct {
	createInstance, instanceRelease, processEvents                uintptr
	requestAdapter, adapterRelease, adapterGetInfo                uintptr
	adapterGetLimits, adapterGetFeatures                          uintptr
	infoFree, featuresFree, heapsFree                             uintptr
	requestDevice, deviceRelease, deviceDestroy, getQueue         uintptr
	pushScope, popScope                                           uintptr
	createBuffer, bufferDestroy, bufferRelease                    uintptr
	mapAsync, getConstMapped, unmap                               uintptr
	createModule, moduleRelease                                   uintptr
	createGroupLayout, createPipelineLayout                       uintptr
	groupLayoutRelease, pipelineLayoutRelease                     uintptr
	createPipelineAsync, pipelineRelease                          uintptr
	createGroup, groupRelease                                     uintptr
	createEncoder, encoderRelease, beginPass, passRelease, finish uintptr
	setPipeline, setGroup, dispatch, endPass, copyBuffer          uintptr
	writeBuffer, submit, workDone, commandsRelease, queueRelease  uintptr
}

// symbols returns the fields of f by the names of functions.
func (f *functions) symbols() map[string]*uintptr {
	return map[string]*uintptr{
		"wgpuCreateInstance":                          &f.createInstance,
		"wgpuInstanceRelease":                         &f.instanceRelease,
		"wgpuInstanceProcessEvents":                   &f.processEvents,
		"wgpuInstanceRequestAdapter":                  &f.requestAdapter,
		"wgpuAdapterRelease":                          &f.adapterRelease,
		"wgpuAdapterGetInfo":                          &f.adapterGetInfo,
		"wgpuAdapterGetLimits":                        &f.adapterGetLimits,
		"wgpuAdapterGetFeatures":                      &f.adapterGetFeatures,
		"wgpuAdapterInfoFreeMembers":                  &f.infoFree,
		"wgpuSupportedFeaturesFreeMembers":            &f.featuresFree,
		"wgpuAdapterPropertiesMemoryHeapsFreeMembers": &f.heapsFree,
		"wgpuAdapterRequestDevice":                    &f.requestDevice,
		"wgpuDeviceRelease":                           &f.deviceRelease,
		"wgpuDeviceDestroy":                           &f.deviceDestroy,
		"wgpuDeviceGetQueue":                          &f.getQueue,
		"wgpuDevicePushErrorScope":                    &f.pushScope,
		"wgpuDevicePopErrorScope":                     &f.popScope,
		"wgpuDeviceCreateBuffer":                      &f.createBuffer,
		"wgpuBufferDestroy":                           &f.bufferDestroy,
		"wgpuBufferRelease":                           &f.bufferRelease,
		"wgpuBufferMapAsync":                          &f.mapAsync,
		"wgpuBufferGetConstMappedRange":               &f.getConstMapped,
		"wgpuBufferUnmap":                             &f.unmap,
		"wgpuDeviceCreateShaderModule":                &f.createModule,
		"wgpuShaderModuleRelease":                     &f.moduleRelease,
		"wgpuDeviceCreateBindGroupLayout":             &f.createGroupLayout,
		"wgpuDeviceCreatePipelineLayout":              &f.createPipelineLayout,
		"wgpuBindGroupLayoutRelease":                  &f.groupLayoutRelease,
		"wgpuPipelineLayoutRelease":                   &f.pipelineLayoutRelease,
		"wgpuDeviceCreateComputePipelineAsync":        &f.createPipelineAsync,
		"wgpuComputePipelineRelease":                  &f.pipelineRelease,
		"wgpuDeviceCreateBindGroup":                   &f.createGroup,
		"wgpuBindGroupRelease":                        &f.groupRelease,
		"wgpuDeviceCreateCommandEncoder":              &f.createEncoder,
		"wgpuCommandEncoderRelease":                   &f.encoderRelease,
		"wgpuCommandEncoderBeginComputePass":          &f.beginPass,
		"wgpuComputePassEncoderRelease":               &f.passRelease,
		"wgpuCommandEncoderFinish":                    &f.finish,
		"wgpuComputePassEncoderSetPipeline":           &f.setPipeline,
		"wgpuComputePassEncoderSetBindGroup":          &f.setGroup,
		"wgpuComputePassEncoderDispatchWorkgroups":    &f.dispatch,
		"wgpuComputePassEncoderEnd":                   &f.endPass,
		"wgpuCommandEncoderCopyBufferToBuffer":        &f.copyBuffer,
		"wgpuQueueWriteBuffer":                        &f.writeBuffer,
		"wgpuQueueSubmit":                             &f.submit,
		"wgpuQueueOnSubmittedWorkDone":                &f.workDone,
		"wgpuCommandBufferRelease":                    &f.commandsRelease,
		"wgpuQueueRelease":                            &f.queueRelease,
	}
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
// environment variable TENSORKEN_WEBGPU_LIB, or else the first in the executable's
// folder, in the user's cache folder and under the system's names of Dawn and
// wgpu-native. The error says what was tried and what to do.
func Load(path string) (Library, error) {
	return search(currentEnv(runtime.GOOS, runtime.GOARCH, path), load)
}

func load(path string) (Library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.of[path]; l != nil {
		return l, nil
	}
	if filepath.Base(path) != path { // the system finds a bare name
		if err := checkComplete(path); err != nil {
			return nil, err
		}
	}
	handle, err := openLibrary(path)
	if err != nil {
		return nil, err
	}
	a, err := detect(func(name string) bool { return symbol(handle, name) != 0 })
	if err != nil {
		return nil, err
	}
	l := &library{path: path, abi: a}
	for name, address := range l.symbols() {
		if *address = symbol(handle, name); *address == 0 {
			return nil, &unusable{"it lacks " + name}
		}
	}
	if loaded.of == nil {
		loaded.of = map[string]*library{}
	}
	loaded.of[path] = l
	return l, nil
}

// call calls a C function. Convert pointers to uintptr in the argument list: the pragma
// then keeps their targets alive and in place until the call returns.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// pointer returns a pointer to C's memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// cString returns a zero-terminated copy of s.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }
