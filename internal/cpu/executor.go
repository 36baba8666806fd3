package cpu

import (
	"fmt"
	"sync"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// An executable is a kernel ready to run.
type executable struct {
	args          []ir.Arg
	reach         []shape.Reach
	status        int // argument, or -1
	extraBindings int // for the runner's own use
	runner        runner
}

// A runner is one template's way to run. Any number of executors may use it at
// once.
type runner interface {
	// run computes everything, with the arguments in x.bind.
	run(x *executor) error
}

// An executor has the memory and the workers of one call of Run. It keeps the memory
// for the next call.
type executor struct {
	device *device
	own    worker    // of the goroutine that called Run
	bind   []binding // of the kernel that is running
	shared []byte    // scratch of the kernel, for all workers

	mu  sync.Mutex
	bad badIndex // that any worker of the kernel has met
}

// acquire waits for an executor, preferably the one whose memory was used last.
func (d *device) acquire() (*executor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.idle) == 0 && !d.closed.Load() {
		d.released.Wait()
	}
	if d.closed.Load() {
		return nil, errClosed
	}
	last := len(d.idle) - 1
	x := d.idle[last]
	d.idle = d.idle[:last]
	d.concurrency.enter(d.threads - last)
	return x, nil
}

// release gives an executor back. It drops all pointers to buffers, so that they
// may be collected.
func (d *device) release(x *executor) {
	clear(x.bind[:cap(x.bind)])
	x.own.forget()
	x.bad.found = false
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed.Load() {
		d.idle = append(d.idle, x)
		d.released.Signal()
	}
}

func (x *executor) call(p *executable, args []driver.Arg) error {
	if len(args) != len(p.args) {
		return fmt.Errorf("cpu: %d arguments for a kernel of %d", len(args), len(p.args))
	}
	x.bind = resize(x.bind, len(args)+p.extraBindings)
	for i := range args {
		if err := x.bindArg(p, i, &args[i]); err != nil {
			return err
		}
	}
	if err := p.runner.run(x); err != nil {
		return err
	}
	if p.status >= 0 {
		x.report((*[ir.StatusLen / 2]int64)(x.bind[p.status].p))
	}
	return nil
}

func (x *executor) bindArg(p *executable, i int, a *driver.Arg) error {
	kind, typ := p.args[i].Kind, p.args[i].DType
	b := &x.bind[i]
	*b = binding{}
	if kind == ir.Value {
		put(unsafe.Pointer(&b.bits), typ.ComputeType(), a.Num)
		return nil
	}
	buf, ok := a.Buffer.(*buffer)
	if !ok || buf.device != x.device {
		return fmt.Errorf("cpu: argument %d is not a buffer of this device", i)
	}
	if buf.wraps && kind != ir.In {
		return fmt.Errorf("cpu: argument %d is written, and is memory of the caller", i)
	}
	n := typ.Elements(len(buf.data))
	r := p.reach[i]
	if !r.Within(a.Offset, n) {
		return fmt.Errorf("cpu: argument %d: elements %d to %d from %d on, in a buffer of %d", i, r.Lo, r.Hi, a.Offset, n)
	}
	b.p = buf.at(0)
	b.advance(typ, a.Offset)
	return nil
}

// note takes over the bad index that a worker has met, if any.
func (x *executor) note(w *worker) {
	if !w.bad.found {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	x.bad.note(w.bad.rank, w.bad.instr, w.bad.value)
	w.bad.found = false
}

// report writes the kernel's bad index to its status argument, unless there is
// one already.
func (x *executor) report(status *[ir.StatusLen / 2]int64) {
	if x.bad.found && status[0] == 0 {
		*status = [...]int64{int64(1 + x.bad.instr), x.bad.value, int64(x.bad.rank)}
	}
	x.bad.found = false
}
