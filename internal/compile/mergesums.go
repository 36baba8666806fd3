package compile

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// reduction copies a reduction of a stage: a score, a reduction along rows, or a product.
func (m *merger) reduction(stage int, in *ir.Instr) int {
	s := m.stages[stage]
	k := s.step.Kernel
	columns := m.step.Kernel.Roles(ir.N)
	if k.Template != ir.Contraction {
		if m.swapped {
			return m.fail()
		}
		return m.sum(in.Op, in.Type, m.value(stage, in.Src[0]), -1)
	}
	_, left, right := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
	overRows, overColumns := false, false
	for a := range k.Axes {
		if in.Axes.Has(a) && k.Axes[a].Len > 1 {
			overRows = overRows || s.stride[a] > 0
			overColumns = overColumns || s.column[a] > 0
		}
	}
	if overRows || overColumns { // a product, or its transpose
		if m.overScores(s, right) {
			left, right = right, left
		}
		if overRows != m.swapped || overRows == overColumns || !m.overScores(s, left) || m.overScores(s, right) {
			return m.fail()
		}
		x, y := m.value(stage, left), m.value(stage, right)
		if half := loopnest.HalfOf(k, right); half != 0 && half != loopnest.HalfOf(k, left) {
			y = m.add(ir.Instr{Op: ir.Cast, Type: in.Type, Src: []int{y}}) // else the kernel would round x to halves
		}
		return m.sum(ir.Sum, in.Type, x, y)
	}
	x, y := m.value(stage, left), m.value(stage, right)
	var depth ir.AxisSet
	for a := range k.Axes {
		if in.Axes.Has(a) && k.Axes[a].Len > 1 {
			for _, t := range m.terms(stage, a) {
				depth |= 1 << t.axis
			}
		}
	}
	body := m.step.Kernel.Body
	if body[x].Domain&columns != 0 {
		x, y = y, x
	}
	product := m.add(ir.Instr{Op: ir.Mul, Type: in.Type, Src: []int{x, y}})
	if depth == 0 { // of one element
		return product
	}
	return m.add(ir.Instr{Op: ir.Sum, Type: in.Type, Src: []int{product}, Axes: depth})
}

// sum is a reduction over the columns of x, or of the product of x and y: values of rows that
// are factors of x come after it.
func (m *merger) sum(op ir.Op, typ ir.DType, x, y int) int {
	var factors []factor
	if op == ir.Sum && !m.plain {
		x, factors = m.factors(x)
	}
	if y >= 0 {
		x = m.add(ir.Instr{Op: ir.Mul, Type: typ, Src: []int{x, y}})
	}
	x = m.add(ir.Instr{Op: op, Type: typ, Src: []int{x}, Axes: m.step.Kernel.Roles(ir.N)})
	for _, f := range factors {
		x = m.add(ir.Instr{Op: f.op, Type: typ, Src: []int{x, f.value}})
	}
	return x
}

// A factor is a value of rows by which another value is multiplied or divided.
type factor struct {
	op    ir.Op
	value int
}

// factors takes from a product the factors that are values of rows and depend on reductions.
func (m *merger) factors(i int) (rest int, list []factor) {
	k := m.step.Kernel
	in := k.Body[i]
	ofRow := func(j int) bool { return k.Body[j].Domain&k.Roles(ir.N) == 0 && m.isReduced(j) }
	again := func(op ir.Op, src ...int) int { return m.add(ir.Instr{Op: op, Type: in.Type, Src: src}) }
	switch {
	case in.Op == ir.Div && ofRow(in.Src[1]):
		rest, list = m.factors(in.Src[0])
		return rest, append(list, factor{ir.Div, in.Src[1]})
	case in.Op == ir.Mul:
		for n, j := range in.Src {
			if ofRow(j) {
				rest, list = m.factors(in.Src[1-n])
				return rest, append(list, factor{ir.Mul, j})
			}
		}
		x, a := m.factors(in.Src[0])
		y, b := m.factors(in.Src[1])
		if list = slices.Concat(a, b); len(list) > 0 {
			return again(ir.Mul, x, y), list
		}
	case in.Op == ir.Neg:
		if rest, list = m.factors(in.Src[0]); len(list) > 0 {
			return again(ir.Neg, rest), list
		}
	case in.Op == ir.Div:
		if rest, list = m.factors(in.Src[0]); len(list) > 0 {
			return again(ir.Div, rest, in.Src[1]), list
		}
	case in.Op == ir.Where:
		for n := 1; n < 3; n++ {
			if !loopnest.IsNumber(k, in.Src[3-n], 0) {
				continue
			}
			if rest, list = m.factors(in.Src[n]); len(list) > 0 {
				src := slices.Clone(in.Src)
				src[n] = rest
				return again(ir.Where, src...), list
			}
		}
	}
	return i, nil
}

// isReduced reports whether an instruction depends on a reduction over columns.
func (m *merger) isReduced(i int) bool {
	body := m.step.Kernel.Body
	for len(m.reduced) < len(body) {
		in := &body[len(m.reduced)]
		own := in.Op.Class() == ir.Reduction && in.Axes == m.step.Kernel.Roles(ir.N)
		m.reduced = append(m.reduced, own || slices.ContainsFunc(in.Src, func(j int) bool { return m.reduced[j] }))
	}
	return m.reduced[i]
}
