//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A program is a kernel as passes.
type program struct {
	schedule.Signature
	device  *device
	passes  []pass
	scratch []int
}

type pass struct {
	module  *module
	buffers []*shader.Buffer
	params  []*shader.Param
	grid    [3]int
	threads int
}

// Compile starts to compile a kernel's passes. If the driver refuses one, Run returns the
// error.
func (d *device) Compile(k *ir.Kernel) (driver.Program, error) {
	leave, err := d.enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	for _, a := range k.Args {
		if a.Kind == ir.Out && int64(a.Len) > d.budget/int64(a.DType.Size()) {
			return nil, fmt.Errorf("%s: %w: a tensor of %d %v is asked for; this GPU has %d bytes", d.name, driver.ErrMemory, a.Len, a.DType, d.budget)
		}
	}
	s, err := schedule.Compile(k, d.target)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", d.name, err)
	}
	p := &program{Signature: schedule.SignatureOf(k), device: d, scratch: s.Scratch}
	for _, q := range s.Passes {
		p.passes = append(p.passes, pass{d.module(ptx.Print(q, d.gpu.Capability), ptx.SharedBytes(q)), q.Buffers, q.Params, q.Grid, q.Threads})
	}
	return p, nil
}

// A launch is the memory that the driver reads of a launch.
type launch struct {
	extra [5]uintptr
	size  uintptr
}

func (d *device) Run(calls []driver.Call) error {
	leave, err := d.enter()
	if err != nil {
		return err
	}
	defer leave()
	calls, _, err = d.expand(calls)
	if err != nil {
		return err
	}
	for i := range calls {
		if err := d.call(&calls[i]); err != nil {
			return err
		}
	}
	return nil
}

// call launches the passes of a call.
func (d *device) call(c *driver.Call) error {
	p, ok := c.Program.(*program)
	if !ok || p.device != d {
		return fmt.Errorf("%s: a program of another device", d.name)
	}
	if err := p.Check(c.Args, d.sizeOf); err != nil {
		return fmt.Errorf("%s: %w", d.name, err)
	}
	if err := d.reserve(&d.scratch, p.scratch); err != nil {
		return err
	}
	for i := range p.passes {
		if err := d.dispatch(p, &p.passes[i], c.Args); err != nil {
			return err
		}
	}
	return nil
}

// sizeOf is the size of a buffer of the device that is not freed.
func (d *device) sizeOf(x driver.Buffer) (bytes int, ok bool) {
	b, ok := x.(*buffer)
	if !ok || b.device != d || b.address == 0 {
		return 0, false
	}
	return b.size, true
}

// reserve provides buffers of those sizes in a list that programs share.
func (d *device) reserve(list *[]*buffer, sizes []int) error {
	for i, n := range sizes {
		if i == len(*list) {
			*list = append(*list, new(buffer))
		}
		if (*list)[i].size >= n {
			continue
		}
		old := (*list)[i]
		(*list)[i] = &buffer{device: d} // while there is no other
		if old.address != 0 {
			old.Free()
		}
		b, err := d.alloc(n)
		if err != nil {
			return err
		}
		(*list)[i] = b
	}
	return nil
}

func (d *device) freeScratch() {
	for _, b := range slices.Concat(d.scratch, d.temps) {
		if b.address != 0 {
			b.Free()
		}
	}
	d.scratch, d.temps = nil, nil
}

// LoopLimits makes the promise of driver.Looper.
func (d *device) LoopLimits() ir.LoopLimits { return d.target.LoopLimits() }

// CompileLoop makes the promise of driver.Looper.
func (d *device) CompileLoop(l *ir.Loop) (driver.Program, error) {
	return loops.Compile(l, d.Compile)
}

// expand replaces calls of loops by calls of their kernels.
func (d *device) expand(calls []driver.Call) (list []driver.Call, counts []int, err error) {
	list, counts, err = loops.Expand(calls, func(bytes []int) ([]*buffer, error) {
		err := d.reserve(&d.temps, bytes)
		return d.temps, err
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", d.name, err)
	}
	return list, counts, err
}

// dispatch launches a pass.
func (d *device) dispatch(p *program, q *pass, args []driver.Arg) error {
	m := q.module
	<-m.ready
	if m.err != nil {
		return fmt.Errorf("%s: %w", d.name, m.err)
	}
	if m.function == 0 { // it was dropped
		q.module = d.module(m.text, m.shared)
		return d.dispatch(p, q, args)
	}
	d.modules.Use(m.entry)
	d.params = d.params[:0]
	for _, b := range q.buffers {
		own := (*buffer)(nil)
		if b.Arg < 0 {
			own = d.scratch[b.Scratch]
		} else {
			own = args[b.Arg].Buffer.(*buffer)
		}
		d.params = binary.LittleEndian.AppendUint64(d.params, uint64(own.address))
	}
	for _, w := range q.params {
		d.params = binary.LittleEndian.AppendUint32(d.params, p.Word(w, args))
	}
	return d.submit(m.function, q)
}

// submit launches a function with d.params.
func (d *device) submit(function uintptr, q *pass) error {
	const end, buffer, size = 0, 1, 2 // names of what follows
	var pinner runtime.Pinner
	defer pinner.Unpin()
	l := d.launch
	pinner.Pin(l)
	l.extra = [5]uintptr{end}
	if len(d.params) > 0 {
		pinner.Pin(&d.params[0])
		l.size = uintptr(len(d.params))
		l.extra = [5]uintptr{buffer, uintptr(unsafe.Pointer(&d.params[0])), size, uintptr(unsafe.Pointer(&l.size)), end}
	}
	err := d.lib.call("cuLaunchKernel", d.lib.LaunchKernel, function,
		uintptr(q.grid[0]), uintptr(q.grid[1]), uintptr(q.grid[2]), uintptr(q.threads), 1, 1, uintptr(q.module.shared), d.stream, 0, uintptr(unsafe.Pointer(&l.extra)))
	if err != nil {
		return d.fail(err)
	}
	return nil
}
