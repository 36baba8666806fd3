package exec

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A rawStep computes a HostCall by the kernel's text in the language of the device.
type rawStep struct {
	onDevice
	compiler driver.RawCompiler
	kernel   *ir.RawKernel
	key      string // of the loader's programs
}

// newHostStep returns the step of a HostCall, or of a Cast on the host.
func (b *builder) newHostStep(d *Device, c capture.Call) step {
	h := hostStep{Call: c, device: d, operands: b.operands(c.Src), replayed: b.recorder != nil && b.replayed}
	if d.isCollective(c.Node) {
		return newCollectiveStep(h)
	}
	f := graph.KernelOf(c.Node)
	compiler, ok := d.memory.Driver.(driver.RawCompiler)
	if f == nil || !ok || c.Node.Len() == 0 {
		return &h
	}
	k := f.Kernel.RawKernel
	if k.Text = f.Kernel.Texts[compiler.Language()]; k.Text == "" {
		return &h
	}
	return &rawStep{onDevice{h}, compiler, &k, fmt.Sprintf("raw %+v", k)}
}

func (s *rawStep) equal(o step) bool {
	t, ok := o.(*rawStep)
	return ok && s.device == t.device && s.key == t.key && slices.Equal(s.Node.Shape, t.Node.Shape) && equalOperands(s.operands, t.operands)
}

func (s *rawStep) String() string {
	return s.compiler.Language() + s.of()
}

func (s *rawStep) run(_ *storage.Journal, values []*graph.Node, _ []ir.Number) ([]*graph.Node, error) {
	d := s.device
	d.memory.Pool.CollectIfDue()
	src, err := whole(d, among(values, s.operands))
	if err != nil {
		return nil, err
	}
	p, err := d.loader.raw(s)
	if err != nil {
		return nil, s.failed(err)
	}
	return s.launch(src, func(args []driver.Arg) error {
		args = append(args, driver.Arg{Num: ir.Int(ir.Uint32, int64(s.Node.Len()))})
		return profile.Submit(d.memory, []driver.Call{{Program: p, Args: args}}, []compile.Step{{Raw: s.kernel}}, func(int) *graph.Node { return s.Node })
	})
}

// raw returns the program of a user's kernel.
func (l *loader) raw(s *rawStep) (driver.Program, error) {
	if known := l.programs.Get(s.key); known != nil {
		return known.Value.Program, nil
	}
	if err := l.checkTypes(&ir.Kernel{Args: s.kernel.Args}); err != nil {
		return nil, err
	}
	l.memory.Queue.Lock()
	defer l.memory.Queue.Unlock()
	p, err := s.compiler.CompileRaw(s.kernel)
	if err == nil {
		l.programs.Put(s.key, loadedProgram{Program: p})
		l.programs.Trim(maxPrograms, nil)
	}
	return p, err
}
