package wgpu

import (
	"fmt"
	"slices"
	"time"
)

// A Library is an implementation of WebGPU.
type Library interface {
	// String returns its name, such as the path of a native library.
	String() string
	// Adapters lists the machine's adapters, the fastest kind first. Without one it returns
	// ErrNoAdapter.
	Adapters() ([]Adapter, error)
	// Open opens the adapter whose index pick returns.
	Open(pick func([]Adapter) (int, error), o Options) (Device, error)
}

// Options are the options of Open.
type Options struct {
	// Validate enables an implementation's expensive checks: of each call's
	// validity, and of bounds in shaders.
	Validate bool
	// Timeout is the longest wait without progress, after which the device counts
	// as lost; 0 means an hour. It is the last resort: the loss or reset of a
	// device is usually reported at once.
	Timeout time.Duration
}

// timeout returns o.Timeout or its default.
func (o Options) timeout() time.Duration {
	if o.Timeout <= 0 {
		return time.Hour
	}
	return o.Timeout
}

// A Kind is a kind of adapter.
type Kind uint8

// The kinds of adapters. A Software adapter computes on the CPU.
const (
	Unknown Kind = iota
	Discrete
	Integrated
	Software
)

var kinds = [...]string{"unknown", "discrete", "integrated", "software"}

// String returns the kind's name, such as "discrete".
func (k Kind) String() string { return kinds[k] }

// rank orders kinds, the fastest first.
func rank(k Kind) int { return slices.Index([]Kind{Discrete, Integrated, Unknown, Software}, k) }

// An Adapter describes a GPU, or a software one, on which a device can be opened.
type Adapter struct {
	Name         string // of the device, such as "llvmpipe"
	Vendor       string
	Architecture string
	Driver       string // its own description
	Backend      string // such as "Vulkan"
	Kind         Kind
	VendorID     uint32
	DeviceID     uint32
	SubgroupMin  int // lanes; 0 if unknown
	SubgroupMax  int
	Memory       int64 // bytes, of the host's memory if it has none of its own; 0 if unknown
	Limits       Limits
	Features     []string // WebGPU's names of features known to this package
}

// Has reports whether the adapter has a feature.
func (a *Adapter) Has(feature string) bool { return slices.Contains(a.Features, feature) }

// The features with which a device is opened if the adapter has them.
const (
	ShaderF16      = "shader-f16"
	Subgroups      = "subgroups"
	TimestampQuery = "timestamp-query"
)

// Limits are the limits of an adapter. Sizes are in bytes.
type Limits struct {
	StorageBuffers      int // of one shader
	StorageBinding      int64
	Buffer              int64
	WorkgroupStorage    int
	WorkgroupSize       int // invocations of one workgroup
	WorkgroupSizes      [3]int
	Workgroups          int // of one dimension of a dispatch
	UniformAlignment    int // of dynamic offsets
	UniformBinding      int64
	BindingsOfOneLayout int
}

// Handles of objects; 0 stands for no object.
type (
	// A Buffer is memory of a device.
	Buffer uintptr
	// A Layout describes a pipeline's bindings.
	Layout uintptr
	// A Pipeline is a shader, compiled or being compiled.
	Pipeline uintptr
	// A Group is a bind group: buffers bound together.
	Group uintptr
	// Queries is a set of timestamps.
	Queries uintptr
)

// Usage is the purpose of a buffer.
type Usage uint8

// The usages: memory of shaders, memory that the host reads, and memory for the
// parameters of dispatches and for timestamps.
const (
	Storage  Usage = iota // bound as storage; copied from, copied and written to
	Readback              // copied to, read by the host
	Params                // bound as a uniform buffer; written to
	Times                 // written to by a Command that resolves timestamps; copied from
)

// usages has the flags of WebGPU.
var usages = [...]uint64{
	Storage:  usageStorage | usageCopySrc | usageCopyDst,
	Readback: usageMapRead | usageCopyDst,
	Params:   usageUniform | usageCopyDst,
	Times:    usageQueries | usageCopySrc,
}

const (
	usageMapRead  = 0x01
	usageMapWrite = 0x02
	usageCopySrc  = 0x04
	usageCopyDst  = 0x08
	usageUniform  = 0x40
	usageStorage  = 0x80
	usageQueries  = 0x200
)

// A Binding is the first Size bytes of a buffer.
type Binding struct {
	Buffer Buffer
	Size   int64
}

// A Command is a dispatch if it has a pipeline. Otherwise, if it has Queries, it writes
// their timestamps, in nanoseconds as uint64, to the first Size bytes of Dst; those that no
// dispatch has written are 0. Otherwise it is a copy.
type Command struct {
	Pipeline Pipeline
	Group    Group
	Params   bool      // the group has parameters
	Offset   uint32    // of these, in bytes in their buffer; ignored without any
	Groups   [3]uint32 // workgroups
	// Consecutive dispatches with the same Query of the same Queries write the time of their
	// begin to that query, and the time of their end to the next.
	Queries Queries
	Query   uint32

	Src, Dst             Buffer
	SrcOffset, DstOffset int64
	Size                 int64
}

// A Device runs commands. It is for one goroutine at a time. Poll returns the errors of
// methods that return none.
type Device interface {
	// Adapter describes the device: the limits and features it has.
	Adapter() *Adapter
	// NewBuffer allocates a buffer of a multiple of 4 bytes. It returns an *Error of
	// kind OutOfMemory if there is too little.
	NewBuffer(size int64, u Usage) (Buffer, error)
	// FreeBuffer frees a buffer. Work submitted may still use it.
	FreeBuffer(b Buffer)
	// Write copies data, a multiple of 4 bytes, to a buffer, in the order of
	// submissions. It does not wait.
	Write(b Buffer, offset int64, data []byte)
	// NewLayout makes the layout of a pipeline. Its group 0 has len(write) storage
	// buffers, read-only where write is false, and after them, if params > 0, a
	// uniform buffer of params bytes at a dynamic offset.
	NewLayout(write []bool, params int64) (Layout, error)
	// NewPipeline starts to compile a shader with the entry point main. It fails if
	// the source is not valid.
	NewPipeline(source string, l Layout) (Pipeline, error)
	// Await waits until a pipeline is ready to run.
	Await(p Pipeline) error
	// FreePipeline frees a pipeline. Work submitted may still use it.
	FreePipeline(p Pipeline)
	// NewGroup binds buffers to group 0 of a layout: the last is a Params buffer if the
	// layout has parameters, and its size is theirs.
	NewGroup(l Layout, bindings []Binding) (Group, error)
	// FreeGroup frees a group. Work submitted may still use it.
	FreeGroup(g Group)
	// NewQueries makes a set of n timestamps, at most 4096, if the adapter has
	// TimestampQuery.
	NewQueries(n int) (Queries, error)
	// FreeQueries frees a set. Work submitted may still use it.
	FreeQueries(q Queries)
	// Submit submits commands, which run in order after earlier ones. It returns
	// the number of the submission: 1, 2, 3 …
	Submit(commands []Command) (uint64, error)
	// Done returns the number of the last submission that is known to be complete. It does
	// not wait.
	Done() uint64
	// Wait waits until a submission is complete.
	Wait(submission uint64) error
	// Map starts to make the first n bytes of a Readback buffer readable, after all
	// work submitted.
	Map(b Buffer, n int64) error
	// Read waits for Map and copies the buffer's first bytes to dst.
	Read(b Buffer, dst []byte) error
	// Poll returns the error that lost the device, or else the first error since
	// the last call that no method returned.
	Poll() error
	// Close frees all resources of the device.
	Close()
}

// An ErrorKind is a kind of [Error].
type ErrorKind uint8

// The kinds of errors.
const (
	Validation  ErrorKind = iota + 1 // a call that WebGPU forbids, or an invalid shader
	OutOfMemory                      // not enough memory
	Internal                         // a failure of the driver
	Lost                             // the device is lost: every later call fails with the same error
	Timeout                          // no answer in time; the device counts as lost
)

var errorKinds = [...]string{Validation: "refused", OutOfMemory: "out of memory", Internal: "failed", Lost: "device lost", Timeout: "no answer"}

// An Error is a failure that an implementation reports.
type Error struct {
	Kind    ErrorKind
	Call    string // such as "NewPipeline"
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Call, errorKinds[e.Kind], e.Message)
}
