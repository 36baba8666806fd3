package fuse

import (
	"fmt"
	"maps"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// merge makes h part of g, which comes later, if no group in between reads
// from h and their spaces agree where the operands src of one node lie.
func (f *fuser) merge(h, g *Group, src []*graph.Node) bool {
	if !mergeable(h, g) {
		return false
	}
	for range 16 { // each turn splits an axis
		lh, ok1 := f.layout(h, src)
		lg, ok2 := f.layout(g, src)
		if !ok1 || !ok2 || !h.covers(lh) || !g.covers(lg) {
			return false
		}
		to := map[int]int{}
		again, ok := pair(h, g, slices.Concat(lh...), slices.Concat(lg...), to)
		if again {
			continue
		}
		return ok && !f.atOdds(h, g) && f.unite(h, g, to)
	}
	return false
}

// atOdds reports whether one of two groups computes for itself what the other
// reads from memory, perhaps because there is no other way.
func (f *fuser) atOdds(h, g *Group) bool {
	in := func(g *Group) func(*graph.Node) bool { return func(n *graph.Node) bool { return g.inline[n] } }
	return slices.ContainsFunc(f.loads(h), in(g)) || slices.ContainsFunc(f.loads(g), in(h))
}

func mergeable(h, g *Group) bool {
	fits := func(g *Group) bool { return !g.closed && (g.Template == ir.Pointwise || g.Template == ir.Reduce) }
	return h != g && fits(h) && fits(g) && h.reader > g.order && len(h.Layouts)+len(g.Layouts) <= maxSize && h.numbers(nil)+g.numbers(nil) <= maxNumbers
}

// pair matches axes of h with axes of g, most significant first. Again says
// that one of them was split to make them match.
func pair(h, g *Group, a, b []int, to map[int]int) (again, ok bool) {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) {
			return false, false
		}
		m, n := h.Lens[a[i]], g.Lens[b[i]]
		switch {
		case m == n:
			to[a[i]] = b[i]
		case m%n == 0:
			h.split(shape.Split{Axis: a[i], Inner: m / n})
			return true, true
		case n%m == 0:
			g.split(shape.Split{Axis: b[i], Inner: n / m})
			return true, true
		default:
			return false, false
		}
	}
	return false, true
}

// unite moves all of h into g. To matches axes of h with axes of g; those
// that h reduces may yet be missing.
func (f *fuser) unite(h, g *Group, to map[int]int) bool {
	var missing []int
	for _, a := range h.Axes {
		if _, ok := to[a]; !ok {
			missing = append(missing, a)
		}
	}
	taken := func(b int) bool {
		for _, t := range to {
			if t == b {
				return true
			}
		}
		return false
	}
	reduced := g.Reduced
	var fresh []int
	for _, a := range missing { // all of them reduced: kept axes are in every layout
		if g.Template == ir.Pointwise {
			fresh = append(fresh, a)
			continue
		}
		i := slices.IndexFunc(g.Reduced, func(b int) bool { return !taken(b) && g.Lens[b] == h.Lens[a] })
		if i < 0 {
			return false
		}
		to[a] = g.Reduced[i]
	}
	for _, a := range h.Reduced {
		if b, ok := to[a]; ok && g.Template == ir.Pointwise {
			reduced = append(slices.Clone(reduced), b)
		} else if ok && !slices.Contains(g.Reduced, b) {
			return false
		}
	}
	if g.Template == ir.Reduce && h.Template == ir.Reduce && len(h.Reduced) != len(g.Reduced) {
		return false
	}
	for _, a := range h.Axes {
		if b, ok := to[a]; ok && h.Template == ir.Reduce && slices.Contains(reduced, b) && !slices.Contains(h.Reduced, a) {
			return false
		}
	}
	for _, a := range fresh {
		to[a] = g.newAxis(h.Lens[a])
		reduced = append(slices.Clone(reduced), to[a])
	}
	if g.Reduced = reduced; len(reduced) > 0 {
		g.Template = ir.Reduce
	}
	relay := func(l Layout) Layout {
		c := make(Layout, len(l))
		for i := range l {
			for _, a := range l[i] {
				c[i] = append(c[i], to[a])
			}
		}
		return c
	}
	for n, l := range h.Layouts {
		g.Layouts[n] = relay(l)
	}
	for n, l := range h.Over {
		g.Over[n] = relay(l)
	}
	maps.Copy(g.inline, h.inline)
	for _, s := range h.Stores {
		s.Layout = relay(s.Layout)
		g.Stores = append(g.Stores, s)
	}
	g.reader = min(g.reader, h.reader)
	h.into = g
	return true
}

// mergeSiblings merges map groups over one space that do not depend on each
// other, and row groups that read the same.
func (f *fuser) mergeSiblings() {
	last := map[string]*Group{}
	for _, g := range f.groups {
		if g.gone() || g.Template != ir.Pointwise && g.Template != ir.Reduce {
			continue
		}
		key := siblings(g)
		h := last[key]
		last[key] = g
		if h == nil || !mergeable(h, g) || f.atOdds(h, g) || f.buffers(h)+f.buffers(g) > f.limit() {
			continue
		}
		if g.Template == ir.Reduce && !f.shareLoad(h, g) {
			continue
		}
		to := map[int]int{}
		for i, a := range h.Axes {
			to[a] = g.Axes[i]
		}
		f.unite(h, g, to)
	}
}

// siblings tells groups that cannot share a space apart.
func siblings(g *Group) string {
	var lens []int
	var reduced []bool
	for _, a := range g.Axes {
		lens = append(lens, g.Lens[a])
		reduced = append(reduced, slices.Contains(g.Reduced, a))
	}
	return fmt.Sprint(lens, reduced)
}
