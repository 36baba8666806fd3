package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/profile"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A rawStep computes a HostCall by the kernel's text in the language of the device.
type rawStep struct {
	hostStep
	compiler driver.RawCompiler
	kernel   *ir.RawKernel
	key      string // of the loader's programs
	replayed bool   // see recorder
}

// newHostStep returns the step of a HostCall, or of a Cast on the host.
func (b *builder) newHostStep(d *Device, c capture.Call) step {
	h := hostStep{Call: c, device: d, operands: b.operands(c.Src)}
	f := graph.KernelOf(c.Node)
	compiler, ok := d.memory.Driver.(driver.RawCompiler)
	if f == nil || !ok || c.Node.Len() == 0 {
		return &h
	}
	k := f.Kernel.RawKernel
	if k.Text = f.Kernel.Texts[compiler.Language()]; k.Text == "" {
		return &h
	}
	return &rawStep{h, compiler, &k, fmt.Sprintf("raw %+v", k), b.recorder != nil && b.replayed}
}

func (s *rawStep) equal(o step) bool {
	t, ok := o.(*rawStep)
	return ok && s.device == t.device && s.key == t.key && slices.Equal(s.Node.Shape, t.Node.Shape) && equalOperands(s.operands, t.operands)
}

func (s *rawStep) String() string {
	return s.compiler.Language() + s.of()
}

func (s *rawStep) placeholders() []*graph.Node {
	return []*graph.Node{s.node(&graph.Value{Store: storage.Placeholder(s.device.memory, s.Node.DType), Strides: shape.RowMajor(s.Node.Shape)})}
}

func (s *rawStep) run(_ *storage.Journal, values []*graph.Node, _ []ir.Number) ([]*graph.Node, error) {
	d := s.device
	d.memory.Pool.CollectIfDue()
	src, err := whole(d, among(values, s.operands))
	if err != nil {
		return nil, err
	}
	p, err := d.loader.raw(s)
	var v *graph.Value
	if err == nil {
		err = d.memory.Retry(func() error {
			v, err = s.launch(p, src)
			return err
		})
	}
	switch {
	case errors.Is(err, driver.ErrSource):
		return nil, &HostError{hostFunc(s.Node), err}
	case err != nil:
		return nil, d.memory.Failed(err)
	}
	if s.replayed {
		storage.NoteStored(graph.CurrentRegion(), v)
	}
	return []*graph.Node{s.node(v)}, nil
}

// whole returns src with copies in place of nodes that are not in row-major order, from the start of their
// buffers.
func whole(d *Device, src []*graph.Node) ([]*graph.Node, error) {
	var copies []*graph.Node
	for i, n := range src {
		v := n.Value()
		if v.Err != nil {
			return nil, v.Err
		}
		if v.Offset != 0 || storage.Of(v).InBlocks() || !shape.IsRowMajor(n.Shape, v.Strides) {
			src[i] = graph.Copy(n)
			copies = append(copies, src[i])
		}
	}
	return src, Eval(d, copies)
}

// launch runs a program and returns the value of its result.
func (s *rawStep) launch(p driver.Program, src []*graph.Node) (v *graph.Value, err error) {
	m := s.device.memory
	stores := make([]*storage.Storage, len(src))
	for i, n := range src {
		stores[i] = storage.Of(n.Value())
		if err := stores[i].Ready(m, false); err != nil {
			return nil, err
		}
	}
	m.Queue.Lock()
	defer m.Queue.Unlock()
	var args []driver.Arg
	var pending []storage.Pending
	for i, x := range stores {
		b, err := x.Use(m)
		if err != nil {
			return nil, err
		}
		defer b.Done()
		args = append(args, driver.Arg{Buffer: b.Buffer})
		pending = x.AppendPending(pending, i)
	}
	slots, err := m.Pool.Acquire(nil, m.Pool.Request(s.Node.Len()*s.Node.DType.Size()))
	defer func() { m.Pool.Release(slots...) }()
	if err != nil {
		return nil, err
	}
	args = append(args, driver.Arg{Buffer: slots[0].Buffer}, driver.Arg{Num: ir.Int(ir.Uint32, int64(s.Node.Len()))})
	checks := &storage.Checks{Depends: []compile.Set{compile.SetOf(shape.All(len(src))...)}}
	x, err := m.Begin(checks, pending, storage.Sites{}, false)
	if err == nil {
		err = profile.Submit(m, []driver.Call{{Program: p, Args: args}}, []compile.Step{{Raw: s.kernel}}, func(int) *graph.Node { return s.Node })
	}
	if x != nil {
		err = m.Conclude(x, err, false)
	}
	if err != nil {
		return nil, err
	}
	out := m.Store(slots[0])
	slots = slots[:0]
	checks.Attach(out, x, 0)
	return out.NewValue(0, shape.RowMajor(s.Node.Shape)), nil
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
