//go:build (linux || darwin || windows) && (amd64 || arm64)

package wgpu

import (
	"runtime"
	"strings"
	"unsafe"
)

// The structures and constants of webgpu.h as the library of abis[0] has them.
// All its targets have 8-byte pointers and align 8-byte numbers to 8 bytes, as
// Go does. Structures begin with a pointer to a chain of extensions.

type stringView struct {
	data *byte
	len  uintptr
}

func viewOf(s string) stringView { return stringView{unsafe.StringData(s), uintptr(len(s))} }

// nullTerminated is the length of zero-terminated strings.
const nullTerminated = ^uintptr(0)

func (v stringView) String() string {
	if v.data == nil {
		return ""
	}
	if v.len == nullTerminated {
		v.len = 0
		for *(*byte)(unsafe.Add(unsafe.Pointer(v.data), v.len)) != 0 {
			v.len++
		}
	}
	return strings.Clone(unsafe.String(v.data, v.len))
}

type chained struct {
	next  unsafe.Pointer
	sType uint32
	_     uint32
}

const (
	sTypeWGSL    = 0x00000002
	sTypeToggles = 0x0005000A
	sTypeHeaps   = 0x00050013
)

type togglesDescriptor struct {
	chained
	enabled  uintptr
	enable   **byte
	disabled uintptr
	disable  **byte
}

type instanceDescriptor struct {
	next unsafe.Pointer
	// capabilities
	capNext      unsafe.Pointer
	timedWait    uint32
	_            uint32
	timedWaitMax uintptr
}

type callbackInfo struct {
	next     unsafe.Pointer
	mode     uint32
	_        uint32
	callback uintptr
	u1, u2   uintptr
}

// allowProcessEvents is the mode of callbacks called during wgpuInstanceProcessEvents.
const allowProcessEvents = 2

// success is the status of callbacks and functions that succeed.
const success = 1

type adapterOptions struct {
	next     unsafe.Pointer
	level    uint32
	power    uint32
	fallback uint32
	backend  uint32
	surface  uintptr
}

const (
	levelCore       = 2
	lowPower        = 1
	highPerformance = 2
)

var backends = map[uint32]string{3: "D3D11", 4: "D3D12", 5: "Metal", 6: "Vulkan", 7: "OpenGL", 8: "OpenGL ES"}

// backendsOf lists the backends to use on each system, the preferred one first. Dawn uses Direct3D 12
// only with Microsoft's DXC compiler beside it, which few have, and the usual drivers have Vulkan.
var backendsOf = map[string][]uint32{"linux": {6}, "darwin": {5}, "windows": {6, 4}}

var adapterKinds = map[uint32]Kind{1: Discrete, 2: Integrated, 3: Software}

type adapterInfo struct {
	next                              unsafe.Pointer
	vendor, architecture, device, des stringView
	backend, kind                     uint32
	vendorID, deviceID                uint32
	subgroupMin, subgroupMax          uint32
	_                                 [8]uint64 // room for fields of other builds
}

// adapterInfoWords is the size of WGPUAdapterInfo in words.
const adapterInfoWords = 12

// featureHeaps is the feature of reporting memory, in a memoryHeaps chained to
// adapterInfo.
const featureHeaps = 0x00050015

type memoryHeaps struct {
	chained
	count uintptr
	list  *memoryHeap
}

// memoryHeapsWords is the size of memoryHeaps in words.
const memoryHeapsWords = 4

type memoryHeap struct{ properties, size uint64 }

// heapDeviceLocal is the property of device memory.
const heapDeviceLocal = 1

type limits struct {
	next                           unsafe.Pointer
	_                              [4]uint32 // of textures
	bindGroups, _, bindingsOfGroup uint32
	_                              [4]uint32
	storageBuffers, _, _           uint32
	uniformBinding, storageBinding uint64
	uniformAlign, storageAlign, _  uint32
	buffer                         uint64
	_                              [5]uint32
	workgroupStorage               uint32
	workgroupSize                  uint32
	workgroupSizes                 [3]uint32
	workgroups                     uint32
	_                              [64]uint32 // the rest, passed back unchanged
}

type supportedFeatures struct {
	count uintptr
	list  *uint32
}

// features has the features that this package uses, by number.
var features = map[uint32]string{0x03: TimestampQuery, 0x0A: ShaderF16, 0x11: Subgroups}

type errorCallbackInfo struct {
	next     unsafe.Pointer
	callback uintptr
	u1, u2   uintptr
}

type deviceDescriptor struct {
	next      unsafe.Pointer
	label     stringView
	features  uintptr
	feature   *uint32
	limits    *limits
	queueNext unsafe.Pointer
	queue     stringView
	lost      callbackInfo
	uncaught  errorCallbackInfo
}

// lostCancelled is the reason of loss of a device whose instance is released.
const lostCancelled = 3

// errorTypes maps the error types that scopes and devices report.
var errorTypes = map[uint32]ErrorKind{2: Validation, 3: OutOfMemory, 4: Internal, 5: Internal}

// pipelineInvalid is the status of an invalid pipeline. Other failures are the driver's,
// such as lack of memory.
const pipelineInvalid = 3

type bufferDescriptor struct {
	next   unsafe.Pointer
	label  stringView
	usage  uint64
	size   uint64
	mapped uint32
	_      uint32
}

// The modes of a mapping.
const (
	mapRead  = 1
	mapWrite = 2
)

type shaderSource struct {
	chained
	code stringView
}

type shaderDescriptor struct {
	next  unsafe.Pointer
	label stringView
}

type bindingLayout struct {
	_          unsafe.Pointer // next
	binding    uint32
	_          uint32
	visibility uint64
	_          uint32 // array size
	_          uint32
	// buffer
	_       unsafe.Pointer // next
	kind    uint32
	dynamic uint32
	minSize uint64
	_       [8]uint64 // sampler, texture and storage texture: not used
}

const (
	stageCompute    = 4
	bindUniform     = 2
	bindStorage     = 3
	bindReadStorage = 4
)

type layoutDescriptor struct {
	next  unsafe.Pointer
	label stringView
	count uintptr
	list  *bindingLayout
}

type pipelineLayoutDescriptor struct {
	next      unsafe.Pointer
	label     stringView
	count     uintptr
	list      *uintptr
	immediate uint32
	_         uint32
}

type pipelineDescriptor struct {
	next   unsafe.Pointer
	label  stringView
	layout uintptr
	// compute
	computeNext unsafe.Pointer
	module      uintptr
	entry       stringView
	constants   uintptr
	constant    unsafe.Pointer
}

type groupEntry struct {
	_       unsafe.Pointer // next
	binding uint32
	_       uint32
	buffer  uintptr
	_       uint64 // offset
	size    uint64
	_, _    uintptr // sampler, texture view
}

type groupDescriptor struct {
	next   unsafe.Pointer
	label  stringView
	layout uintptr
	count  uintptr
	list   *groupEntry
}

type querySetDescriptor struct {
	next  unsafe.Pointer
	label stringView
	kind  uint32
	count uint32
}

// queryTimestamp is the kind of queries of timestamps.
const queryTimestamp = 2

type passDescriptor struct {
	next  unsafe.Pointer
	label stringView
	times *timestampWrites
}

type timestampWrites struct {
	_          unsafe.Pointer // next
	queries    uintptr
	begin, end uint32
}

// byValue appends a structure of words words, passed by value, to the arguments of a call
// by this system's calling convention.
func byValue(args []uintptr, p unsafe.Pointer, words int) []uintptr {
	return passByValue(runtime.GOOS, runtime.GOARCH, args, p, words)
}

// passByValue is byValue for a given system. Windows on amd64, and arm64 for more than
// two words, pass a pointer to a copy. Other systems on amd64 pass more than two words on
// the stack, where arguments after the sixth go.
func passByValue(goos, goarch string, args []uintptr, p unsafe.Pointer, words int) []uintptr {
	inline := words <= 2
	if goarch == "amd64" {
		inline = goos != "windows" || words == 1
	}
	if !inline {
		return append(args, uintptr(p))
	}
	for words > 2 && len(args) < 6 {
		args = append(args, 0)
	}
	return append(args, unsafe.Slice((*uintptr)(p), words)...)
}
