package drivertest

import (
	"math"
	"slices"

	"github.com/tensorken/tensorken/internal/graph"
	"github.com/tensorken/tensorken/ir"
)

// growMovement adds up to three movements on top of each other.
func (g *generator) growMovement() {
	x := g.pick()
	for range 1 + g.IntN(3) {
		if x = g.add(movements[g.IntN(len(movements))](g, x)); x == nil {
			return
		}
	}
}

// movements each move x in a random way, or give nil.
var movements = []func(g *generator, x *graph.Node) *graph.Node{
	(*generator).reshape,
	(*generator).reshape,
	(*generator).permute,
	(*generator).permute,
	(*generator).expand,
	(*generator).pad,
	(*generator).crop,
	(*generator).flip,
	(*generator).window,
	(*generator).unwindow,
}

// reshape shares the prime factors of the lengths out over other axes: mostly
// by splitting and merging neighbours, at times in any way.
func (g *generator) reshape(x *graph.Node) *graph.Node {
	if x.Len() == 0 {
		return nil
	}
	var to []int
	for i := 0; i < len(x.Shape); i++ {
		d := x.Shape[i]
		if i+1 < len(x.Shape) && g.chance(3) {
			i++
			d *= x.Shape[i]
		}
		for _, p := range []int{2, 3, 5} {
			if d%p == 0 && d > p && g.chance(3) {
				to = append(to, p)
				d /= p
			}
		}
		if d != 1 || !g.chance(3) {
			to = append(to, d)
		}
		if g.chance(6) {
			to = append(to, 1)
		}
	}
	if g.chance(6) {
		g.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
	}
	if g.chance(8) {
		to = []int{x.Len()}
	}
	return graph.Reshape(x, to)
}

func (g *generator) permute(x *graph.Node) *graph.Node {
	return graph.Permute(x, g.Perm(len(x.Shape)))
}

func (g *generator) expand(x *graph.Node) *graph.Node {
	to := slices.Clone(x.Shape)
	if !slices.Contains(to, 1) {
		to = slices.Insert(to, g.IntN(len(to)+1), 1)
		x = graph.Reshape(x, slices.Clone(to))
	}
	for i, d := range to {
		if d == 1 && g.chance(2) {
			to[i] = 1 + g.IntN(4)
		}
	}
	return graph.Expand(x, to)
}

func (g *generator) pad(x *graph.Node) *graph.Node {
	p := make([]graph.Padding, len(x.Shape))
	for i := range p {
		if g.chance(2) {
			p[i] = graph.Padding{Before: g.one(0, 1, 2), After: g.one(0, 1, 3), Interior: g.one(0, 0, 0, 1, 2)}
		}
	}
	fill := g.number(x.DType)
	switch {
	case g.chance(2):
		fill = 0
	case x.DType.IsFloat() && g.chance(4):
		fill = ir.Float(x.DType, math.Inf(-1))
	}
	return graph.Pad(x, fill, p)
}

func (g *generator) crop(x *graph.Node) *graph.Node {
	s := make([]graph.Span, len(x.Shape))
	for i, d := range x.Shape {
		s[i] = graph.Span{Step: 1, Len: d}
		if d > 0 && g.chance(2) {
			s[i].Start, s[i].Step = g.IntN(d), g.one(1, 1, 2, 3)
			s[i].Len = 1 + g.IntN((d-1-s[i].Start)/s[i].Step+1)
			if g.chance(40) {
				s[i].Len = 0
			}
		}
	}
	return graph.Crop(x, s)
}

func (g *generator) flip(x *graph.Node) *graph.Node {
	return graph.Flip(x, g.someAxes(len(x.Shape)))
}

// two returns two axes, or false.
func (g *generator) two(x *graph.Node) (i, k int, ok bool) {
	if len(x.Shape) < 2 {
		return 0, 0, false
	}
	p := g.Perm(len(x.Shape))
	return p[0], p[1], true
}

func (g *generator) window(x *graph.Node) *graph.Node {
	i, k, ok := g.two(x)
	if !ok || x.Shape[k] == 0 {
		return nil
	}
	s, d := g.one(1, 1, 2), g.one(1, 1, 2)
	room := x.Shape[i] - 1 - (x.Shape[k]-1)*d
	if room < 0 {
		return nil
	}
	return graph.Window(x, i, k, s, d, room/s+1)
}

func (g *generator) unwindow(x *graph.Node) *graph.Node {
	i, k, ok := g.two(x)
	if !ok || x.Shape[i] == 0 || x.Shape[k] == 0 {
		return nil
	}
	s, d := g.one(1, 1, 2), g.one(1, 1, 2)
	full := (x.Shape[i]-1)*s + (x.Shape[k]-1)*d + 1
	return graph.Unwindow(x, i, k, s, d, max(1, full+g.one(0, 0, 0, 1, -1)))
}

func (g *generator) growCat() {
	x := g.pick()
	if len(x.Shape) == 0 {
		return
	}
	axis := g.IntN(len(x.Shape))
	parts := []*graph.Node{x}
	for range 1 + g.IntN(2) {
		dims := slices.Clone(x.Shape)
		if g.chance(2) {
			dims[axis] = g.IntN(4)
		}
		parts = append(parts, g.partner(x.DType, dims))
	}
	g.Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
	g.add(graph.Cat(axis, parts))
}

// index returns a tensor of that shape of positions below n: stored, or
// computed.
func (g *generator) index(n int, dims []int) *graph.Node {
	d := []ir.DType{ir.Int32, ir.Int32, ir.Uint32, ir.Int64}[g.IntN(4)]
	if !slices.Contains(g.types, d) {
		return nil
	}
	idx := g.leaf(d, dims)
	r := g.known[idx]
	if g.chance(3) { // any number, made to fit
		m := graph.Const(d, ir.Int(d, int64(n)), dims)
		zero := graph.Const(d, 0, dims)
		x := g.partner(d, dims)
		return graph.Elementwise(ir.Max, graph.Elementwise(ir.Rem, x, m), zero)
	}
	elems := make([]ir.Number, len(r.Elems))
	for i := range elems {
		elems[i] = ir.Number(g.IntN(n))
	}
	return g.known.stored(d, dims, elems)
}

func (g *generator) growGather() {
	x := g.pick()
	if len(x.Shape) == 0 {
		return
	}
	axis := g.IntN(len(x.Shape))
	if x.Shape[axis] == 0 {
		return
	}
	dims := slices.Clone(x.Shape)
	dims[axis] = 1 + g.IntN(6)
	g.gather(x, axis, dims)
}

// gather picks elements by an index that often does not vary over the other
// axes.
func (g *generator) gather(x *graph.Node, axis int, dims []int) *graph.Node {
	thin := slices.Clone(dims)
	for i := range thin {
		if i != axis && g.chance(2) {
			thin[i] = 1
		}
	}
	idx := g.index(x.Shape[axis], thin)
	if idx == nil {
		return nil
	}
	return g.add(graph.Gather(x, graph.Expand(idx, dims), axis))
}

func (g *generator) growScatter() {
	x := g.pick()
	if len(x.Shape) == 0 {
		return
	}
	axis := g.IntN(len(x.Shape))
	if x.Shape[axis] == 0 {
		return
	}
	kind := []ir.Op{ir.Add, ir.Copy, ir.Max, ir.Min, ir.Mul}[g.IntN(5)]
	if !ir.Table[kind].Types.Has(x.DType) {
		return
	}
	base := x
	if g.chance(2) {
		base = graph.Const(x.DType, 0, x.Shape)
	}
	dims := slices.Clone(x.Shape)
	dims[axis] = 1 + g.IntN(6)
	if idx := g.index(x.Shape[axis], dims); idx != nil {
		g.add(graph.Scatter(kind, base, idx, g.partner(x.DType, dims), axis))
	}
}
