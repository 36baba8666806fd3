// Package scheduletest runs schedules on the host, for tests: a device of any target computes by package simt
// the programs that its kernels become. Its own tests are the suite for devices, for each kind of GPU.
package scheduletest

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/driver/drivertest"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/internal/shader/simt"
	"github.com/tensorken/tensorken/internal/wgsl"
	"github.com/tensorken/tensorken/ir"
)

// A Compiler schedules a kernel for a target, and returns a Signature's Base too.
type Compiler func(k *ir.Kernel, t build.Target) (p *shader.Program, base func(i int, args []driver.Arg) int, err error)

// Open returns a device that schedules kernels for a target by a compiler, and runs them on the host.
func Open(t build.Target, compile Compiler) *drivertest.Reference {
	d := drivertest.Oracle()
	d.Types = t.Types()
	d.Blocks = driver.GroupedBlocks
	d.Bindings = 8
	d.Async = true
	d.Loops = t.LoopLimits()
	d.Target = fmt.Sprintf("%+v", t)
	if t.Matrices {
		d.Machine = Matrices
	}
	d.Prepare = func(k *ir.Kernel) (made drivertest.Program, err error) {
		for _, a := range k.Args {
			if a.Kind == ir.Out && a.Len > math.MaxInt32 {
				return made, driver.ErrMemory
			}
		}
		p, base, err := compile(k, t)
		if err == nil {
			err = simt.Verify(p)
		}
		if err == nil {
			err = Fits(p, t)
		}
		if err != nil {
			return made, fmt.Errorf("%w in\n%v", err, k)
		}
		if d.Proofs != nil {
			made.Text = printed(p, t)
		}
		program := sync.OnceValue(func() *simt.Program { return simt.Compile(p) })
		made.Run = func(args []drivertest.HostArg) error {
			list, offsets := make([]simt.Arg, len(args)), make([]driver.Arg, len(args))
			for i, a := range args {
				offsets[i].Offset = a.Offset
				base := base(i, offsets)
				if d := k.Args[i].DType; d.Format() != nil {
					list[i] = simt.Arg{Data: a.Bytes, Base: d.Bytes(base) / 4, Offset: a.Offset - base}
					continue
				}
				list[i] = simt.Arg{Data: a.Bytes, Base: base, Offset: a.Offset - base, Word: build.Constant(k.Args[i].DType, a.Num).Bits}
			}
			return program().Run(list)
		}
		return made, nil
	}
	return d
}

// printed is the text of a program in the language of its target, with all that a call of it needs.
func printed(p *shader.Program, t build.Target) string {
	var b strings.Builder
	fmt.Fprintln(&b, p.Scratch)
	for _, q := range p.Passes {
		buffers, params := q.Arguments()
		fmt.Fprintf(&b, "%d %v %d %d %+v %+v\n", q.Threads, q.Grid, q.Subgroup, q.Resident, buffers, params)
		if t.Wide {
			b.WriteString(ptx.Print(q, 90))
		} else {
			b.WriteString(wgsl.Print(q))
		}
	}
	return b.String()
}

// webGPU has the limits of a target that gives none.
var webGPU = build.Target{MaxThreads: 256, SharedBytes: 16 << 10, MaxGroups: 65535}

// Fits returns an error for resources that exceed a target's.
func Fits(p *shader.Program, t build.Target) error {
	for i, q := range p.Passes {
		bytes := 0
		for _, s := range q.Shared {
			bytes += s.Len * s.Type.Bytes()
		}
		groups := cmp.Or(t.MaxGroups, webGPU.MaxGroups)
		if q.Threads > cmp.Or(t.MaxThreads, webGPU.MaxThreads) || bytes > max(cmp.Or(t.SharedBytes, webGPU.SharedBytes), t.TileBytes) ||
			q.Grid[0] > groups || q.Grid[1] > groups {
			return fmt.Errorf("pass %d has %d threads in a grid of %v, with %d bytes", i, q.Threads, q.Grid, bytes)
		}
	}
	return nil
}
