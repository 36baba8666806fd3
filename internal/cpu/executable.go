package cpu

import (
	"fmt"
	"unsafe"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/cpu/vector"
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
	// Run computes everything, with the arguments in x.bind.
	Run(x *vector.Executor) error
}

func (d *device) call(x *vector.Executor, p *executable, args []driver.Arg) error {
	if len(args) != len(p.args) {
		return fmt.Errorf("cpu: %d arguments for a kernel of %d", len(args), len(p.args))
	}
	x.Bind = vector.Resize(x.Bind, len(args)+p.extraBindings)
	for i := range args {
		if err := d.bindArg(x, p, i, &args[i]); err != nil {
			return err
		}
	}
	if err := p.runner.Run(x); err != nil {
		return err
	}
	if p.status >= 0 {
		x.Report((*[ir.StatusLen / 2]int64)(x.Bind[p.status].P))
	}
	return nil
}

func (d *device) bindArg(x *vector.Executor, p *executable, i int, a *driver.Arg) error {
	kind, typ := p.args[i].Kind, p.args[i].DType
	b := &x.Bind[i]
	*b = vector.Binding{}
	if kind == ir.Value {
		vector.Put(unsafe.Pointer(&b.Bits), typ.ComputeType(), a.Num)
		return nil
	}
	buf, ok := a.Buffer.(*buffer)
	if !ok || buf.device != d {
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
	b.P = buf.at(0)
	b.Advance(typ, a.Offset)
	return nil
}
