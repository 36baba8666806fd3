package exec

import (
	"errors"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A program computes a graph in steps over numbered values: its arguments, then the results of
// the steps.
type program struct {
	steps   []step
	results []operand
}

// A step of a program is a plan (planStep), a recurrence (repeatStep) or a Go function
// (hostStep). Elements are copied to another device when a plan of that device reads them.
type step interface {
	// run computes the results from the values and numbers of the program.
	run(j *Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error)
	// placeholders returns computed nodes without elements, in the layouts of the results.
	placeholders() []*graph.Node
	// equal reports whether two steps differ in the values of numbers alone, and in leaves on
	// the host that have equal elements.
	equal(step) bool
}

// An operand is a value of a program, by its number, or a node computed outside of it.
type operand struct {
	index int // -1 for the node
	node  *graph.Node
}

// among returns operands as nodes.
func among(values []*graph.Node, operands []operand) []*graph.Node {
	nodes := make([]*graph.Node, len(operands))
	for i, o := range operands {
		if nodes[i] = o.node; o.index >= 0 {
			nodes[i] = values[o.index]
		}
	}
	return nodes
}

func equalOperands(a, b []operand) bool {
	return slices.EqualFunc(a, b, func(x, y operand) bool {
		return x.index == y.index && (x.index >= 0 || SameElements(x.node, y.node))
	})
}

// run returns the results for arguments and numbers.
func (p *program) run(j *Journal, args []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	values := args[:len(args):len(args)]
	for _, s := range p.steps {
		results, err := s.run(j, values, numbers)
		if err != nil {
			return nil, err
		}
		values = append(values, results...)
	}
	return among(values, p.results), nil
}

func (p *program) equal(o *program) bool {
	return slices.EqualFunc(p.steps, o.steps, step.equal) && equalOperands(p.results, o.results)
}

// A builder makes the steps that compute a graph, operands first. Without a program it runs
// each step at once, and nodes get their values; otherwise it adds the steps to the program,
// and nodes get placeholders.
type builder struct {
	computed
	journal *Journal
	program *program
	donated []*storage // that steps have read, to be freed at the end
	recorder
}

// A recorder is what a builder knows of its program.
type recorder struct {
	replayed bool                // the program is that of a Recording
	numbers  []*graph.Node       // Scalars whose values run gets
	index    map[graph.Store]int // the number of the value that has a Store
	values   int                 // how many there are
	slabs    map[*graph.Node]int // see Record
}

// A computed is what is known of nodes before a capture of them.
type computed struct {
	given map[*graph.Node]*graph.Value // the values of some
	nodes map[*graph.Node]bool         // those that a plan computes, as if marked so
	keeps bool                         // steps that follow may read what is donated
}

// state returns the operands of a node and its value, nil if there is none.
func (k computed) state(n *graph.Node) (graph.Operands, *graph.Value) {
	src, v := n.State()
	if g := k.given[n]; g != nil {
		v = g
	} else if v == nil && n.Op == ir.Pick {
		v = k.pick(n, src.At(0))
	}
	return src, v
}

func (k computed) valueOf(n *graph.Node) *graph.Value {
	_, v := k.state(n)
	return v
}

// A share is the roots that one device computes.
type share struct {
	device     *Device
	roots, old []*graph.Node
	inner      bool // the roots are for steps that follow
	last       bool // no other plan follows
}

// byDevice divides the roots that have no value by device. Old has an element for each of
// the first roots.
func (b *builder) byDevice(def *Device, roots, old []*graph.Node) []share {
	if len(roots) > 0 {
		d := deviceOf(roots[0], def)
		other := func(n *graph.Node) bool { return b.valueOf(n) != nil || deviceOf(n, def) != d }
		if !slices.ContainsFunc(roots, other) {
			return []share{{device: d, roots: roots, old: old}}
		}
	}
	var shares []share
	for k, n := range roots {
		if b.valueOf(n) != nil {
			continue
		}
		d := deviceOf(n, def)
		i := slices.IndexFunc(shares, func(s share) bool { return s.device == d })
		if i < 0 {
			i = len(shares)
			shares = append(shares, share{device: d})
		}
		shares[i].roots = append(shares[i].roots, n)
		if k < len(old) {
			shares[i].old = append(shares[i].old, old[k])
		}
	}
	return shares
}

// compute makes steps that compute shares. Later are the roots of steps that follow.
func (b *builder) compute(shares []share, later []*graph.Node) error {
	for i, s := range shares {
		s.last = i == len(shares)-1 && len(later) == 0
		if err := b.share(s, later); err != nil {
			return failure(s.device, err)
		}
	}
	return nil
}

// computeFirst makes steps that compute the operands of steps that follow.
func (b *builder) computeFirst(def *Device, nodes, later []*graph.Node) error {
	shares := b.byDevice(def, nodes, nil)
	for i := range shares {
		shares[i].inner = true
	}
	return b.compute(shares, later)
}

// share makes a plan of a share, after steps for what it reads from other devices and calls.
func (b *builder) share(s share, later []*graph.Node) error {
	d := s.device
	d.collectIfDue()
	known := b.computed
	known.keeps = known.keeps || s.inner || !s.last
	c := newCapture(d, s.roots, s.old, known)
	for len(c.foreign)+len(c.calls) > 0 {
		foreign, calls := slices.Clone(c.foreign), slices.Clone(c.calls)
		c.release()
		after := slices.Concat(later, s.roots)
		if err := b.computeFirst(d, foreign, after); err != nil {
			return err
		}
		if err := b.call(d, calls, after); err != nil {
			return err
		}
		if s.inner {
			s.roots = slices.DeleteFunc(slices.Clone(s.roots), func(n *graph.Node) bool { return b.valueOf(n) != nil })
			if len(s.roots) == 0 {
				return nil
			}
		}
		c = newCapture(d, s.roots, s.old, known) // a node that has a value by now is a leaf
	}
	if more := b.shared(c, later); len(more) > 0 {
		s.roots = slices.Concat(s.roots, more)
		c.release()
		c = newCapture(d, s.roots, s.old, known)
	}
	if b.program == nil {
		defer c.release()
		if known.keeps {
			b.donated = append(b.donated, c.donated()...)
		}
		return d.eval(c, b.journal)
	}
	if c.failed != nil {
		return c.failed
	}
	p, err := b.plan(c, s.roots)
	if err != nil {
		return err
	}
	for i, v := range b.add(p) {
		b.given[s.roots[i]] = v
	}
	return nil
}

// shared returns the nodes that a plan had better store, because a plan of later roots reads
// them too, and notes what the plan computes.
func (b *builder) shared(c *capture, later []*graph.Node) (list []*graph.Node) {
	if len(later) == 0 {
		return nil
	}
	if b.nodes == nil {
		b.nodes = map[*graph.Node]bool{}
	}
	for i, u := range c.uses {
		if n := &c.nodes[i]; u.worth(n) == second {
			b.nodes[n.Node] = true
		}
	}
	l := newCapture(nil, later, nil, b.computed)
	defer l.release()
	for _, n := range l.roots[l.asked:] {
		if _, ok := c.number.Get(n); ok && b.valueOf(n) == nil {
			list = append(list, n)
		}
	}
	return list
}

// A call is a node of a capture that no plan computes: a HostCall, a Recur, or a Cast from a
// type that the device lacks.
type call struct {
	node *graph.Node
	src  []*graph.Node
}

// call makes steps of calls, after one of their operands.
func (b *builder) call(d *Device, calls []call, later []*graph.Node) error {
	var operands []*graph.Node
	for _, c := range calls {
		if c.node.Op == ir.Recur {
			for i, n := range c.src[:graph.RecurrenceOf(c.node).Carries] {
				if !b.ownsBuffer(n) {
					c.src[i] = graph.Copy(n)
				}
			}
		}
		for _, n := range c.src {
			if !slices.Contains(operands, n) {
				operands = append(operands, n)
			}
		}
	}
	if err := b.computeFirst(d, operands, later); err != nil {
		return err
	}
	for _, c := range calls {
		if b.isDone(c) { // for another call that reads it
			continue
		}
		var s step = &hostStep{call: c, device: d, operands: b.operands(c.src)}
		if c.node.Op == ir.Recur {
			r, err := b.repeat(d, c)
			if err != nil {
				return err
			}
			s = r
		}
		if err := b.do(d, c.node, s); err != nil {
			return err
		}
	}
	return nil
}

// isDone reports whether a call has its value.
func (b *builder) isDone(c call) bool {
	v := b.valueOf(c.node)
	if v == nil || v.Err != nil || c.node.Op != ir.Recur {
		return v != nil
	}
	return len(v.Store.(*bundle).values) == len(graph.RecurrenceOf(c.node).Results())
}

// do runs the step of a call, or adds it, and gives the call its value.
func (b *builder) do(d *Device, n *graph.Node, s step) error {
	var values []*graph.Value
	if b.program != nil {
		values = b.add(s)
	} else {
		results, err := s.run(nil, nil, nil)
		if host, ok := err.(*HostError); ok && n.Call() == any(host.Func) {
			n.SetValue(&graph.Value{Err: err})
		}
		if err != nil {
			return err
		}
		for _, r := range results {
			values = append(values, r.Value())
		}
	}
	if r := graph.CurrentRegion(); r != nil {
		if of := r.RegionOf(n); of != nil {
			for _, v := range values {
				noteStored(of, v)
			}
		}
	}
	v := &graph.Value{Store: &bundle{d, values}}
	if n.Op != ir.Recur {
		v = values[0]
	}
	switch {
	case b.program != nil:
		b.given[n] = v
	case n.Op == ir.Recur: // which may have one of fewer results
		n.ReplaceValue(v)
	default:
		n.SetValue(v)
	}
	return nil
}

// add adds a step to the program and returns placeholders for its results.
func (b *builder) add(s step) (values []*graph.Value) {
	b.program.steps = append(b.program.steps, s)
	for _, n := range s.placeholders() {
		v := n.Value()
		b.index[v.Store] = b.values
		b.values++
		values = append(values, v)
	}
	return values
}

// operands returns computed nodes as operands of a step.
func (b *builder) operands(ns []*graph.Node) []operand {
	operands := make([]operand, len(ns))
	for i, n := range ns {
		operands[i] = operand{-1, n}
		if k, ok := b.index[b.valueOf(n).Store]; ok {
			operands[i] = operand{k, nil}
		}
	}
	return operands
}

// failure names the device of an error.
func failure(d *Device, err error) error {
	if f := (*Failure)(nil); err == nil || errors.As(err, &f) {
		return err
	}
	return &Failure{d, err}
}
