package kernelize

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// merge makes h part of g, which comes later, if their spaces agree where the operands src of one
// node lie. If a group in between reads from h, g takes the order of h, if that is possible and the
// node can still be computed by g.
func (p *placer) merge(h, g *group, src []*node) {
	if !compatible(h, g) {
		return
	}
	lh, ok1 := p.layout(h, src)
	lg, ok2 := p.layout(g, src)
	if !ok1 || !ok2 || !h.covers(lh) || !g.covers(lg) {
		return
	}
	early := h.reader <= g.order
	if early && !g.canPrecede(h, src) {
		return
	}
	if to, ok := pair(h, g, slices.Concat(lh...), slices.Concat(lg...)); ok && g.pairReduced(h, to) {
		if early {
			g.setOrder(h.order)
		}
		g.take(h, to)
	}
}

// canPrecede reports whether g, with a node on operands src in it, reads only stores of groups before h,
// and nodes of h and g. Nodes that are computed again for the backward pass do not move to the forward
// pass.
func (g *group) canPrecede(h *group, src []*node) bool {
	return g.rematLevel() <= h.rematLevel() &&
		!slices.ContainsFunc(g.loads(), func(n *node) bool { return n.needs(h.order) }) &&
		!slices.ContainsFunc(src, func(n *node) bool { return n.needs(h.order, g, h) })
}

// needs reports whether n depends on a group of some order or a later one, other than some groups.
func (n *node) needs(order int, but ...*group) bool {
	if n.owners == nil { // it is computed where it is read
		return slices.ContainsFunc(n.src, func(s *node) bool { return s.needs(order, but...) })
	}
	return slices.ContainsFunc(n.owners, func(o *group) bool {
		o = o.find()
		return o.order >= order && !slices.Contains(but, o)
	})
}

// rematLevel is the highest of the members.
func (g *group) rematLevel() int32 {
	level := int32(0)
	for _, n := range g.members {
		level = max(level, n.RematLevel)
	}
	return level
}

// setOrder gives g an earlier order.
func (g *group) setOrder(order int) {
	g.order = order
	for _, n := range g.loads() {
		for _, o := range n.owners {
			o = o.find()
			o.reader = min(o.reader, order)
		}
	}
}

// compatible reports whether h and g may become one group, apart from their order.
func compatible(h, g *group) bool {
	joins := func(g *group) bool {
		return !g.closed && (g.template == ir.Pointwise || g.template == ir.Reduce || g.few != 0)
	}
	return h != g && joins(h) && joins(g) && (h.few|g.few == 0 || h.few != 0 && g.few != 0 && sharesVector(h, g)) &&
		len(h.members)+len(g.members) <= maxSize && len(h.args(ir.Scalar))+len(g.args(ir.Scalar)) <= maxScalars
}

// pair matches axes a of h with axes b of g, most significant first, and splits
// axes to make them match.
func pair(h, g *group, a, b []int) (to map[int]int, ok bool) {
	to = map[int]int{}
	for len(a) > 0 && len(b) > 0 {
		switch m, n := h.Lens[a[0]], g.Lens[b[0]]; {
		case m == n:
			to[a[0]] = b[0]
			a, b = a[1:], b[1:]
		case m%n == 0 && h.HasRoom(2):
			hi := h.split(a[0], m/n)
			a = append([]int{hi, hi + 1}, a[1:]...)
		case n%m == 0 && g.HasRoom(2):
			hi := g.split(b[0], n/m)
			b = append([]int{hi, hi + 1}, b[1:]...)
		default:
			return nil, false
		}
	}
	return to, len(a) == len(b)
}

// pairReduced matches those axes of h that are missing in to, all of them reduced,
// with reduced axes of g, or new ones if g reduces none. It reports false if the
// two do not reduce the same.
func (g *group) pairReduced(h *group, to map[int]int) bool {
	if h.template == ir.Pointwise {
		return true
	}
	paired := map[int]bool{}
	for _, b := range to {
		paired[b] = true
	}
	var missing []int
	for _, a := range h.Axes {
		if _, ok := to[a]; !ok {
			missing = append(missing, a)
		}
	}
	if g.template == ir.Pointwise {
		if !g.HasRoom(len(missing)) {
			return false
		}
		for _, a := range h.reduced {
			if b, ok := to[a]; ok {
				g.reduced = append(g.reduced, b)
			}
		}
		for _, a := range missing {
			to[a] = g.NewAxis(h.Lens[a])
			g.reduced = append(g.reduced, to[a])
		}
		g.template = ir.Reduce
		return true
	}
	for _, a := range missing {
		i := slices.IndexFunc(g.reduced, func(b int) bool { return !paired[b] && g.Lens[b] == h.Lens[a] })
		if i < 0 {
			return false
		}
		to[a] = g.reduced[i]
		paired[to[a]] = true
	}
	for _, a := range h.Axes {
		if slices.Contains(h.reduced, a) != slices.Contains(g.reduced, to[a]) {
			return false
		}
	}
	return len(h.reduced) == len(g.reduced) && g.pairFew(h, to)
}

// pairFew reports whether few rows of h are few rows of g.
func (g *group) pairFew(h *group, to map[int]int) bool {
	few := ir.AxisSet(0)
	for _, a := range h.LiveSet(h.few).List() {
		few |= ir.Axes(to[a])
	}
	return few == g.LiveSet(g.few)
}

// take moves h into g. To matches all axes of h with axes of g.
func (g *group) take(h *group, to map[int]int) {
	same := true // axes have the same numbers
	for a, b := range to {
		same = same && a == b
	}
	if !same {
		h.renumber(to, len(g.Lens))
	}
	first, second := g, h
	if same && len(h.body) > len(g.body) { // move the fewer instructions
		first, second = h, g
		g.emitted = h.emitted
	}
	shift := len(first.body)
	body := append(first.body, second.body...) // second gives up its views and operands
	for i := range body[shift:] {
		src := body[shift+i].Src
		for k := range src {
			src[k] += shift
		}
	}
	for _, n := range second.members {
		n.id += shift
	}
	g.body, g.members = body, append(g.members, h.members...)
	g.reader, g.several = min(g.reader, h.reader), g.few != 0
	h.into = g
}

// renumber gives the axes of g, all of them in to, the numbers that they have in a
// group of count axes.
func (g *group) renumber(to map[int]int, count int) {
	for i := range g.body {
		g.body[i].eachCoef(func(coef []int) []int {
			c := make([]int, count)
			for a, x := range coef {
				if x != 0 {
					c[to[a]] += x
				}
			}
			return c
		})
	}
	relay := func(l space.Layout) space.Layout {
		c := make(space.Layout, len(l))
		for i := range l {
			for _, a := range l[i] {
				c[i] = append(c[i], to[a])
			}
		}
		return c
	}
	for _, n := range g.members {
		n.layout = relay(n.layout)
	}
}

// mergeReductions merges n, a reduction, with the reduction of the same operation
// that it reads, if that has no other use and is alone in its group.
func (p *placer) mergeReductions(n *node) bool {
	inner := base(n.src[0])
	g := inner.owner()
	if g == nil || g.template != ir.Reduce || inner.Op != n.Op || n.Op == ir.ArgMax || !p.singleUse(inner, g) {
		return false
	}
	for x := n.src[0]; x != inner; x = x.src[0] {
		if x.users != 1 || x.Op == ir.Expand {
			return false
		}
	}
	l, ok := g.deriveLayout(n.src[0])
	if !ok {
		return false
	}
	src := g.body[inner.id].Src[0]
	l = slices.Clone(l)
	over := space.TakeReduced(l, n.Ints)
	g.reduced = slices.Concat(append([][]int{g.reduced}, over...)...)
	g.members = nil
	inner.owners = nil
	t := &trial{p: p, g: g}
	p.add(g, n, t.reduceValue(n, src), l, len(g.body))
	return true
}

// mergeSiblings merges pointwise groups over one space that do not depend on
// each other, and reductions that read the same.
func (p *placer) mergeSiblings() {
	last := map[string]*group{}
	for _, g := range p.groups {
		if g.into != nil || g.template != ir.Pointwise && g.template != ir.Reduce {
			continue
		}
		key := g.key()
		h := last[key]
		last[key] = g
		if h == nil || !compatible(h, g) || h.reader <= g.order || h.buffers()+g.buffers() > p.maxArgs {
			continue
		}
		if g.template == ir.Reduce && !sharesLoad(h, g) {
			continue
		}
		to := map[int]int{}
		for i, a := range h.Axes {
			to[a] = g.Axes[i]
		}
		g.take(h, to)
	}
}

// key returns a key of the axes of g: groups with equal keys can share a space. One that reads
// Failed merges with none that does not, because a check may depend on that, and one that reads a collective's
// result with none that does not, because it waits for it.
func (g *group) key() string {
	var lens []int
	var reduced []bool
	for _, a := range g.Axes {
		lens = append(lens, g.Lens[a])
		reduced = append(reduced, slices.Contains(g.reduced, a))
	}
	var collectives []int
	for _, n := range g.loads() {
		if n.Op == ir.HostCall {
			collectives = append(collectives, n.number)
		}
	}
	slices.Sort(collectives)
	return fmt.Sprint(lens, reduced, g.readsFailed(), slices.Compact(collectives))
}

func sharesLoad(h, g *group) bool {
	of := h.loads()
	return slices.ContainsFunc(g.loads(), func(n *node) bool { return slices.Contains(of, n) })
}
