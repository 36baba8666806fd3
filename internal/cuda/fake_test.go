//go:build linux && (amd64 || arm64)

package cuda

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/ebitengine/purego"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
)

// A fake is a driver in memory with GPUs. Its functions are C functions that call it, so
// that a device calls them as it calls the driver's. Work in a stream runs as late as it may.
type fake struct {
	mu       sync.Mutex
	lib      *library
	gpus     []*fakeGPU
	handle   uintptr                  // the last one given
	blocks   map[uintptr]*block       // live memory of GPUs, by address
	pinned   map[uintptr][]byte       // of the host
	contexts map[int]uintptr          // current ones, by thread
	streams  map[uintptr]*fakeStream  // by handle
	events   map[uintptr]*fakeEvent   // by handle
	links    map[uintptr]string       // texts, by handle of a linker
	code     map[uintptr][]byte       // code from linkers
	modules  map[uintptr]string       // texts
	kernels  map[uintptr]*fakeKernel  // by handle of a function
	graphs   map[uintptr]*fakeGraph   // by handle
	execs    map[uintptr]*fakeExec    // by handle
	passes   map[string]*shader.Pass  // by text
	programs map[string]*simt.Program // the passes
	calls    []string                 // names of the functions called
	fails    map[string]int           // the code that a function returns
	faults   []string
	isIdle   bool     // memory has no bytes, and nothing is computed
	isApart  bool     // no GPU can access the memory of another
	direct   int      // copies between GPUs with such access
	lost     *fakeGPU // events of its fail
}

// A fakeGPU is a GPU and its primary context.
type fakeGPU struct {
	memory   int64
	held     int64   // bytes of blocks
	pool     uintptr // of memory
	readers  []int32 // GPUs that may access the pool
	context  uintptr // 0 while nobody retains it
	retained int
}

// A block is memory of a GPU.
type block struct {
	gpu  *fakeGPU
	data []byte // nil if the fake is idle
	size int
}

// A fakeStream is work that waits.
type fakeStream struct {
	gpu   *fakeGPU
	work  []func()
	spare map[int][]*block // by size: those freed in this stream, where they may be allocated again
}

// A fakeEvent is a place in a stream; done if nothing before it waits.
type fakeEvent struct {
	gpu    *fakeGPU
	stream *fakeStream
	done   bool
	at     time.Time
}

// Codes of failures.
const (
	invalidValue   = 1
	invalidPTX     = 218
	invalidImage   = 200
	invalidContext = 201
	invalidHandle  = 400
)

// tables are the C functions that no fake uses; there may be 2000 of all tables in a process.
var tables struct {
	mu   sync.Mutex
	free []*table
}

// A table is C functions that call a fake.
type table struct {
	functions
	graphFunctions
	edgeFunctions
	fake *fake
}

func newTable() *table {
	tables.mu.Lock()
	defer tables.mu.Unlock()
	if n := len(tables.free); n > 0 {
		t := tables.free[n-1]
		tables.free = tables.free[:n-1]
		return t
	}
	t := new(table)
	for _, list := range []any{&t.functions, &t.graphFunctions, &t.edgeFunctions} {
		for field, v := range reflect.ValueOf(list).Elem().Fields() {
			v.SetUint(uint64(purego.NewCallback(func(a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10 uintptr) uintptr {
				return t.fake.call(field.Name, []uintptr{a0, a1, a2, a3, a4, a5, a6, a7, a8, a9, a10})
			})))
		}
	}
	return t
}

// newFake returns a driver with GPUs of some bytes of memory, one if no more are given. The test
// fails at its end for calls that a device must not make.
func newFake(t testing.TB, memory int64, more ...int64) *fake {
	table := newTable()
	f := &fake{
		lib: &library{functions: table.functions, graphFunctions: table.graphFunctions, edgeFunctions: table.edgeFunctions}, handle: 1 << 32,
		blocks: map[uintptr]*block{}, pinned: map[uintptr][]byte{}, contexts: map[int]uintptr{},
		streams: map[uintptr]*fakeStream{}, events: map[uintptr]*fakeEvent{},
		links: map[uintptr]string{}, code: map[uintptr][]byte{}, modules: map[uintptr]string{}, kernels: map[uintptr]*fakeKernel{}, graphs: map[uintptr]*fakeGraph{}, execs: map[uintptr]*fakeExec{}, passes: map[string]*shader.Pass{}, programs: map[string]*simt.Program{},
		fails: map[string]int{},
	}
	table.fake = f
	for _, n := range append([]int64{memory}, more...) {
		f.gpus = append(f.gpus, &fakeGPU{memory: n, pool: f.next()})
	}
	if err := f.lib.init(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for _, fault := range f.faults {
			t.Error(fault)
		}
		tables.mu.Lock()
		defer tables.mu.Unlock()
		tables.free = append(tables.free, table)
	})
	return f
}

// drained fails for objects that a closed device has left.
func (f *fake) drained(t testing.TB) {
	t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	live := map[string]int{
		"pieces of pinned memory": len(f.pinned), "streams": len(f.streams), "events": len(f.events),
		"linkers": len(f.links), "modules": len(f.modules), "graphs": len(f.graphs), "executable graphs": len(f.execs),
	}
	for _, g := range f.gpus {
		live["bytes"] += int(g.held)
		live["retained contexts"] += g.retained
	}
	for what, n := range live {
		if n > 0 {
			t.Errorf("a closed device leaves %d %s", n, what)
		}
	}
}

// count returns how often a function was called.
func (f *fake) count(name string) (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, x := range f.calls {
		if x == name {
			n++
		}
	}
	return n
}

// next returns a new handle. Its low 32 bits are 0.
func (f *fake) next() uintptr { f.handle += 1 << 32; return f.handle }

// contextFree are the functions that need no context.
var contextFree = []string{
	"Init", "DriverGetVersion", "GetErrorName", "GetErrorString", "DeviceGetCount", "DeviceGet", "DeviceGetName", "DeviceTotalMem_v2", "DeviceGetAttribute",
	"DevicePrimaryCtxRetain", "DevicePrimaryCtxRelease_v2", "CtxSetCurrent", "DeviceGetDefaultMemPool", "MemPoolSetAttribute", "MemPoolSetAccess", "MemPoolTrimTo", "DeviceCanAccessPeer",
}

// call is the function of a name.
func (f *fake) call(name string, a []uintptr) uintptr {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, name)
	if code := f.fails[name]; code != 0 {
		return uintptr(code)
	}
	if name == "EventQuery" && f.lost != nil && f.event(a[0]).gpu == f.lost {
		return 719
	}
	if f.current() == nil && !slices.Contains(contextFree, name) {
		f.fault("%s without a context", name)
		return invalidContext
	}
	run := fakeFunctions[name]
	for _, more := range []map[string]func(*fake, []uintptr) int{fakeGraphFunctions, fakePeerFunctions} {
		if run == nil {
			run = more[name]
		}
	}
	if run == nil {
		f.fault("%s is not in the fake", name)
		return invalidValue
	}
	code := run(f, a)
	if code != 0 && code != outOfMemory && code != notReady && code != invalidImage && code != invalidPTX {
		f.fault("%s returns %d", name, code)
	}
	return uintptr(code)
}

func (f *fake) fault(format string, args ...any) {
	f.faults = append(f.faults, fmt.Sprintf(format, args...))
}

// current returns the GPU whose context is the thread's.
func (f *fake) current() *fakeGPU {
	if f.isIdle {
		return f.gpus[0]
	}
	return f.contextGPU(f.contexts[syscall.Gettid()])
}

// contextGPU returns the GPU of a context, or nil.
func (f *fake) contextGPU(context uintptr) *fakeGPU {
	for _, g := range f.gpus {
		if context != 0 && g.context == context {
			return g
		}
	}
	return nil
}

// stream returns the stream of a handle, nil if its context is gone.
func (f *fake) stream(handle uintptr) *fakeStream {
	if s := f.streams[handle]; s != nil && s.gpu.retained > 0 {
		return s
	}
	return nil
}

// event returns the event of a handle, nil if its context is gone.
func (f *fake) event(handle uintptr) *fakeEvent {
	if e := f.events[handle]; e != nil && e.gpu.retained > 0 {
		return e
	}
	return nil
}

// set stores a result that a function returns through a pointer.
func set[T any](address uintptr, x T) int {
	*(*T)(pointer(address)) = x
	return 0
}

// bytesAt is memory of the process.
func bytesAt(address, n uintptr) []byte { return unsafe.Slice((*byte)(pointer(address)), n) }

// push adds work to a stream.
func (f *fake) push(stream uintptr, work func()) int {
	s := f.stream(stream)
	if s == nil {
		return invalidHandle
	}
	if f.isIdle {
		return 0
	}
	s.work = append(s.work, work)
	return 0
}

// run runs the work of a stream until done reports true, or all of it.
func (s *fakeStream) run(done func() bool) {
	for len(s.work) > 0 && !done() {
		work := s.work[0]
		s.work = s.work[1:]
		work()
	}
}

func never() bool { return false }

// block returns the live block that has an address, and where.
func (f *fake) block(address uintptr) (b *block, at int) {
	if b := f.blocks[address]; b != nil {
		return b, 0
	}
	for start, b := range f.blocks {
		if address >= start && address < start+uintptr(len(b.data)) {
			return b, int(address - start)
		}
	}
	return nil, 0
}

// wait runs the work before an event.
func (e *fakeEvent) wait() {
	if !e.done {
		e.stream.run(func() bool { return e.done })
	}
}

// at returns n bytes of a GPU's memory that is live.
func (f *fake) at(g *fakeGPU, address, n uintptr) []byte {
	for start, b := range f.blocks {
		if b.gpu == g && address >= start && address+n <= start+uintptr(len(b.data)) {
			return b.data[address-start:][:n]
		}
	}
	return nil
}

// isPinned reports whether an address of the host is in pinned memory.
func (f *fake) isPinned(address uintptr) bool {
	for start, data := range f.pinned {
		if address >= start && address < start+uintptr(len(data)) {
			return true
		}
	}
	return false
}
