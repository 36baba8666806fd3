package exec

import (
	"cmp"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/capture"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// A builder makes the steps that compute a graph, operands first. Without a recorder it runs
// each step at once, and nodes get their values; otherwise it adds the steps to the program,
// and nodes get placeholders.
type builder struct {
	capture.Known
	journal  *storage.Journal
	together bool               // see Step
	donated  []*storage.Storage // that steps have read, to be freed at the end
	*recorder
}

// A recorder is the program of a builder, with the state of its values. It is a pointer in the
// builder, so that the builder of an evaluation stays on the stack.
type recorder struct {
	program  *program
	args     int                 // how many arguments there are
	outer    *recorder           // of the program that has the recurrence of this body; its values follow the arguments
	replayed bool                // the program belongs to a Recording, or is in one
	index    map[graph.Store]int // the number of the value that has a Store
	lastUse  []int               // of the values: the step that reads it last, -1 for none
	numbers  []*graph.Node       // Scalars whose values run gets
	slabs    map[*graph.Node]int // of the roots of Record, from 1
}

// newBuilder returns a builder of a program with a number of arguments. If the program is the
// body of a recurrence, outer is the builder that met it; otherwise it is a zero one.
func newBuilder(p *program, args int, outer *builder) *builder {
	b := &builder{recorder: &recorder{program: p, args: args, index: map[graph.Store]int{}}}
	b.Given = map[*graph.Node]*graph.Value{}
	maps.Copy(b.Given, outer.Given)
	if r := outer.recorder; r != nil {
		b.outer, b.replayed, b.numbers = r, r.replayed, r.numbers
		args += len(r.lastUse)
	}
	b.lastUse = make([]int, args)
	return b
}

// record makes the program of roots.
func (b *builder) record(def *Device, roots, old []*graph.Node) error {
	p, first := b.program, len(b.lastUse)
	if err := b.compute(def, roots, old, nil); err != nil {
		return err
	}
	p.results = b.operands(roots)
	awaited := false
	for _, s := range slices.Backward(p.steps) {
		if o, ok := s.(*overlapStep); ok {
			s = o.planStep
		}
		if plan, ok := s.(*planStep); ok {
			plan.capture.IsAwaited = awaited
			awaited = awaited || plan.capture.IsTransaction()
		}
	}
	b.findDead(first)
	return nil
}

// number returns the number of the value that has a Store, which the next step reads, or
// -1.
func (r *recorder) number(s graph.Store) int {
	if r == nil {
		return -1
	}
	if k, ok := r.index[s]; ok {
		r.lastUse[k] = len(r.program.steps)
		return k
	}
	if k := r.outer.number(s); k >= 0 {
		return r.args + k
	}
	return -1
}

// A share is the roots that one device computes.
type share struct {
	device     *Device
	roots, old []*graph.Node
}

// byDevice divides the roots that have no value by device. Old has an element for each of
// the first roots.
func (b *builder) byDevice(def *Device, roots, old []*graph.Node) []share {
	if len(roots) > 0 {
		d := deviceOf(roots[0], def)
		other := func(n *graph.Node) bool { return b.ValueOf(n) != nil || deviceOf(n, def) != d }
		if !slices.ContainsFunc(roots, other) {
			return []share{{d, roots, old}}
		}
	}
	var shares []share
	for k, n := range roots {
		if b.ValueOf(n) != nil {
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

// compute makes steps that compute roots; for old see Step. Later are the shares of steps
// that follow.
func (b *builder) compute(def *Device, roots, old []*graph.Node, later []share) error {
	shares := b.byDevice(def, roots, old)
	for i, s := range shares {
		if err := b.share(s, append(later, shares[i+1:]...)); err != nil { // in place: callers read later alone
			return s.device.memory.Failed(err)
		}
	}
	return nil
}

// share makes a plan of a share, after steps for its operands from other devices and calls.
func (b *builder) share(s share, later []share) error {
	d := s.device
	d.memory.Pool.CollectIfDue()
	recapture := func() *capture.Capture { // a node that has a value by now is a leaf
		known := b.Known
		known.Keeps, known.IsInside = known.Keeps || len(later) > 0, b.inside(d)
		return capture.New(d.memory, s.roots, s.old, known)
	}
	c := recapture()
	for len(c.Foreign)+len(c.Calls) > 0 {
		foreign, calls := slices.Clone(c.Foreign), slices.Clone(c.Calls)
		c.Release()
		after := append(later, s)
		if err := b.compute(d, foreign, nil, after); err != nil {
			return err
		}
		if err := b.call(d, calls, after); err != nil {
			return err
		}
		rest := b.byDevice(d, s.roots, s.old)
		if len(rest) == 0 {
			return nil
		}
		s = rest[0]
		c = recapture()
	}
	if len(later) > 0 { // which else store them too
		s.roots = slices.Concat(s.roots, c.StoredWith(len(s.roots)))
	}
	if more := b.shared(d, c, s.roots, later); len(more) > 0 {
		s.roots = slices.Concat(s.roots, more)
		c.Release()
		c = recapture()
	}
	if b.recorder == nil {
		defer c.Release()
		if c.Keeps {
			b.donated = append(b.donated, c.Donated()...)
		}
		return d.eval(c, b.journal)
	}
	if c.Failed != nil {
		return c.Failed
	}
	p, err := b.plan(d, c, s.roots)
	if err != nil {
		return err
	}
	for i, v := range b.add(p) {
		b.Given[s.roots[i]] = v
	}
	return nil
}

// shared returns the nodes that the plan of roots should store because a plan of later
// roots reads them too, and notes the nodes that the plan computes.
func (b *builder) shared(d *Device, c *capture.Capture, roots []*graph.Node, later []share) (list []*graph.Node) {
	if len(later) == 0 {
		return nil
	}
	if b.Nodes == nil {
		b.Nodes = map[*graph.Node]bool{}
	}
	c.NoteComputed(b.Nodes)
	known, stored := capture.Known{Given: map[*graph.Node]*graph.Value{}, Nodes: b.Nodes}, storage.FromHost(nil)
	maps.Copy(known.Given, b.Given)
	for _, n := range roots {
		known.Given[n] = &graph.Value{Store: stored, Strides: shape.RowMajor(n.Shape)}
	}
	for _, t := range later {
		known.IsInside = b.inside(t.device)
		l := capture.New(t.device.memory, t.roots, nil, known)
		stored := l.Foreign // for the other device
		if t.device == d {
			stored = l.Retained()
		}
		for _, n := range stored {
			if c.Has(n) && known.ValueOf(n) == nil && !slices.Contains(list, n) {
				list = append(list, n)
			}
		}
		l.Release()
	}
	return list
}

// call makes steps of calls, after one of their operands, the first call's first.
func (b *builder) call(d *Device, calls []capture.Call, later []share) error {
	slices.SortStableFunc(calls, func(x, y capture.Call) int { return cmp.Compare(graph.OrderOf(x.Node), graph.OrderOf(y.Node)) })
	var operands []*graph.Node
	for _, c := range calls {
		if b.recorder != nil && b.replayed && b.isConstant(c.Node) {
			if err := new(builder).call(d, []capture.Call{c}, nil); err != nil {
				return err
			}
			continue
		}
		if c.Node.Op == ir.Recur {
			for i, n := range c.Src[:graph.RecurrenceOf(c.Node).Carries] {
				if !b.ownsBuffer(n) {
					c.Src[i] = graph.Copy(n)
				}
			}
		}
		for _, n := range c.Src {
			if !slices.Contains(operands, n) {
				operands = append(operands, n)
			}
		}
	}
	if err := b.compute(d, operands, nil, later); err != nil {
		return err
	}
	if b.recorder != nil {
		defer b.overlap(len(b.program.steps))
	}
	for _, c := range calls {
		if b.isDone(c) { // for another call that reads it
			continue
		}
		s := b.newHostStep(d, c)
		if c.Node.Op == ir.Recur {
			r, err := b.repeat(d, c)
			if err != nil {
				return err
			}
			s = r
		}
		if err := b.do(d, c.Node, s); err != nil {
			return err
		}
	}
	return nil
}

// isConstant reports whether a node depends on no value and no number of the program.
func (b *builder) isConstant(n *graph.Node) bool {
	constant, seen := true, map[*graph.Node]bool{}
	graph.Walk([]*graph.Node{n}, func(n *graph.Node) (graph.Operands, bool) {
		src, v := n.State()
		if n.Op == ir.Recur || b.Given[n] != nil || v != nil && b.number(v.Store) >= 0 || slices.Contains(b.numbers, n) {
			constant = false
		}
		more := constant && v == nil && !seen[n]
		seen[n] = true
		return src, more
	}, func(*graph.Node, graph.Operands) {})
	return constant
}

// isDone reports whether a call has its value.
func (b *builder) isDone(c capture.Call) bool {
	v := b.ValueOf(c.Node)
	if v == nil || v.Err != nil || c.Node.Op != ir.Recur {
		return v != nil
	}
	return len(v.Store.(*storage.Bundle).Values) == len(graph.RecurrenceOf(c.Node).Results())
}

// do runs the step of a call, or adds it, and gives the call its value.
func (b *builder) do(d *Device, n *graph.Node, s step) error {
	var values []*graph.Value
	if b.recorder != nil {
		values = b.add(s)
	} else {
		results, err := s.run(nil, nil, nil)
		if r, ok := s.(*repeatStep); ok && r.plan != nil {
			r.plan.capture.Release()
		}
		if host, ok := err.(*HostError); ok && n.Call() == any(host.Func) {
			n.SetValue(&graph.Value{Err: err})
		}
		if err != nil {
			return err
		}
		values = valuesOf(results)
	}
	if r := graph.CurrentRegion(); r != nil {
		if of := r.RegionOf(n); of != nil {
			for _, v := range values {
				storage.NoteStored(of, v)
			}
		}
	}
	v := &graph.Value{Store: &storage.Bundle{On: d.memory, Values: values}}
	if n.Op != ir.Recur {
		v = values[0]
	}
	switch {
	case b.recorder != nil:
		b.Given[n] = v
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
		b.index[v.Store] = len(b.lastUse)
		b.lastUse = append(b.lastUse, -1)
		values = append(values, v)
	}
	return values
}

// operands returns computed nodes as operands of a step.
func (b *builder) operands(ns []*graph.Node) []operand {
	operands := make([]operand, len(ns))
	for i, n := range ns {
		operands[i] = operand{b.number(b.ValueOf(n).Store), n}
	}
	return operands
}
