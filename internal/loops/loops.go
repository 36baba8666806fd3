// Package loops runs loops as calls of their kernels, one block after the other, for devices
// that run each kernel on all their cores.
package loops

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/ir"
)

// A Program is a loop whose kernels a device has compiled.
type Program struct {
	loop       *ir.Loop
	body, last []driver.Program
	clears     []driver.Program
	temps      []int // bytes
}

// Compile compiles the kernels of a loop by a device's Compile.
func Compile(l *ir.Loop, compile func(k *ir.Kernel) (driver.Program, error)) (*Program, error) {
	p := &Program{loop: l}
	for _, t := range l.Temps {
		p.temps = append(p.temps, t.Len*t.DType.Size())
	}
	add := func(list *[]driver.Program, k *ir.Kernel) error {
		q, err := compile(k)
		*list = append(*list, q)
		return err
	}
	for _, c := range l.Clears {
		if err := add(&p.clears, zeros(l.Args[c.Arg.Index].DType, c.Len)); err != nil {
			return nil, err
		}
	}
	for i := range l.Body {
		if err := add(&p.body, l.Body[i].Kernel); err != nil {
			return nil, err
		}
	}
	for i := range l.Last {
		if err := add(&p.last, l.Last[i].Kernel); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// zeros is a kernel that stores n zeros.
func zeros(d ir.DType, n int) *ir.Kernel {
	compute := d.ComputeType()
	return &ir.Kernel{
		Template: ir.Pointwise,
		Args:     []ir.Arg{{Kind: ir.Out, DType: d, Len: n, Part: true, Align: n*d.Size()%16 == 0}},
		Axes:     []ir.Axis{{Len: n, Role: ir.Parallel}},
		Body: []ir.Instr{
			{Op: ir.Const, Type: compute},
			{Op: ir.Store, Type: compute, Src: []int{0}, View: &ir.View{Coef: []int{1}}, Domain: ir.Axes(0)},
		},
	}
}

// Temps returns the sizes in bytes of the temporaries that calls of loops share; none if no
// call is one of a loop.
func Temps(calls []driver.Call) (bytes []int) {
	for i := range calls {
		if p, ok := calls[i].Program.(*Program); ok {
			bytes = Enlarged(bytes, p.temps)
		}
	}
	return bytes
}

// Expand replaces calls of loops by calls of their kernels, with buffers for the temporaries.
// Counts has the number of calls that each call became; it is nil if there are no loops.
func Expand(calls []driver.Call, temps []driver.Buffer) (list []driver.Call, counts []int, err error) {
	if !slices.ContainsFunc(calls, func(c driver.Call) bool { _, ok := c.Program.(*Program); return ok }) {
		return calls, nil, nil
	}
	for _, c := range calls {
		before := len(list)
		if p, ok := c.Program.(*Program); ok {
			err := Each(p, c.Args, temps, func(q driver.Program, args []driver.Arg) error {
				list = append(list, driver.Call{Program: q, Args: slices.Clone(args)})
				return nil
			})
			if err != nil {
				return nil, nil, err
			}
		} else {
			list = append(list, c)
		}
		counts = append(counts, len(list)-before)
	}
	return list, counts, nil
}

// Each calls f with the kernels of a loop, in order, and their arguments, which f must not keep.
func Each(p *Program, args []driver.Arg, temps []driver.Buffer, f func(q driver.Program, args []driver.Arg) error) error {
	l := p.loop
	if len(args) != len(l.Args) {
		return fmt.Errorf("%d arguments for a loop of %d", len(args), len(l.Args))
	}
	var bound []driver.Arg
	call := func(q driver.Program, stage []ir.StageArg, row int) error {
		bound = bound[:0]
		for i := range stage {
			bound = append(bound, bind(&stage[i], args, temps, row))
		}
		return f(q, bound)
	}
	for row := 0; row < l.Rows; {
		in := row % l.Matrix
		if in%l.Part == 0 {
			for i := range l.Clears {
				if err := call(p.clears[i], []ir.StageArg{l.Clears[i].Arg}, row); err != nil {
					return err
				}
			}
		}
		stages, programs := l.Body, p.body
		if l.Matrix-in < l.Block {
			stages, programs = l.Last, p.last
		}
		for i := range stages {
			if err := call(programs[i], stages[i].Args, row); err != nil {
				return err
			}
		}
		row += min(l.Block, l.Matrix-in)
	}
	return nil
}

// bind returns an argument of a stage for the block that starts at a row.
func bind(a *ir.StageArg, args []driver.Arg, temps []driver.Buffer, row int) driver.Arg {
	switch {
	case a.Temp:
		return driver.Arg{Buffer: temps[a.Index]}
	case a.Index < 0:
		return driver.Arg{Num: ir.Int(ir.Int32, int64(a.Offset(row)))}
	}
	x := args[a.Index]
	x.Offset += a.Offset(row)
	return x
}

// Kernels returns the programs of the loop's kernels.
func (p *Program) Kernels() []driver.Program { return slices.Concat(p.clears, p.body, p.last) }

// Timed is a timing of calls as of those that Expand replaced.
func Timed(t driver.Timing, counts []int) driver.Timing {
	if counts == nil {
		return t
	}
	return timing{t, counts}
}

type timing struct {
	driver.Timing
	counts []int
}

// Spans returns a span for each call, from the beginning of its first kernel, with the time of
// all its kernels.
func (t timing) Spans() ([]driver.Span, error) {
	all, err := t.Timing.Spans()
	if err != nil {
		return nil, err
	}
	spans := make([]driver.Span, len(t.counts))
	for i, n := range t.counts {
		for _, s := range all[:n] {
			spans[i].Start = all[0].Start
			spans[i].Duration += s.Duration
		}
		all = all[n:]
	}
	return spans, nil
}
