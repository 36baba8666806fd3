package exec

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A stage of a Recording computes the operands of recurrences, then the recurrences.
type stage struct {
	operands    *part // nil if there are none to compute
	recurrences []*stagedRecurrence
}

// A stagedRecurrence is a recurrence of a stage.
type stagedRecurrence struct {
	*graph.Recurrence
	device  *Device
	results []*graph.Node
	src     []operand
	body    *capture
	args    []int // of the body's leaves: which argument of the body each views
	aliasOf []int // see recurring
}

// An operand is the argument of a Recording, or the result of a stage, that an index says, or
// a node.
type operand struct {
	index int // -1 for the node
	node  *graph.Node
}

// run returns the results of the operands' part, then those of the recurrences.
func (s *stage) run(args []*graph.Node, numbers []ir.Number) (results []*graph.Node, err error) {
	if s.operands != nil {
		if results, err = s.operands.run(nil, args, numbers); err != nil {
			return nil, err
		}
		args = append(args[:len(args):len(args)], results...)
	}
	for _, r := range s.recurrences {
		src := make([]*graph.Node, len(r.src))
		for i, o := range r.src {
			if src[i] = o.node; o.index >= 0 {
				src[i] = args[o.index]
			}
		}
		values, err := r.device.recurrence(r.Recurrence, r.results, src)
		if err != nil {
			return nil, &Failure{r.device, err}
		}
		for i, v := range values {
			n := graph.Buffer(r.results[i].DType, r.Dims(r.results, i), v)
			results, args = append(results, n), append(args, n)
		}
	}
	return results, nil
}

// equal reports whether two stages differ in the values of numbers alone, and in leaves on the
// host that have equal elements.
func (s *stage) equal(o *stage) bool {
	if (s.operands == nil) != (o.operands == nil) {
		return false
	}
	if p := o.operands; p != nil && !s.operands.equal(p.capture, p.args, p.numbers) {
		return false
	}
	return slices.EqualFunc(s.recurrences, o.recurrences, func(a, b *stagedRecurrence) bool {
		same := func(x, y operand) bool {
			return x.index == y.index && (x.index >= 0 || SameElements(x.node, y.node))
		}
		return a.Steps == b.Steps && a.Reverse == b.Reverse && a.Carries == b.Carries && a.Inputs == b.Inputs &&
			slices.EqualFunc(a.src, b.src, same) && slices.Equal(a.aliasOf, b.aliasOf) &&
			slices.Equal(a.args, b.args) && a.body.equal(b.body, a.args) && slices.Equal(a.body.scalars, b.body.scalars)
	})
}

// A recorder captures the graph of a Recording, after stages for its recurrences.
type recorder struct {
	device   *Device
	args     []*graph.Node       // those of the Recording, then the results of stages, without elements
	index    map[graph.Store]int // which of args a Store is of
	numbers  []*graph.Node
	stages   []*stage
	computed // by the stages
}

func newRecorder(d *Device, args, numbers []*graph.Node) *recorder {
	return &recorder{device: d, args: slices.Clone(args), index: stores(args), numbers: numbers, computed: computed{map[*graph.Node]*graph.Value{}, map[*graph.Node]bool{}}}
}

// part captures and compiles roots.
func (r *recorder) part(roots, old []*graph.Node, groups []int) (*part, error) {
	c, err := r.capture(roots, old)
	if err != nil {
		return nil, err
	}
	return newPart(c, r.index, r.numbers, roots, groups)
}

// capture captures roots, and before adds the stages that they need.
func (r *recorder) capture(roots, old []*graph.Node) (*capture, error) {
	c := newCapture(r.device, roots, old, r.computed)
	if c.isOnePlan() {
		return c, nil
	}
	layers := r.device.callLayers(slices.Clone(c.calls), r.computed, func(*graph.Node) bool { return false })
	c.release()
	for k, layer := range slices.Backward(layers) {
		later := slices.Clone(roots)
		for _, l := range layers[:k] {
			later = append(later, operandsOf(l)...)
		}
		if err := r.addStage(layer, later); err != nil {
			return nil, err
		}
	}
	if c = newCapture(r.device, roots, old, r.computed); c.isOnePlan() {
		return c, nil
	}
	c.release()
	return nil, ErrNotOnePlan
}

// addStage adds a stage for calls that plans of later nodes need.
func (r *recorder) addStage(calls []call, later []*graph.Node) error {
	// A stage before has a call that another one reads, too.
	calls = slices.DeleteFunc(calls, func(c call) bool { return r.given[c.node] != nil })
	if slices.ContainsFunc(calls, func(c call) bool { return c.node.Op != ir.Recur }) {
		return ErrNotOnePlan
	}
	var operands []*graph.Node
	for _, n := range operandsOf(calls) {
		if n.Value() == nil && r.given[n] == nil && !slices.Contains(operands, n) {
			operands = append(operands, n)
		}
	}
	s := &stage{}
	if len(operands) > 0 {
		operands = append(operands, r.device.shared(operands, later, r.computed)...)
		p, err := r.part(operands, nil, nil)
		if err != nil {
			return err
		}
		s.operands = p
		for i, n := range operands {
			x := p.results[i]
			if x.output < 0 {
				return ErrNotOnePlan
			}
			r.given[n] = r.add(x.dtype, x.shape, p.view(x.output))
		}
	}
	for _, c := range calls {
		x, err := r.recurrence(c)
		if err != nil {
			return err
		}
		s.recurrences = append(s.recurrences, x)
	}
	r.stages = append(r.stages, s)
	return nil
}

// add adds a result of a stage, and returns its value.
func (r *recorder) add(d ir.DType, shape []int, view *graph.Value) *graph.Value {
	view.Store = &storage{device: r.device}
	r.index[view.Store] = len(r.args)
	r.args = append(r.args, graph.Buffer(d, shape, view))
	return view
}

// view returns the value of an output but for its Store.
func (p *part) view(output int) *graph.Value {
	o := &p.plan.compiled.Outputs[output]
	v := &graph.Value{Offset: o.Offset, Strides: o.Strides}
	if o.Leaf {
		v.Offset += p.capture.leaves[o.Index].view.Offset
	}
	return v
}

// recurrence returns a recurrence of a stage and gives it a value.
func (r *recorder) recurrence(c call) (*stagedRecurrence, error) {
	rec := graph.RecurrenceOf(c.node)
	s := &stagedRecurrence{Recurrence: rec, device: r.device, results: rec.Results(), src: make([]operand, len(c.src))}
	x := &recurring{Recurrence: rec, d: r.device, results: s.results, src: make([]*graph.Node, len(c.src))}
	for i, n := range c.src {
		v := r.given[n]
		if v == nil {
			v = n.Value()
		}
		s.src[i], x.src[i] = operand{-1, n}, n
		if k, ok := r.index[v.Store]; ok {
			s.src[i], x.src[i] = operand{k, nil}, r.args[k]
		}
	}
	if err := x.load(); err != nil {
		return nil, err
	}
	s.body, s.args, s.aliasOf = x.c, x.args, x.aliasOf
	if s.capturesArguments(r) {
		return nil, ErrNotOnePlan
	}
	b := &bundle{device: r.device}
	for i, n := range s.results {
		b.values = append(b.values, r.add(n.DType, s.Dims(s.results, i), x.view(i)))
	}
	r.given[c.node] = &graph.Value{Store: b}
	return s, nil
}

// capturesArguments reports whether the body reads what changes from run to run, and is no
// operand of the recurrence.
func (s *stagedRecurrence) capturesArguments(r *recorder) bool {
	for i, arg := range s.args {
		if _, ok := r.index[s.body.leaves[i].stored]; ok && arg < 0 {
			return true
		}
	}
	return slices.ContainsFunc(s.body.scalarsOf(r.numbers), func(i int) bool { return i >= 0 })
}
