package exec

import (
	"bytes"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A Layout is what a plan depends on of an argument.
type Layout struct {
	DType     ir.DType
	Shape     []int
	Strides   []int
	Odd       int          // the offset, in elements, past a multiple of 16 bytes
	Untyped   bool         // it is an untyped constant, which takes the type of what it meets
	Device    graph.Device // that has the elements; nil is the host
	Committed graph.Device // that the argument is committed to; nil if to none
}

// LayoutOf returns the layout of a computed node. It shares the slices.
func LayoutOf(n *graph.Node) Layout {
	v := n.Value()
	l := Layout{DType: n.DType, Shape: n.Shape, Strides: v.Strides, Odd: odd(n, v), Untyped: n.IsUntyped(), Committed: n.Device}
	if v.Store != nil {
		l.Device = v.Store.Device()
	}
	return l
}

// odd is how many elements the offset is past a multiple of 16 bytes.
func odd(n *graph.Node, v *graph.Value) int { return v.Offset % (16 / min(16, n.DType.Size())) }

// IsOf reports whether a computed node has the layout; nil has the zero one.
func (l Layout) IsOf(n *graph.Node) bool {
	if n == nil {
		return l.Shape == nil && l.DType == 0
	}
	v := n.Value()
	var d graph.Device
	if v.Store != nil {
		d = v.Store.Device()
	}
	return l.DType == n.DType && l.Untyped == n.IsUntyped() && l.Device == d && l.Committed == n.Device && l.Odd == odd(n, v) && slices.Equal(l.Shape, n.Shape) && slices.Equal(l.Strides, v.Strides)
}

// Placeholder returns a computed node without elements for arguments of a layout, in a graph
// to be recorded.
func (l Layout) Placeholder() *graph.Node {
	s := &storage{}
	if l.Device != nil {
		s.device = l.Device.(*Device)
	}
	n := graph.Buffer(l.DType, l.Shape, &graph.Value{Store: s, Offset: l.Odd, Strides: l.Strides})
	n.Device = l.Committed
	if l.Untyped {
		n.AsUntyped()
	}
	return n
}

// A Recording is the program of a graph, made once for arguments of certain layouts. It runs
// without the graph being made again. Any number of goroutines may run it.
type Recording struct {
	program
	device *Device // that computes nodes committed to none
}

// Record makes the program of the graph of roots. Args are of [Layout.Placeholder], or nil;
// numbers are Scalars of the graph whose values Run gets. For old see [Step]: it has the
// arguments that the first roots replace, nil for none. Groups has numbers of roots: first
// come those whose memory is freed together, group by group.
func Record(def *Device, args, numbers, roots, old []*graph.Node, groups []int) (*Recording, error) {
	r := &Recording{device: def}
	b := &builder{program: &r.program, recorder: recorder{replayed: true, numbers: numbers, index: map[graph.Store]int{}, values: len(args), slabs: map[*graph.Node]int{}}}
	b.given = map[*graph.Node]*graph.Value{}
	for i, n := range args {
		if n != nil {
			b.index[n.Value().Store] = i
		}
	}
	rest := roots
	for k, n := range groups {
		for _, root := range rest[:n] {
			if b.slabs[root] == 0 {
				b.slabs[root] = k + 1
			}
		}
		rest = rest[n:]
	}
	err := b.compute(b.byDevice(def, roots, old), nil)
	if err == nil {
		r.results = b.operands(roots)
	}
	return r, err
}

// Run computes the roots for arguments of the layouts that were recorded. It returns a
// computed node for each.
func (r *Recording) Run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	return r.run(j, args, numbers)
}

// Repeats reports whether other arguments, numbers, roots and old for [Record] are of the
// same graph: one that differs in the values of numbers alone, and in leaves on the host
// that have equal elements.
func (r *Recording) Repeats(args, numbers, roots, old []*graph.Node) bool {
	again, err := Record(r.device, args, numbers, roots, old, nil)
	return err == nil && r.equal(&again.program)
}

// A planStep runs a plan.
type planStep struct {
	device  *Device
	plan    *loadedPlan
	capture *capture // with the placeholders as leaves
	args    []int    // of the leaves: which value of the program each views; -1 if it is none
	numbers []int    // of the numbers given to run: which of the capture's scalars each is
	results []result
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
	p := &planStep{device: c.device, capture: c, args: c.argumentsOf(b.index), numbers: c.scalarsOf(b.numbers)}
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
	c.keyInt(stored)
	var err error
	if p.plan, err = c.device.load(c); err != nil {
		c.release()
		return nil, err
	}
	c.outputs, c.named, c.computed, c.replayed = c.outputs[:stored], nil, computed{}, b.replayed // no node gets a value
	return p, nil
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

// scalarsOf returns which of the capture's scalars each number is, -1 for none.
func (c *capture) scalarsOf(numbers []*graph.Node) []int {
	of := map[*graph.Node]int{}
	for i, n := range c.scalarNodes() {
		of[n] = i
	}
	scalars := make([]int, len(numbers))
	for k, n := range numbers {
		i, ok := of[n]
		if !ok { // no result depends on it
			i = -1
		}
		scalars[k] = i
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
				if l.stored.device == nil {
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

// sameStorage reports whether two storages are one, or on the host with equal elements.
func sameStorage(s, t *storage) bool {
	if s == t {
		return true
	}
	return s != nil && t != nil && s.device == nil && t.device == nil && bytes.Equal(s.host, t.host)
}

// SameElements reports whether two computed nodes are known to have the same elements: if
// they are views alike of one storage, or of equal ones on the host.
func SameElements(a, b *graph.Node) bool {
	v, w := a.Value(), b.Value()
	if v.Err != nil || w.Err != nil || v.Offset != w.Offset || a.DType != b.DType || !slices.Equal(a.Shape, b.Shape) || !slices.Equal(v.Strides, w.Strides) {
		return false
	}
	s, _ := v.Store.(*storage)
	t, _ := w.Store.(*storage)
	return sameStorage(s, t)
}

// A Structure is a graph without the values of its Scalars.
type Structure struct {
	key     string
	leaves  []*storage
	offsets []int // of the leaves
	Scalars []*graph.Node
}

// StructureOf returns the structure of the graph of roots. Nodes in given, the operands of the
// graph, have the values of placeholders.
func StructureOf(roots []*graph.Node, given map[*graph.Node]*graph.Value) Structure {
	c := newBody(nil, roots, given, 0)
	defer c.release()
	s := Structure{key: string(c.key), Scalars: c.scalarNodes()}
	for i := range c.leaves {
		s.leaves, s.offsets = append(s.leaves, c.leaves[i].stored), append(s.offsets, c.leaves[i].view.Offset)
	}
	return s
}

// Equal reports whether two graphs differ in the values of Scalars alone.
func (s Structure) Equal(t Structure) bool {
	return s.key == t.key && slices.Equal(s.offsets, t.offsets) && slices.EqualFunc(s.leaves, t.leaves, sameStorage)
}

func (r *planStep) run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	d := r.device
	d.collectIfDue()
	c := r.bind(args, numbers)
	defer r.release(c)
	err := d.ready(c)
	if err == nil {
		err = d.execute(r.plan, c, j)
	}
	if err != nil {
		return nil, failure(d, err)
	}
	values := make([]*graph.Node, len(r.results))
	for i, x := range r.results {
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
	if region := graph.CurrentRegion(); region != nil {
		for i, x := range r.results {
			if x.output >= 0 && !r.plan.compiled.Outputs[x.output].Leaf {
				noteStored(region, values[i].Value())
			}
		}
	}
	return values, nil
}

// bind returns the capture of one run.
func (r *planStep) bind(args []*graph.Node, numbers []ir.Number) *capture {
	c, ok := r.runs.Get().(*capture)
	if !ok {
		c = &capture{device: r.device, replayed: r.capture.replayed, slabs: r.capture.slabs, nodes: r.capture.nodes, old: r.capture.old}
	}
	c.leaves = append(c.leaves, r.capture.leaves...)
	c.outputs = append(c.outputs, r.capture.outputs...)
	c.scalars = append(c.scalars, r.capture.scalars...)
	for i, arg := range r.args {
		if arg >= 0 {
			c.leaves[i].replace(args[arg].Value())
		}
	}
	for k, i := range r.numbers {
		if i >= 0 {
			c.scalars[i] = numbers[k]
		}
	}
	return c
}

// release keeps the memory of a run for later ones, without references to its arguments.
func (r *planStep) release(c *capture) {
	c.leaves, c.outputs, c.scalars = emptied(c.leaves), emptied(c.outputs), c.scalars[:0]
	r.runs.Put(c)
}
