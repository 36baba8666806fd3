//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/lru"
	"github.com/tensorken/tensorken/internal/ptx"
)

// maxModules is the most modules that are kept.
const maxModules = 1 << 12

// A module is a compiled kernel of one text, or one that is being compiled.
type module struct {
	text     string
	shared   int           // bytes that a workgroup shares
	raw      bool          // the text is a user's
	ready    chan struct{} // closed once it is compiled
	handle   uintptr
	function uintptr
	err      error
	entry    *lru.Entry[string, *module]
}

// compiling bounds the number of kernels that are compiled at once.
var compiling = make(chan struct{}, runtime.NumCPU())

// module returns the module of a text, and starts to compile it if it is new.
func (d *device) module(text string, shared int, raw bool) *module {
	if e := d.modules.Get(text); e != nil {
		return e.Value
	}
	m := &module{text: text, shared: shared, raw: raw, ready: make(chan struct{})}
	m.entry = d.modules.Put(text, m)
	d.modules.Trim(maxModules, d.unload)
	go func() {
		defer close(m.ready)
		compiling <- struct{}{}
		defer func() { <-compiling }()
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		m.err = m.load(d)
	}()
	return m
}

// load compiles the module. It runs beside the device's methods.
func (m *module) load(d *device) error {
	l := d.lib
	if err := l.call("cuCtxSetCurrent", l.CtxSetCurrent, d.context); err != nil {
		return err
	}
	if err := m.loadCode(d); err != nil {
		return err
	}
	name := cString(ptx.Entry)
	err := l.call("cuModuleGetFunction", l.ModuleGetFunction, uintptr(unsafe.Pointer(&m.function)), m.handle, uintptr(unsafe.Pointer(name)))
	if err != nil || m.shared <= usualShared {
		return err
	}
	const mostShared = 8
	return l.call("cuFuncSetAttribute", l.FuncSetAttribute, m.function, mostShared, uintptr(m.shared))
}

// loadCode loads the code from the cache or, if that has none that the driver takes, compiles it.
func (m *module) loadCode(d *device) error {
	l := d.lib
	load := func(code []byte) error {
		return l.call("cuModuleLoadData", l.ModuleLoadData, uintptr(unsafe.Pointer(&m.handle)), uintptr(unsafe.Pointer(&code[0])))
	}
	path := cachePath(d.gpu, m.text)
	if code := readCache(path); code != nil {
		if load(code) == nil {
			return nil
		}
		os.Remove(path)
	}
	code, err := l.compile(m.text)
	switch e := (*Error)(nil); {
	case err != nil && m.raw && !(errors.As(err, &e) && e.Code == outOfMemory):
		return fmt.Errorf("%w: %w", driver.ErrSource, err)
	case err != nil:
		return fmt.Errorf("%w\nThis is a fault of the library: please report it, with the kernel:\n%s", err, m.text)
	}
	if err := load(code); err != nil {
		return err
	}
	l.writeCache(path, code)
	return nil
}

// usualShared is how many bytes a workgroup may share without being allowed to.
const usualShared = 48 << 10

// unload frees a module.
func (d *device) unload(m *module) {
	<-m.ready
	if m.handle != 0 {
		d.wait() // a kernel of it may run
		d.freeAllGraphs()
		d.lib.call("cuModuleUnload", d.lib.ModuleUnload, m.handle)
	}
	m.handle, m.function = 0, 0
}

// Options of the driver's compiler.
const (
	jitErrorLog     = 5
	jitErrorLogSize = 6
	inputPTX        = 1
)

// compile compiles PTX for the GPU whose context is current.
func (l *library) compile(text string) ([]byte, error) {
	log := make([]byte, 8<<10)
	options := []uint32{jitErrorLog, jitErrorLogSize}
	values := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	var pinner runtime.Pinner // until the end the driver writes the log, and its length into values
	pinner.Pin(&log[0])
	pinner.Pin(&options[0])
	pinner.Pin(&values[0])
	defer pinner.Unpin()
	var state, code, size uintptr
	if err := l.call("cuLinkCreate", l.LinkCreate_v2, uintptr(len(options)), uintptr(unsafe.Pointer(&options[0])), uintptr(unsafe.Pointer(&values[0])), uintptr(unsafe.Pointer(&state))); err != nil {
		return nil, err
	}
	defer l.call("cuLinkDestroy", l.LinkDestroy, state)
	source, name := cString(text), cString(ptx.Entry)
	err := l.call("cuLinkAddData", l.LinkAddData_v2, state, inputPTX, uintptr(unsafe.Pointer(source)), uintptr(len(text)+1), uintptr(unsafe.Pointer(name)), 0, 0, 0)
	if err == nil {
		err = l.call("cuLinkComplete", l.LinkComplete, state, uintptr(unsafe.Pointer(&code)), uintptr(unsafe.Pointer(&size)))
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, goString(&log[0]))
	}
	compiled := make([]byte, size)
	copy(compiled, unsafe.Slice((*byte)(pointer(code)), size))
	return compiled, nil
}

// pointer returns a pointer to C's memory.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// cString returns a zero-terminated copy of s.
func cString(s string) *byte { return &append([]byte(s), 0)[0] }
