package compile

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// isGather reports whether a collective has leaves alone as operands.
func (s *Step) isGather() bool {
	return !slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Kind == ir.In && !a.Leaf })
}

// readsOf reports whether a step reads a result of another.
func (s *Step) readsOf(o *Step) bool {
	for b := range o.Buffers(ir.Out) {
		if slices.ContainsFunc(s.Args, func(a Arg) bool { return a.Kind == ir.In && a.IsBuffer() && a.Index == b }) {
			return true
		}
	}
	return false
}

// replacesLeaf reports whether a step, such as the update of a parameter, can write a buffer where a leaf is.
func (s *Step) replacesLeaf(b int) bool {
	for in, a := range s.Args {
		if s.Kernel != nil && a.Leaf && a.Kind == ir.In && a.Offset == 0 {
			if _, ok := s.Kernel.InPlace(s.output(b), in); ok {
				return true
			}
		}
	}
	return false
}

// updateLate returns the plan in the order of a late schedule, nil if no collective reads results of the plan, or one
// gathers parameters: they are divided to save memory. It is nil, too, if collectives have another order then: ranks may
// choose otherwise, as donations and memory are their own.
func (p *Plan) updateLate() *Plan {
	collective := func(gathers bool) bool {
		return slices.ContainsFunc(p.Steps, func(s Step) bool { return s.Collective() >= 0 && s.isGather() == gathers })
	}
	if !collective(false) || collective(true) {
		return nil
	}
	q := *p
	q.Steps = slices.Clone(p.Steps)
	q.schedule(true)
	order := func(p *Plan) (list []int) {
		for i := range p.Steps {
			if c := p.Steps[i].Collective(); c >= 0 {
				list = append(list, c)
			}
		}
		return list
	}
	if !slices.Equal(order(&q), order(p)) {
		return nil
	}
	return &q
}

// prefetch starts each collective of leaves alone, such as the gather of a layer's parameters, where the one before it
// had its place. So it runs beside the kernels of the layer before, and memory has two layers' results at most.
func (p *Plan) prefetch() {
	var gathers []int
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Collective() >= 0 && s.isGather() {
			gathers = append(gathers, i)
		}
	}
	if len(gathers) < 2 {
		return
	}
	steps, k := make([]Step, 0, len(p.Steps)), 0
	for i := range p.Steps {
		if k == len(gathers) || i != gathers[k] {
			steps = append(steps, p.Steps[i])
			continue
		}
		if k == 0 {
			steps = append(steps, p.Steps[i])
		}
		if k++; k < len(gathers) {
			steps = append(steps, p.Steps[gathers[k]])
		}
	}
	p.Steps = steps
}

// holdOperands keeps the operands of a collective until the next one that reads results of the plan: a kernel that took
// their memory before would wait for the collective.
func (l *liveness) holdOperands() {
	next := len(l.plan.Steps) - 1
	for i := len(l.plan.Steps) - 1; i >= 0; i-- {
		s := &l.plan.Steps[i]
		if s.Collective() < 0 {
			continue
		}
		computed := false
		for _, a := range s.Args {
			if a.Kind == ir.In && a.IsBuffer() {
				computed = true
				l.last[a.Index] = max(l.last[a.Index], next)
			}
		}
		if computed {
			next = i
		}
	}
}
