package fuse

import (
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/internal/shape"
	"github.com/tensorken/tensorken/ir"
)

// A walk goes through what a node of a group is computed from, down to what
// is loaded, and finds out whether it can be computed there.
type walk struct {
	f *fuser
	g *Group

	conflict bool         // a member of the group is read elsewhere than at its point
	split    *shape.Split // an axis to be split first
	store    *graph.Node  // a node to be stored first
	loads    []*graph.Node
	inline   []*graph.Node // what is computed on the way to them
	cost     int
	axes     ir.AxisSet // that the value varies over
	exposed  bool       // a load may be outside its buffer where guards do not hold
}

func (w *walk) done() bool { return w.conflict || w.split != nil || w.store != nil }

// operands visits the operands of an elementwise node read at coordinates.
func (w *walk) operands(n *graph.Node, at []ir.AffineExpr) {
	w.cost += ir.Table[n.Op].Cost
	if n.Op == ir.Gather {
		w.gather(n, at)
		return
	}
	for _, s := range n.Src() {
		w.visit(s, at)
	}
}

// member visits what n, neither a reduction nor a Scatter that the group
// computes, is computed from.
func (w *walk) member(n *graph.Node) {
	at := w.g.Forms(w.g.Layouts[n])
	switch n.Op.Class() {
	case ir.Source:
	case ir.Movement:
		if n.Op == ir.Reshape && w.f.readable(n, w.g) {
			w.load(n, at)
		} else if r, _, ok := w.through(n, at); ok {
			w.visit(r.Node, r.At)
		}
	default:
		w.operands(n, at)
	}
}

// visit goes through n, read at coordinates.
func (w *walk) visit(n *graph.Node, at []ir.AffineExpr) {
	if w.done() {
		return
	}
	if w.f.readable(n, w.g) {
		w.load(n, at)
		return
	}
	w.inline = append(w.inline, n)
	if l, ok := w.g.Layouts[n]; ok {
		if !slices.EqualFunc(w.g.Forms(l), at, shape.Equal) {
			w.conflict = true
		}
		w.vary(at)
		return
	}
	if _, ok := w.g.Over[n]; ok {
		w.visit(n.Src()[0], w.g.Operand(n, at))
		return
	}
	switch n.Op.Class() {
	case ir.Source:
		if n.Op == ir.Iota {
			w.vary(at[n.Ints[0] : n.Ints[0]+1])
		}
	case ir.Movement:
		src, _, ok := w.through(n, at)
		if ok {
			w.visit(src.Node, src.At)
		}
	default: // elementwise or Gather: what is reduced or scattered is readable
		outer := w.axes
		w.axes = 0
		w.operands(n, at)
		if w.wasteful(n) {
			w.store = n
		}
		w.axes |= outer
	}
}

// wasteful reports whether n, an expression varying over w.axes, is too dear
// to be computed at every point. Groups that exist already take it as it is.
func (w *walk) wasteful(n *graph.Node) bool {
	if w.done() || w.g.order != pending || n.Len() == 1 || w.f.info[n].cost < dear {
		return false
	}
	times, points := 1, 1
	for _, a := range w.g.Axes {
		if points *= w.g.Lens[a]; !w.axes.Has(a) {
			times *= w.g.Lens[a]
		}
	}
	return max(times, points/n.Len()) >= 4 // windows that overlap read an element many times
}

// A Reading is a node and the coordinates at which it is read.
type Reading struct {
	Node *graph.Node
	At   []ir.AffineExpr
}

// through goes from a movement to its operand. A reshape that forms cannot
// express stops the walk: an axis has to be split, or the operand stored.
func (w *walk) through(n *graph.Node, at []ir.AffineExpr) (r Reading, guards []ir.Guard, ok bool) {
	r, guards, split, ok := Through(n, at, w.g.Lens)
	if !ok {
		if w.split = split; split == nil {
			w.store = n.Src()[0]
			if n.Op == ir.Cat {
				w.store = n
			}
		}
	}
	for _, g := range guards {
		w.vary([]ir.AffineExpr{g.AffineExpr})
	}
	return r, guards, ok
}

// Through takes the coordinates at which a movement's result is read to those
// of its operand. Where guards do not hold, the movement's fill is read.
func Through(n *graph.Node, at []ir.AffineExpr, lens []int) (r Reading, guards []ir.Guard, split *shape.Split, ok bool) {
	if n.Op == ir.Cat {
		return r, nil, nil, false
	}
	x := n.Src()[0]
	r.Node, ok = x, true
	switch n.Op {
	case ir.Reshape:
		r.At, split, ok = shape.Reshape(at, x.Shape, n.Shape, lens)
	case ir.Permute:
		r.At = shape.Permute(at, n.Ints)
	case ir.Expand:
		r.At = shape.Expand(at, x.Shape)
	case ir.Pad:
		r.At, guards = shape.Pad(at, n.Ints, x.Shape, lens)
	case ir.Crop:
		r.At = shape.Crop(at, n.Ints)
	case ir.Flip:
		r.At = shape.Flip(at, n.Ints, n.Shape)
	case ir.Window:
		r.At = shape.Window(at, n.Ints)
	case ir.Unwindow:
		r.At, guards = shape.Unwindow(at, n.Ints, x.Shape, lens)
	default: // Alias
		r.At = at
	}
	return r, guards, split, ok
}

// gather visits the index, and the source, which has to be stored, with one
// coordinate that is a value: an axis beyond those of the space.
func (w *walk) gather(n *graph.Node, at []ir.AffineExpr) {
	x, idx, axis := n.Src()[0], n.Src()[1], n.Ints[0]
	w.visit(idx, at)
	if w.done() {
		return
	}
	value := len(w.g.Lens)
	src := Reading{x, slices.Clone(at)}
	src.At[axis] = shape.Axis(value, 1)
	lens := append(slices.Clone(w.g.Lens), x.Shape[axis])
	for !w.f.readable(src.Node, w.g) {
		next, guards, _, ok := Reading{}, []ir.Guard(nil), (*shape.Split)(nil), false
		if src.Node.Op.Class() == ir.Movement {
			next, guards, _, ok = Through(src.Node, src.At, lens)
		}
		if !ok || len(guards) > 0 {
			w.store = src.Node
			return
		}
		w.inline = append(w.inline, src.Node)
		src = next
	}
	w.load(src.Node, src.At)
}

// load notes a stored node that is read.
func (w *walk) load(n *graph.Node, at []ir.AffineExpr) {
	w.loads = append(w.loads, n)
	w.cost++
	for i, f := range at {
		if n.Op != ir.Buffer || n.Ints[1+i] != 0 {
			w.vary([]ir.AffineExpr{f})
			w.exposed = w.exposed || w.outside(f, n.Shape[i])
		}
	}
}

// outside reports whether a coordinate may be none of an axis of length n.
func (w *walk) outside(f ir.AffineExpr, n int) bool {
	if n == 1 || f.Div == 1 && len(f.Coef) == 0 {
		return false
	}
	if len(f.Coef) > len(w.g.Lens) { // a value's part is not known
		return true
	}
	lo, hi := shape.Range(f, w.g.Lens)
	return f.Div != 1 || lo < 0 || hi >= n
}

// guard adds the axes that guards depend on.
func (w *walk) guard(guards []ir.Guard) {
	for _, g := range guards {
		w.vary([]ir.AffineExpr{g.AffineExpr})
	}
}

// vary adds the axes that coordinates depend on.
func (w *walk) vary(at []ir.AffineExpr) {
	for _, f := range at {
		for a, c := range f.Coef {
			if c != 0 && a < len(w.g.Lens) && w.g.Lens[a] > 1 {
				w.axes |= 1 << a
			}
		}
	}
}
