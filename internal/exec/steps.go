package exec

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A planStep runs a plan.
type planStep struct {
	device  *Device
	plan    *loadedPlan
	capture *capture // with the placeholders as leaves
	args    []int    // of the leaves: which value of the program each views; -1 if it is none
	numbers []int    // of the numbers given to run: which of the capture's scalars each is
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
func (b *builder) plan(c *capture, roots []*graph.Node) (*planStep, error) {
	p := &planStep{device: c.device, capture: c, args: b.argumentsOf(c), numbers: c.scalarsOf(b.numbers)}
	stored := 0 // of the outputs, which begin with those of the roots
	for _, n := range roots {
		x := result{output: -1, shape: n.Shape, dtype: n.DType, device: n.Device, untyped: n.IsUntyped()}
		if n.Len() > 0 {
			x.output = c.outputOf(n)
			stored = max(stored, x.output+1)
			c.addToSlab(&c.outputs[x.output], b.slabs[n])
		}
		p.results = append(p.results, x)
	}
	c.stored = stored
	c.keyInt(-2) // no number of a leaf
	c.keyInt(stored)
	var err error
	if p.plan, err = c.device.loader.load(c); err != nil {
		c.release()
		return nil, err
	}
	for i, arg := range p.args {
		if s := c.leaves[i].stored; arg < 0 && s != nil {
			s.stays.Store(true)
		}
	}
	c.first = nil
	c.outputs, c.named, c.computed, c.replayed = c.outputs[:stored], nil, computed{}, b.replayed // no node gets a value
	return p, nil
}

// argumentsOf returns which value of the program each leaf views; -1 for none.
func (b *builder) argumentsOf(c *capture) []int {
	args := make([]int, len(c.leaves))
	for i := range c.leaves {
		args[i] = b.number(c.leaves[i].value.Store)
	}
	return args
}

// addToSlab puts an output into a slab, given from 1, unless it is in one.
func (c *capture) addToSlab(o *output, slab int) {
	if o.slab > 0 || slab == 0 {
		return
	}
	o.slab = slab
	for len(c.slabs) < slab {
		c.slabs = append(c.slabs, 0)
	}
	c.slabs[slab-1]++
}

// scalarsOf returns which of the capture's scalars each number is, -1 for one that no result
// depends on.
func (c *capture) scalarsOf(numbers []*graph.Node) []int {
	nodes := c.scalarNodes()
	scalars := make([]int, len(numbers))
	for k, n := range numbers {
		scalars[k] = slices.Index(nodes, n)
	}
	return scalars
}

// scalarNodes returns the nodes of the capture's scalars.
func (c *capture) scalarNodes() (ns []*graph.Node) {
	for i := range c.nodes {
		if n := &c.nodes[i]; n.leaf < 0 && n.Op == ir.Scalar {
			ns = append(ns, n.Node)
		}
	}
	return ns
}

func (p *planStep) equal(s step) bool {
	o, ok := s.(*planStep)
	if !ok || p.device != o.device || !slices.Equal(p.args, o.args) || !slices.Equal(p.numbers, o.numbers) || !p.capture.equal(o.capture, p.args) {
		return false
	}
	for i, x := range o.capture.scalars {
		if x != p.capture.scalars[i] && !slices.Contains(p.numbers, i) {
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
		s := &storage{device: p.device}
		v := &graph.Value{Store: s, Strides: make([]int, len(x.shape))}
		if x.output >= 0 {
			o := &p.plan.compiled.Outputs[x.output]
			v.Offset, v.Strides = o.Offset, o.Strides
			if o.Leaf {
				l := &p.capture.leaves[o.Index]
				v.Offset += l.view.Offset
				if l.stored != nil && l.stored.device == nil {
					s.device = nil
				}
			}
		}
		ns = append(ns, graph.Buffer(x.dtype, x.shape, v))
	}
	return ns
}

// equal reports whether two captures differ in their scalars alone, and in leaves that view
// arguments, given by leaf.
func (c *capture) equal(o *capture, args []int) bool {
	if !bytes.Equal(c.key, o.key) {
		return false
	}
	for i, arg := range args {
		x, y := &c.leaves[i], &o.leaves[i]
		if x.view.Offset != y.view.Offset || arg < 0 && !sameStorage(x.stored, y.stored) {
			return false
		}
	}
	return true
}

func (p *planStep) run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	d := p.device
	d.pool.CollectIfDue()
	c := p.bind(args, numbers)
	defer p.release(c)
	err := d.ready(c)
	if err == nil {
		err = d.execute(p.plan, c, j)
	}
	if err != nil {
		return nil, failure(d, err)
	}
	values := make([]*graph.Node, len(p.results))
	for i, x := range p.results {
		var out output
		if x.output >= 0 {
			out = c.outputs[x.output]
			c.outputs[x.output].node = nil // another result has another node
		} else {
			out.value = &graph.Value{Store: FromHost(nil), Strides: make([]int, len(x.shape))}
		}
		if out.value.Err != nil {
			return nil, out.value.Err
		}
		if out.node == nil {
			out.node = new(graph.Node)
		}
		out.node.SetBuffer(x.dtype, x.shape, out.value)
		out.node.Device = x.device
		if x.untyped {
			out.node.AsUntyped()
		}
		values[i] = out.node
	}
	return values, nil
}

// bind returns the capture of one run.
func (p *planStep) bind(args []*graph.Node, numbers []ir.Number) *capture {
	c := p.capture
	if !p.once {
		var ok bool
		if c, ok = p.runs.Get().(*capture); !ok {
			c = &capture{device: p.device, replayed: p.capture.replayed, slabs: p.capture.slabs, nodes: p.capture.nodes, old: p.capture.old, replacing: p.capture.replacing}
		}
		c.leaves = append(c.leaves, p.capture.leaves...)
		c.outputs = append(c.outputs, p.capture.outputs...)
		c.scalars = append(c.scalars, p.capture.scalars...)
	}
	for i, arg := range p.args {
		if arg >= 0 {
			c.leaves[i].replace(args[arg].Value())
		}
	}
	for k, i := range p.numbers {
		if i >= 0 {
			c.scalars[i] = numbers[k]
		}
	}
	return c
}

// release keeps the memory of a run for later ones, without references to its arguments.
func (p *planStep) release(c *capture) {
	if !p.once {
		c.leaves, c.outputs, c.scalars = emptied(c.leaves), emptied(c.outputs), c.scalars[:0]
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
	call
	device   *Device // for errors
	operands []operand
}

func (h *hostStep) run(_ *Journal, values []*graph.Node, _ []ir.Number) ([]*graph.Node, error) {
	data, err := onHost(h.device, h.node, among(values, h.operands))
	if err != nil {
		return nil, err
	}
	return []*graph.Node{h.result(data)}, nil
}

func (h *hostStep) placeholders() []*graph.Node { return []*graph.Node{h.result(nil)} }

func (h *hostStep) result(data []byte) *graph.Node {
	n := graph.Buffer(h.node.DType, h.node.Shape, &graph.Value{Store: FromHost(data), Strides: shape.RowMajor(h.node.Shape)})
	if n.Device = h.node.Device; h.node.IsUntyped() {
		n.AsUntyped()
	}
	return n
}

func (h *hostStep) equal(s step) bool {
	o, ok := s.(*hostStep)
	return ok && h.node.Op == o.node.Op && h.node.DType == o.node.DType && slices.Equal(h.node.Shape, o.node.Shape) &&
		equalOperands(h.operands, o.operands) && (h.node.Op == ir.Cast || hostFunc(h.node).Same(hostFunc(o.node)))
}

func (h *hostStep) String() string {
	text := "on the host: " + h.node.Op.String()
	if h.node.Op == ir.HostCall {
		text = "on the host: " + hostFunc(h.node).Op
	}
	text += " of"
	for _, s := range h.src {
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
	out, err := Allocate(n.Len(), n.DType.Size())
	if err != nil {
		return nil, err
	}
	if n.Op == ir.Cast {
		return cast(out, n.DType, in[0]), nil
	}
	f := hostFunc(n)
	err = f.Run(graph.HostArray{DType: n.DType, Shape: n.Shape, Data: out}, in)
	if err != nil && !errors.Is(err, driver.ErrMemory) { // after which another try may succeed
		err = &HostError{f, err}
	}
	return out, err
}

// cast fills out with elements as another type.
func cast(out []byte, to ir.DType, in graph.HostArray) []byte {
	out = out[:0]
	for rest := in.Data; len(rest) > 0; rest = rest[in.DType.Size():] {
		out = ir.Decode(in.DType, rest).Convert(in.DType, to).Append(out, to)
	}
	return out
}

// castOnHost returns the node that a Cast of x converts on the host: x or, if x is an
// alias such as a copy to the device, the node that it stands for. It returns nil unless
// the elements are on the host, in row-major order and of a type that the device lacks.
func (c *capture) castOnHost(x *graph.Node) *graph.Node {
	if c.device == nil || c.device.limits.Has(x.DType) {
		return nil
	}
	src, v := c.state(x)
	for v == nil && isAlias(x) {
		x = src.At(0)
		src, v = c.state(x)
	}
	if v == nil || v.Err != nil || v.Store.(*storage).device != nil || !shape.IsRowMajor(x.Shape, v.Strides) {
		return nil
	}
	return x
}
