// Package driver defines devices that run Tensorken: they allocate buffers, compile kernels
// and run them. Package drivertest tests one.
//
// The package is experimental until a second author has written a device
// against it.
package driver

import (
	"errors"
	"time"

	"github.com/tensorken/tensorken/ir"
)

// A Device runs kernels. Its methods and its buffers' methods are called by one goroutine
// at a time and take effect in the order of the calls, unless its Limits are Concurrent.
//
// Methods that not every device has are interfaces of their own: [Wrapper], [Viewer],
// [HostAllocator], [Profiler], [Looper], [PeerCopier], [Snapshotter], [Flusher], [RawCompiler], [Collective]. A device has the
// ability if it implements the interface.
type Device interface {
	// Name is the device's name for users, such as "cpu".
	Name() string
	// Limits bound the kernels and buffers that the device can take.
	Limits() Limits
	// Alloc returns a buffer of at least that many bytes, of undefined
	// contents. It fails with an error that wraps ErrMemory when there is not
	// enough memory.
	Alloc(bytes int) (Buffer, error)
	// Upload copies src into dst from byte offset on. The caller may change
	// src once it returns.
	Upload(dst Buffer, offset int, src []byte) error
	// Download fills dst with the bytes of src from offset on, after all that
	// was run before.
	Download(dst []byte, src Buffer, offset int) error
	// Compile prepares a kernel, which passes ir.Verify. It fails with an
	// error that wraps ErrType for an element type the device lacks.
	Compile(k *ir.Kernel) (Program, error)
	// Run runs calls in order. It may return before they are done; where they
	// fail then, so does each Download until Sync has returned the failure.
	Run(calls []Call) error
	// Sync waits for everything run so far and returns the first failure
	// since the last Sync.
	Sync() error
	// Close gives back all that the device holds.
	Close() error
}

// A Wrapper is a device that can compute from the host's memory where it lies.
type Wrapper interface {
	Device
	// Wrap returns a buffer that is data, not a copy, or nil where the device
	// needs a copy. Kernels read the buffer and do not write it. The caller does
	// not change data as long as a call may read it; Free leaves data alone.
	Wrap(data []byte) Buffer
}

// A Viewer is a device, not Async, whose buffers are in the host's memory.
type Viewer interface {
	Device
	// View returns the memory of a buffer, not a copy. The caller does not write it. Its
	// bytes stay as they are after Free, until they are unreachable.
	View(b Buffer) ([]byte, error)
}

// A HostAllocator is a device with buffers in Go's heap, which need no Free.
type HostAllocator interface {
	Device
	// AllocHost is Alloc of some bytes that count against the memory of the process and not
	// of the device. Go's collector frees them. It fails if the process has too little
	// memory.
	AllocHost(bytes int) (Buffer, error)
}

// A Profiler is a device that knows when each call ran, as GPUs with timestamp queries do.
// Other devices are profiled by waiting for each call.
type Profiler interface {
	Device
	// RunTimed is Run, and returns a Timing that will say when the calls ran. It may take a
	// little longer than Run, and does not keep the slice of calls.
	RunTimed(calls []Call) (Timing, error)
}

// A Looper is a device that runs loops of kernels over blocks of rows. A loop is called as
// a kernel is.
type Looper interface {
	Device
	// LoopLimits says which loops are worth it.
	LoopLimits() ir.LoopLimits
	// CompileLoop is Compile of a loop.
	CompileLoop(l *ir.Loop) (Program, error)
}

// A PeerCopier is a device that copies from buffers of other devices, its peers, and not through
// the host's memory.
type PeerCopier interface {
	Device
	// IsPeer reports whether src is a buffer of a peer. The bytes of other devices' buffers are
	// downloaded and uploaded. Any goroutine may call it at any time.
	IsPeer(src Buffer) bool
	// CopyPeer copies bytes from src, a buffer of a peer, to dst, each from its byte offset on.
	// No other method of the two devices is called meanwhile. It may return before the copy is
	// done. The copy runs after all earlier work of both devices. Later work of both waits for
	// it, and src may be freed at once. If the copy, or earlier work of the peer, fails later,
	// the next Sync or Download of this device returns the error.
	CopyPeer(dst Buffer, to int, src Buffer, from, bytes int) error
}

// A Snapshotter is a device that copies bytes to the host while it goes on with later work.
type Snapshotter interface {
	Device
	// Snapshot starts to copy pieces, one behind the other, after the work so far. Wait waits for the copy, not for
	// later work; it is called as the methods of the Device. The bytes are valid until the next Snapshot,
	// which makes wait return nil. Wait is nil if the device cannot copy these pieces so, such as too many bytes.
	Snapshot(pieces ...Piece) (wait func() ([]byte, error), err error)
}

// A Piece is some bytes of a buffer.
type Piece struct {
	Buffer        Buffer
	Offset, Bytes int
}

// A Flusher is a device that may hold calls of Run, to start them together with later ones: a
// hundred or so at most. It starts them before it waits, and before anything else that must come after them.
type Flusher interface {
	Device
	// Holds reports whether calls are held.
	Holds() bool
	// Flush starts the calls that are held. The next Sync returns a failure. A caller that
	// does something else for long after Run calls Flush, so that the device does not idle.
	Flush()
}

// A RawCompiler is a device that runs kernels written by users in its language.
type RawCompiler interface {
	Device
	// Language is the name of the language, such as "wgsl" or "ptx".
	Language() string
	// CompileRaw is Compile of a text. The buffers of a call hold at least as many elements as
	// the arguments of the kernel, and begin at offset 0. If the text is refused, CompileRaw or the first Run
	// returns an error that wraps ErrSource, with the message of the language's compiler. A text that
	// is accepted is trusted: it stays within its buffers, and stores each element of the result.
	CompileRaw(k *ir.RawKernel) (Program, error)
}

// A Timing says when the calls of one RunTimed ran.
type Timing interface {
	// Spans waits for the calls and returns the span of each, in their order. It may be
	// called several times, in the way of the device's methods, until the device is
	// closed.
	Spans() ([]Span, error)
}

// A Span is the time in which a device worked on a call. Start is on the host's clock; a
// device with a clock of its own gives its best guess.
type Span struct {
	Start    time.Time
	Duration time.Duration
}

// Timed is the Timing of calls that are done.
type Timed []Span

// Spans returns t.
func (t Timed) Spans() ([]Span, error) { return t, nil }

// A Buffer is memory of a device.
type Buffer interface {
	// Size is the number of bytes, at least as many as were asked for.
	Size() int
	// Free gives the memory back. Work already submitted may still use it.
	Free()
}

// A Program is a compiled kernel of one device.
type Program interface{}

// A Call runs a program once.
type Call struct {
	Program Program
	Args    []Arg // as the kernel's
}

// An Arg is a call's argument: for a number Num, otherwise a buffer and the
// offset, in elements, from which the kernel's views count. It is 0 for an Out
// that is no Part.
type Arg struct {
	Buffer Buffer
	Offset int
	Num    ir.Number
}

// Limits bound the kernels and buffers of a device.
type Limits struct {
	Types    []ir.DType // element types in buffers and kernels
	Bindings int        // buffers of one kernel; the report of another may be one more
	Bytes    int        // of one buffer; 0 is no limit
	Memory   int        // bytes that are the device's alone; 0 if it shares the host's
	Async    bool       // Run returns before the work is done
	Machine  ir.Machine // its figures, if they are known
	Blocks   Blocks     // the formats that buffers which kernels read may be in
	// Shares says that a call may read one part of a buffer and write another. Else a call must
	// not get a buffer that it writes a second time.
	Shares bool
	// Concurrent says that any number of goroutines may call the device's and its buffers' methods
	// at once. Each call is done when it returns, so Async is false. Concurrent calls have no
	// order: the caller ensures that none writes a buffer that another one uses, and that no buffer
	// in use is freed. A call in progress when Close is called may fail or succeed.
	Concurrent bool
}

// Has reports whether buffers may be of type d, or in format d.
func (l Limits) Has(d ir.DType) bool {
	for _, t := range l.Types {
		if t == d {
			return true
		}
	}
	f := d.Format()
	return f != nil && (l.Blocks == AllBlocks || l.Blocks == GroupedBlocks && f.Codes != nil)
}

// Blocks says which formats a device reads.
type Blocks uint8

// The formats: none, any [ir.Format], or those with Codes, as [ir.Format.Grouped] has their blocks.
const (
	NoBlocks Blocks = iota
	AllBlocks
	GroupedBlocks
)

// ErrMemory says that a device has too little memory for an allocation.
var ErrMemory = errors.New("out of memory")

// ErrType says that a device lacks an element type.
var ErrType = errors.New("element type not supported")

// ErrSource says that a device refuses the text of a [RawCompiler]'s kernel.
var ErrSource = errors.New("the text does not compile")
