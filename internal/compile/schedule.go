package compile

import (
	"container/heap"
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// little is a number of bytes: a step that takes fewer runs as soon as it can, such as a test of all
// checks, for which others wait.
const little = 1 << 10

// schedule puts the steps into an order that needs less memory: a step that frees more bytes than it
// takes, or takes little, runs as soon as it can; other steps stay in their order. So a gradient of a
// layer's weights, which is small and the last to read the stored values of the layer, does not wait
// for the gradients of all other layers. A step that reads the result of a collective waits until the next collective
// has started, unless nothing else can run: the device computes other things beside the first one. Then readers of
// earlier collectives go before readers of later ones, and before all others go collectives and steps that compute the last
// operand of one when they can run. Late, such a reader runs after all other steps that can run: updates of parameters
// behind the backward pass, while the last gradients are averaged.
func (p *Plan) schedule(late bool) {
	buffers := len(p.Buffers) + 1 // one more stands for the reports of checks
	s := &scheduler{plan: p, late: late, readers: make([][]int, buffers), writers: make([][]int, buffers), unread: make([]int, buffers), unwritten: make([]int, buffers), waits: make([]int, len(p.Steps)), class: make([]int, len(p.Steps)), freeing: make([]bool, len(p.Steps)), done: make([]bool, len(p.Steps))}
	kept := make([]bool, buffers)
	for _, o := range p.Outputs {
		if !o.Leaf {
			kept[o.Index] = true
		}
	}
	for i := range p.Steps {
		for b := range s.buffers(i, ir.In) {
			s.readers[b] = append(s.readers[b], i)
		}
		for b := range s.buffers(i, ir.Out) {
			s.writers[b] = append(s.writers[b], i)
		}
	}
	for i := range p.Steps {
		for b := range s.buffers(i, ir.In) {
			s.waits[i] += len(s.writers[b])
		}
	}
	s.findCollectives()
	for b := range buffers {
		s.unread[b], s.unwritten[b] = len(s.readers[b]), len(s.writers[b])
		if kept[b] {
			s.unread[b]++ // it is never free
		}
	}
	for i, n := range s.waits {
		if n == 0 {
			s.ready(i)
		}
	}
	order := make([]Step, 0, len(p.Steps))
	for len(order) < len(p.Steps) {
		i := s.next()
		order = append(order, p.Steps[i])
		s.run(i)
	}
	p.Steps = order
}

// Buffers yields the plan's buffers that a step reads or writes, each once.
func (s *Step) Buffers(kind ir.ArgKind) func(func(int) bool) {
	return func(yield func(int) bool) {
		for k, a := range s.Args {
			same := func(b Arg) bool { return b.Kind == kind && !b.Leaf && !b.Report && b.Index == a.Index }
			if a.Leaf || a.Report || a.Kind != kind || slices.ContainsFunc(s.Args[:k], same) {
				continue
			}
			if !yield(a.Index) {
				return
			}
		}
	}
}

// buffers yields the buffers that order step i among the others: its own and, as the last
// one, the reports of checks, which are written before any is read.
func (s *scheduler) buffers(i int, kind ir.ArgKind) func(func(int) bool) {
	step := &s.plan.Steps[i]
	return func(yield func(int) bool) {
		for b := range step.Buffers(kind) {
			if !yield(b) {
				return
			}
		}
		reads := slices.ContainsFunc(step.Args, func(a Arg) bool { return a.Report })
		if kind == ir.In && reads || kind == ir.Out && !step.Redundant && step.Check() >= 0 {
			yield(len(s.plan.Buffers))
		}
	}
}

type scheduler struct {
	plan      *Plan
	late      bool
	readers   [][]int // of a buffer
	writers   [][]int // of a buffer: several if each stores a part of it
	unread    []int   // readers of a buffer that are yet to run
	unwritten []int   // writers of a buffer that are yet to run
	waits     []int   // steps that a step waits for, once for each buffer
	freeing   []bool  // steps that are among those that free
	done      []bool
	any       queue // steps that can run
	free      queue // the ready ones that free more memory than they take, or lead to a collective, by class

	collects []bool // by step: it is a collective of results of the plan
	reads    []bool // by step: it reads a result of one
	class    []int  // by step: 1 + the number of the last collective that it reads from, in the order of their starts
	started  int    // collectives of results of the plan
	running  []int  // steps that can run, and read results of the last collective that has started
	last     int    // that collective, -1 for none
}

// findCollectives finds the collectives of results of the plan, and their readers.
func (s *scheduler) findCollectives() {
	s.collects, s.reads, s.last = make([]bool, len(s.plan.Steps)), make([]bool, len(s.plan.Steps)), -1
	for i := range s.plan.Steps {
		if step := &s.plan.Steps[i]; step.Collective() >= 0 && !step.isGather() {
			s.collects[i] = true
			for b := range step.Buffers(ir.Out) {
				for _, r := range s.readers[b] {
					s.reads[r] = true
				}
			}
		}
	}
}

// isBehind reports whether a step reads a result of the last collective that has started.
func (s *scheduler) isBehind(i int) bool {
	return s.reads[i] && s.last >= 0 && s.plan.Steps[i].readsOf(&s.plan.Steps[s.last])
}

// completes reports whether a step computes the last operands of a collective.
func (s *scheduler) completes(i int) bool {
	left := map[int]int{} // by collective: operands that are not computed
	for b := range s.plan.Steps[i].Buffers(ir.Out) {
		for _, r := range s.readers[b] {
			if s.collects[r] {
				if _, ok := left[r]; !ok {
					left[r] = s.waits[r]
				}
				if left[r]--; left[r] == 0 {
					return true
				}
			}
		}
	}
	return false
}

// ready notes that a step can run.
func (s *scheduler) ready(i int) {
	if s.isBehind(i) {
		s.running = append(s.running, i)
		return
	}
	class := 0
	if s.late {
		class = s.class[i]
	}
	heap.Push(&s.any, class*len(s.done)+i)
	s.weigh(i)
}

// settle makes the readers of the last collective ready.
func (s *scheduler) settle(next int) {
	list := s.running
	s.running, s.last = nil, next
	for _, i := range list {
		s.ready(i)
	}
}

// weigh notes whether a step that can run frees more than it takes, or leads to a collective. The first
// writer of a buffer takes all of it.
func (s *scheduler) weigh(i int) {
	if s.freeing[i] || s.waits[i] > 0 || s.done[i] || s.isBehind(i) {
		return
	}
	class := s.class[i] + 1
	if s.collects[i] || s.completes(i) {
		class = 0
	}
	takes := 0
	for b := range s.plan.Steps[i].Buffers(ir.Out) {
		if s.unwritten[b] == len(s.writers[b]) && !(s.reads[i] && s.plan.Steps[i].replacesLeaf(b)) {
			takes += s.plan.Buffers[b].Bytes()
		}
	}
	for b := range s.plan.Steps[i].Buffers(ir.In) {
		if s.unread[b] == 1 {
			takes -= s.plan.Buffers[b].Bytes()
		}
	}
	if takes < little || class == 0 {
		s.freeing[i] = true
		heap.Push(&s.free, class*len(s.done)+i)
	}
}

func (b *Buffer) Bytes() int { return b.Len * b.DType.Size() }

// next returns the step to run.
func (s *scheduler) next() int {
	i, j := s.first(&s.free), s.first(&s.any)
	switch {
	case i >= 0 && s.late && s.class[i] > 0 && s.class[j] == 0:
		return j
	case i >= 0:
		return i
	case j >= 0:
		return j
	case s.running == nil:
		panic("compile: steps that wait for each other")
	}
	s.settle(-1)
	return s.next()
}

// first returns the first step of a queue that is yet to run, or -1.
func (s *scheduler) first(q *queue) int {
	for q.Len() > 0 {
		if i := (*q)[0] % len(s.done); !s.done[i] {
			return i
		}
		heap.Pop(q)
	}
	return -1
}

func (s *scheduler) run(i int) {
	s.done[i] = true
	if s.collects[i] {
		s.settle(i)
		s.started++
		for b := range s.buffers(i, ir.Out) {
			for _, r := range s.readers[b] {
				s.class[r] = s.started
			}
		}
	}
	for b := range s.buffers(i, ir.In) {
		if s.unread[b]--; s.unread[b] == 1 {
			for _, r := range s.readers[b] {
				s.weigh(r)
			}
		}
	}
	for b := range s.buffers(i, ir.Out) {
		first := s.unwritten[b] == len(s.writers[b])
		s.unwritten[b]--
		if first {
			for _, w := range s.writers[b] {
				s.weigh(w)
			}
		}
		for _, r := range s.readers[b] {
			switch s.waits[r]--; {
			case s.waits[r] == 0:
				s.ready(r)
			case s.collects[r]:
				s.weighOperands(r)
			}
		}
	}
}

// weighOperands weighs the steps that compute operands of a collective.
func (s *scheduler) weighOperands(i int) {
	for b := range s.plan.Steps[i].Buffers(ir.In) {
		for _, w := range s.writers[b] {
			s.weigh(w)
		}
	}
}

// A queue is a heap of steps, the first in order first.
type queue []int

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i] < q[j] }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(int)) }
func (q *queue) Pop() any {
	old := *q
	x := old[len(old)-1]
	*q = old[:len(old)-1]
	return x
}
