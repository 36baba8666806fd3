package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// readAhead returns the plan with some loads moved to separate steps: loads of a Reduce beside its rows,
// such as the logit of each label, where only they keep it from running in place. It returns nil if no step
// has such loads. To move a result takes a machine longer than the launch of another step.
func (p *Plan) readAhead(outputs int, mayTake func(leaf, bytes int) bool, m ir.Machine) *Plan {
	l := newLiveness(p, outputs)
	q := *p
	q.Steps, q.Buffers = nil, slices.Clone(p.Buffers)
	for i := range p.Steps {
		q.Steps = append(q.Steps, l.readAhead(i, mayTake, m, &q)...)
	}
	if len(q.Steps) == len(p.Steps) {
		return nil
	}
	return &q
}

// readAhead returns step i, and before it a step of its moved loads, if it then can run in place. New
// buffers are added to a plan.
func (l *liveness) readAhead(i int, mayTake func(leaf, bytes int) bool, m ir.Machine, to *Plan) []Step {
	s := l.plan.Steps[i]
	if s.Loop != nil || s.Kernel.Template != ir.Reduce {
		return []Step{s}
	}
	for b := range s.Buffers(ir.Out) {
		bytes := to.Buffers[b].Bytes()
		if l.writers[b] > 1 || !m.IsWorthLaunch(bytes) {
			continue
		}
		out := s.output(b)
		for in, a := range s.Args {
			if !l.isFree(i, a, bytes, mayTake) {
				continue
			}
			if _, ok := s.Kernel.InPlace(out, in); ok {
				break
			}
			if steps, buffers := s.cutLoads(out, in, len(to.Buffers)); steps != nil {
				to.Buffers = append(to.Buffers, buffers...)
				return steps
			}
		}
	}
	return []Step{s}
}

// cutLoads moves loads of argument in that vary over the parallel axes alone, with their operands, into a
// step before this one, which reads their results from new buffers of the plan, numbered from next on. It
// returns no steps if this one cannot run in place even then, or if either would need more arguments than
// both have now.
func (s *Step) cutLoads(out, in, next int) (steps []Step, buffers []Buffer) {
	k := s.Kernel
	parallel := k.Roles(ir.Parallel)
	first, last := NewPart(k, ir.Pointwise, parallel), NewPart(k, k.Template, 1<<len(k.Axes)-1)
	view := &ir.View{Coef: ir.DenseStrides(k.Axes, parallel)}
	args, level := slices.Clone(s.Args), loopnest.Levels(k.Body)
	for i := range k.Body {
		x := &k.Body[i]
		if x.Op != ir.Load || x.Arg != in || x.Domain&^parallel != 0 || level[i] > 0 {
			continue
		}
		at, like := ir.StageArg{Index: len(args)}, ir.Arg{Kind: ir.Out, DType: k.Args[in].DType, Len: loopnest.Size(k, parallel), Align: true}
		args = append(args, Arg{Index: next + len(buffers)})
		buffers = append(buffers, Buffer{DType: like.DType, Len: like.Len})
		first.Add(ir.Instr{Op: ir.Store, Type: x.Type, Src: []int{first.Instr(i)}, Arg: first.Arg(at, like), View: view.Mapped(first.Coefs)})
		like = ir.Arg{Kind: ir.In, DType: like.DType, Align: true}
		last.Moved[i] = last.Add(ir.Instr{Op: ir.Load, Type: x.Type, Arg: last.Arg(at, like), View: view.Mapped(last.Coefs)})
	}
	for i := range k.Body {
		if k.Body[i].Op == ir.Store {
			last.Instr(i)
		}
	}
	before, after := s.Part(first, args), s.Part(last, args)
	number := func(arg int) int {
		return slices.IndexFunc(last.Args, func(a ir.StageArg) bool { return a.Index == arg })
	}
	if len(buffers) == 0 || number(in) < 0 || before.Indices != nil && after.Indices != nil { // a check belongs to one step
		return nil, nil
	}
	placed, ok := after.Kernel.InPlace(number(out), number(in))
	if !ok || len(placed.Args) > len(k.Args) || len(before.Args) > len(k.Args) {
		return nil, nil
	}
	return []Step{before, after}, buffers
}
