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

// functions are the addresses of what is called.
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

// symbols pairs the names of functions with where their addresses go.
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

// loaded are the libraries of this process. They are never unloaded: their
// threads may outlive what they were for.
var loaded struct {
	sync.Mutex
	of map[string]*library
}

// Load loads a native library: that of the path or, if it is empty, of the
// environment variable TENSORKEN_WEBGPU_LIB, or else the first there is beside
// the executable, in the user's cache folder and under the system's names for
// Dawn and wgpu-native. The error tells what was tried and what to do.
func Load(path string) (Library, error) {
	return search(here(runtime.GOOS, runtime.GOARCH, path), load)
}

func load(path string) (Library, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if l := loaded.of[path]; l != nil {
		return l, nil
	}
	if filepath.Base(path) != path { // else the system knows where it is
		if err := whole(path); err != nil {
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

// call calls a C function. An argument that is a pointer is converted to a
// uintptr in the call itself: the pragma then sees to it that what it points to
// neither moves nor goes before the call is over.
//
//go:uintptrescapes
func call(fn uintptr, args ...uintptr) uintptr {
	r, _, _ := purego.SyscallN(fn, args...)
	return r
}

// pointer is a pointer to C's memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// cString is a string that ends at a zero byte.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }
