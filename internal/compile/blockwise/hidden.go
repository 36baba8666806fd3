package blockwise

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// A limit is a condition on a score at a row and a column of a matrix: row·r + column·c + off is not
// negative, where r and c are 1 and -1 or -1 and 1.
type limit struct{ row, column, off int }

// A hidden value is the value of a temporary beyond limits, where nothing depends on it.
type hidden struct {
	value  float64
	limits map[limit]bool
}

// A hider finds the scores of a loop that no result needs, such as those that a mask hides.
type hider struct {
	*loop
	matrix  int            // rows
	kernels []*ir.Kernel   // of stages
	known   map[int]hidden // by buffer: temporaries
}

// findHidden finds hidden scores. It returns nil if all scores are needed.
func (l *loop) findHidden() *hider {
	h := &hider{loop: l, matrix: l.fuser.rows, known: map[int]hidden{}}
	if !l.limits.Skips {
		return nil
	}
	for _, s := range l.stages {
		h.matrix = min(h.matrix, s.matrix(s.step.Kernel))
	}
	for i, s := range l.stages {
		k := s.step.Kernel
		switch n := s.matrix(k); {
		case n%h.matrix > 0:
			return nil
		case n > h.matrix:
			k = splitAxis(k, s.inner, h.matrix)
		}
		if k == nil || !l.findColumn(s) {
			return nil
		}
		h.kernels = append(h.kernels, k)
		h.kernels[i] = h.narrow(i, h.known)
		h.findKnown(i)
	}
	for h.findUnused() {
	}
	if len(h.known) == 0 {
		return nil
	}
	return h
}

// findColumn finds the axis of a stage's kernel that runs over columns. It reports false if scores have their
// columns along other axes.
func (l *loop) findColumn(s *stage) bool {
	k := s.step.Kernel
	s.column = -1
	for i := range k.Body {
		in := &k.Body[i]
		if in.Op != ir.Load && in.Op != ir.Store || !l.hasScores(s, in.Arg) {
			continue
		}
		for a, c := range in.View.Coef {
			switch n := k.Axes[a].Len; {
			case n == 1 || c == 0 || s.stride[a] > 0:
			case c != 1 || n != l.columns || s.column >= 0 && s.column != a:
				return false
			default:
				s.column = a
			}
		}
		if s.column < 0 || in.View.Off != 0 {
			return false
		}
	}
	for a, x := range k.Axes {
		if a != s.column && x.Role == ir.Reduced && x.Len > 1 {
			return false
		}
	}
	return true
}

// skipHidden makes the stages of a loop skip hidden scores: they store scores under a condition, and where
// it is false loads give a constant.
func (l *loop) skipHidden() {
	h := l.findHidden()
	if h == nil {
		return
	}
	before := l.stages
	l.stages = slices.Clone(l.stages)
	for i, s := range before {
		c := *s
		c.step.Kernel = h.narrowStores(i)
		l.stages[i] = &c
	}
	if !l.align() {
		l.stages = before
	}
}

// scoresOf returns the buffer of an instruction that loads or stores scores, if it is a temporary of floats;
// else -1.
func (h *hider) scoresOf(stage int, in *ir.Instr) int {
	s := h.stages[stage]
	if in.Op != ir.Load && in.Op != ir.Store || !in.Type.IsFloat() || !h.hasScores(s, in.Arg) {
		return -1
	}
	b := s.step.Args[in.Arg].Index
	if !slices.Contains(h.temps, b) {
		return -1
	}
	return b
}

// findKnown finds temporaries in which a stage stores a constant beyond limits.
func (h *hider) findKnown(stage int) {
	k := h.kernels[stage]
	for i := range k.Body {
		in := &k.Body[i]
		b := h.scoresOf(stage, in)
		if in.Op != ir.Store || b < 0 {
			continue
		}
		for _, x := range []hidden{
			{0, h.limits(stage, loopnest.Nonzero(k, in.Src[0]))},
			{math.Inf(-1), h.limits(stage, loopnest.Finite(k, in.Src[0]))},
		} {
			if _, ok := h.known[b]; !ok && len(x.limits) > 0 {
				h.known[b] = x
			}
		}
	}
}

// findUnused finds a temporary whose values beyond limits change no result. It reports false if it finds
// none.
func (h *hider) findUnused() bool {
	for _, b := range h.temps {
		if _, ok := h.known[b]; ok || !h.isScores(b) || !h.loop.buffer(b).DType.IsFloat() {
			continue
		}
		var common map[limit]bool
		for stage := range h.stages {
			for _, x := range h.uses(stage, b) {
				if common == nil {
					common = x
				}
				maps.DeleteFunc(common, func(l limit, _ bool) bool { return !x[l] })
			}
		}
		if len(common) == 0 {
			continue
		}
		h.known[b] = hidden{0, common}
		for stage := range h.stages {
			h.kernels[stage] = h.narrow(stage, map[int]hidden{b: h.known[b]})
		}
		return true
	}
	return false
}

// uses lists the reductions and stores of a stage that depend on a temporary, each with limits: beyond them
// the temporary does not count.
func (h *hider) uses(stage, buffer int) (list []map[limit]bool) {
	k := h.kernels[stage]
	depends := make([]bool, len(k.Body))
	for i := range k.Body {
		in := &k.Body[i]
		switch b := h.scoresOf(stage, in); {
		case in.Op == ir.Load:
			depends[i] = b == buffer
			continue
		case !slices.ContainsFunc(in.Src, func(j int) bool { return depends[j] }):
			continue
		case in.Op == ir.Store && b >= 0 && h.known[b].limits != nil:
			list = append(list, maps.Clone(h.known[b].limits))
		case in.Op == ir.ReduceMax:
			list = append(list, h.limits(stage, loopnest.Finite(k, in.Src[0])))
		case in.Op == ir.Store, in.Op == ir.Sum:
			list = append(list, h.limits(stage, loopnest.Nonzero(k, in.Src[0])))
		case staysFinite(in, depends):
			depends[i] = true
		default:
			list = append(list, map[limit]bool{})
		}
	}
	return list
}

// staysFinite reports whether an instruction has a finite value where operands that depend on a temporary
// are 0, if others are finite: so 0 may take the place of a value that does not count.
func staysFinite(in *ir.Instr, depends []bool) bool {
	switch in.Op {
	case ir.Add, ir.Sub, ir.Mul, ir.Neg, ir.Exp, ir.Tanh:
		return true
	case ir.Div:
		return !depends[in.Src[1]]
	case ir.Where:
		return !depends[in.Src[0]]
	}
	return false
}

// limits returns the bounds of a stage's kernel that have the form of a limit.
func (h *hider) limits(stage int, bounds loopnest.Bounds) map[limit]bool {
	k := h.kernels[stage]
	list := map[limit]bool{}
	rows, columns := h.axes(stage)
	for _, b := range bounds {
		x := limit{b.Slope(k, rows), b.Slope(k, columns), b.Off}
		if len(b.Lowest) == 0 && len(b.Terms) == 2 && x.row*x.row == 1 && x.column == -x.row {
			list[x] = true
		}
	}
	if !h.leaveColumns(list) {
		clear(list)
	}
	return list
}

// leaveColumns reports whether each row has a column within limits. The softmax of a row without any may be
// NaN, and not the hidden value.
func (h *hider) leaveColumns(limits map[limit]bool) bool {
	before, after := h.matrix+h.columns, h.matrix+h.columns // the columns from row - before to row + after are within
	for x := range limits {
		if x.row > 0 {
			after = min(after, x.off)
		} else {
			before = min(before, x.off)
		}
	}
	return after >= 0 && h.matrix-1-before < h.columns && -before <= after
}

// axes returns the axes of the rows of a matrix and of the columns in a stage's kernel. They are -1 if
// there is no such axis.
func (h *hider) axes(stage int) (row, column int) {
	s, k := h.stages[stage], h.kernels[stage]
	row = s.inner
	if s.matrix(s.step.Kernel) > h.matrix {
		row = len(k.Axes) - 1 // see splitAxis
	}
	return row, s.column
}

// narrow returns a stage's kernel with a Where after each load of a known temporary: beyond the limits it gives
// the known value.
func (h *hider) narrow(stage int, known map[int]hidden) *ir.Kernel {
	k := h.kernels[stage]
	e := loopnest.Edit(k)
	for i := range k.Body {
		at := e.Instr(i)
		b := h.scoresOf(stage, &k.Body[i])
		if x, ok := known[b]; ok && k.Body[i].Op == ir.Load {
			typ := k.Body[i].Type
			c := e.Once(ir.Instr{Op: ir.Const, Type: typ, Num: ir.Float(typ, x.value)})
			e.Moved[i] = e.Add(ir.Instr{Op: ir.Where, Type: typ, Src: []int{h.condition(e, stage, x.limits), at, c}})
			e.To.Args[k.Body[i].Arg].Undefined = true
		}
	}
	return e.To
}

// narrowStores returns a stage's kernel in which stores of known temporaries have conditions.
func (h *hider) narrowStores(stage int) *ir.Kernel {
	k := h.kernels[stage]
	e := loopnest.Edit(k)
	for i := range k.Body {
		in := k.Body[i]
		x, ok := h.known[h.scoresOf(stage, &in)]
		if !ok || in.Op != ir.Store {
			e.Instr(i)
			continue
		}
		in.Src = []int{e.Moved[in.Src[0]], h.condition(e, stage, x.limits)}
		e.Moved[i] = e.Add(in)
	}
	return e.To
}

// condition returns the number of the condition that limits hold.
func (h *hider) condition(e *loopnest.Rewriter, stage int, limits map[limit]bool) int {
	row, column := h.axes(stage)
	all := -1
	list := slices.Collect(maps.Keys(limits))
	sorts.Stable(list, func(a, b limit) int { return cmp.Or(a.off-b.off, a.row-b.row) })
	for _, x := range list {
		from, to := column, row // row - column
		if x.row < 0 {
			from, to = row, column
		}
		c := e.Once(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: to})
		c = e.Once(ir.Instr{Op: ir.Sub, Type: ir.Int32, Src: []int{c, e.Once(ir.Instr{Op: ir.Index, Type: ir.Int32, Axis: from})}})
		least := e.Once(ir.Instr{Op: ir.Const, Type: ir.Int32, Num: ir.Int(ir.Int32, int64(-x.off))})
		c = e.Once(ir.Instr{Op: ir.Lt, Type: ir.Bool, Src: []int{c, least}})
		c = e.Once(ir.Instr{Op: ir.Not, Type: ir.Bool, Src: []int{c}})
		if all >= 0 {
			c = e.Once(ir.Instr{Op: ir.And, Type: ir.Bool, Src: []int{all, c}})
		}
		all = c
	}
	return all
}

// splitAxis returns a kernel in which the last axis is the inner part, of n positions, of an axis. It is nil
// if positions along the axis are used.
func splitAxis(k *ir.Kernel, axis, n int) *ir.Kernel {
	c := *k
	inner := len(k.Axes)
	if inner == ir.MaxAxes {
		return nil
	}
	c.Axes = append(slices.Clone(k.Axes), ir.Axis{Len: n, Role: k.Axes[axis].Role})
	c.Axes[axis].Len /= n
	split := func(coef []int) []int {
		coef = append(slices.Clone(coef), coef[axis])
		coef[axis] *= n
		return coef
	}
	c.Body = slices.Clone(k.Body)
	for i := range c.Body {
		in := &c.Body[i]
		if in.Op == ir.Index && in.Axis == axis || in.Op == ir.ArgMax {
			return nil
		}
		if in.View != nil {
			in.View = in.View.Mapped(split)
		}
		if in.Axes.Has(axis) {
			in.Axes |= 1 << inner
		}
		in.Domain = c.Varies(i)
	}
	return &c
}
