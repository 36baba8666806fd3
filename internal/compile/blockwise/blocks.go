package blockwise

import (
	"slices"

	"github.com/tensorken/tensorken/ir"
)

// cut chooses the blocks. It reports false if the matrices are too small or differ, or if
// sums took more memory than the scores.
func (l *loop) cut() bool {
	o := &l.out
	o.Rows, o.Matrix = l.fuser.rows, l.fuser.rows
	for _, s := range l.stages {
		o.Matrix = min(o.Matrix, s.matrix(s.step.Kernel))
	}
	for _, s := range l.stages {
		if s.matrix(s.step.Kernel)%o.Matrix != 0 {
			return false
		}
	}
	if o.Matrix < minMatrix {
		return false
	}
	bytes := 0 // of a row
	for _, t := range l.allocate() {
		bytes += t.Len * t.DType.Size()
		o.Temps = append(o.Temps, t)
	}
	fit, unit := l.limits.Bytes/max(bytes, 1), l.limits.Rows
	most := max(minUnits, fit/unit) * unit
	switch {
	case l.limits.Serial && fit >= o.Matrix:
		if n := l.limits.Enough; n > 0 {
			fit = max(o.Matrix, min(fit, n))
		}
		o.Matrix = l.several(fit / o.Matrix)
		o.Block = o.Matrix
	case o.Matrix > most:
		even := ir.CeilDiv(o.Matrix, ir.CeilDiv(o.Matrix, most))
		o.Block = ir.CeilDiv(even, unit) * unit
	default:
		o.Block = o.Matrix
	}
	sums := 0 // elements of the sums of a part
	for _, s := range l.stages {
		if s.adds = s.adds && !s.addsWithin(o.Block); s.adds {
			_, n := s.sumStrides(o.Matrix)
			sums += n
		}
	}
	o.Part = o.Block
	if sums > 0 {
		parts := 1
		if !l.limits.Serial {
			most := o.Matrix * l.columns / 2 / sums
			parts = max(1, min(ir.CeilDiv(minParts*o.Matrix, o.Rows), o.Blocks(), most))
		}
		o.Part *= ir.CeilDiv(o.Blocks(), parts)
	}
	return sums <= o.Matrix*l.columns
}

// several returns the rows of the most matrices, up to a number, in which all stages have
// equal parts of their axes.
func (l *loop) several(most int) (rows int) {
	for ; most > 1; most-- {
		n := most * l.out.Matrix
		other := func(s *stage) bool { return !s.divides(s.step.Kernel, n) }
		if l.out.Rows%n == 0 && !slices.ContainsFunc(l.stages, other) {
			return n
		}
	}
	return l.out.Matrix
}

// allocate assigns the temporary buffers to as few temporaries as it can, and returns the
// temporaries, each as long as a row.
func (l *loop) allocate() (temps []ir.Temp) {
	var busy []int // by temporary: the last stage that needs it
	l.slots = make([]int, len(l.temps))
	for i, s := range l.stages {
		for b := range s.step.Buffers(ir.Out) {
			k := slices.Index(l.temps, b)
			if k < 0 {
				continue
			}
			t := ir.Temp{DType: l.buffer(b).DType, Len: l.rowStride(b)}
			last := i
			for j, s := range l.stages {
				if slices.Contains(slices.Collect(s.step.Buffers(ir.In)), b) {
					last = j
				}
			}
			slot := 0
			for slot < len(temps) && (temps[slot] != t || busy[slot] >= i) {
				slot++
			}
			if slot == len(temps) {
				temps, busy = append(temps, t), append(busy, 0)
			}
			l.slots[k], busy[slot] = slot, last
		}
	}
	return temps
}

// rowStride is the distance between the rows of a temporary buffer.
func (l *loop) rowStride(b int) int {
	x := l.buffer(b)
	n := x.Len / l.out.Rows
	if n < l.columns {
		return n
	}
	return l.pad(n, x.DType)
}
