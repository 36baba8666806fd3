package exec

import (
	"errors"
	"slices"
	"sync"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// ErrNotOnePlan says that more than one plan of one device computes a graph: it computes on
// the host, or on several devices.
var ErrNotOnePlan = errors.New("exec: more than one plan computes the graph")

// A Layout is what a plan depends on of an argument.
type Layout struct {
	DType   ir.DType
	Shape   []int
	Strides []int
	Odd     int          // the offset, in elements, past a multiple of 16 bytes
	Device  graph.Device // that has the elements; nil is the host
}

// LayoutOf returns the layout of a computed node. It shares the slices.
func LayoutOf(n *graph.Node) Layout {
	v := n.Value()
	l := Layout{DType: n.DType, Shape: n.Shape, Strides: v.Strides, Odd: v.Offset % (16 / min(16, n.DType.Size()))}
	if v.Store != nil {
		l.Device = v.Store.Device()
	}
	return l
}

// Equal reports whether plans of arguments of the two layouts are the same.
func (l Layout) Equal(m Layout) bool {
	return l.DType == m.DType && l.Odd == m.Odd && l.Device == m.Device && slices.Equal(l.Shape, m.Shape) && slices.Equal(l.Strides, m.Strides)
}

// Stand returns a computed node of a layout without elements, which stands for arguments of
// that layout in a graph to be recorded.
func (l Layout) Stand() *graph.Node {
	s := &storage{}
	if l.Device != nil {
		s.device = l.Device.(*Device)
	}
	return graph.Buffer(l.DType, l.Shape, &graph.Value{Store: s, Offset: l.Odd, Strides: l.Strides})
}

// A Recording is a graph with its plan, captured once for arguments of certain layouts. It
// runs without the graph being made again. Any number of goroutines may run it.
type Recording struct {
	device  *Device
	plan    *loadedPlan
	capture *capture // with the stands as leaves
	args    []int    // of the leaves: which argument each views; -1 if it is none
	results []result
	numbers []int // of the numbers given to Run: which of the capture's scalars each is
	runs    sync.Pool
}

// A result is where a root's elements are.
type result struct {
	output int // -1 if it has none
	shape  []int
	dtype  ir.DType
	device graph.Device // that the root is committed to
}

// Record captures and compiles the graph of roots. Args are what [Layout.Stand] returned;
// numbers are Scalars of the graph whose values Run gets. For old see [Step]: only whether
// a root has a previous value counts, an argument.
//
// It fails with [ErrNotOnePlan] if the graph cannot be recorded.
func Record(def *Device, args, numbers, roots, old []*graph.Node) (*Recording, error) {
	shares := byDevice(def, roots, old)
	if len(shares) != 1 || len(shares[0].roots) != len(roots) {
		return nil, ErrNotOnePlan
	}
	d := shares[0].device
	c := newCapture(d, roots, old)
	if !c.isOnePlan() {
		c.release()
		return nil, ErrNotOnePlan
	}
	p, err := d.load(c)
	if err != nil {
		c.release()
		return nil, &Failure{d, err}
	}
	r := &Recording{device: d, plan: p, capture: c}
	for _, n := range roots {
		x := result{output: -1, shape: n.Shape, dtype: n.DType, device: n.Device}
		if n.Len() > 0 {
			x.output = c.outputOf(n)
		}
		r.results = append(r.results, x)
	}
	of := make(map[graph.Store]int, len(args))
	for i, a := range args {
		of[a.Value().Store] = i
	}
	r.args = c.argumentsOf(of)
	scalars := map[*graph.Node]int{}
	for i := range c.nodes {
		if n := &c.nodes[i]; n.leaf < 0 && n.Op == ir.Scalar {
			scalars[n.Node] = len(scalars)
		}
	}
	for _, n := range numbers {
		i, ok := scalars[n]
		if !ok { // no result depends on it
			i = -1
		}
		r.numbers = append(r.numbers, i)
	}
	c.named = nil // the nodes get no value
	return r, nil
}

// Run computes the roots for arguments of the layouts that were recorded. It returns a
// computed node for each.
func (r *Recording) Run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	d := r.device
	d.maybeGC()
	c := r.bind(args, numbers)
	defer r.release(c)
	err := d.ready(c)
	if err == nil {
		err = d.execute(r.plan, c, j)
	}
	if err != nil {
		return nil, &Failure{d, err}
	}
	values := make([]*graph.Node, len(r.results))
	for i, x := range r.results {
		v := &graph.Value{Store: FromHost(nil), Strides: make([]int, len(x.shape))}
		if x.output >= 0 {
			v = c.outputs[x.output].value
		}
		if v.Err != nil {
			return nil, v.Err
		}
		values[i] = graph.Buffer(x.dtype, x.shape, v)
		values[i].Device = x.device
	}
	return values, nil
}

// bind returns the capture of one run.
func (r *Recording) bind(args []*graph.Node, numbers []ir.Number) *capture {
	c, ok := r.runs.Get().(*capture)
	if !ok {
		c = &capture{device: r.device, replayed: true, nodes: r.capture.nodes, old: r.capture.old, fallbacks: r.capture.fallbacks}
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
func (r *Recording) release(c *capture) {
	c.leaves, c.outputs, c.scalars = emptied(c.leaves), emptied(c.outputs), c.scalars[:0]
	r.runs.Put(c)
}
