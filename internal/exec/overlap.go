package exec

import (
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/memory"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// An overlapStep is a plan and collectives of its results. Each starts once its operands are computed, in the
// order of the collectives, while the rest of the plan goes on.
type overlapStep struct {
	*planStep
	collectives []*collectiveStep // of the device; none if they are on the host
	onHost      []*hostStep
	results     [][]int // by collective: the plan's results that are its operands
	after       []int   // by collective: the steps of the plan before it
}

// overlap joins the steps from first on, if all are collectives of the results of the plan before them, with
// that plan.
func (b *builder) overlap(first int) {
	steps := b.program.steps
	if first == 0 || first == len(steps) || !b.replayed {
		return
	}
	p, ok := steps[first-1].(*planStep)
	if !ok || p.once {
		return
	}
	o := &overlapStep{planStep: p}
	number := len(b.lastUse) - len(p.results) // of the plan's first result
	var all []*hostStep
	for _, s := range steps[first:] {
		switch s := s.(type) {
		case *collectiveStep:
			o.collectives, all = append(o.collectives, s), append(all, &s.hostStep)
		case *hostStep:
			if !s.canOverlap() {
				return
			}
			o.onHost, all = append(o.onHost, s), append(all, s)
		default:
			return
		}
		number--
	}
	if len(o.collectives) > 0 && len(o.onHost) > 0 || slices.ContainsFunc(all, func(h *hostStep) bool { return h.device != p.device }) {
		return
	}
	written := p.written()
	for _, c := range all {
		after := 0
		var results []int
		for _, x := range c.operands {
			i := x.number - number
			if i < 0 || i >= len(p.results) || !p.isWhole(i) {
				return
			}
			results, after = append(results, i), max(after, written[p.plan.compiled.Outputs[p.results[i].output].Index])
		}
		if n := len(o.after); n > 0 {
			after = max(after, o.after[n-1])
		}
		o.results, o.after = append(o.results, results), append(o.after, after)
	}
	b.program.steps = append(steps[:first-1], o)
	for k, step := range b.lastUse {
		b.lastUse[k] = min(step, first-1)
	}
}

// isWhole reports whether a result is a buffer of its own, in row-major order.
func (p *planStep) isWhole(result int) bool {
	r := &p.results[result]
	if r.output < 0 {
		return false
	}
	o := &p.plan.compiled.Outputs[r.output]
	return !o.Leaf && o.Offset == 0 && shape.IsRowMajor(r.shape, o.Strides)
}

// written returns the number of steps of the plan after which each buffer is computed.
func (p *planStep) written() map[int]int {
	steps := map[int]int{}
	for i := range p.plan.compiled.Steps {
		for b := range p.plan.compiled.Steps[i].Buffers(ir.Out) {
			steps[b] = i + 1
		}
	}
	return steps
}

func (s *overlapStep) placeholders() []*graph.Node {
	list := s.planStep.placeholders()
	for _, c := range s.collectives {
		list = append(list, c.placeholders()...)
	}
	for _, h := range s.onHost {
		list = append(list, h.placeholders()...)
	}
	return list
}

func (s *overlapStep) String() string {
	var text strings.Builder
	text.WriteString(s.planStep.String())
	for _, c := range s.collectives {
		text.WriteString(c.String())
	}
	for _, h := range s.onHost {
		text.WriteString(h.String())
	}
	return text.String()
}

func (s *overlapStep) equal(o step) bool {
	t, ok := o.(*overlapStep)
	return ok && s.planStep.equal(t.planStep) && slices.EqualFunc(s.collectives, t.collectives, func(x, y *collectiveStep) bool { return x.equal(y) }) &&
		slices.EqualFunc(s.onHost, t.onHost, func(x, y *hostStep) bool { return x.equal(y) })
}

func (s *overlapStep) run(j *storage.Journal, values []*graph.Node, numbers []ir.Number) (out []*graph.Node, err error) {
	o := &overlap{overlapStep: s}
	if len(s.onHost) > 0 {
		return o.runOnHost(j, values, numbers)
	}
	defer func() {
		if err != nil {
			o.fail(err)
		}
	}()
	for _, c := range s.collectives {
		joined, err := c.join()
		if err != nil {
			return nil, err
		}
		o.joined = append(o.joined, joined)
	}
	if slices.Contains(o.joined, false) {
		if out, err = s.planStep.run(j, values, numbers); err != nil {
			return nil, err
		}
		values = append(values[:len(values):len(values)], out...)
		for i, c := range s.collectives {
			o.started++ // it says itself if it fails
			results, err := c.runJoined(o.joined[i], j, values, numbers)
			if err != nil {
				return nil, err
			}
			out = append(out, results...)
		}
		return out, nil
	}
	if out, err = s.runBeside(o, j, values, numbers); err != nil {
		return nil, err
	}
	return o.finish(out)
}

// An overlap is a run of an overlapStep; nil for a plan without collectives.
type overlap struct {
	*overlapStep
	joined  []bool               // by collective, as far as they have joined
	slots   []memory.Pooled      // of the results of collectives
	started int                  // collectives
	work    chan []driver.Buffer // of the operands of the next collective on the host
}

// hasStarted reports whether other ranks take part in a collective of the run.
func (o *overlap) hasStarted() bool { return o != nil && o.started > 0 }

// fail says that collectives do not start, and gives back their memory.
func (o *overlap) fail(err error) {
	m := o.device.memory
	m.Queue.Lock()
	m.Pool.Release(o.slots...)
	m.Queue.Unlock()
	for i := o.started; i < len(o.joined); i++ {
		if o.joined[i] {
			o.collectives[i].collective.Fail(err)
		}
	}
}

// acquire acquires the buffers of the results of collectives. The caller holds the queue.
func (o *overlap) acquire(d *Device) (err error) {
	if o == nil || len(o.collectives) == 0 || len(o.slots) > 0 { // by the run before, for which memory lacked
		return nil
	}
	requests := make([]memory.Request, len(o.collectives))
	for i, c := range o.collectives {
		requests[i] = c.request()
	}
	o.slots, err = d.memory.Pool.Acquire(nil, requests...)
	if err != nil {
		d.memory.Pool.Release(o.slots...)
		o.slots = nil
	}
	return err
}

// appendPauses appends the starts of the collectives.
func (o *overlap) appendPauses(list []pause, p *loadedPlan, l *launch) []pause {
	if o == nil {
		return list
	}
	for i := range o.after {
		list = append(list, pause{o.after[i], func() error {
			var buffers []driver.Buffer
			for _, r := range o.results[i] {
				out := &p.compiled.Outputs[o.planStep.results[r].output]
				buffers = append(buffers, l.slots[p.slot[out.Index]].Buffer)
			}
			if o.work != nil {
				o.started++
				o.work <- buffers
				return nil
			}
			var args []driver.Arg
			for _, b := range append(buffers, o.slots[i].Buffer) {
				args = append(args, driver.Arg{Buffer: b})
			}
			err := o.collectives[i].start(args)
			if err == nil {
				o.started++
			}
			return err
		}})
	}
	return list
}

// finish returns the results of the plan and of the collectives.
func (o *overlap) finish(out []*graph.Node) ([]*graph.Node, error) {
	m := o.device.memory
	m.Queue.Lock()
	defer m.Queue.Unlock()
	plan := out
	for i, c := range o.collectives {
		var pending []storage.Pending
		for k, r := range o.results[i] {
			pending = storage.Of(plan[r].Value()).AppendPending(pending, k)
		}
		slot := o.slots[i]
		o.slots[i] = memory.Pooled{}
		v, err := c.store(slot, len(o.results[i]), pending, func() error { return nil })
		if err != nil {
			return nil, m.Failed(err)
		}
		out = append(out, c.stored(v))
	}
	return out, nil
}

// canOverlap reports whether a step is a collective that reads buffers where they lie.
func (h *hostStep) canOverlap() bool {
	_, views := h.device.memory.Driver.(driver.Viewer)
	return views && h.Node.Op == ir.HostCall && hostFunc(h.Node).Collective != nil && h.Node.Len() > 0
}

// runOnHost runs the plan, and the collectives in a goroutine.
func (o *overlap) runOnHost(j *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	o.work = make(chan []driver.Buffer, len(o.onHost))
	var results []*graph.Node
	var failure error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for operands := range o.work {
			if failure == nil {
				var n *graph.Node
				n, failure = o.onHost[len(results)].compute(operands)
				results = append(results, n)
			}
		}
	}()
	out, err := func() ([]*graph.Node, error) {
		defer close(o.work) // also if a kernel panics
		return o.runBeside(o, j, values, numbers)
	}()
	if err != nil && o.hasStarted() { // others wait for the rest
		hostFunc(o.onHost[0].Node).Collective.Fail(err)
	}
	<-ended
	if err == nil {
		err = failure
	}
	return append(out, results...), err
}

// compute returns the result for operands in buffers.
func (h *hostStep) compute(operands []driver.Buffer) (*graph.Node, error) {
	out, err := storage.Allocate(h.Node.Len(), h.Node.DType.Size())
	if err != nil {
		return nil, err
	}
	in := make([]graph.HostArray, len(operands))
	for i, b := range operands {
		data, err := h.device.memory.Driver.(driver.Viewer).View(b)
		if err != nil {
			return nil, err
		}
		s := h.Src[i]
		in[i] = graph.HostArray{DType: s.DType, Shape: s.Shape, Data: data[:s.Len()*s.DType.Size()]}
	}
	f := hostFunc(h.Node)
	if err := f.Run(graph.HostArray{DType: h.Node.DType, Shape: h.Node.Shape, Data: out}, in); err != nil {
		return nil, &HostError{f, err}
	}
	return h.result(out), nil
}
