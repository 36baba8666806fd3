package images

import (
	"slices"

	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/ir"
)

// multiplies sets the size of a kernel's product, of which an instruction loads a factor, or stores or changes the
// result. It returns false unless the other factor is in memory, in which outputs are neighbours, or channels where tiles
// take these, and results have other channels than the batch, as heads of attention are: a tile would store each of its
// elements alone.
func (l *layer) multiplies(k *ir.Kernel, in *ir.Instr, channels ir.AxisSet, alongDepth bool) bool {
	deep, batch := k.Roles(ir.K), k.Roles(ir.Batch)
	_, left, right := loopnest.Factors(k.Body, k.Roles(ir.M), k.Roles(ir.N))
	weights, x := left, right
	if isFactor := in.Domain&deep != 0; isFactor && (channels&^deep != 0 || loads(k, left, in)) || !isFactor && k.Body[right].Domain&channels != 0 {
		weights, x = right, left
	}
	w, own := &k.Body[weights], k.Body[weights].Domain&^deep
	if w.Op != ir.Load || len(w.Src) > 0 || w == in || channels&^(own|deep) != 0 || channels&^batch == 0 {
		return false
	}
	l.outputs, l.depth = loopnest.Size(k, own&^batch), loopnest.Size(k, deep)
	l.positions, l.windows = loopnest.Size(k, k.Body[x].Domain&^(deep|batch)), len(deep.List()) > 1
	neighbours := own
	if alongDepth {
		neighbours = deep
	}
	return slices.ContainsFunc(neighbours.List(), func(a int) bool { return w.View.Coef[a] == 1 })
}

// loads reports whether instruction i depends on a load.
func loads(k *ir.Kernel, i int, load *ir.Instr) bool {
	return &k.Body[i] == load || slices.ContainsFunc(k.Body[i].Src, func(j int) bool { return loads(k, j, load) })
}

// slides reports whether a reduction is of windows of each channel, greatest elements or sums with weights of its own, or
// over all positions.
func (l *layer) slides(k *ir.Kernel, in *ir.Instr, channels ir.AxisSet, m *image) bool {
	reduced := k.Roles(ir.Reduced)
	i := slices.IndexFunc(k.Body, func(in ir.Instr) bool { return in.Op.Class() == ir.Reduction })
	if channels&reduced != 0 || i < 0 {
		return false
	}
	if k.Body[i].Op == ir.ReduceMax {
		l.greatest = k.Body[k.Body[i].Src[0]].Op == ir.Load
		return l.greatest
	}
	if k.Body[i].Op != ir.Sum {
		return false
	}
	isPosition := func(a int) bool { return in.View.Coef[a]%(m.channels*m.positions) != 0 }
	if in.Op == ir.Load && in.Domain&reduced != 0 && !slices.ContainsFunc((in.Domain&^(channels|reduced)).List(), isPosition) {
		return true
	}
	x := &k.Body[k.Body[i].Src[0]]
	if x.Op != ir.Mul {
		return false
	}
	a, b := &k.Body[x.Src[0]], &k.Body[x.Src[1]]
	l.weights = a.Domain&^reduced == channels || b.Domain&^reduced == channels
	return a.Op == ir.Load && b.Op == ir.Load && (a.Domain&b.Domain&^reduced)&channels == channels
}
