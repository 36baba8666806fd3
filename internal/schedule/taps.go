package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
)

// mostTaps is the most taps of a filter. Longer axes, as those of images in the gradient of a filter,
// have neighbours in memory, which are better loaded together.
const mostTaps = 32

// tap chooses the order of the depth for a tile. That of a convolution has channels, and positions in
// the kernel, the taps. Where a step's channels end a tap's, all threads compute the same tap from the
// number of the step, and what a thread finds out for it holds for all its elements: else each would
// divide the position of each element. Steps of the same channels follow each other, as they load
// neighbours.
func (x *contraction) tap(t tile) {
	n := slices.IndexFunc(x.deep, func(a int) bool { return x.k.Axes[a].Len%t.depth() == 0 })
	if t.unit.lanes > 1 || x.factorType.IsWide() || len(x.deep) == 1 || x.fours(x.deep) || n < 0 {
		return
	}
	channels, taps := x.deep[n], slices.Delete(slices.Clone(x.deep), n, n+1)
	if x.k.Size(taps) > mostTaps {
		return
	}
	x.taps, x.deep = taps, []int{channels}
	for _, s := range []*side{&x.rows, &x.cols} {
		s.turned, s.alongK = x.loadsAlong(s), false
	}
}

// tapSpan enters the tap of the step that begins at a position of the depth, and returns the span of
// the number-th of its channels.
func (q *tilePass) tapSpan(sc *scope, at, number *shader.Expr) span {
	depth, n := q.tile.depth(), q.k.Size(q.taps)
	step := at.Div(depth)
	sc.enter(span{axes: q.taps, base: step.Rem(n)})
	return span{axes: q.deep, base: step.Div(n).Mul(depth).Add(number.Convert(at.Type))}
}
