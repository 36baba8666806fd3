package fuse

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// store makes n readable: computed by a group if it floats, copied in
// row-major order if it is read from memory already.
func (f *fuser) store(n *graph.Node) {
	switch {
	case f.info[n].homes != nil:
		f.save(n)
	case f.readable(n, nil):
		c := graph.NewAlias(n, nil)
		f.info[c] = &info{users: 1}
		f.anchor(c)
		f.save(c)
		f.copies[n] = c
	default:
		f.anchor(n)
		f.save(n)
	}
}

// save makes the group that computes n write it.
func (f *fuser) save(n *graph.Node) {
	i := f.info[n]
	if i.saved || i.homes == nil {
		return
	}
	i.saved = true
	if n.Op == ir.Cat {
		return // its operands are stored in their parts of it
	}
	g := f.home(n)
	s := Store{Node: n, Target: n}
	if n.Op != ir.Scatter {
		s.Layout = clone(g.Layouts[n])
	}
	g.Stores = append(g.Stores, s)
}

// root sees to it that n, which was asked for, is stored: itself, or what it
// is a view of.
func (f *fuser) root(n *graph.Node) {
	b := n
	for b.Op.Class() == ir.Movement && f.info[b].homes == nil {
		if b.Op == ir.Crop || b.Op == ir.Window || b.Op == ir.Pad || b.Op == ir.Unwindow {
			if x := base(b); f.info[x].homes == nil && x.Op != ir.Buffer || b.Op == ir.Pad || b.Op == ir.Unwindow {
				f.write(n)
				return
			}
		}
		b = b.Src()[0]
	}
	if _, ok := ViewOf(n, b); !ok {
		f.write(n)
		return
	}
	if b.Op != ir.Buffer {
		f.write(b)
	}
}

// write stores n itself: a copy that others read will not do.
func (f *fuser) write(n *graph.Node) {
	if f.info[n].homes == nil {
		f.anchor(n)
	}
	f.save(n)
}

// cat makes each operand store into its part of n.
func (f *fuser) cat(n *graph.Node) {
	axis, offset := n.Ints[0], 0
	i := f.info[n]
	for _, s := range n.Src() {
		if s.Len() == 0 {
			continue
		}
		var l Layout
		g, ok := f.home(base(s)), false
		if g != nil {
			if l, ok = g.derive(s); ok {
				ok = g.covers(l)
			}
		}
		node := base(s)
		if !ok {
			c := graph.NewAlias(s, nil)
			f.info[c] = &info{users: 1}
			g = f.anchor(c)
			l, node = clone(g.Layouts[c]), c
		}
		g.Stores = append(g.Stores, Store{Node: node, Target: n, Layout: l, Axis: axis, Offset: offset})
		i.homes = append(i.homes, g)
		offset += s.Shape[axis]
	}
	if len(i.homes) == 1 { // home tells groups by having one
		i.homes = append(i.homes, i.homes[0])
	}
	i.saved = true
}

// scatter gives n a special group of its own.
func (f *fuser) scatter(n *graph.Node) {
	target, idx, upd := n.Src()[0], n.Src()[1], n.Src()[2]
	if !f.readable(target, nil) || !f.contiguous(target, nil) {
		f.store(target)
	}
	g, l := newGroup(ir.Routine, idx.Shape)
	g.Scatter = n
	g.Layouts[n] = l
	w := f.settle(g, func(w *walk) {
		at := g.Forms(g.Layouts[n])
		w.visit(idx, at)
		w.visit(upd, at)
	})
	f.add(g)
	f.read(g, append(w.loads, target))
	f.info[n].homes = []*Group{g}
	f.save(n)
}

// source is the node whose elements in memory are n's for group g: a leaf or
// what another group stores. Reshapes in between are of row-major elements.
func (f *fuser) source(n *graph.Node, g *Group) *graph.Node {
	for f.info[n].homes == nil || g != nil && f.home(n) == g {
		if c := f.copy(n, g); c != nil {
			return c
		}
		if n.Op != ir.Reshape {
			return n
		}
		n = n.Src()[0]
	}
	return n
}

// copy is the row-major copy of a leaf that g reads instead: one that an
// earlier group made, if any.
func (f *fuser) copy(n *graph.Node, g *Group) *graph.Node {
	if c := f.copies[n]; c != nil && (g == nil || f.home(c).order < g.order) {
		return c
	}
	return nil
}

// limit is the most buffers of a merged group: what the device can bind, and
// no more than fit the caches side by side.
func (f *fuser) limit() int {
	if f.bindings > 0 {
		return min(f.bindings, maxMerged)
	}
	return maxMerged
}

// loads lists what g reads from memory.
func (f *fuser) loads(g *Group) []*graph.Node {
	w := &walk{f: f, g: g}
	for n, l := range g.Layouts {
		at := g.Forms(l)
		switch {
		case n == g.Sum:
		case n == g.Scatter:
			w.loads = append(w.loads, n.Src()[0])
			w.visit(n.Src()[1], at)
			w.visit(n.Src()[2], at)
		case n.Op.Class() == ir.Reduction:
			w.visit(n.Src()[0], g.Operand(n, at))
		default:
			w.member(n)
		}
	}
	for _, side := range g.Sides {
		for _, fac := range side {
			w.visit(fac.Node, fac.At)
		}
	}
	var out []*graph.Node
	for _, n := range w.loads {
		if n = f.source(n, g); !slices.Contains(out, n) {
			out = append(out, n)
		}
	}
	return out
}

// buffers is how many g reads and writes.
func (f *fuser) buffers(g *Group) int {
	targets := map[*graph.Node]bool{}
	for _, s := range g.Stores {
		targets[s.Target] = true
	}
	return len(f.loads(g)) + len(targets)
}

func (f *fuser) shareLoad(h, g *Group) bool {
	of := f.loads(h)
	return slices.ContainsFunc(f.loads(g), func(n *graph.Node) bool { return slices.Contains(of, n) })
}

// finish drops groups that store nothing.
func (f *fuser) finish() *Fusion {
	out := &Fusion{f: f}
	for _, g := range f.groups {
		if len(g.Stores) > 0 && !g.gone() {
			out.Groups = append(out.Groups, g)
		}
	}
	slices.SortFunc(out.Groups, func(a, b *Group) int { return a.order - b.order })
	return out
}

// Source is the node whose elements in memory are n's for group g: a leaf, or
// the target of another group's store. If it is not n itself, it lies in
// row-major order.
func (x *Fusion) Source(n *graph.Node, g *Group) *graph.Node { return x.f.source(n, g) }

// Readable reports whether g reads n from memory.
func (x *Fusion) Readable(n *graph.Node, g *Group) bool { return x.f.readable(n, g) }

// Varies lists the axes of g that a factor varies over.
func (x *Fusion) Varies(g *Group, fac Factor) []int {
	w := &walk{f: x.f, g: g}
	w.visit(fac.Node, fac.At)
	for _, gd := range fac.Guards {
		w.vary([]ir.AffineExpr{gd.AffineExpr})
	}
	var axes []int
	for _, a := range g.Axes {
		if w.axes.Has(a) {
			axes = append(axes, a)
		}
	}
	return axes
}

// A Strided is a view without guards of a row-major node or a leaf.
type Strided struct {
	Offset  int
	Strides []int
}

// ViewOf returns n, a movement of b, as a view of b: a leaf, whose strides are
// its own, or a node in row-major order.
func ViewOf(n, b *graph.Node) (Strided, bool) {
	var chain []*graph.Node
	for x := n; x != b; x = x.Src()[0] {
		chain = append(chain, x)
	}
	v := Strided{Strides: shape.RowMajor(b.Shape)}
	if b.Op == ir.Buffer {
		v.Strides = slices.Clone(b.Ints[1:])
	}
	for _, x := range slices.Backward(chain) {
		var ok bool
		if v, ok = v.Move(x, x.Src()[0].Shape); !ok {
			return v, false
		}
	}
	return v, true
}

// Move is the view of a movement's result, where there is one, from that of
// its operand, of shape from.
func (v Strided) Move(x *graph.Node, from []int) (Strided, bool) {
	ok := true
	switch x.Op {
	case ir.Alias:
	case ir.Reshape:
		v.Strides, ok = shape.ReshapeStrides(v.Strides, from, x.Shape)
	case ir.Permute:
		v.Strides = shape.PermuteStrides(v.Strides, x.Ints)
	case ir.Expand:
		v.Strides = shape.ExpandStrides(v.Strides, from, x.Shape)
	case ir.Crop:
		v.Strides = slices.Clone(v.Strides)
		for i, s := range v.Strides {
			v.Offset += s * x.Ints[2*i]
			v.Strides[i] = s * x.Ints[2*i+1]
		}
	case ir.Flip:
		v.Strides = slices.Clone(v.Strides)
		for _, a := range x.Ints {
			v.Offset += v.Strides[a] * (x.Shape[a] - 1)
			v.Strides[a] = -v.Strides[a]
		}
	case ir.Window:
		i, k, s, d := x.Ints[0], x.Ints[1], x.Ints[2], x.Ints[3]
		v.Strides = slices.Clone(v.Strides)
		v.Strides[k] += v.Strides[i] * d
		v.Strides[i] *= s
	default:
		return v, false
	}
	return v, ok
}

// Stored is the node that holds the elements of root n: itself, or what it is
// a view of.
func (x *Fusion) Stored(n *graph.Node) *graph.Node {
	for !x.f.info[n].saved && n.Op.Class() == ir.Movement && n.Op != ir.Cat {
		n = n.Src()[0]
	}
	return n
}
