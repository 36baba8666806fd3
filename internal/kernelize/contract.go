package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// A factor is an operand of a contraction's product: a node read at coordinates, 0
// where a guard does not hold.
type factor struct {
	node    *node
	at      []ir.AffineExpr
	guards  []ir.Guard
	cost    int
	axes    ir.AxisSet // that it varies over
	exposed bool       // a load may leave its buffer where guards do not hold
	gathers bool       // it takes elements by index
}

// contract makes n, a Sum, a contraction with a group of its own, if it is a
// sum of products of two factors with parallel axes of their own.
func (p *placer) contract(n *node) bool {
	x := n.src[0]
	if m := p.summed(x); m.Op != ir.Mul || m.saved || n.DType != m.DType {
		return false
	}
	var inner []*node
	g := p.start(n, ir.Contraction, x.Shape, func(t *trial, l space.Layout) int {
		over := space.TakeReduced(l, n.Ints)
		t.g.reduced = slices.Concat(over...)
		var factors []factor
		var m *node
		factors, m, inner = t.product(x, t.g.operand(n, t.g.Coordinates(l), over))
		return t.contraction(n, factors, m)
	})
	if g == nil {
		return false
	}
	for _, s := range inner {
		s.owner().into = g
		s.owners = nil
	}
	return true
}

// summed returns the node below the movements and sums of x.
func (p *placer) summed(x *node) *node {
	for x = base(x); x.Op == ir.Sum && p.mergesSum(x); x = base(x) {
		x = x.src[0]
	}
	return x
}

// mergesSum reports whether a sum may be part of the one that reads it.
func (p *placer) mergesSum(x *node) bool {
	g := x.owner()
	return g != nil && (g.template == ir.Reduce || g.template == ir.Contraction) && p.singleUse(x, g)
}

// product follows n, read at coordinates, through movements that fill with 0 and sums to a
// Mul m, and returns its factors and the sums. The trial fails without a Mul.
func (t *trial) product(n *node, at []ir.AffineExpr) (factors []factor, m *node, sums []*node) {
	var guards []ir.Guard
	direct := true // every element of n is read at one point at most, and by nothing else
	for ; n.Op != ir.Mul || n.saved; n = n.src[0] {
		switch {
		case n.saved || !t.g.HasRoom(len(n.Ints)):
			t.failed = true
			return nil, nil, nil
		case n.Op.Class() == ir.Movement && n.Num == 0:
			r := moveOf(n).Push(at, t.g.Lens)
			if r.Opaque {
				t.failed = true
				return nil, nil, nil
			}
			at, guards = r.At, slices.Concat(guards, r.Guards)
			direct = direct && n.Op != ir.Expand && n.Op != ir.Window && n.users == 1
		case n.Op == ir.Sum && direct && t.p.mergesSum(n):
			over := make(space.Layout, len(n.src[0].Shape))
			for _, a := range n.Ints {
				over[a] = []int{t.g.NewAxis(n.src[0].Shape[a])}
				t.g.reduced = append(t.g.reduced, over[a]...)
			}
			sums = append(sums, n)
			at = t.g.operand(n, at, over)
		default:
			t.failed = true
			return nil, nil, nil
		}
	}
	for _, x := range n.src {
		factors = append(factors, t.measure(x, at))
	}
	t.distribute(factors, guards)
	return factors, n, sums
}

// measure returns n, read at coordinates, as a factor. To learn its cost and axes it
// emits n and rolls back.
func (t *trial) measure(n *node, at []ir.AffineExpr) factor {
	from := t.g.mark()
	t.cost, t.axes, t.exposed = 0, 0, false
	t.emit(n, at, nil, 0)
	gathers := slices.ContainsFunc(t.g.body[from.body:], func(in instr) bool { return in.UsesIndex() })
	t.g.rollBack(from)
	return factor{node: n, at: at, cost: t.cost, axes: t.axes, exposed: t.exposed, gathers: gathers}
}

// distribute assigns guards to factors, which are 0 where theirs do not hold. An
// exposed factor gets all of them. If none is exposed, each guard goes to one factor
// that varies over its axes.
func (t *trial) distribute(factors []factor, guards []ir.Guard) {
	given := false
	for i := range factors {
		if f := &factors[i]; f.exposed {
			f.guards = guards
			f.axes |= t.guardAxes(guards)
			given = true
		}
	}
	for _, g := range guards {
		if given {
			return
		}
		axes := t.guardAxes([]ir.Guard{g})
		i := slices.IndexFunc(factors, func(f factor) bool { return axes&^t.g.LiveSet(f.axes) == 0 })
		if i < 0 {
			t.failed = true
			return
		}
		factors[i].guards = append(factors[i].guards, g)
	}
}

// guardAxes returns the axes that guards depend on.
func (t *trial) guardAxes(guards []ir.Guard) ir.AxisSet {
	t.axes = 0
	t.varyGuards(t.g.LiveGuards(guards))
	return t.axes
}

// contraction emits n, the sum of a product m. The trial fails unless each factor
// has parallel axes of its own and there is an axis to sum over. A factor that is
// too expensive to recompute is stored first, and so is one of halves if their products are
// fast from memory.
func (t *trial) contraction(n *node, factors []factor, m *node) (id int) {
	if t.stopped() {
		return -1
	}
	g := t.g
	var own [2]ir.AxisSet
	for i, f := range factors {
		g.sides[i] = g.LiveSet(f.axes)
		own[i] = g.sides[i] &^ ir.Axes(g.reduced...)
	}
	t.failed = own[0]&^own[1] == 0 || own[1]&^own[0] == 0 || len(g.reduced) == 0
	src := make([]int, 2)
	for i, f := range factors {
		times := g.repeats(g.sides[i])
		t.storeFactor(f, f.cost > prologue && times > loopnest.LeastRows || t.fastHalves(n), times)
		id, filled := t.emit(f.node, f.at, f.guards, 0)
		if !filled {
			id = t.guard(f.node, id, f.guards, 0)
		}
		src[i] = id
	}
	if t.stopped() {
		return -1
	}
	if t.fastHalves(n) && kindOf(m) == 0 && g.sides[0]&g.sides[1]&^ir.Axes(g.reduced...) == 0 && !slices.ContainsFunc(src, func(i int) bool { return !g.loadsEights(i) }) {
		for _, side := range g.sides {
			if few := side &^ ir.Axes(g.reduced...); g.few == 0 && g.Count(few) <= loopnest.SkinnyRows {
				g.few = few
			}
		}
	}
	return t.reduceValue(n, t.add(n, ir.Instr{Op: ir.Mul, Kind: kindOf(m), Type: g.body[src[0]].Type, Src: src}))
}

// fastHalves reports whether a product n is of halves, whose products are fast from memory.
func (t *trial) fastHalves(n *node) bool { return t.p.Machine.Halves > 0 && n.DType.IsHalf() }

// loadsEights reports whether an instruction loads eight neighbouring halves along the reduced axes.
func (g *group) loadsEights(i int) bool {
	in, inner := &g.body[i], g.reduced[len(g.reduced)-1]
	if in.Op != ir.Load || len(in.Src) > 0 || len(in.View.Guards) > 0 || !graph.StoredType(in.reads.Node).IsHalf() || in.reads.Op == ir.Buffer && in.reads.Ints[0]&1 == 0 {
		return false
	}
	for a, c := range in.View.Coef {
		if a == inner && (c != 1 || g.Lens[a]%8 != 0) || a != inner && c%8 != 0 {
			return false
		}
	}
	return in.View.Off%8 == 0
}

// storeFactor asks for a factor of a product to be stored first: if it is costly, or if elements that it takes by index
// are read more often than in one pass.
func (t *trial) storeFactor(f factor, costly bool, times int) {
	costly = costly || f.gathers && times > loopnest.LeastRows
	if b := base(f.node); costly && !t.stopped() && !b.saved && b.Op.Class() != ir.Source {
		t.need = b
	}
}

// repeats is how often a factor that varies over axes is read: once for each
// position along the other parallel axes.
func (g *group) repeats(axes ir.AxisSet) int {
	return g.Count(ir.Axes(g.parallel()...) &^ axes)
}
