// Package cpu runs kernels on the host. A kernel's space is cut into blocks
// that fit the caches; each instruction is one routine of package simd over
// a block, and blocks are shared out over the cores. How the space is cut
// depends on shapes alone, so the bits of a result depend neither on the
// number of cores nor on timing.
package cpu

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"sync/atomic"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/hostmem"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// Options change what a device may use. Zero fields stand for the defaults.
type Options struct {
	// Threads is how many goroutines compute at once: by default as many as
	// runtime.GOMAXPROCS says.
	Threads int
	// Bytes is the most memory that buffers may take: by default that of the
	// machine, or of the process's control group if that is less.
	Bytes int
}

type device struct {
	limit   int
	tune    tuning
	held    atomic.Int64
	workers []*worker
	active  int       // workers that have worked since the last call of forget
	bind    []binding // of the call that is running
	shared  []byte    // scratch of the call that is running, for all workers
	closed  bool
}

// New returns a device that runs kernels on the host.
func New(o Options) driver.Device {
	d := &device{limit: o.Bytes, tune: defaultTuning}
	if d.limit <= 0 {
		d.limit = hostmem.Limit()
	}
	threads := o.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	for range threads {
		d.workers = append(d.workers, new(worker))
	}
	return d
}

func (d *device) Name() string { return "cpu" }

func (d *device) Limits() driver.Limits {
	return driver.Limits{Types: ir.DTypes, Bindings: math.MaxInt32}
}

var errClosed = errors.New("cpu: device is closed")

func (d *device) Alloc(bytes int) (driver.Buffer, error) {
	if d.closed {
		return nil, errClosed
	}
	const room = 63 // for alignment
	if err := reserve(&d.held, bytes, d.limit); err != nil {
		return nil, err
	}
	b := &buffer{device: d}
	if bytes > 0 {
		data, err := hostmem.Make(bytes+room, 1)
		if err != nil {
			d.held.Add(-int64(bytes))
			return nil, err
		}
		off := int(-uintptr(unsafe.Pointer(unsafe.SliceData(data))) & room)
		b.data = data[off : off+bytes : off+bytes]
	}
	return b, nil
}

// span returns n bytes of a buffer from an offset on.
func (d *device) span(b driver.Buffer, offset, n int) ([]byte, error) {
	buf, ok := b.(*buffer)
	switch {
	case d.closed:
		return nil, errClosed
	case !ok || buf.device != d:
		return nil, fmt.Errorf("cpu: a buffer of another device")
	case offset < 0 || n > len(buf.data)-offset:
		return nil, fmt.Errorf("cpu: bytes %d to %d of a buffer of %d", offset, offset+n, len(buf.data))
	}
	return buf.data[offset : offset+n], nil
}

func (d *device) Upload(dst driver.Buffer, offset int, src []byte) error {
	to, err := d.span(dst, offset, len(src))
	copy(to, src)
	return err
}

func (d *device) Download(dst []byte, src driver.Buffer, offset int) error {
	from, err := d.span(src, offset, len(dst))
	copy(dst, from)
	return err
}

func (d *device) Sync() error {
	if d.closed {
		return errClosed
	}
	return nil
}

func (d *device) Close() error {
	d.closed = true
	for i := range d.workers {
		d.workers[i] = new(worker)
	}
	d.shared, d.bind = nil, nil
	return nil
}

// A program is a kernel ready to run.
type program struct {
	args   []ir.Arg
	reach  []shape.Reach
	status int // argument, or -1
	extra  int // bindings for the runner's own use
	runner runner
}

// A runner is one template's way to run.
type runner interface {
	// run computes everything, with the arguments in d.bind.
	run(d *device) error
}

func (d *device) Compile(k *ir.Kernel) (p driver.Program, err error) {
	if d.closed {
		return nil, errClosed
	}
	defer recoverTo(&err)
	return d.compile(k)
}

func (d *device) Run(calls []driver.Call) error {
	if d.closed {
		return errClosed
	}
	defer d.forget()
	for i := range calls {
		p, ok := calls[i].Program.(*program)
		if !ok {
			return fmt.Errorf("cpu: call %d: a program of another device", i)
		}
		if err := d.call(p, calls[i].Args); err != nil {
			return err
		}
	}
	return nil
}

// forget drops all pointers to buffers, so that they may be collected.
func (d *device) forget() {
	clear(d.bind[:cap(d.bind)])
	for _, w := range d.workers[:d.active] {
		for i := range w.frames {
			f := &w.frames[i]
			clear(f.reg[:cap(f.reg)])
			f.bind = nil
		}
		w.bad.found = false
	}
	d.active = 0
}

func (d *device) call(p *program, args []driver.Arg) error {
	if len(args) != len(p.args) {
		return fmt.Errorf("cpu: %d arguments for a kernel of %d", len(args), len(p.args))
	}
	d.bind = resize(d.bind, len(args)+p.extra)
	for i := range args {
		if err := d.bindArg(p, i, &args[i]); err != nil {
			return err
		}
	}
	if err := p.runner.run(d); err != nil {
		return err
	}
	if p.status >= 0 {
		d.report((*[ir.StatusLen / 2]int64)(d.bind[p.status].p))
	}
	return nil
}

func (d *device) bindArg(p *program, i int, a *driver.Arg) error {
	kind, typ := p.args[i].Kind, p.args[i].DType
	b := &d.bind[i]
	*b = binding{}
	if kind == ir.Value {
		put(unsafe.Pointer(&b.bits), typ.ComputeType(), a.Num)
		return nil
	}
	buf, ok := a.Buffer.(*buffer)
	if !ok || buf.device != d {
		return fmt.Errorf("cpu: argument %d is not a buffer of this device", i)
	}
	n := len(buf.data) / typ.Size()
	r := p.reach[i]
	if !r.Within(a.Offset, n) {
		return fmt.Errorf("cpu: argument %d: elements %d to %d from %d on, in a buffer of %d", i, r.Lo, r.Hi, a.Offset, n)
	}
	b.p = buf.at(a.Offset * typ.Size())
	return nil
}

// report notes the first bad index in the status argument, unless there is
// one.
func (d *device) report(status *[ir.StatusLen / 2]int64) {
	var bad badIndex
	for _, w := range d.workers[:d.active] {
		if w.bad.found {
			bad.note(w.bad.rank, w.bad.instr, w.bad.value)
			w.bad.found = false
		}
	}
	if bad.found && status[0] == 0 {
		*status = [...]int64{int64(1 + bad.instr), bad.value, int64(bad.rank)}
	}
}
