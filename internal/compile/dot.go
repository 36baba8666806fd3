package compile

import (
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// fromForward returns a kernel that computes row by row what this loop needs of a softmax, from what
// earlier loops are wanted to save. It returns nil if that is not possible.
//
// The gradient of a softmax needs Σₙ pₙ·(g·vₙ) for each row, with weights p, values v and the
// gradient g of the attention's result y. That is g·Σₙ pₙ·vₙ = g·y, and y is in memory, as in
// FlashAttention-2.
func (l *loop) fromForward(saved []savedValue) *merger {
	m := l.newMerger(ir.Reduce)
	m.ofRows, m.wanted = true, map[*loop][]savedValue{}
	for _, p := range l.rowParts {
		m.addAxis(p, true, ir.Parallel)
	}
	var known []int // buffers
	for _, x := range saved {
		if !slices.Contains(known, x.buffer) && m.want(x) {
			known = append(known, x.buffer)
		}
	}
	for _, x := range saved {
		if slices.Contains(known, x.buffer) {
			m.saved = append(m.saved, x)
		}
	}
	for _, x := range saved {
		if !slices.Contains(known, x.buffer) {
			m.save(x)
		}
	}
	if m.failed || !slices.ContainsFunc(m.step.Kernel.Body, func(in ir.Instr) bool { return in.Op == ir.Sum }) {
		return nil
	}
	return m
}

// want tells an earlier loop with the stage of a value to save it. It reports false if no earlier
// loop has the stage.
func (m *merger) want(x savedValue) bool {
	e, stage := m.earlier(x.stage)
	if e == nil {
		return false
	}
	x.stage = stage
	m.wanted[e] = append(m.wanted[e], x)
	return true
}

// wantNew is want of a value without a buffer. It returns the value's load.
func (m *merger) wantNew(at output) (load int, ok bool) {
	x := savedValue{output: at, dtype: m.stages[at.stage].step.Kernel.Body[at.instr].Type}
	if e, _ := m.earlier(at.stage); e == nil {
		return 0, false
	}
	x.buffer = m.newBuffer(Buffer{DType: x.dtype, Len: m.fuser.rows})
	m.want(x)
	m.saved = append(m.saved, x)
	return m.load(&x), true
}

// earlier returns an earlier loop with the step of a stage, and its stage there.
func (l *loop) earlier(n int) (*loop, int) {
	for _, e := range l.earlierLoops() {
		if t := slices.IndexFunc(e.stages, func(s *stage) bool { return s.from == l.stages[n].from }); t >= 0 {
			return e, t
		}
	}
	return nil, 0
}

// earlierLoops lists the loops before this one that divide rows as it does.
func (l *loop) earlierLoops() (list []*loop) {
	for _, e := range l.fuser.loops[:slices.Index(l.fuser.loops, l)] {
		if e.divided && slices.Equal(e.rowParts, l.rowParts) {
			list = append(list, e)
		}
	}
	return list
}

// A product of values of rows and columns, by which values of rows are multiplied or divided.
type factored struct {
	negative bool
	atoms    []output
	factors  []rowFactor
}

type rowFactor struct {
	op ir.Op // Mul or Div
	output
}

// factored divides a value of a stage into factors.
func (l *loop) factored(at output) (f factored) {
	at = l.resolve(at)
	s := l.stages[at.stage]
	k := s.step.Kernel
	in := &k.Body[at.instr]
	join := func(x factored) {
		f.negative = f.negative != x.negative
		f.atoms, f.factors = append(f.atoms, x.atoms...), append(f.factors, x.factors...)
	}
	switch {
	case !l.overColumns(at):
		f.factors = []rowFactor{{ir.Mul, at}}
	case in.Op == ir.Mul:
		join(l.factored(output{at.stage, in.Src[0]}))
		join(l.factored(output{at.stage, in.Src[1]}))
	case in.Op == ir.Neg:
		join(l.factored(output{at.stage, in.Src[0]}))
		f.negative = !f.negative
	case in.Op == ir.Div && !l.overColumns(output{at.stage, in.Src[1]}):
		join(l.factored(output{at.stage, in.Src[0]}))
		f.factors = append(f.factors, rowFactor{ir.Div, l.resolve(output{at.stage, in.Src[1]})})
	default:
		f.atoms = []output{at}
	}
	return f
}

// resolve follows a load to the value that another stage stores.
func (l *loop) resolve(at output) output {
	m := merger{loop: l}
	for {
		in := &l.stages[at.stage].step.Kernel.Body[at.instr]
		if in.Op != ir.Load {
			return at
		}
		w, ok := m.writer(l.stages[at.stage], in.Arg)
		if !ok || m.failed {
			return at
		}
		at = output{w.stage, l.stages[w.stage].step.Kernel.Body[w.instr].Src[0]}
	}
}

// overColumns reports whether a value varies over columns.
func (l *loop) overColumns(at output) bool {
	s := l.stages[at.stage]
	for a, c := range s.column {
		if c > 0 && s.step.Kernel.Body[at.instr].Domain.Has(a) {
			return true
		}
	}
	return false
}

// rowDot is a sum over columns as one over a head: see fromForward.
func (m *merger) rowDot(stage, i int) int {
	in := &m.stages[stage].step.Kernel.Body[i]
	f := m.factored(output{stage, in.Src[0]})
	if in.Op != ir.Sum || m.stages[stage].step.Kernel.Template != ir.Reduce || len(f.atoms) != 2 {
		return m.fail()
	}
	for n, score := range f.atoms {
		if sum, g, ok := m.forward(score, f.atoms[1-n]); ok {
			return m.multiplied(sum, f, g)
		}
	}
	return m.fail()
}

// forward finds the product of a weight and what a score multiplies its left factor by, in an
// earlier loop, and returns the sum over the depth of the score's left factor and that product,
// with the factors that the product has beside the weight.
func (m *merger) forward(score, weight output) (sum int, f factored, ok bool) {
	s := m.stages[score.stage]
	k := s.step.Kernel
	if k.Template != ir.Contraction || k.Body[score.instr].Op != ir.Sum || m.isAddition(s) {
		return 0, f, false
	}
	_, left, right := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
	if m.overColumns(output{score.stage, left}) {
		left, right = right, left
	}
	want, ok := s.layoutOf(right)
	if !ok || m.overColumns(output{score.stage, left}) {
		return 0, f, false
	}
	for _, e := range m.earlierLoops() {
		for t, o := range e.stages {
			store, factor, values, ok := e.productOf(t)
			if !ok {
				continue
			}
			got, ok := o.layoutOf(values)
			weights := e.factored(output{t, factor})
			if !ok || !got.equal(want) || len(weights.atoms) != 1 || weights.negative {
				continue
			}
			w := weights.atoms[0]
			if e.stages[w.stage].from != m.stages[weight.stage].from || w.instr != weight.instr {
				continue
			}
			for i := range weights.factors { // the same steps are stages of this loop
				x := &weights.factors[i]
				x.stage = slices.IndexFunc(m.stages, func(s *stage) bool { return s.from == e.stages[x.stage].from })
				if x.stage < 0 {
					return 0, f, false
				}
			}
			x := m.value(score.stage, left)
			y := m.loadProduct(e, t, store)
			typ := k.Body[score.instr].Type
			product := m.add(ir.Instr{Op: ir.Mul, Type: typ, Src: []int{x, y}})
			return m.add(ir.Instr{Op: ir.Sum, Type: typ, Src: []int{product}, Axes: m.step.Kernel.Roles(ir.Reduced)}), weights, true
		}
	}
	return 0, f, false
}

// isAddition reports whether a stage sums over rows or columns.
func (l *loop) isAddition(s *stage) bool {
	for a, x := range s.step.Kernel.Axes {
		if x.Role == ir.K && (s.stride[a] > 0 || s.column[a] > 0) {
			return true
		}
	}
	return false
}

// A layout is where a factor is in memory: an argument of the plan, and how far apart its elements
// are along rows, columns and the one other axis, by stride and length.
type layout struct {
	arg  Arg
	off  int
	coef map[[3]int]int
}

func (p layout) equal(q layout) bool {
	return p.arg == q.arg && p.off == q.off && maps.Equal(p.coef, q.coef)
}

// layoutOf returns the layout of a load. It reports false for other instructions, and for loads with
// guards or indices.
func (s *stage) layoutOf(i int) (p layout, ok bool) {
	k := s.step.Kernel
	in := &k.Body[i]
	if in.Op != ir.Load || len(in.View.Guards) > 0 || in.UsesIndex() {
		return p, false
	}
	p = layout{s.step.Args[in.Arg], in.View.Off, map[[3]int]int{}}
	others := 0
	for a, c := range in.View.Coef {
		if c == 0 || k.Axes[a].Len == 1 {
			continue
		}
		kind, stride := 0, s.stride[a]
		switch {
		case stride > 0:
		case s.column[a] > 0:
			kind, stride = 1, s.column[a]
		default:
			kind = 2
			others++
		}
		p.coef[[3]int{kind, stride, k.Axes[a].Len}] = c
	}
	return p, others <= 1
}

// productOf returns the Store of a stage that multiplies weights, and the factors.
func (l *loop) productOf(t int) (store, weights, values int, ok bool) {
	s := l.stages[t]
	k := s.step.Kernel
	if k.Template != ir.Contraction || s.adds || !l.isAddition(s) {
		return 0, 0, 0, false
	}
	sum, x, y := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
	if l.overScores(s, y) {
		x, y = y, x
	}
	if !l.overScores(s, x) || l.overScores(s, y) {
		return 0, 0, 0, false
	}
	store = slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op == ir.Store && in.Src[0] == sum && s.used[in.Arg] })
	return store, x, y, store >= 0
}

// loadProduct reads what a Store of a stage of an earlier loop has written. Its width is the depth
// of a score.
func (m *merger) loadProduct(e *loop, t, store int) int {
	s := e.stages[t]
	k := s.step.Kernel
	in := &k.Body[store]
	coef := make([]int, len(m.step.Kernel.Axes))
	depth := m.step.Kernel.Roles(ir.Reduced)
	for a, c := range in.View.Coef {
		switch x := k.Axes[a]; {
		case c == 0 || x.Len == 1:
		case s.stride[a] > 0:
			for _, p := range m.rowParts {
				if p.divides(s.stride[a], x.Len) {
					coef[m.at[p][true]] += c * (p.stride / s.stride[a])
				}
			}
		default:
			for b, y := range m.step.Kernel.Axes {
				if depth.Has(b) && y.Len == x.Len {
					coef[b] = c
				}
			}
		}
	}
	a, like := s.step.Args[in.Arg], k.Args[in.Arg]
	a.Kind, like.Kind, like.Len, like.Part = ir.In, ir.In, 0, false
	return m.add(ir.Instr{Op: ir.Load, Type: in.Type, Arg: m.arg(a, like), View: &ir.View{Off: in.View.Off, Coef: coef}})
}

// multiplied returns a sum times the factors of f, divided by the factors of without.
func (m *merger) multiplied(sum int, f, without factored) int {
	typ := m.step.Kernel.Body[sum].Type
	if f.negative {
		sum = m.add(ir.Instr{Op: ir.Neg, Type: typ, Src: []int{sum}})
	}
	factors := slices.Clone(f.factors)
	for _, x := range without.factors {
		if i := slices.Index(factors, x); i >= 0 {
			factors = slices.Delete(factors, i, i+1)
			continue
		}
		x.op = map[ir.Op]ir.Op{ir.Mul: ir.Div, ir.Div: ir.Mul}[x.op]
		factors = append(factors, x)
	}
	for _, x := range factors {
		sum = m.add(ir.Instr{Op: x.op, Type: typ, Src: []int{sum, m.value(x.stage, x.instr)}})
	}
	return sum
}

// reduces reports whether a value of a stage depends on a reduction in that stage.
func (m *merger) reduces(stage, i int) bool {
	return m.stages[stage].depends(i, func(in *ir.Instr) bool { return in.Op.Class() == ir.Reduction })
}
