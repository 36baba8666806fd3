package wgpu

import (
	"fmt"
	"slices"
	"time"
)

// A Library is an implementation of WebGPU.
type Library interface {
	// String says what it is, such as the path of a native library.
	String() string
	// Adapters lists the machine's adapters, the fastest kind first. It is an
	// error, ErrNoAdapter, if there is none.
	Adapters() ([]Adapter, error)
	// Open opens the adapter that pick chooses from those there are.
	Open(pick func([]Adapter) (int, error), o Options) (Device, error)
}

// Options say how a device is to be opened.
type Options struct {
	// Validate keeps what an implementation checks at a cost: the validity of
	// each call, and that shaders stay within their buffers.
	Validate bool
	// Timeout is how long a device that is waited for may get nothing done
	// before it counts as lost; 0 means an hour. It is the last resort: a
	// device that is gone, or reset by its driver, is reported at once.
	Timeout time.Duration
}

// timeout is the longest wait in which nothing is done.
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

// An Adapter describes what a device can be opened on.
type Adapter struct {
	Name         string // of the device, such as "NVIDIA H200"
	Vendor       string
	Architecture string
	Driver       string // what it says of itself
	Backend      string // such as "Vulkan"
	Kind         Kind
	VendorID     uint32
	DeviceID     uint32
	SubgroupMin  int // lanes; 0 if it is not known
	SubgroupMax  int
	Memory       int64 // bytes, of the host's if it has none of its own; 0 if that is not known
	Limits       Limits
	Features     []string // by WebGPU's names; those known to this package
}

// Has reports whether a feature is among the adapter's.
func (a *Adapter) Has(feature string) bool { return slices.Contains(a.Features, feature) }

// The features that a device is opened with where the adapter has them.
const (
	ShaderF16      = "shader-f16"
	Subgroups      = "subgroups"
	TimestampQuery = "timestamp-query"
)

// Limits are an adapter's. Sizes are in bytes.
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

// Handles of objects. The zero handle is none.
type (
	// A Buffer is memory of a device.
	Buffer uintptr
	// A Layout says what a pipeline's bindings are.
	Layout uintptr
	// A Pipeline is a shader ready to run, or being made so.
	Pipeline uintptr
	// A Group is buffers bound together.
	Group uintptr
)

// Usage says what a buffer is for.
type Usage uint8

// The usages: memory of shaders, memory that the host reads, and memory for
// the numbers that dispatches are called with.
const (
	Storage  Usage = iota // bound as storage; copied from, copied and written to
	Readback              // copied to, read by the host
	Params                // bound as a uniform buffer; written to
)

// A Binding is a part of a buffer, of Size bytes from its start on.
type Binding struct {
	Buffer Buffer
	Size   int64
}

// A Command is a dispatch if it has a pipeline, otherwise a copy.
type Command struct {
	Pipeline Pipeline
	Group    Group     // group 0: storage buffers
	Params   Group     // group 1: a part of a buffer of numbers, 0 if there is none
	Offset   uint32    // of that part, in bytes
	Groups   [3]uint32 // workgroups

	Src, Dst             Buffer
	SrcOffset, DstOffset int64
	Size                 int64
}

// A Device runs commands. It is for one goroutine at a time. Errors of what
// returns none are kept for Poll.
type Device interface {
	// Adapter describes the device: the limits and features it has.
	Adapter() *Adapter
	// NewBuffer allocates a buffer of a multiple of 4 bytes. It fails with an
	// *Error of kind OutOfMemory where there is not enough.
	NewBuffer(size int64, u Usage) (Buffer, error)
	// FreeBuffer gives a buffer back. Work submitted may still use it.
	FreeBuffer(b Buffer)
	// Write copies data, a multiple of 4 bytes, into a buffer, after what was
	// submitted and before what will be. It does not wait.
	Write(b Buffer, offset int64, data []byte)
	// NewLayout makes the layout of a pipeline whose group 0 has a storage
	// buffer for each of write, written or only read, and whose group 1, if
	// params > 0, has a uniform buffer of that size at a dynamic offset.
	NewLayout(write []bool, params int64) (Layout, error)
	// NewPipeline starts to compile a shader, whose entry point is main. It
	// fails if the source does not parse or check.
	NewPipeline(source string, l Layout) (Pipeline, error)
	// Await waits until a pipeline is ready to run.
	Await(p Pipeline) error
	// FreePipeline gives a pipeline back. Work submitted may still use it.
	FreePipeline(p Pipeline)
	// NewGroup binds buffers to group 0 of a layout.
	NewGroup(l Layout, bindings []Binding) (Group, error)
	// NewParams binds a buffer of numbers to group 1 of a layout.
	NewParams(l Layout, b Buffer) (Group, error)
	// FreeGroup gives a group back. Work submitted may still use it.
	FreeGroup(g Group)
	// Submit hands commands over, to be run in order after those before. It
	// returns the number of the submission: 1, 2, 3 and so on.
	Submit(commands []Command) (uint64, error)
	// Done returns the number of the last submission that is complete.
	Done() uint64
	// Wait waits until a submission is complete.
	Wait(submission uint64) error
	// Map starts to make the first n bytes of a Readback buffer readable once
	// what was submitted is done.
	Map(b Buffer, n int64) error
	// Read waits for Map and copies the buffer's first bytes to dst.
	Read(b Buffer, dst []byte) error
	// Poll returns the error that lost the device, or the first since the
	// last call that had nowhere else to go.
	Poll() error
	// Close gives back all that the device holds.
	Close()
}

// An ErrorKind is a kind of [Error].
type ErrorKind uint8

// The kinds of errors.
const (
	Validation  ErrorKind = iota + 1 // a call that WebGPU does not allow, or a shader that is wrong
	OutOfMemory                      // not enough memory
	Internal                         // a failure of the driver
	Lost                             // the device is gone: every later call fails with the same error
	Timeout                          // no answer in time; the device counts as lost
)

var errorKinds = [...]string{Validation: "refused", OutOfMemory: "out of memory", Internal: "failed", Lost: "device lost", Timeout: "no answer"}

// An Error is what an implementation reports.
type Error struct {
	Kind    ErrorKind
	Call    string // such as "NewPipeline"
	Message string
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s: %s: %s", e.Call, errorKinds[e.Kind], e.Message)
}
