package schedule

import (
	"github.com/tensorken/tensorken/internal/loopnest"
	"github.com/tensorken/tensorken/internal/shader"
)

// Programs for browsers compute all points, and do not have the code that skips some.

func (c *compiler) storesWithin([]int) loopnest.Bounds { return nil }
func (c *compiler) pointsWithin() loopnest.Bounds      { return nil }

func (sc *scope) restrict(loopnest.Bounds)  {}
func (sc *scope) neededIn(int) *shader.Expr { return nil }

func (x *contraction) findHidden()            {}
func (x *contraction) perBatch(tiles int) int { return tiles }

func (q *tilePass) inTurn(tile *shader.Expr, _ int) (own *shader.Expr, end func()) {
	return tile, func() {}
}
func (q *tilePass) narrow()               {}
func (q *tilePass) visible() *shader.Expr { return nil }
