package kernelize

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/kernelize/regions"
	"github.com/tensorken/tensorken/internal/kernelize/space"
	"github.com/tensorken/tensorken/ir"
)

// A kernel of attention computes one product of a region or several, or values of rows. Where one pass over the
// columns is not enough, as in the gradient of a softmax, the group is cut: it loads values of rows, which
// another group stores.

// A region is a found region with the groups that compute it.
type region struct {
	*regions.Region
	products []*product
	groups   []*group
	saved    map[savedRow]*node
}

// A product is a product of a region.
type product struct {
	*regions.Product
	region               *region
	sum, weights, factor *node
}

// findRegions finds the regions whose kernels the device runs.
func (p *placer) findRegions(roots, list []*graph.Node) {
	of, isRoot := map[*regions.Region]*region{}, regions.Nodes{}
	for _, n := range roots {
		isRoot[n] = true
	}
	regions, inside := regions.Find(list, isRoot, p.refused, p.Loops)
	for _, f := range regions {
		r := &region{Region: f, saved: map[savedRow]*node{}}
		for _, e := range f.Products {
			x := &product{e, r, p.known(e.Sum), p.known(e.Weights), p.known(e.Factor)}
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
	if e.sum.owners != nil || !e.Swapped && p.attendBy(false, e) {
		return
	}
	list := []*product{e}
	others := slices.DeleteFunc(slices.Clone(e.region.products), func(o *product) bool {
		return o == e || o.sum.owners != nil || !p.ensure(o.sum)
	})
	for _, o := range others {
		if e.Swapped && o.Swapped && o.sum.owners == nil {
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
			if !g.cut && p.extend(g, e.sum, slices.Clone(e.Out), func(t *trial) int { return t.attended(e) }) {
				return true
			}
		}
	}
	ids := make([]int, len(list))
	g := p.begin(e.sum, func() (*group, space.Layout) { return e.region.newGroup(cut, e.Swapped, e), slices.Clone(e.Out) },
		func(t *trial, _ space.Layout) int {
			for i, x := range list {
				ids[i] = t.attended(x)
			}
			return ids[0]
		})
	if g == nil {
		return false
	}
	for i, x := range list[1:] {
		p.add(g, x.sum, ids[1+i], slices.Clone(x.Out), len(g.body))
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
		template: ir.Attention, Space: space.Space{Lens: slices.Clone(r.Space.Lens), Splits: slices.Clone(r.Space.Splits)},
		order: pending, reader: pending, attending: &attending{region: r, cut: cut, swapped: swapped, matrices: map[*node]int{}},
	}
	g.Axes = slices.Concat(r.Space.LiveLayout(slices.Clone(r.Layouts[r.Score]))...)
	over := r.Columns
	if e != nil {
		over = e.Over
		g.addWidths(e)
	}
	for _, a := range g.Axes {
		if r.Space.LiveSet(over).Has(a) {
			g.reduced = append(g.reduced, a)
		}
	}
	return g
}

// addWidths gives a group the axes of a product that matrices do not have.
func (g *group) addWidths(e *product) {
	for _, a := range slices.Concat(g.LiveLayout(slices.Clone(e.Layout))...) {
		if !slices.Contains(g.Axes, a) {
			g.Axes, g.widths = append(g.Axes, a), append(g.widths, a)
		}
	}
}

// layoutIn returns the layout in t's group of a node of its region.
func (t *trial) layoutIn(l space.Layout) space.Layout { return t.g.LiveLayout(slices.Clone(l)) }
