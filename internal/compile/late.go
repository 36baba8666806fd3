package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// replaceLate returns the plan with steps that replace a leaf moved behind the last step that reads it, so
// that the result can have the leaf's memory: the gradient of weights, in whose kernel an optimizer updates
// them, behind the gradient of the layer's input. It returns nil if no step can move.
func (p *Plan) replaceLate(outputs int, mayTake func(leaf, bytes int) bool) *Plan {
	l := newLiveness(p, outputs)
	q := *p
	q.Steps = slices.Clone(p.Steps)
	at := make([]int, len(p.Steps)) // where steps are in q
	for i := range at {
		at[i] = i
	}
	moved := false
	for i := len(p.Steps) - 1; i >= 0; i-- { // steps before i have not moved
		last := l.readsBefore(i, mayTake)
		if last < 0 || !q.commutes(i, at[last]) {
			continue
		}
		moved = true
		s := q.Steps[i]
		copy(q.Steps[i:], q.Steps[i+1:at[last]+1])
		q.Steps[at[last]] = s
		to := at[last]
		for k, where := range at[i:] {
			if where > i && where <= to {
				at[i+k]--
			}
		}
		at[i] = to
	}
	if !moved {
		return nil
	}
	return &q
}

// readsBefore returns the last step that reads a leaf whose memory a result of step i that stays could
// have, were step i behind it, or -1.
func (l *liveness) readsBefore(i int, mayTake func(leaf, bytes int) bool) int {
	s, end := &l.plan.Steps[i], len(l.plan.Steps)
	if s.Loop != nil {
		return -1
	}
	for b := range s.Buffers(ir.Out) {
		out := s.output(b)
		if l.last[b] < end || l.writers[b] > 1 || s.Kernel.Args[out].Part {
			continue
		}
		for in, a := range s.Args {
			if a.Kind != ir.In || !a.Leaf || a.Offset != 0 || !mayTake(a.Index, l.plan.Buffers[b].Bytes()) {
				continue
			}
			last := l.lastLeaf[l.plan.memoryOf(a.Index)]
			if _, ok := s.Kernel.InPlace(out, in); ok && last > i && last < end {
				return last
			}
		}
	}
	return -1
}

// commutes reports whether step i may as well run right after step j, a later one.
func (p *Plan) commutes(i, j int) bool {
	s := &p.Steps[i]
	if s.Check() >= 0 { // others wait for its report
		return false
	}
	for k := i + 1; k <= j; k++ {
		for b := range s.Buffers(ir.Out) {
			for in := range p.Steps[k].Buffers(ir.In) {
				if in == b {
					return false
				}
			}
		}
	}
	return true
}
