//go:build (linux || windows) && (amd64 || arm64)

package cuda

import (
	"fmt"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/loops"
	"github.com/tensorken/tensorken/internal/ptx"
	"github.com/tensorken/tensorken/internal/schedule"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A program is a kernel as passes, or a loop of kernels.
type program struct {
	schedule.Signature // of a kernel
	device             *device
	passes             []pass
	loop               *loops.Program // nil for a kernel
	temps, scratch     []int          // sizes in bytes of the buffers that it needs
}

// maxScratchSets is the most sets of scratch, which calls take in turns.
const maxScratchSets = 4

// scratchSets is the number of sets of a program's scratch: one unless that is a small part of the memory.
func (d *device) scratchSets(p *program) int {
	n := int64(0)
	for _, bytes := range p.scratch {
		n += int64(bytes)
	}
	if n > d.Budget/1024/maxScratchSets {
		return 1
	}
	return maxScratchSets
}

// needScratch enlarges the sizes of the scratch that calls need by a program's.
func (d *device) needScratch(p *program) {
	sets := d.scratchSets(p)
	for i, bytes := range p.scratch {
		if len(d.scratchSizes) == i*maxScratchSets {
			d.scratchSizes = append(d.scratchSizes, make([]int, maxScratchSets)...)
		}
		for set, n := range d.scratchSizes[i*maxScratchSets:][:sets] {
			d.scratchSizes[i*maxScratchSets+set] = max(n, bytes)
		}
	}
}

type pass struct {
	kernel  fmt.Stringer // an ir.Kernel, or an ir.RawKernel of the user's
	module  *module
	buffers []shader.Buffer
	params  []shader.Param
	grid    [3]int
	threads int
	awaits  bool // see shader.AwaitOthers
}

// Build implements tune.Machine.
func (d *device) Build(k *ir.Kernel, s *shader.Program) (driver.Program, error) {
	p := &program{Signature: schedule.SignatureOf(k, d.Target), device: d, scratch: s.Scratch, passes: make([]pass, 0, len(s.Passes))}
	for _, q := range s.Passes {
		buffers, params := q.Arguments()
		p.passes = append(p.passes, pass{k, d.module(ptx.Print(q, d.gpu.Capability), ptx.SharedBytes(q), false), buffers, params, q.Grid, q.Threads, q.Awaits() >= 0 && ptx.Waits(d.gpu.Capability)})
	}
	return p, nil
}

// Language implements driver.RawCompiler.
func (d *device) Language() string { return "ptx" }

// CompileRaw implements driver.RawCompiler.
func (d *device) CompileRaw(k *ir.RawKernel) (driver.Program, error) {
	leave, err := d.Enter()
	if err != nil {
		return nil, err
	}
	defer leave()
	q, signature, err := schedule.Raw(k, d.Target)
	if err != nil {
		return nil, err
	}
	text, err := ptx.Raw(k, q)
	if err != nil {
		return nil, err
	}
	buffers, params := q.Arguments()
	return &program{Signature: signature, device: d, passes: []pass{{k, d.module(text, 0, true), buffers, params, q.Grid, q.Threads, false}}}, nil
}

// LoopLimits implements driver.Looper.
func (d *device) LoopLimits() ir.LoopLimits { return d.Target.LoopLimits() }

// CompileLoop implements driver.Looper.
func (d *device) CompileLoop(l *ir.Loop) (driver.Program, error) { return d.compileLoop(l, d.Compile) }

func (d *device) compileLoop(l *ir.Loop, compile func(*ir.Kernel) (driver.Program, error)) (driver.Program, error) {
	loop, err := loops.Compile(l, compile)
	if err != nil {
		return nil, err
	}
	p := &program{device: d, loop: loop, temps: loops.Temps([]driver.Call{{Program: loop}})}
	for _, k := range loop.Kernels() {
		p.scratch = loops.Enlarged(p.scratch, k.(*program).scratch)
	}
	return p, nil
}

// prepare checks that programs are the device's and provides the buffers that they need. If
// memory lacks, it frees memory kept for reuse and tries once more.
func (d *device) prepare(calls []driver.Call) error {
	d.tempSizes, d.scratchSizes = d.tempSizes[:0], d.scratchSizes[:0]
	for i := range calls {
		p, ok := calls[i].Program.(*program)
		if !ok || p.device != d {
			return fmt.Errorf("%s: a program of another device", d.Name())
		}
		d.tempSizes = loops.Enlarged(d.tempSizes, p.temps)
		d.needScratch(p)
	}
	return d.Retry(func() error {
		return d.Kept.Reserve(d.tempSizes, d.scratchSizes, func(bytes int) (driver.Buffer, error) {
			d.generation++
			return d.Take(bytes)
		})
	})
}
