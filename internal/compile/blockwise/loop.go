package blockwise

import (
	"slices"

	"github.com/tensorken/tensorken/internal/compile"
	"github.com/tensorken/tensorken/ir"
)

// A loop is a loop that is being made.
type loop struct {
	*fuser
	stages  []*stage
	renamed map[int]int // buffers of steps that are computed again: their numbers in this loop
	temps   []int       // buffers that only stages of this loop read
	slots   []int       // the temporary that each of them is in
	out     ir.Loop
	args    []compile.Arg  // of out
	before  []compile.Step // store buffers that all blocks read
	finish  []compile.Step // compute the results from sums over blocks
}

// A stage is a step in a loop.
type stage struct {
	*member
	step compile.Step // with buffers as in the loop
	from int          // the number of the step in the plan
	used []bool       // by argument: it is written and something reads it
	sums int          // the buffer of partial sums, if the member adds
}

// add appends step i, after the steps of earlier loops that compute scores it reads. Their
// results get new buffers in this loop.
func (l *loop) add(i int, m *member, again bool) {
	s := &stage{member: m, step: l.p.Steps[i], from: i}
	for b := range s.step.Buffers(ir.In) {
		if !m.afterSum[b] && l.scores[b] && !l.stored(b) {
			w := l.writers[b][0]
			if known := slices.ContainsFunc(l.stages, func(s *stage) bool { return s.from == w }); !known {
				l.add(w, l.members[w], true)
			}
		}
	}
	s.step.Args = slices.Clone(s.step.Args)
	for k := range s.step.Args {
		a := &s.step.Args[k]
		if !a.IsBuffer() {
			continue
		}
		if a.Kind == ir.Out && again {
			l.renamed[a.Index] = l.newBuffer(*l.buffer(a.Index))
			l.scores[l.renamed[a.Index]] = l.scores[a.Index]
		}
		if b, ok := l.renamed[a.Index]; ok && !m.afterSum[a.Index] {
			a.Index = b
		}
	}
	l.stages = append(l.stages, s)
}

// stored reports whether later loops read scores from memory: if the plan returns them, if
// a step without a loop reads them, if computing them again is expensive, or if the step
// that computes them stores a part of another buffer.
func (f *fuser) stored(b int) bool {
	w := f.writers[b][0]
	if f.kept[b] || f.members[w] == nil {
		return true
	}
	k := f.p.Steps[w].Kernel
	if k.Template == ir.Contraction && !isShallow(&f.p.Steps[w]) || slices.ContainsFunc(k.Args, func(a ir.Arg) bool { return a.Part }) {
		return true
	}
	return slices.ContainsFunc(f.readers[b], func(i int) bool { return f.members[i] == nil })
}

// prune removes stages and marks stores that nothing needs. Used has the buffers that
// steps outside of the loop read, and gets those that the loop reads.
func (l *loop) prune(used map[int]bool) {
	local := map[int]bool{}
	for i, s := range slices.Backward(l.stages) {
		s.used = make([]bool, len(s.step.Args))
		for k := range s.step.Args {
			a := &s.step.Args[k]
			s.used[k] = a.Kind == ir.Out && (used[a.Index] || local[a.Index])
		}
		if !slices.Contains(s.used, true) {
			l.stages = slices.Delete(l.stages, i, i+1)
			continue
		}
		for b := range s.inputs() {
			local[b] = true
		}
	}
	written := map[int]bool{}
	for _, s := range l.stages {
		for b := range s.step.Buffers(ir.Out) {
			if local[b] && !used[b] && !written[b] {
				l.temps = append(l.temps, b)
			}
			written[b] = true
		}
	}
	for b := range local {
		used[b] = true
	}
}

// inputs returns the buffers that the stage reads for its used instructions. A stage that is
// computed again may use few: for a mask of dropout, it needs no scores, although a softmax
// in the same kernel does.
func (s *stage) inputs() map[int]bool {
	if s.adds {
		return inputs(&s.step, sumOf(s.step.Kernel))
	}
	var stores []int
	for i, in := range s.step.Kernel.Body {
		if in.Op == ir.Store && s.used[in.Arg] {
			stores = append(stores, i)
		}
	}
	return inputs(&s.step, stores...)
}

// align finds the rows of all stages once more, because a stage may read only rows of its
// own block from another. It reports false if one reads other rows.
func (l *loop) align() bool {
	count := map[int]int{} // stages that write a buffer
	read := map[int]bool{}
	for _, s := range l.stages {
		for b := range s.step.Buffers(ir.Out) {
			count[b]++
		}
		for b := range s.inputs() {
			read[b] = true
		}
	}
	for b, n := range count {
		if read[b] && (n > 1 || l.buffer(b).Len%l.fuser.rows != 0 || b < len(l.writers) && len(l.writers[b]) > 1) {
			return false
		}
	}
	scores := false
	for _, b := range l.temps {
		scores = scores || l.scores[b]
	}
	for _, s := range l.stages {
		m := l.member(&s.step, func(b int) bool { return count[b] > 0 && read[b] || l.scores[b] })
		if m == nil {
			return false
		}
		s.member = m
	}
	return scores
}

// build makes the loops and replaces the steps by them. It reports false, and changes
// nothing, if they are not worth it or not possible.
func (f *fuser) build() bool {
	used := map[int]bool{}
	for b := range f.p.Buffers {
		used[b] = f.kept[b] || slices.ContainsFunc(f.readers[b], func(i int) bool { return f.members[i] == nil || f.members[i].afterSum[b] })
	}
	for _, l := range slices.Backward(f.loops) {
		l.prune(used)
	}
	f.loops = slices.DeleteFunc(f.loops, func(l *loop) bool { return len(l.stages) == 0 })
	if f.repeats() {
		return false
	}
	for _, l := range f.loops {
		if !l.align() {
			return false
		}
	}
	for _, l := range f.loops {
		if !l.cut() {
			return false
		}
		l.hoist()
		l.assemble()
		if !l.binds() {
			return false
		}
	}
	steps := make([]compile.Step, 0, len(f.p.Steps))
	for i, s := range f.p.Steps {
		if f.members[i] == nil {
			steps = append(steps, s)
		}
	}
	for _, l := range f.loops {
		out := l.out // a plan that is kept does not keep l
		s := compile.Step{Loop: &out, Args: l.args, Node: l.stages[len(l.stages)-1].step.Node}
		for _, x := range l.stages {
			s.Stages = append(s.Stages, x.step)
		}
		steps = append(append(append(steps, l.before...), s), l.finish...)
	}
	f.p.Steps = steps
	f.p.Buffers = append(f.p.Buffers, f.newBuffers...)
	return true
}

// binds reports whether no kernel has too many buffers. A stage has one more than its step
// for a buffer whose rows it reads in two ways.
func (l *loop) binds() bool {
	s := compile.Step{Loop: &l.out}
	kernels := s.Kernels()
	for _, s := range slices.Concat(l.before, l.finish) {
		kernels = append(kernels, s.Kernel)
	}
	for _, k := range kernels {
		buffers := 0
		for _, a := range k.Args {
			if a.Kind != ir.Value {
				buffers++
			}
		}
		if f := l.bindings; f > 0 && buffers > f {
			return false
		}
	}
	return true
}

// repeats reports whether the loops compute more contractions again than half of the steps' own.
// Where scores build on the scores of the layer before, each loop would compute all layers
// again from the first.
func (f *fuser) repeats() bool {
	once, all := 0, 0
	for i, m := range f.members {
		if m != nil && f.p.Steps[i].Kernel.Template == ir.Contraction {
			once++
		}
	}
	for _, l := range f.loops {
		for _, s := range l.stages {
			if s.step.Kernel.Template == ir.Contraction {
				all++
			}
		}
	}
	return 2*(all-once) > once
}

// assemble makes the kernels of the loop, and the steps that finish sums.
func (l *loop) assemble() {
	o := &l.out
	for i := range o.Temps {
		o.Temps[i].Len *= o.Block
	}
	for _, s := range l.stages {
		if s.adds {
			l.finishSums(s)
		}
	}
	for _, s := range l.stages {
		o.Body = append(o.Body, l.stage(s, o.Block))
		if rest := o.Matrix % o.Block; rest > 0 {
			o.Last = append(o.Last, l.stage(s, rest))
		}
	}
}

// arg returns argument k of a stage's step as an argument of the stage in the loop, and as
// an argument of its kernel.
func (l *loop) arg(s *stage, k int) (ir.StageArg, ir.Arg) {
	a, like := s.step.Args[k], s.step.Kernel.Args[k]
	like.Part = like.Kind == ir.Out
	if a.IsBuffer() {
		if i := slices.Index(l.temps, a.Index); i >= 0 {
			like.Align, like.Part = true, false
			return ir.StageArg{Temp: true, Index: l.slots[i]}, like
		}
	}
	return ir.StageArg{Index: l.share(a, like)}, like
}

// share returns the number of a among the loop's arguments. A buffer that one stage writes
// and another reads is one argument.
func (l *loop) share(a compile.Arg, like ir.Arg) int {
	i := slices.IndexFunc(l.args, func(b compile.Arg) bool {
		return (a.Kind == ir.Value) == (b.Kind == ir.Value) && a.Leaf == b.Leaf && a.Index == b.Index && a.Offset == b.Offset
	})
	if i < 0 {
		i = len(l.args)
		l.args, l.out.Args = append(l.args, a), append(l.out.Args, like)
	}
	if a.Kind == ir.Out {
		like.Len = l.buffer(a.Index).Len - a.Offset
		l.args[i].Kind, l.out.Args[i] = ir.Out, like
	}
	return i
}

// stage returns the kernel of a stage for n rows.
func (l *loop) stage(s *stage, n int) ir.Stage {
	k := s.step.Kernel
	c := newSlicer(&s.rows, k, n)
	c.Locate = func(arg int) (ir.StageArg, ir.Arg) { return l.arg(s, arg) }
	c.rowStride = func(arg int) int { return l.rowStride(s.step.Args[arg].Index) }
	if s.adds {
		l.addSum(c, s)
	} else {
		for i := range k.Body {
			if in := &k.Body[i]; in.Op == ir.Store && s.used[in.Arg] {
				c.Instr(i)
			}
		}
	}
	return c.stage()
}
