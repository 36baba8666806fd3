package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A trial joins nodes to a group: it appends instructions. It asks for the value of a node at
// coordinates, affine expressions over the group's axes, and pushes them through movements
// ([shape.Movements]), which may split an axis or add guards, down to stored nodes; it appends
// loads there and operations on the way back. It fails where a member would be needed elsewhere
// than at its point, or a node from a later group. A group without members cannot fail so:
// nodes that it needs stored first are stored, and it is begun again. Once it has failed, or needs a node to be stored
// first, it appends no more, and the caller discards its instructions.
type trial struct {
	p *placer
	g *group

	failed bool
	need   *node // to be stored before the group is made
	costly bool  // need is an expression, too expensive to recompute

	// Of the value that is being emitted:
	cost    int
	axes    ir.AxisSet // that the value varies over
	exposed bool       // a load may leave its buffer where guards do not hold
}

func (t *trial) stopped() bool { return t.failed || t.need != nil }

// An emission holds the arguments and the results of a call of emit.
type emission struct {
	node   *node
	at     []ir.AffineExpr
	guards []ir.Guard
	fill   ir.Number

	id     int
	filled bool
	cost   int        // of the value
	axes   ir.AxisSet // that it varies over
}

// emission returns the record of a call of emit with equal arguments, or nil.
func (g *group) emission(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) *emission {
	for i := range g.emitted {
		e := &g.emitted[i]
		if e.node == n && e.fill == fill && slices.EqualFunc(e.at, at, shape.Equal) && slices.EqualFunc(e.guards, guards, equalGuards) {
			return e
		}
	}
	return nil
}

func equalGuards(a, b ir.Guard) bool {
	return shape.Equal(a.AffineExpr, b.AffineExpr) && a.Len == b.Len && a.Stride == b.Stride
}

// emit appends the instructions that compute n at coordinates, under guards: where
// one of them does not hold the value is undefined, or fill if filled is true, and no
// memory is read. A second call with equal arguments returns the value of the first:
// otherwise the time would double with every level of a graph that uses each node
// twice. Nodes with one use are not remembered.
func (t *trial) emit(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	if t.stopped() {
		return -1, true
	}
	at, guards = t.g.Live(at), t.g.LiveGuards(guards)
	if n.users > 1 {
		if e := t.g.emission(n, at, guards, fill); e != nil {
			t.cost += e.cost
			t.axes |= e.axes
			return e.id, e.filled
		}
	}
	cost, axes := t.cost, t.axes
	t.cost, t.axes = 0, 0
	id, filled = t.value(n, at, guards, fill)
	e := emission{n, at, guards, fill, id, filled, t.cost, t.g.LiveSet(t.axes)}
	t.cost, t.axes = cost+e.cost, axes|e.axes
	if t.stopped() {
		return -1, true
	}
	if n.users > 1 {
		e.at, e.guards = t.g.Live(at), t.g.LiveGuards(guards)
		t.g.emitted = append(t.g.emitted, e)
	}
	return id, filled
}

// value emits a value that emit does not remember.
func (t *trial) value(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	if n.owner() == t.g {
		if !t.g.IsAt(at, n.layout) {
			t.failed = true // it has no value elsewhere than at its point
		}
		t.vary(at)
		return n.id, len(guards) == 0
	}
	attends := t.g.template == ir.Attention
	switch {
	case attends && t.g.region.has(n):
		return t.inRegion(n, at, guards, fill)
	case n.inside != nil && n.owners == nil && !(attends && t.g.region == n.inside):
		t.need = n
		return -1, true
	}
	if _, ok := t.p.stored(n, t.g); ok && !t.p.recomputes(n) {
		return t.within(n, t.load(n, at, guards, fill), at, guards), true
	}
	id, filled = t.compute(n, at, guards, fill)
	switch {
	case t.costly && n.Op.Class() == ir.Elementwise && n.Len() <= t.need.Len():
		t.need = n // stored in place of its operand, at no more elements
	case !t.stopped() && t.recomputesTooMuch(n):
		t.need, t.costly = n, true
	}
	return id, filled
}

// compute emits the operation of n, which is not a reduction.
func (t *trial) compute(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	switch {
	case n.Op.Class() == ir.Source:
		return t.source(n, at), len(guards) == 0 || n.Op == ir.Const && n.Num == fill
	case n.Op.Class() == ir.Movement:
		return t.movement(n, at, guards, fill)
	}
	// A group with a check does not read Failed, which it would wait for.
	if n.Op == ir.Gather && t.g.readsFailed() || n.Op == ir.Where && isFailed(n.src[0]) && t.g.checks() {
		t.need = n
		return -1, true
	}
	t.cost += ir.Table[n.Op].Cost
	if n.Op == ir.Gather {
		return t.gather(n, at, guards, fill), true
	}
	if n.Op == ir.Div && t.g.template == ir.Attention && t.g.cut && t.rowBelow(n.src[1]) != nil {
		return t.divided(n, at), len(guards) == 0
	}
	src := make([]int, len(n.src))
	for i, s := range n.src {
		src[i], _ = t.emit(s, at, guards, 0)
	}
	if t.stopped() {
		return -1, true
	}
	d := n.DType.ComputeType()
	if n.Op == ir.Cast && t.g.body[src[0]].Type == d {
		return src[0], len(guards) == 0
	}
	return t.add(n, ir.Instr{Op: n.Op, Kind: kindOf(n), Type: d, Src: src}), len(guards) == 0
}

// kindOf returns the kind of the instruction of an elementwise n.
func kindOf(n *node) ir.Op {
	switch {
	case n.Kind == ir.Where:
		return n.Kind
	case n.Op == ir.Erfc && (n.DType == ir.BFloat16 || n.Kind == ir.Cast):
		return ir.Cast
	}
	return 0
}

// recomputesTooMuch reports whether n, an expression that varies over t.axes, is too
// expensive to be computed at every point of a group that is being made. It is false if
// the group exists already, because a node that joins it stores nothing first.
func (t *trial) recomputesTooMuch(n *node) bool {
	computes := n.Op.Class() == ir.Elementwise || n.Op == ir.Gather
	if !computes || t.g.order != pending || n.Len() == 1 || !t.p.isExpensive(n.cost) {
		return false
	}
	all := ir.Axes(t.g.Axes...)
	times, points := t.g.Count(all&^t.g.LiveSet(t.axes)), t.g.Count(all)
	return max(times, points/n.Len()) >= 4 // windows that overlap read an element many times
}

// add appends an instruction of node n.
func (t *trial) add(n *node, in ir.Instr) int {
	t.g.body = append(t.g.body, instr{Instr: in, node: n})
	return len(t.g.body) - 1
}

func (t *trial) last() *instr { return &t.g.body[len(t.g.body)-1] }

func (t *trial) source(n *node, at []ir.AffineExpr) int {
	id := t.add(n, ir.Instr{Op: n.Op, Type: n.DType.ComputeType(), Num: n.Num})
	if n.Op == ir.Iota {
		t.last().position = &at[n.Ints[0]]
		t.vary(at[n.Ints[0] : n.Ints[0]+1])
	}
	return id
}

// moveOf describes a movement.
func moveOf(n *node) shape.Move {
	return shape.Move{Op: n.Op, Ints: n.Ints, From: n.src[0].Shape, To: n.Shape}
}

func (t *trial) movement(n *node, at []ir.AffineExpr, guards []ir.Guard, fill ir.Number) (id int, filled bool) {
	r := t.push(n, at)
	if r.Opaque {
		t.need = n.src[0]
		return -1, true
	}
	if len(r.Guards) == 0 {
		return t.emit(n.src[0], r.At, guards, fill)
	}
	id, filled = t.emit(n.src[0], r.At, slices.Concat(guards, r.Guards), n.Num)
	if !filled {
		return t.guard(n, id, r.Guards, n.Num), len(guards) == 0
	}
	return id, n.Num == fill || len(guards) == 0
}

// push maps the coordinates at which a movement is read to coordinates of its operand, and
// splits axes where that makes them affine.
func (t *trial) push(n *node, at []ir.AffineExpr) shape.Source {
	m := moveOf(n)
	r := m.Push(at, t.g.Lens)
	for r.Split != nil {
		if !t.g.HasRoom(2) {
			return shape.Source{Opaque: true} // n is read from memory
		}
		t.g.split(r.Split.Axis, r.Split.Inner)
		r = m.Push(t.g.Live(at), t.g.Lens)
	}
	t.varyGuards(r.Guards)
	return r
}

// guard emits a value that is fill where guards do not hold.
func (t *trial) guard(n *node, id int, guards []ir.Guard, fill ir.Number) int {
	if t.stopped() {
		return -1
	}
	v := &ir.View{Guards: slices.Clone(t.g.LiveGuards(guards))}
	return t.add(n, ir.Instr{Op: ir.InBounds, Type: t.g.body[id].Type, Src: []int{id}, View: v, Num: fill})
}

// reduce emits a reduction at its layout, which runs over all reduced axes.
func (t *trial) reduce(n *node, l, over space.Layout) int {
	src, _ := t.emit(n.src[0], t.g.operand(n, t.g.Coordinates(l), over), nil, 0)
	return t.reduceValue(n, src)
}

func (t *trial) reduceValue(n *node, src int) int {
	if t.stopped() {
		return -1
	}
	d := n.DType.ComputeType()
	if n.Op == ir.Sum && t.g.body[src].Type != d {
		src = t.add(n, ir.Instr{Op: ir.Cast, Type: d, Src: []int{src}})
	}
	return t.add(n, ir.Instr{Op: n.Op, Type: d, Src: []int{src}})
}

// vary adds to t.axes the axes that coordinates depend on.
func (t *trial) vary(at []ir.AffineExpr) {
	for _, f := range at {
		for a, c := range f.Coef {
			if c != 0 && a < len(t.g.Lens) && t.g.Lens[a] > 1 {
				t.axes |= 1 << a
			}
		}
	}
}

func (t *trial) varyGuards(guards []ir.Guard) {
	for _, g := range guards {
		t.vary([]ir.AffineExpr{g.AffineExpr})
	}
}
