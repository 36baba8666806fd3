package exec

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A planStep runs a plan.
type planStep struct {
	device  *Device
	plan    *loadedPlan
	capture *capture.Capture // with the placeholders as leaves
	args    []int            // of the leaves: the value of the program that each views, or -1
	numbers []int            // of the numbers given to run: the capture's scalar that each is
	results []result
	once    bool // it runs once, in the capture
	runs    sync.Pool
}

// A result is where a root's elements are.
type result struct {
	output  int // -1 if it has none
	shape   []int
	dtype   ir.DType
	device  graph.Device // that the root is committed to
	untyped bool         // see Layout
}

// plan compiles a capture of roots.
func (b *builder) plan(d *Device, c *capture.Capture, roots []*graph.Node) (*planStep, error) {
	p := &planStep{device: d, capture: c, args: b.argumentsOf(c), numbers: c.ScalarsOf(b.numbers)}
	stored := 0 // of the outputs, which begin with the roots
	for _, n := range roots {
		x := result{output: -1, shape: n.Shape, dtype: n.DType, device: n.Device, untyped: n.IsUntyped()}
		if n.Len() > 0 {
			x.output = c.OutputOf(n)
			stored = max(stored, x.output+1)
			c.AddToSlab(x.output, b.slabs[n])
		}
		p.results = append(p.results, x)
	}
	c.StoreFirst(stored)
	var err error
	if p.plan, err = d.loader.load(c); err != nil {
		c.Release()
		return nil, err
	}
	for i, arg := range p.args {
		if s := c.Leaves[i].Stored; arg < 0 && s != nil {
			s.Stay()
		}
	}
	c.Detach(b.replayed)
	c.Sites = p.plan.sitesOf(c)
	return p, nil
}

// argumentsOf returns, for each leaf, the value of the program that it views, or -1.
func (b *builder) argumentsOf(c *capture.Capture) []int {
	args := make([]int, len(c.Leaves))
	for i := range c.Leaves {
		args[i] = b.number(c.Leaves[i].Value.Store)
	}
	return args
}

func (p *planStep) equal(s step) bool {
	o, ok := s.(*planStep)
	if !ok || p.device != o.device || !slices.Equal(p.args, o.args) || !slices.Equal(p.numbers, o.numbers) || !p.capture.Equal(o.capture, p.args) {
		return false
	}
	for i, x := range o.capture.Scalars {
		if x != p.capture.Scalars[i] && !slices.Contains(p.numbers, i) {
			return false
		}
	}
	return slices.EqualFunc(p.results, o.results, func(x, y result) bool {
		return x.output == y.output && x.device == y.device && x.untyped == y.untyped
	})
}

func (p *planStep) String() string { return p.plan.compiled.String() }

func (p *planStep) placeholders() (ns []*graph.Node) {
	for _, x := range p.results {
		of := p.device.memory
		stored := x.dtype
		v := &graph.Value{Strides: make([]int, len(x.shape))}
		if x.output >= 0 {
			o := &p.plan.compiled.Outputs[x.output]
			v.Offset, v.Strides = o.Offset, o.Strides
			if o.Leaf {
				l := &p.capture.Leaves[o.Index]
				stored = l.Stored.TypeOn(nil, stored)
				v.Offset += l.View.Offset
				if l.Stored != nil && l.Stored.Home() == nil {
					of = nil
				}
			}
		}
		v.Store = storage.Placeholder(of, stored)
		ns = append(ns, graph.Buffer(x.dtype, x.shape, v))
	}
	return ns
}

func (p *planStep) run(j *storage.Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	return p.runBeside(nil, j, args, numbers)
}

// runBeside is run beside collectives on the host, nil for none.
func (p *planStep) runBeside(o *overlap, j *storage.Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	d := p.device
	d.memory.Pool.CollectIfDue()
	c := p.bind(args, numbers)
	defer p.release(c)
	err := d.ready(c)
	if err == nil {
		err = d.execute(p.plan, c, j, o)
	}
	if err != nil {
		failCollectives(c, err)
		return nil, d.memory.Failed(err)
	}
	values := make([]*graph.Node, len(p.results))
	for i, x := range p.results {
		var out capture.Output
		if x.output >= 0 {
			out = c.Outputs[x.output]
			c.Outputs[x.output].Node = nil // another result has another node
		} else {
			out.Value = &graph.Value{Store: storage.FromHost(nil), Strides: make([]int, len(x.shape))}
		}
		if out.Value.Err != nil {
			return nil, out.Value.Err
		}
		if out.Node == nil {
			out.Node = new(graph.Node)
		}
		out.Node.SetBuffer(x.dtype, x.shape, out.Value)
		out.Node.Device = x.device
		if x.untyped {
			out.Node.AsUntyped()
		}
		values[i] = out.Node
	}
	return values, nil
}

// bind returns the capture of one run.
func (p *planStep) bind(args []*graph.Node, numbers []ir.Number) *capture.Capture {
	c := p.capture
	if !p.once {
		before, _ := p.runs.Get().(*capture.Capture)
		c = c.Run(before)
	}
	for i, arg := range p.args {
		if arg >= 0 {
			c.Leaves[i].Replace(args[arg].Value())
		}
	}
	for k, i := range p.numbers {
		if i >= 0 {
			c.Scalars[i] = numbers[k]
		}
	}
	return c
}

// release keeps the memory of a run for later ones, without references to its arguments.
func (p *planStep) release(c *capture.Capture) {
	if !p.once {
		c.EndRun()
		p.runs.Put(c)
	}
}

// A HostError is the failure of a HostCall on the elements that it was given.
type HostError struct {
	Func *graph.HostFunc
	Err  error
}

func (e *HostError) Error() string { return e.Func.Op + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *HostError) Unwrap() error { return e.Err }

// A hostStep computes a HostCall, or a Cast, on the host.
type hostStep struct {
	capture.Call
	device   *Device // for errors
	operands []operand
	replayed bool // see recorder
}

func (h *hostStep) run(_ *storage.Journal, values []*graph.Node, _ []ir.Number) ([]*graph.Node, error) {
	data, err := onHost(h.device, h.Node, among(values, h.operands))
	if err != nil {
		return nil, err
	}
	return []*graph.Node{h.result(data)}, nil
}

func (h *hostStep) placeholders() []*graph.Node { return []*graph.Node{h.result(nil)} }

func (h *hostStep) result(data []byte) *graph.Node {
	return h.node(&graph.Value{Store: storage.FromHost(data), Strides: shape.RowMajor(h.Node.Shape)})
}

// node returns the result as a computed node.
func (h *hostStep) node(v *graph.Value) *graph.Node {
	n := graph.Buffer(h.Node.DType, h.Node.Shape, v)
	if n.Device = h.Node.Device; h.Node.IsUntyped() {
		n.AsUntyped()
	}
	return n
}

func (h *hostStep) equal(s step) bool {
	o, ok := s.(*hostStep)
	return ok && h.Node.Op == o.Node.Op && h.Node.DType == o.Node.DType && slices.Equal(h.Node.Shape, o.Node.Shape) &&
		equalOperands(h.operands, o.operands) && (h.Node.Op == ir.Cast || hostFunc(h.Node).Same(hostFunc(o.Node)))
}

func (h *hostStep) String() string {
	return "on the host" + h.of()
}

// of explains the work of the step.
func (h *hostStep) of() string {
	text := ": " + h.Node.Op.String()
	if h.Node.Op == ir.HostCall {
		text = ": " + hostFunc(h.Node).Op
	}
	text += " of"
	for _, s := range h.Src {
		text += fmt.Sprintf(" %v %v", s.DType, s.Shape)
	}
	return text + "\n"
}

func hostFunc(n *graph.Node) *graph.HostFunc { return n.Call().(*graph.HostFunc) }

// onHost returns the elements of a HostCall, or of a Cast, of computed operands.
func onHost(d *Device, n *graph.Node, src []*graph.Node) ([]byte, error) {
	in := make([]graph.HostArray, len(src))
	for i, s := range src {
		data, err := View(d, s)
		if err != nil {
			return nil, err
		}
		in[i] = graph.HostArray{DType: s.DType, Shape: s.Shape, Data: data}
	}
	out, err := storage.Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return nil, err
	}
	if n.Op == ir.Cast {
		return cast(out, n.DType, in[0]), nil
	}
	f := hostFunc(n)
	switch {
	case f.Kernel != nil && n.Len() == 0:
		return out, nil
	case f.Run == nil:
		return nil, &HostError{f, fmt.Errorf("the kernel has neither a text for the device %s nor a Go function", d)}
	}
	return out, hostFailed(f, f.Run(graph.HostArray{DType: n.DType, Shape: n.Shape, Data: out}, in))
}

// hostFailed returns the error of a function, but a lack of memory as it is: after it another try may succeed.
func hostFailed(f *graph.HostFunc, err error) error {
	if err == nil || errors.Is(err, driver.ErrMemory) {
		return err
	}
	return &HostError{f, err}
}

// cast fills out with elements as another type.
func cast(out []byte, to ir.DType, in graph.HostArray) []byte {
	out = out[:0]
	for rest := in.Data; len(rest) > 0; rest = rest[in.DType.Size():] {
		out = ir.Decode(in.DType, rest).Convert(in.DType, to).Append(out, to)
	}
	return out
}
