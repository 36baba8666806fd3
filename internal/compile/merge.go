package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A merger makes one kernel of the stages of a loop: what one stage stores for another is a
// value in it.
type merger struct {
	*loop
	swapped bool // rows are summed over
	plain   bool // sums keep their factors: see factors
	ofRows  bool // the kernel has no columns: rowDot replaces sums over them
	saved   []savedValue
	wanted  map[*loop][]savedValue // from earlier loops
	step    Step
	moved   map[output]int        // instructions: where they are in the new body
	texts   map[string]int        // of the new body
	reduced []bool                // of the first instructions of the new body: see isReduced
	axes    map[[2]int]int        // of stages, by stage and axis, that are no rows or columns
	at      map[part]map[bool]int // rows (true) and columns: their axes
	failed  bool
}

// newMerger starts a kernel of a template.
func (l *loop) newMerger(t ir.Template) *merger {
	return &merger{
		loop: l, step: Step{Kernel: &ir.Kernel{Template: t}, Node: l.stages[len(l.stages)-1].step.Node},
		moved: map[output]int{}, texts: map[string]int{}, axes: map[[2]int]int{}, at: map[part]map[bool]int{},
	}
}

// merge starts a kernel with some outputs, which reads saved values.
func (l *loop) merge(swapped bool, saved []savedValue, outputs []output) *merger {
	m := l.newMerger(ir.Attention)
	m.swapped, m.saved = swapped, saved
	outer, inner := ir.M, ir.N
	if swapped {
		outer, inner = inner, outer
	}
	for _, p := range l.rowParts {
		role := outer
		if p.batch {
			role = ir.Batch
		}
		m.addAxis(p, true, role)
	}
	for _, p := range l.columnParts {
		m.addAxis(p, false, inner)
	}
	for _, o := range outputs {
		m.value(o.stage, o.instr)
		m.step.Node = l.stages[o.stage].step.Node
	}
	return m
}

func (m *merger) addAxis(p part, rows bool, role ir.Role) {
	k := m.step.Kernel
	if m.at[p] == nil {
		m.at[p] = map[bool]int{}
	}
	m.at[p][rows] = len(k.Axes)
	k.Axes = append(k.Axes, ir.Axis{Len: p.len, Role: role})
}

// A term is an axis of the new kernel and by how much a position along it moves that along
// an axis of a stage.
type term struct{ axis, factor int }

// terms returns the axes that an axis of a stage has become.
func (m *merger) terms(stage, a int) []term {
	s := m.stages[stage]
	x := s.step.Kernel.Axes[a]
	over := func(parts []part, rows bool, stride int) (list []term) {
		for _, p := range parts {
			if p.divides(stride, x.Len) {
				list = append(list, term{m.at[p][rows], p.stride / stride})
			}
		}
		return list
	}
	switch {
	case s.stride[a] > 0:
		return over(m.rowParts, true, s.stride[a])
	case s.column[a] > 0 && m.ofRows:
		m.failed = true
		return nil
	case s.column[a] > 0:
		return over(m.columnParts, false, s.column[a])
	}
	at, ok := m.axes[[2]int{stage, a}]
	if !ok {
		at = len(m.step.Kernel.Axes)
		role := ir.Width
		switch {
		case m.ofRows:
			role = ir.Reduced
		case x.Role == ir.K:
			role = ir.K
		}
		if x.Len > m.limits.Attention {
			m.failed = true
		}
		m.step.Kernel.Axes = append(m.step.Kernel.Axes, ir.Axis{Len: x.Len, Role: role})
		m.axes[[2]int{stage, a}] = at
	}
	return []term{{at, 1}}
}

// coefs returns the coefficients of the new kernel's axes; they may be more later.
func (m *merger) coefs(stage int, coef []int) []int {
	c := map[int]int{}
	for a, f := range coef {
		if f != 0 && m.stages[stage].step.Kernel.Axes[a].Len > 1 {
			for _, t := range m.terms(stage, a) {
				c[t.axis] += f * t.factor
			}
		}
	}
	list := make([]int, len(m.step.Kernel.Axes))
	for a, f := range c {
		list[a] = f
	}
	return list
}

// add appends an instruction, or returns an equal one.
func (m *merger) add(in ir.Instr) int {
	k := m.step.Kernel
	k.Body = append(k.Body, in)
	last := len(k.Body) - 1
	k.Body[last].Domain = k.Varies(last)
	text := string(k.Body[last].Append(nil, 0))
	if known, ok := m.texts[text]; ok && in.Op != ir.Store {
		k.Body = k.Body[:last]
		return known
	}
	m.texts[text] = last
	return last
}

// value copies an instruction of a stage after its operands, and returns its number.
func (m *merger) value(stage, i int) int {
	at := output{stage, i}
	if n, ok := m.moved[at]; ok {
		return n
	}
	n := m.copy(stage, i)
	m.moved[at] = n
	return n
}

func (m *merger) copy(stage, i int) int {
	s := m.stages[stage]
	in := s.step.Kernel.Body[i]
	if x := m.savedAt(stage, i); x != nil {
		if x.inverse {
			return m.invert(m.load(x))
		}
		return m.load(x)
	}
	if in.Op == ir.Div {
		if x := m.savedAt(stage, in.Src[1]); x != nil && x.inverse {
			return m.add(ir.Instr{Op: ir.Mul, Type: in.Type, Src: []int{m.value(stage, in.Src[0]), m.load(x)}})
		}
	}
	if in.Op == ir.Load {
		if w, ok := m.writer(s, in.Arg); ok {
			return m.value(w.stage, m.stages[w.stage].step.Kernel.Body[w.instr].Src[0])
		}
	}
	if m.ofRows && m.reduces(stage, i) {
		if load, ok := m.wantNew(output{stage, i}); ok {
			return load
		}
	}
	if in.Op.Class() == ir.Reduction {
		if m.ofRows {
			return m.rowDot(stage, i)
		}
		return m.reduction(stage, &in)
	}
	in.Src = slices.Clone(in.Src)
	for k, j := range in.Src {
		in.Src[k] = m.value(stage, j)
	}
	switch in.Op {
	case ir.Scalar, ir.Load, ir.Store:
		a, like := s.step.Args[in.Arg], s.step.Kernel.Args[in.Arg]
		if in.Op == ir.Load && like.Kind != ir.In {
			m.failed = true // it is replaced
		}
		in.Arg = m.arg(a, like)
	case ir.Index:
		return m.position(stage, in.Axis)
	}
	if in.View != nil {
		v := *in.View
		if in.Op == ir.InBounds {
			v.Coef = nil
		} else {
			v.Coef = m.coefs(stage, v.Coef)
		}
		v.Guards = slices.Clone(v.Guards)
		for g := range v.Guards {
			v.Guards[g].Coef = m.coefs(stage, v.Guards[g].Coef)
		}
		in.View = &v
	}
	return m.add(in)
}

// fail says that there is no kernel, and returns the number of an instruction.
func (m *merger) fail() int {
	m.failed = true
	return m.add(ir.Instr{Op: ir.Const, Type: ir.Float32})
}

// savedAt returns the saved value of an instruction, or nil.
func (m *merger) savedAt(stage, i int) *savedValue {
	k := slices.IndexFunc(m.saved, func(x savedValue) bool { return x.output == output{stage, i} })
	if k < 0 {
		return nil
	}
	return &m.saved[k]
}

// load reads a saved value, or its inverse.
func (m *merger) load(x *savedValue) int {
	a, like := Arg{Kind: ir.In, Index: x.buffer}, ir.Arg{Kind: ir.In, DType: x.dtype, Align: true}
	return m.add(ir.Instr{Op: ir.Load, Type: x.dtype, Arg: m.arg(a, like), View: m.rowView()})
}

// invert is 1 over a value.
func (m *merger) invert(i int) int {
	d := m.step.Kernel.Body[i].Type
	one := m.add(ir.Instr{Op: ir.Const, Type: d, Num: ir.Float(d, 1)})
	return m.add(ir.Instr{Op: ir.Div, Type: d, Src: []int{one, i}})
}

// position is the Index along an axis of a stage.
func (m *merger) position(stage, a int) int {
	sum := -1
	for _, t := range m.terms(stage, a) {
		x := m.add(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: t.axis})
		if t.factor > 1 {
			f := m.add(ir.Instr{Op: ir.Const, Type: ir.Int32, Num: ir.Int(ir.Int32, int64(t.factor))})
			x = m.add(ir.Instr{Op: ir.Mul, Type: ir.Int32, Src: []int{x, f}})
		}
		if sum >= 0 {
			x = m.add(ir.Instr{Op: ir.Add, Type: ir.Int32, Src: []int{sum, x}})
		}
		sum = x
	}
	return sum
}

// writer finds the Store of a stage that writes what another one loads for its rows and columns.
func (m *merger) writer(s *stage, arg int) (o output, ok bool) {
	a := &s.step.Args[arg]
	if !isPlanBuffer(a) || s.late[a.Index] {
		return o, false
	}
	for n, w := range m.stages {
		for i, in := range w.step.Kernel.Body {
			if in.Op != ir.Store || w.step.Args[in.Arg].Index != a.Index || !isPlanBuffer(&w.step.Args[in.Arg]) {
				continue
			}
			b := m.buffer(a.Index)
			stored := w.step.Kernel.Body[in.Src[0]].Type
			if !m.isScores(a.Index) && b.Len != m.fuser.rows || !stored.IsFloat() && stored != b.DType {
				m.failed = true
			}
			return output{n, i}, true
		}
	}
	return o, false
}

// arg returns the number of an argument of the new kernel.
func (m *merger) arg(a Arg, like ir.Arg) int {
	i := slices.Index(m.step.Args, a)
	if i < 0 {
		i = len(m.step.Args)
		m.step.Args = append(m.step.Args, a)
		m.step.Kernel.Args = append(m.step.Kernel.Args, like)
	}
	return i
}

// rowView is the view of a buffer with an element for each row.
func (m *merger) rowView() *ir.View {
	v := &ir.View{Coef: make([]int, len(m.step.Kernel.Axes))}
	for _, p := range m.rowParts {
		v.Coef[m.at[p][true]] = p.stride
	}
	return v
}

// save stores a value of rows for later kernels.
func (m *merger) save(x savedValue) {
	a := Arg{Kind: ir.Out, Index: x.buffer}
	if slices.Contains(m.step.Args, a) {
		return
	}
	n := m.value(x.stage, x.instr)
	if m.failed {
		return
	}
	if x.inverse {
		n = m.invert(n)
	}
	m.add(ir.Instr{Op: ir.Store, Type: m.step.Kernel.Body[n].Type, Src: []int{n},
		Arg: m.arg(a, ir.Arg{Kind: ir.Out, DType: x.dtype, Len: m.fuser.rows, Align: true}), View: m.rowView()})
}

// finish completes the kernel: it removes instructions that no output needs. It reports false if
// the stages do not make one.
func (m *merger) finish() bool {
	k := m.step.Kernel
	if m.failed || len(k.Axes) > ir.MaxAxes {
		return false
	}
	need := make([]bool, len(k.Body))
	for i := len(k.Body) - 1; i >= 0; i-- {
		in := &k.Body[i]
		if need[i] = need[i] || in.Op == ir.Store; need[i] {
			for _, j := range in.Src {
				need[j] = true
			}
		}
	}
	old := k.Body
	k.Body = nil
	to := make([]int, len(old))
	for i, in := range old {
		if !need[i] {
			continue
		}
		in.Src = slices.Clone(in.Src)
		for n, j := range in.Src {
			in.Src[n] = to[j]
		}
		if v := in.View; v != nil { // axes may have been added since
			c := *v
			if in.Op != ir.InBounds {
				c.Coef = padded(v.Coef, len(k.Axes))
			}
			c.Guards = slices.Clone(v.Guards)
			for g := range c.Guards {
				c.Guards[g].Coef = padded(c.Guards[g].Coef, len(k.Axes))
			}
			in.View = &c
		}
		to[i] = len(k.Body)
		k.Body = append(k.Body, in)
	}
	m.joinOutputs()
	m.dropArgs()
	for _, a := range m.step.Args {
		written := func(b Arg) bool { return b.Kind == ir.Out && b.Index == a.Index }
		if a.Kind == ir.In && isPlanBuffer(&a) && slices.ContainsFunc(m.step.Args, written) {
			return false
		}
	}
	buffers := 0
	for _, a := range k.Args {
		if a.Kind != ir.Value {
			buffers++
		}
	}
	most := m.bindings
	if k.Template == ir.Attention && !slices.ContainsFunc(k.Body, func(in ir.Instr) bool { return in.UsesIndex() }) {
		most = max(most, m.limits.AttentionBindings)
	}
	if m.bindings > 0 && buffers > most || ir.Verify(k) != nil {
		return false
	}
	if k.Template != ir.Attention {
		return true
	}
	a, ok := loopnest.NewAttention(k)
	return ok && a.Fits(k, m.limits.Matrices, m.limits.AttentionBytes)
}
