package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// A kernel of attention computes one product of a region or several, or values of rows. Where one pass over the
// columns is not enough, as in the gradient of a softmax, the group is cut: it loads values of rows, which
// another group stores.

// A region is a found region with the groups that compute it.
type region struct {
	*foundRegion
	products []*product
	groups   []*group
	saved    map[savedRow]*node
}

// A product is a product of a region.
type product struct {
	*foundProduct
	region               *region
	sum, weights, factor *node
}

// findRegions finds the regions whose kernels the device runs.
func (p *placer) findRegions(roots, list []*graph.Node) {
	of, isRoot := map[*foundRegion]*region{}, nodes{}
	for _, n := range roots {
		isRoot[n] = true
	}
	regions, inside := findAttention(list, isRoot, p.refused, p.Loops)
	for _, f := range regions {
		r := &region{foundRegion: f, saved: map[savedRow]*node{}}
		for _, e := range f.products {
			x := &product{e, r, p.known(e.sum), p.known(e.weights), p.known(e.factor)}
			x.sum.product = x
			r.products = append(r.products, x)
		}
		of[f] = r
		p.regions = append(p.regions, r)
	}
	for n, f := range inside {
		p.known(n).inside = of[f]
	}
}

// An attending is the state of a group of attention.
type attending struct {
	*region
	cut      bool
	swapped  bool          // rows are summed over
	matrices map[*node]int // instructions of nodes of the region at their points
	batch    ir.AxisSet    // axes that both factors of a product vary over; others do no harm
	depths   []int         // axes that scores are summed over
	widths   []int         // axes of products that matrices do not have
}

// A savedRow names the stored form of a value of rows: itself, or 1 over it.
type savedRow struct {
	*node
	inverse bool
}

// attend makes a kernel of attention compute a product, and others that are as e: one kernel all sums over rows.
func (p *placer) attend(e *product) {
	if e.sum.owners != nil || !e.swapped && p.attendBy(false, e) {
		return
	}
	list := []*product{e}
	others := slices.DeleteFunc(slices.Clone(e.region.products), func(o *product) bool {
		return o == e || o.sum.owners != nil || !p.ensure(o.sum)
	})
	for _, o := range others {
		if e.swapped && o.swapped && o.sum.owners == nil {
			list = append(list, o)
		}
	}
	if e.sum.owners != nil {
		return
	}
	if !p.attendBy(true, list...) && (len(list) == 1 || !p.attendBy(true, e)) {
		panic(refusal{e})
	}
	for _, o := range others { // their operands are free early
		p.placeOnce(o.sum)
	}
}

// attendBy makes one group compute products. It reports false if none can.
func (p *placer) attendBy(cut bool, list ...*product) bool {
	e := list[0]
	if !cut {
		for _, g := range e.region.groups {
			if !g.cut && p.extend(g, e.sum, slices.Clone(e.out), func(t *trial) int { return t.attended(e) }) {
				return true
			}
		}
	}
	ids := make([]int, len(list))
	g := p.begin(e.sum, func() (*group, layout) { return e.region.newGroup(cut, e.swapped, e), slices.Clone(e.out) },
		func(t *trial, _ layout) int {
			for i, x := range list {
				ids[i] = t.attended(x)
			}
			return ids[0]
		})
	if g == nil {
		return false
	}
	for i, x := range list[1:] {
		p.add(g, x.sum, ids[1+i], slices.Clone(x.out), len(g.body))
	}
	e.region.groups = append(e.region.groups, g)
	return true
}

// ensure places the operands of n. It reports false if one is a product that is being placed.
func (p *placer) ensure(n *node) bool {
	seen, stack := nodeSet{n: true}, slices.Clone(n.src)
	var list []*node
	for len(stack) > 0 {
		x := stack[len(stack)-1]
		if stack = stack[:len(stack)-1]; x.product != nil && x.placed && x.owners == nil {
			return false
		}
		if !seen[x] && !x.placed {
			seen[x] = true
			list = append(list, x)
			stack = append(stack, x.src...)
		}
	}
	slices.SortFunc(list, func(a, b *node) int { return a.number - b.number })
	for _, x := range list {
		p.placeOnce(x)
	}
	return true
}

// A refusal is the products that kernels of attention cannot compute as they were placed. It ends a placement.
type refusal []*product

// newGroup returns a group of a kernel of attention, with the widths of e.
func (r *region) newGroup(cut, swapped bool, e *product) *group {
	g := &group{
		template: ir.Attention, space: space{lens: slices.Clone(r.space.lens), splits: slices.Clone(r.space.splits)},
		order: pending, reader: pending, attending: &attending{region: r, cut: cut, swapped: swapped, matrices: map[*node]int{}},
	}
	g.axes = slices.Concat(r.space.liveLayout(slices.Clone(r.layouts[r.score]))...)
	over := r.columns
	if e != nil {
		over = e.over
		g.addWidths(e)
	}
	for _, a := range g.axes {
		if r.space.liveSet(over).Has(a) {
			g.reduced = append(g.reduced, a)
		}
	}
	return g
}

// addWidths gives a group the axes of a product that matrices do not have.
func (g *group) addWidths(e *product) {
	for _, a := range slices.Concat(g.liveLayout(slices.Clone(e.layout))...) {
		if !slices.Contains(g.axes, a) {
			g.axes, g.widths = append(g.axes, a), append(g.widths, a)
		}
	}
}

// layoutIn returns the layout in t's group of a node of its region.
func (t *trial) layoutIn(l layout) layout { return t.g.liveLayout(slices.Clone(l)) }
