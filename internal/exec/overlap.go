package exec

import (
	"slices"
	"strings"

	"github.com/tensorken/tensorken/driver"
	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/internal/storage"
	"github.com/tensorken/tensorken/ir"
)

// An overlapStep is a plan and collectives on the host of its results. Each starts once its operands are computed, in the
// order of the collectives, while the rest of the plan goes on.
type overlapStep struct {
	*planStep
	collectives []*hostStep
	operands    [][]int // by collective: the plan's results that are its operands
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
	for _, s := range steps[first:] {
		h, ok := s.(*hostStep)
		if !ok || h.device != p.device || !h.canOverlap() {
			return
		}
		o.collectives = append(o.collectives, h)
		number--
	}
	written := p.written()
	for _, c := range o.collectives {
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
		o.operands, o.after = append(o.operands, results), append(o.after, after)
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
	return list
}

func (s *overlapStep) String() string {
	var text strings.Builder
	text.WriteString(s.planStep.String())
	for _, c := range s.collectives {
		text.WriteString(c.String())
	}
	return text.String()
}

func (s *overlapStep) equal(o step) bool {
	t, ok := o.(*overlapStep)
	return ok && s.planStep.equal(t.planStep) && slices.EqualFunc(s.collectives, t.collectives, func(x, y *hostStep) bool { return x.equal(y) })
}

// An overlap is a run of an overlapStep; nil for a plan without collectives on the host.
type overlap struct {
	*overlapStep
	started int                  // collectives
	work    chan []driver.Buffer // of the operands of the next collective
}

// hasStarted reports whether other ranks take part in a collective of the run.
func (o *overlap) hasStarted() bool { return o != nil && o.started > 0 }

// appendPauses appends the starts of the collectives.
func (o *overlap) appendPauses(list []pause, p *loadedPlan, l *launch) []pause {
	if o == nil {
		return list
	}
	for i := range o.after {
		list = append(list, pause{o.after[i], 0, func() error {
			var buffers []driver.Buffer
			for _, r := range o.operands[i] {
				out := &p.compiled.Outputs[o.results[r].output]
				buffers = append(buffers, l.slots[p.slot[out.Index]].Buffer)
			}
			o.started++
			o.work <- buffers
			return nil
		}})
	}
	return list
}

// canOverlap reports whether a step is a collective that reads buffers where they lie.
func (h *hostStep) canOverlap() bool {
	_, views := h.device.memory.Driver.(driver.Viewer)
	return views && h.Node.Op == ir.HostCall && hostFunc(h.Node).Collective != nil && h.Node.Len() > 0
}

// run runs the plan, and the collectives in a goroutine.
func (s *overlapStep) run(j *storage.Journal, values []*graph.Node, numbers []ir.Number) ([]*graph.Node, error) {
	o := &overlap{overlapStep: s, work: make(chan []driver.Buffer, len(s.collectives))}
	var results []*graph.Node
	var failure error
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for operands := range o.work {
			if failure == nil {
				var n *graph.Node
				n, failure = s.collectives[len(results)].compute(operands)
				results = append(results, n)
			}
		}
	}()
	out, err := func() ([]*graph.Node, error) {
		defer close(o.work) // also if a kernel panics
		return s.runBeside(o, j, values, numbers)
	}()
	if err != nil && o.hasStarted() { // others wait for the rest
		hostFunc(s.collectives[0].Node).Collective.Fail(err)
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
