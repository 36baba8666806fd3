package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
)

// mostTaps is the most taps of a filter. Longer axes, such as an image's in the gradient of a filter,
// have neighbours in memory, which are better loaded together.
const mostTaps = 32

// Tap chooses the order of the depth for a tile. The depth of a convolution has channels, and
// positions in the filter, the taps. If steps do not cross taps, all threads compute the tap from the
// number of the step, and its position holds for all elements of a thread: else each would divide the
// position of each element. Steps of the same channels follow each other, as they load neighbours.
func Tap(x *product.Product, t Tile) {
	n := slices.IndexFunc(x.Deep, func(a int) bool { return x.Nest.Axes[a].Len%t.Depth() == 0 })
	if t.Unit.lanes > 1 || x.FactorType.IsWide() || len(x.Deep) == 1 || x.Fours(x.Deep) || n < 0 {
		return
	}
	channels, taps := x.Deep[n], slices.Delete(slices.Clone(x.Deep), n, n+1)
	if x.Nest.Size(taps) > mostTaps {
		return
	}
	x.Taps, x.Deep = taps, []int{channels}
	for _, s := range []*product.Side{&x.Rows, &x.Cols} {
		s.Turned, s.AlongK = x.LoadsAlong(s), false
	}
}

// tapSpan enters the tap of the step that begins at a position of the depth, and returns the span of
// the number-th of its channels.
func (q *Pass) tapSpan(sc *build.Scope, at, number *shader.Expr) build.Span {
	depth, n := q.Tile.Depth(), q.Nest.Size(q.Taps)
	step := at.Div(depth)
	sc.Enter(build.Span{Axes: q.Taps, Base: step.Rem(n)})
	return build.Span{Axes: q.Deep, Base: step.Div(n).Mul(depth).Add(number.Convert(at.Type))}
}
