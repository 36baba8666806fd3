package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// attended emits a product.
func (t *trial) attended(e *product) int {
	t.g.addWidths(e)
	id, rows := t.weights(e.weights, t.g.Coordinates(t.layoutIn(e.region.Layouts[e.weights.Node])))
	factor, axes := t.factor(e.factor, t.g.Coordinates(t.layoutIn(e.Layout)), e.sum)
	if t.stopped() {
		return -1
	}
	if in := &t.g.body[factor]; in.Op == ir.Load && in.reads.DType.IsHalf() && in.reads.DType != e.weights.DType {
		factor = t.add(e.factor, ir.Instr{Op: ir.Cast, Type: in.Type, Src: []int{factor}}) // else weights would be rounded to halves
	}
	t.g.batch |= axes
	id = t.add(e.sum, ir.Instr{Op: ir.Mul, Kind: e.kind(), Type: t.g.body[id].Type, Src: []int{id, factor}})
	id = t.sum(e.sum, id, rows)
	if !t.isOnePass(id, e.sum, e.Out) {
		t.failed = true
	}
	return id
}

// kind returns the kind of the instruction of a product, by a weight if its matrix is one.
func (e *product) kind() ir.Op {
	m := e.sum.src[0]
	for m.Op != ir.Mul {
		m = m.src[0]
	}
	x := m.src[0]
	for x != e.weights && x.Op.Class() == ir.Movement {
		x = x.src[0]
	}
	if x != e.weights {
		return 0
	}
	return kindOf(m)
}

// factor emits a factor of a product n, which is stored first if it is too expensive to compute again, or if matrix
// instructions multiply it.
func (t *trial) factor(x *node, at []ir.AffineExpr, n *node) (id int, axes ir.AxisSet) {
	if t.stopped() {
		return -1, 0
	}
	m := t.measure(x, at)
	passes := t.g.passes(t.g.LiveSet(m.axes))
	t.storeFactor(m, m.cost > prologue && passes > 1 || t.fastHalves(n) && t.g.Count(t.g.axesOf(ir.M)) > loopnest.FewRows, passes)
	id, _ = t.emit(x, t.g.Live(at), nil, 0)
	return id, t.g.LiveSet(m.axes)
}

// passes is about how often a kernel of attention reads a factor that varies over some axes: once for each block of
// the rows that it does not vary over.
func (g *group) passes(axes ir.AxisSet) int {
	return ir.CeilDiv(g.Count(g.axesOf(ir.M, ir.Batch)&^axes), loopnest.LeastRows)
}

// isOnePass reports whether one pass over the columns computes a value with all that the group stores.
func (t *trial) isOnePass(id int, n *node, l space.Layout) bool {
	if t.stopped() || t.g.template != ir.Attention {
		return true
	}
	from := t.g.mark()
	t.g.store(id, n, t.g.Coordinates(t.layoutIn(l)))
	k := (&writer{}).kernel(t.g)
	t.g.rollBack(from)
	_, ok := loopnest.NewAttention(k.Kernel)
	return ok
}

// inRegion emits a node of the group's region.
func (t *trial) inRegion(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	if len(t.g.Lens) >= ir.MaxAxes {
		t.failed = true
		return -1, true
	}
	r := t.g.region
	if r.Rows[n.Node] && t.g.cut {
		return t.savedRow(n, at, false), len(guards) == 0
	}
	l := r.Layouts[n.Node]
	atPoint := l != nil && t.g.IsAt(at, t.layoutIn(l))
	if id, ok := t.g.matrices[n]; ok && atPoint {
		t.vary(at)
		return id, len(guards) == 0
	}
	switch {
	case n.Op.Class() != ir.Reduction:
		id, filled = t.compute(n, at, guards, fill)
	case !atPoint:
		t.failed = true
	case r.Rows[n.Node]:
		id = t.reduceRow(n)
	default:
		id = t.score(n, at)
	}
	if t.stopped() {
		return -1, true
	}
	if atPoint {
		t.vary(at)
		if len(guards) == 0 {
			t.g.matrices[n] = id
		}
	}
	return id, filled
}

// score emits a score, a sum over a depth of its own.
func (t *trial) score(n *node, at []ir.AffineExpr) int {
	m := n.src[0]
	over := make(space.Layout, len(m.Shape))
	var axes []int
	for _, a := range n.Ints {
		if m.Shape[a] > 1 {
			over[a] = []int{t.g.NewAxis(m.Shape[a])}
			axes = append(axes, over[a]...)
		}
	}
	t.g.depths = append(t.g.depths, axes...)
	at = t.g.operand(n, at, over)
	kind := kindOf(m)
	x, alongX := t.factor(m.src[0], at, n)
	y, alongY := t.factor(m.src[1], at, n)
	if t.stopped() {
		return -1
	}
	if t.g.LiveSet(alongX)&ir.Axes(t.g.reduced...) != 0 {
		x, y, alongY = y, x, alongX
		t.failed = t.failed || kind != 0 // the weight comes first
	}
	t.g.batch |= alongY
	id := t.add(n, ir.Instr{Op: ir.Mul, Kind: kind, Type: t.g.body[x].Type, Src: []int{x, y}})
	if len(axes) == 0 { // of one element
		return id
	}
	id = t.reduceValue(n, id)
	t.last().Axes = ir.Axes(axes...)
	return id
}

// reduceRow emits a reduction along the columns.
func (t *trial) reduceRow(n *node) int {
	at := t.g.Coordinates(t.layoutIn(t.g.region.Layouts[n.src[0].Node]))
	if n.Op == ir.Sum {
		id, rows := t.weights(n.src[0], at)
		return t.sum(n, id, rows)
	}
	id, _ := t.emit(n.src[0], at, nil, 0)
	id = t.reduceValue(n, id)
	if !t.stopped() {
		t.last().Axes = ir.Axes(t.g.reduced...)
	}
	return id
}

// A rowFactor is a value of rows by which another value is multiplied or divided.
type rowFactor struct {
	op   ir.Op
	node *node
	at   []ir.AffineExpr
}

// sum emits the sum n of a value over the columns, times factors.
func (t *trial) sum(n *node, id int, rows []rowFactor) int {
	if t.stopped() {
		return -1
	}
	id = t.reduceValue(n, id)
	t.last().Axes = ir.Axes(t.g.reduced...)
	for _, f := range rows {
		x, _ := t.emit(f.node, f.at, nil, 0)
		if t.stopped() {
			return -1
		}
		id = t.add(n, ir.Instr{Op: f.op, Type: t.g.body[id].Type, Src: []int{id, x}})
	}
	return id
}

// weights emits a matrix without factors that are values of rows, which it returns: they come after a sum.
func (t *trial) weights(n *node, at []ir.AffineExpr) (id int, rows []rowFactor) {
	scaled := t.scaled(n)
	if t.g.cut || len(scaled) == 0 || t.stopped() {
		id, _ = t.emit(n, at, nil, 0)
		return id, nil
	}
	if n.Op.Class() == ir.Movement {
		r := t.push(n, t.g.Live(at))
		t.failed = t.failed || r.Opaque
		return t.weights(n.src[0], r.At)
	}
	var src []int
	for i, s := range n.src {
		switch {
		case t.rowBelow(s) != nil && (n.Op == ir.Mul || n.Op == ir.Div && i == 1) && len(src) == i:
			rows = append(rows, rowFactor{n.Op, s, at})
			continue
		case slices.Contains(scaled, i):
			var more []rowFactor
			id, more = t.weights(s, at)
			rows = append(rows, more...)
		default:
			id, _ = t.emit(s, at, nil, 0)
		}
		src = append(src, id)
	}
	switch {
	case t.stopped():
		return -1, nil
	case len(src) < len(n.src) || n.Op == ir.Cast:
		return src[0], rows
	}
	return t.add(n, ir.Instr{Op: n.Op, Kind: kindOf(n), Type: n.DType.ComputeType(), Src: src}), rows
}

// scaled lists the operands of a matrix that it is proportional to.
func (t *trial) scaled(n *node) []int {
	switch {
	case !t.g.region.has(n):
	case n.Op == ir.Reshape, n.Op == ir.Permute, n.Op == ir.Neg, n.Op == ir.Div, n.Op == ir.Cast && n.DType.ComputeType() == n.src[0].DType.ComputeType():
		return []int{0}
	case n.Op == ir.Mul:
		return []int{0, 1}
	case n.Op == ir.Where && n.src[2].Op == ir.Const && n.src[2].Num == 0:
		return []int{1}
	}
	return nil
}

// rowBelow returns the value of rows that n is an Expand of, or nil.
func (t *trial) rowBelow(n *node) *node {
	for n.Op == ir.Expand || n.Op == ir.Reshape || n.Op == ir.Permute {
		n = n.src[0]
		if t.g.region.Rows[n.Node] {
			return n
		}
	}
	return nil
}
