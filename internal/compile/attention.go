package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/sorts"
	"github.com/tensorken/tensorken/ir"
)

// attention makes one kernel of a loop, or a few, for devices that run kernels of the
// template ir.Attention. Where values of rows and columns need reductions that one pass
// cannot continue, as in the gradient of a softmax, a first kernel stores the reductions. The
// gradients of keys and values are sums over rows: in the kernel that computes them rows and
// columns have changed places.
func (l *loop) attention() bool {
	if !l.divided {
		return false
	}
	var byRow, byColumn, ofRow []output
	for n, s := range l.stages {
		for i, in := range s.step.Kernel.Body {
			if in.Op != ir.Store || !s.used[in.Arg] || slices.Contains(l.temps, s.step.Args[in.Arg].Index) {
				continue
			}
			o := output{n, i}
			switch scores := l.hasScores(s, in.Arg); {
			case scores:
				return false
			case s.adds:
				byColumn = append(byColumn, o)
			case s.step.Kernel.Template == ir.Contraction:
				byRow = append(byRow, o)
			default:
				ofRow = append(ofRow, o)
			}
		}
	}
	if len(byColumn) == 0 {
		m := l.merge(false, nil, slices.Concat(byRow, ofRow))
		for _, x := range l.wanted {
			m.save(x)
		}
		if m.finish() {
			l.kernels = []Step{m.step}
			return true
		}
	}
	if l.large && len(l.wanted) == 0 && !l.limits.Matrices && l.prefersLoop() {
		return false
	}
	buffers := len(l.more)
	defer func() {
		if l.kernels == nil {
			l.more = l.more[:buffers]
		}
	}()
	saved := l.saved(slices.Concat(byRow, byColumn))
	if saved == nil {
		return false
	}
	var merged []*merger
	if m := l.fromForward(saved); m != nil && len(ofRow) == 0 && len(l.wanted) == 0 {
		merged = append(merged, m)
	} else {
		m := l.merge(false, nil, ofRow)
		for _, x := range slices.Concat(saved, l.wanted) {
			m.save(x)
		}
		merged = append(merged, m)
	}
	if len(byRow) > 0 {
		merged = append(merged, l.merge(false, saved, byRow))
	}
	if len(byColumn) > 0 {
		merged = append(merged, l.merge(true, saved, byColumn))
	}
	var kernels []Step
	for _, m := range merged {
		if !m.finish() {
			return false
		}
		kernels = append(kernels, m.step)
	}
	for e, list := range merged[0].wanted {
		e.wanted = append(e.wanted, list...)
	}
	l.kernels = kernels
	return true
}

// An output is a Store of a stage.
type output struct{ stage, instr int }

// A saved value of rows is stored by the first kernel for the others.
type savedValue struct {
	output     // the instruction that computes it
	buffer int // of the plan
	dtype  ir.DType
	// inverse says that 1 over the value is stored: values of rows and columns are divided by it
	// alone.
	inverse bool
}

// divide finds, for each stage, the axes that run over columns, and the parts into which
// the axes of all stages divide rows and columns. It reports false if these do not divide
// each other.
func (l *loop) divide() bool {
	rows, columns := []int{1, l.fuser.rows}, []int{1, l.columns}
	for _, s := range l.stages {
		k := s.step.Kernel
		s.column = make([]int, len(k.Axes))
		for i := range k.Body {
			in := &k.Body[i]
			if in.Op != ir.Load && in.Op != ir.Store || !l.hasScores(s, in.Arg) {
				continue
			}
			if in.View.Off != 0 {
				return false
			}
			n := 1
			for a, x := range k.Axes {
				if c := in.View.Coef[a]; x.Len > 1 && s.stride[a] == 0 && c != 0 {
					if s.column[a] != 0 && s.column[a] != c {
						return false
					}
					s.column[a], n = c, n*x.Len
				}
			}
			if n != l.columns {
				return false
			}
		}
		for a, x := range k.Axes {
			if s.stride[a] > 0 {
				rows = append(rows, s.stride[a], s.stride[a]*x.Len)
			}
			if s.column[a] > 0 {
				columns = append(columns, s.column[a], s.column[a]*x.Len)
			}
			if s.column[a] == 0 && x.Role == ir.Reduced && x.Len > 1 {
				return false
			}
		}
	}
	var ok [2]bool
	l.rowParts, ok[0] = parts(rows)
	l.columnParts, ok[1] = parts(columns)
	return ok[0] && ok[1] && l.markBatches()
}

// A part of rows or columns: positions of a stride. It is an axis of merged kernels.
type part struct {
	stride, len int
	batch       bool // the keys differ
}

// divides reports whether the part lies in an axis of n positions of a stride. The stride is 0 if
// the axis runs over neither rows nor columns.
func (p part) divides(stride, n int) bool {
	return stride > 0 && p.stride >= stride && p.stride < stride*n
}

// parts returns the parts that end at some numbers of rows, from the greatest stride on.
func parts(ends []int) (list []part, ok bool) {
	slices.Sort(ends)
	ends = slices.Compact(ends)
	for i, n := range ends[1:] {
		if n%ends[i] != 0 {
			return nil, false
		}
		list = append(list, part{stride: ends[i], len: n / ends[i]})
	}
	slices.Reverse(list)
	return list, true
}

// markBatches marks the parts of rows that factors over columns vary over. It reports false if
// a stage sums over one of them.
func (l *loop) markBatches() bool {
	for i := range l.rowParts {
		p := &l.rowParts[i]
		summed := false
		for _, s := range l.stages {
			for a, x := range s.step.Kernel.Axes {
				if p.divides(s.stride[a], x.Len) {
					p.batch = p.batch || x.Role == ir.Batch
					summed = summed || x.Role == ir.K
				}
			}
		}
		if p.batch && summed {
			return false
		}
	}
	return true
}

// hasScores reports whether an argument of a stage is a buffer of scores.
func (l *loop) hasScores(s *stage, arg int) bool {
	a := &s.step.Args[arg]
	return isPlanBuffer(a) && l.isScores(a.Index)
}

// saved returns the values of rows that depend on reductions and that values of rows and columns
// for some outputs depend on, with new buffers; nil if there are none.
func (l *loop) saved(outputs []output) []savedValue {
	m := l.merge(false, nil, nil)
	m.plain = true
	for _, o := range outputs {
		s := l.stages[o.stage]
		k := s.step.Kernel
		_, left, right := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
		for _, f := range []int{left, right} {
			if l.overScores(s, f) {
				m.value(o.stage, f)
			}
		}
	}
	if m.failed {
		return nil
	}
	body := m.step.Kernel.Body
	columns := m.step.Kernel.Roles(ir.N)
	reduced := make([]bool, len(body))
	crosses, divides := make([]bool, len(body)), make([]bool, len(body))
	for i, in := range body {
		reduced[i] = in.Op.Class() == ir.Reduction && in.Axes == columns
		for n, j := range in.Src {
			reduced[i] = reduced[i] || reduced[j]
			if !reduced[j] || body[j].Domain&columns != 0 || in.Domain&columns == 0 {
				continue
			}
			isDivisor := in.Op == ir.Div && n == 1
			divides[j] = isDivisor && (divides[j] || !crosses[j])
			crosses[j] = true
		}
	}
	var list []savedValue
	buffers := map[int]int{}
	for at, i := range m.moved {
		if !crosses[i] {
			continue
		}
		d := body[i].Type
		if _, ok := buffers[i]; !ok {
			buffers[i] = l.newBuffer(Buffer{DType: d, Len: l.fuser.rows})
		}
		list = append(list, savedValue{at, buffers[i], d, divides[i]})
	}
	sorts.Stable(list, func(a, b savedValue) int {
		if a.stage != b.stage {
			return a.stage - b.stage
		}
		return a.instr - b.instr
	})
	return list
}

// overScores reports whether a factor of a stage is a value of rows and columns: it depends on
// scores that the loop computes.
func (l *loop) overScores(s *stage, i int) bool {
	return s.depends(i, func(in *ir.Instr) bool { return in.Op == ir.Load && l.hasScores(s, in.Arg) })
}

// depends reports whether an instruction of a stage is, or depends on, one of a kind.
func (s *stage) depends(i int, is func(in *ir.Instr) bool) bool {
	body := s.step.Kernel.Body
	yes := make([]bool, i+1)
	for k := range yes {
		yes[k] = is(&body[k]) || slices.ContainsFunc(body[k].Src, func(j int) bool { return yes[j] })
	}
	return yes[i]
}

// prefersLoop reports whether the gradient of large scores is faster in a loop where threads multiply: the
// tiles of a contraction are larger, and a loop multiplies five matrices where kernels of attention multiply
// seven. But these compute little where masks hide most of the scores, as a window does.
func (l *loop) prefersLoop() bool {
	if slices.ContainsFunc(l.stages, func(s *stage) bool { return s.matrix(s.step.Kernel) < minMatrix }) {
		return false // see cut
	}
	usesPositions := slices.ContainsFunc(l.stages, func(s *stage) bool {
		return slices.ContainsFunc(s.step.Kernel.Body, func(in ir.Instr) bool { return in.Op == ir.Index })
	})
	if !usesPositions {
		return true
	}
	h := l.findHidden()
	return h != nil && h.isCausal()
}
