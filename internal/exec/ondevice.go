package exec

import (
	"errors"
	"slices"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// onDevice is the part of a step that computes a HostCall in the memory of the device.
type onDevice struct{ hostStep }

func (s *onDevice) placeholders() []*graph.Node {
	return []*graph.Node{s.node(&graph.Value{Store: storage.Placeholder(s.device.memory, s.Node.DType), Strides: shape.RowMajor(s.Node.Shape)})}
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
		if !isWhole(n.Shape, v) {
			src[i] = graph.Copy(n)
			copies = append(copies, src[i])
		}
	}
	return src, Eval(d, copies)
}

// isWhole reports whether a value is in row-major order, from the start of its buffer.
func isWhole(dims []int, v *graph.Value) bool {
	return v.Offset == 0 && !storage.Of(v).InBlocks() && shape.IsRowMajor(dims, v.Strides)
}

// launch returns the result of work that submit starts on the buffers of operands and of the result.
func (s *onDevice) launch(src []*graph.Node, submit func(args []driver.Arg) error) ([]*graph.Node, error) {
	var v *graph.Value
	err := s.device.memory.Retry(func() (err error) {
		v, err = s.submit(src, submit)
		return err
	})
	if err != nil {
		return nil, s.failed(err)
	}
	if s.replayed {
		storage.NoteStored(graph.CurrentRegion(), v)
	}
	return []*graph.Node{s.node(v)}, nil
}

// failed returns an error of the function, or of the device.
func (s *onDevice) failed(err error) error {
	switch host := (*HostError)(nil); {
	case errors.As(err, &host):
		return err
	case errors.Is(err, driver.ErrSource):
		return &HostError{hostFunc(s.Node), err}
	}
	return s.device.memory.Failed(err)
}

func (s *onDevice) submit(src []*graph.Node, submit func(args []driver.Arg) error) (v *graph.Value, err error) {
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
	slots, err := m.Pool.Acquire(nil, m.Pool.Request(s.Node.Len()*s.Node.DType.Size(), true))
	if err != nil {
		m.Pool.Release(slots...)
		return nil, err
	}
	checks := &storage.Checks{Depends: []compile.Set{compile.SetOf(shape.All(len(src))...)}} // on all operands
	x, err := m.Begin(checks, pending, storage.Sites{}, false)
	if err == nil {
		err = submit(append(args, driver.Arg{Buffer: slots[0].Buffer}))
	}
	if x != nil {
		err = m.Conclude(x, err, false)
	}
	if err != nil {
		m.Pool.Release(slots...)
		return nil, err
	}
	out := m.Store(slots[0])
	checks.Attach(out, x, 0)
	return out.NewValue(0, shape.RowMajor(s.Node.Shape)), nil
}

// A collectiveStep computes a collective by the device's own, or on the host if a rank has none.
type collectiveStep struct {
	onDevice
	driver     driver.Collective
	collective graph.Collective
}

// newCollectiveStep returns the step of a collective.
func newCollectiveStep(h hostStep) step {
	return &collectiveStep{onDevice{h}, h.device.memory.Driver.(driver.Collective), hostFunc(h.Node).Collective}
}

// isCollective reports whether a call is a collective that the device may compute.
func (d *Device) isCollective(n *graph.Node) bool {
	_, ok := d.memory.Driver.(driver.Collective)
	f, isFunc := n.Call().(*graph.HostFunc)
	return ok && isFunc && f.Collective != nil && n.Len() > 0
}

func (s *collectiveStep) equal(o step) bool {
	t, ok := o.(*collectiveStep)
	return ok && s.device == t.device && s.Node.DType == t.Node.DType && slices.Equal(s.Node.Shape, t.Node.Shape) &&
		equalOperands(s.operands, t.operands) && hostFunc(s.Node).Same(hostFunc(t.Node))
}

func (s *collectiveStep) String() string { return "collective" + s.of() }

func (s *collectiveStep) run(j *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	joined, err := s.join()
	if err != nil {
		return nil, err
	}
	return s.runJoined(joined, j, values, numbers)
}

// join begins the collective, see graph.Collective.
func (s *collectiveStep) join() (bool, error) {
	joined, err := s.collective.Join(s.driver)
	if err != nil {
		err = &HostError{hostFunc(s.Node), err}
	}
	return joined, err
}

// runJoined is run after join.
func (s *collectiveStep) runJoined(joined bool, j *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	if !joined {
		return s.hostStep.run(j, values, numbers)
	}
	d, started := s.device, false
	d.memory.Pool.CollectIfDue()
	src, err := whole(d, among(values, s.operands))
	if err != nil {
		s.collective.Fail(err)
		return nil, err
	}
	out, err := s.launch(src, func(args []driver.Arg) error {
		n := len(s.Src)
		err := startCollective(s.driver, s.Node, s.Src, args[:n], args[n])
		started = started || err == nil
		return err
	})
	if err != nil && !started {
		s.collective.Fail(err)
	}
	return out, err
}
