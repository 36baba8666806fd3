package compile

import (
	"maps"
	"slices"
	"sort"

	"github.com/tensorken/tensorken/ir"
)

// A Memory says where the buffers of a plan are. Buffers that are not used at the same time share a slot.
type Memory struct {
	Slots []Slot
	Slot  []int // by buffer; -1 for one of a loop alone
}

// A Slot is memory that a plan needs while it runs.
type Slot struct {
	Bytes int
	Leaf  int // whose memory the slot is; -1 if it is acquired
}

// Bytes is the size of all slots.
func (m *Memory) Bytes() (n int) {
	for _, s := range m.Slots {
		n += s.Bytes
	}
	return n
}

// AssignMemory assigns the buffers to slots, for the first of the outputs. Where an operand of a step dies
// with it and the kernel can run in place, the result takes the operand's memory, if it has as many bytes.
// A leaf's memory is taken only if mayTake allows it. With mayTake nil nothing runs in place. Size rounds
// bytes up to one of the device's sizes, of a machine. The plan gets the order of updateLate if slots are then at
// most a tenth larger, the order of replaceLate if all slots are smaller, and the additional steps of readAhead if they
// are a tenth smaller: less is not worth a launch in each run.
func (p *Plan) AssignMemory(outputs int, mayTake func(leaf, bytes int) bool, size func(bytes int) int, machine ir.Machine) Memory {
	p.prefetch()
	if mayTake == nil {
		return newLiveness(p, outputs).assign(size)
	}
	if late := p.updateLate(); late != nil && 10*late.bytes(outputs, mayTake, size) <= 11*p.bytes(outputs, mayTake, size) {
		*p = *late
	}
	if late := p.replaceLate(outputs, mayTake); late != nil && late.bytes(outputs, mayTake, size) < p.bytes(outputs, mayTake, size) {
		*p = *late
	}
	ahead := p.readAhead(outputs, mayTake, machine)
	m := p.assignMemory(outputs, mayTake, size)
	if ahead == nil {
		return m
	}
	less := ahead.assignMemory(outputs, mayTake, size)
	if 10*less.Bytes() > 9*m.Bytes() {
		return m
	}
	*p = *ahead
	return less
}

func (p *Plan) assignMemory(outputs int, mayTake func(leaf, bytes int) bool, size func(bytes int) int) Memory {
	l := newLiveness(p, outputs)
	for i := range p.Steps {
		l.runInPlace(i, mayTake)
	}
	return l.assign(size)
}

// bytes is the size of the slots that assignMemory acquires.
func (p *Plan) bytes(outputs int, mayTake func(leaf, bytes int) bool, size func(bytes int) int) (n int) {
	q := *p
	q.Steps = slices.Clone(p.Steps)
	for _, s := range q.assignMemory(outputs, mayTake, size).Slots {
		if s.Leaf < 0 {
			n += s.Bytes
		}
	}
	return n
}

// A liveness knows when a plan uses its buffers and leaves.
type liveness struct {
	plan     *Plan
	outputs  []Output    // that stay
	writers  []int       // by buffer: how many steps write it
	last     []int       // by buffer: the last step that uses it; the number of steps for an output
	lastLeaf map[int]int // by leaf
	takes    []Arg       // by buffer: the operand whose memory it takes; of Kind 0 if it takes none
}

func newLiveness(p *Plan, outputs int) *liveness {
	n := len(p.Buffers)
	l := &liveness{plan: p, outputs: p.Outputs[:outputs], writers: make([]int, n), last: make([]int, n), lastLeaf: map[int]int{}, takes: make([]Arg, n)}
	note := func(leaf bool, index, step int) {
		if leaf {
			l.lastLeaf[p.memoryOf(index)] = step
		} else {
			l.last[index] = step
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for b := range s.Buffers(ir.Out) {
			l.writers[b]++
		}
		for k := range s.Args {
			if a := &s.Args[k]; a.Leaf || a.IsBuffer() {
				note(a.Leaf, a.Index, i)
			}
		}
	}
	for _, o := range l.outputs {
		note(o.Leaf, o.Index, len(p.Steps))
	}
	l.holdOperands()
	return l
}

// runInPlace lets the results of step i take the memory of operands that die with it: of leaves rather than
// of buffers, whose slots others may have from then on.
func (l *liveness) runInPlace(i int, mayTake func(leaf, bytes int) bool) {
	s := &l.plan.Steps[i]
	if s.Loop != nil {
		return
	}
	for b := range s.Buffers(ir.Out) {
		if l.writers[b] > 1 {
			continue
		}
		if s.Kernel.Args[s.output(b)].Part { // its elements may begin elsewhere than the operand's
			continue
		}
		if !l.runsInPlace(i, b, true, mayTake) {
			l.runsInPlace(i, b, false, mayTake)
		}
	}
}

// runsInPlace lets buffer b, a result of step i, take the memory of a leaf, or of a buffer, if it can.
func (l *liveness) runsInPlace(i, b int, leaf bool, mayTake func(leaf, bytes int) bool) bool {
	s := &l.plan.Steps[i]
	for in, a := range s.Args {
		if a.Leaf != leaf || !l.isFree(i, a, l.plan.Buffers[b].Bytes(), mayTake) {
			continue
		}
		if k, ok := s.Kernel.InPlace(s.output(b), in); ok {
			s.Kernel, s.Args = k, slices.Delete(slices.Clone(s.Args), in, in+1)
			l.takes[b] = a
			return true
		}
	}
	return false
}

// memoryOf returns the first of the leaves that are in the memory of one.
func (p *Plan) memoryOf(leaf int) int {
	if p.LeafMemory == nil {
		return leaf
	}
	return p.LeafMemory[leaf]
}

// output is the argument by which a step writes a buffer.
func (s *Step) output(b int) int {
	return slices.IndexFunc(s.Args, func(a Arg) bool { return a.Kind == ir.Out && a.Index == b })
}

// isFree reports whether a result of step i, of so many bytes, may take the memory of an argument.
func (l *liveness) isFree(i int, a Arg, bytes int, mayTake func(leaf, bytes int) bool) bool {
	switch {
	case !l.dies(i, a):
		return false
	case a.Leaf:
		return mayTake(a.Index, bytes)
	}
	return l.plan.Buffers[a.Index].Bytes() == bytes
}

// dies reports whether an argument of step i is whole memory that is used nowhere else from then on.
func (l *liveness) dies(i int, a Arg) bool {
	if a.Kind != ir.In || a.Report || a.Offset != 0 {
		return false
	}
	last := l.last
	if a.Leaf && l.lastLeaf[l.plan.memoryOf(a.Index)] != i || !a.Leaf && last[a.Index] != i {
		return false
	}
	uses := 0
	for _, b := range l.plan.Steps[i].Args {
		if b.Leaf && a.Leaf && l.plan.memoryOf(b.Index) == l.plan.memoryOf(a.Index) || !a.Leaf && b.IsBuffer() && b.Index == a.Index {
			uses++
		}
	}
	return uses == 1
}

// A tenancy is the steps in which a slot has buffers: one, or several in a chain, each of which takes the
// memory of the one before.
type tenancy struct {
	first, last int // steps
	bytes, leaf int
	buffers     []int
	kept        bool // an output is in the slot at the end
}

// assign assigns slots, the largest first: a buffer gets the smallest slot that is free from its first step
// to its last. Outputs, and results that take a leaf's memory, have slots of their own until the end.
func (l *liveness) assign(size func(int) int) Memory {
	bySize := map[int][]*tenancy{}
	for _, t := range l.tenancies(size) {
		bySize[t.bytes] = append(bySize[t.bytes], t)
	}
	m := Memory{Slot: slices.Repeat([]int{-1}, len(l.plan.Buffers))}
	var busy [][]*tenancy // by slot, in the order of the steps
	for _, bytes := range slices.Backward(slices.Sorted(maps.Keys(bySize))) {
		for _, t := range bySize[bytes] {
			slot, at := -1, 0
			for k := len(busy) - 1; k >= 0 && slot < 0 && !t.kept && t.leaf < 0; k-- {
				b := busy[k]
				n := sort.Search(len(b), func(i int) bool { return b[i].first > t.first })
				if (n == 0 || b[n-1].last < t.first) && (n == len(b) || t.last < b[n].first) {
					slot, at = k, n
				}
			}
			if slot < 0 {
				slot = len(busy)
				busy = append(busy, nil)
				m.Slots = append(m.Slots, Slot{bytes, t.leaf})
			}
			busy[slot] = append(busy[slot], t)
			copy(busy[slot][at+1:], busy[slot][at:])
			busy[slot][at] = t
			for _, b := range t.buffers {
				m.Slot[b] = slot
			}
		}
	}
	return m
}

// tenancies returns the tenancies in the order of their first steps.
func (l *liveness) tenancies(size func(int) int) (list []*tenancy) {
	p, end := l.plan, len(l.plan.Steps)
	of := make([]*tenancy, len(p.Buffers))
	use := func(b, step int) {
		t := of[b]
		if t == nil {
			if a := &l.takes[b]; a.Kind == ir.In && !a.Leaf {
				t = of[a.Index]
			} else {
				t = &tenancy{first: step, bytes: size(p.Buffers[b].Bytes()), leaf: -1}
				if a.Leaf {
					t.leaf, t.first = a.Index, 0
				}
				list = append(list, t)
			}
			of[b] = t
			t.buffers = append(t.buffers, b)
		}
		t.last = step
		if step == end {
			t.kept, t.first = true, 0
		}
	}
	for i := range p.Steps {
		for k := range p.Steps[i].Args {
			if a := &p.Steps[i].Args[k]; a.IsBuffer() {
				use(a.Index, i)
			}
		}
	}
	for b, t := range of {
		if t != nil {
			t.last = max(t.last, l.last[b])
		}
	}
	for _, o := range l.outputs {
		if !o.Leaf {
			use(o.Index, end)
		}
	}
	return list
}
