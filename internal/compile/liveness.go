package compile

import (
	"maps"
	"slices"

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

// AssignMemory assigns the buffers to slots. Where an operand of a step dies with it and the kernel can
// run in place, the result takes the operand's memory; of leaves, only that of those that may be taken.
// Size rounds bytes up to one of the device's sizes.
func (p *Plan) AssignMemory(mayTake func(leaf int) bool, size func(bytes int) int) Memory {
	l := newLiveness(p)
	for i := range p.Steps {
		l.runInPlace(i, mayTake)
	}
	return l.assign(size)
}

// A liveness knows when a plan uses its buffers and leaves.
type liveness struct {
	plan     *Plan
	writers  []int       // by buffer: how many steps write it
	last     []int       // by buffer: the last step that uses it; the number of steps for an output
	lastLeaf map[int]int // by leaf
	takes    []Arg       // by buffer: the operand whose memory it takes; of Kind 0 if it takes none
	takers   []int       // the buffers that take memory, in the order of the steps
}

func newLiveness(p *Plan) *liveness {
	n := len(p.Buffers)
	l := &liveness{plan: p, writers: make([]int, n), last: make([]int, n), lastLeaf: map[int]int{}, takes: make([]Arg, n)}
	note := func(leaf bool, index, step int) {
		if leaf {
			l.lastLeaf[index] = step
		} else {
			l.last[index] = step
		}
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for b := range s.buffers(ir.Out) {
			l.writers[b]++
		}
		for k := range s.Args {
			if a := &s.Args[k]; a.Leaf || isPlanBuffer(a) {
				note(a.Leaf, a.Index, i)
			}
		}
	}
	for _, o := range p.Outputs {
		note(o.Leaf, o.Index, len(p.Steps))
	}
	return l
}

// runInPlace lets the results of step i take the memory of operands that die with it.
func (l *liveness) runInPlace(i int, mayTake func(leaf int) bool) {
	s := &l.plan.Steps[i]
	if s.Loop != nil {
		return
	}
	for b := range s.buffers(ir.Out) {
		if l.writers[b] > 1 {
			continue
		}
		out := slices.IndexFunc(s.Args, func(a Arg) bool { return a.Kind == ir.Out && a.Index == b })
		for in, a := range s.Args {
			if !l.dies(i, a) || a.Leaf && !mayTake(a.Index) {
				continue
			}
			if k, ok := s.Kernel.InPlace(out, in); ok {
				s.Kernel, s.Args = k, slices.Delete(slices.Clone(s.Args), in, in+1)
				l.takes[b] = a
				l.takers = append(l.takers, b)
				break
			}
		}
	}
}

// dies reports whether an argument of step i is whole memory that is used nowhere else from then on.
func (l *liveness) dies(i int, a Arg) bool {
	if a.Kind != ir.In || a.Report || a.Offset != 0 {
		return false
	}
	last := l.last
	if a.Leaf && l.lastLeaf[a.Index] != i || !a.Leaf && last[a.Index] != i {
		return false
	}
	uses := 0
	for _, b := range l.plan.Steps[i].Args {
		if b.Leaf == a.Leaf && (b.Leaf || isPlanBuffer(&b)) && b.Index == a.Index {
			uses++
		}
	}
	return uses == 1
}

// assign assigns slots in the order of the steps. A buffer that is no output leaves its slot to others.
func (l *liveness) assign(size func(int) int) Memory {
	p, end := l.plan, len(l.plan.Steps)
	kept := make([]bool, len(p.Buffers))  // an output is in the memory at the end
	moved := make([]bool, len(p.Buffers)) // the memory has another buffer, or is idle
	for b := range kept {
		kept[b] = l.last[b] == end
	}
	for _, b := range slices.Backward(l.takers) {
		if a := &l.takes[b]; !a.Leaf {
			moved[a.Index], kept[a.Index] = true, kept[b]
		}
	}
	m := Memory{Slot: slices.Repeat([]int{-1}, len(p.Buffers))}
	idle := idleSlots{}
	assign := func(b int) {
		leaf := -1
		switch from := &l.takes[b]; {
		case from.Leaf:
			leaf = from.Index
		case from.Kind == ir.In:
			m.Slot[b] = m.Slot[from.Index]
			return
		case !kept[b]:
			if m.Slot[b] = idle.take(size(p.Buffers[b].bytes())); m.Slot[b] >= 0 {
				return
			}
		}
		m.Slot[b] = len(m.Slots)
		m.Slots = append(m.Slots, Slot{size(p.Buffers[b].bytes()), leaf})
	}
	for i := range p.Steps {
		s := &p.Steps[i]
		for k := range s.Args {
			if a := &s.Args[k]; isPlanBuffer(a) && m.Slot[a.Index] < 0 {
				assign(a.Index)
			}
		}
		for k := range s.Args {
			if a := &s.Args[k]; isPlanBuffer(a) && l.last[a.Index] == i && !moved[a.Index] {
				moved[a.Index] = true
				at := m.Slot[a.Index]
				idle.put(m.Slots[at].Bytes, at)
			}
		}
	}
	for _, o := range p.Outputs { // empty ones, which no step writes
		if !o.Leaf && m.Slot[o.Index] < 0 {
			assign(o.Index)
		}
	}
	return m
}

// idleSlots has the slots that are in no use, by size.
type idleSlots map[int][]int

func (s idleSlots) put(bytes, slot int) { s[bytes] = append(s[bytes], slot) }

// take returns a slot of the least size that has room, and wastes no more than half of it; -1 if there is none.
func (s idleSlots) take(bytes int) int {
	best := 0
	for size := range maps.Keys(s) {
		if size >= bytes && size <= 2*bytes && (best == 0 || size < best) {
			best = size
		}
	}
	list := s[best]
	if len(list) == 0 {
		return -1
	}
	slot := list[len(list)-1]
	if s[best] = list[:len(list)-1]; len(s[best]) == 0 {
		delete(s, best)
	}
	return slot
}
