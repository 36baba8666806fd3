package contraction

import (
	"fmt"
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
	"github.com/tensorken/tensorken/ir"
)

// A Choice is a way to compute a product: a tile, and how the depth is split.
type Choice struct{ product.Option[tiles.Tile] }

// String formats a choice as the rows, columns and words of the depth of its tile, the squares
// of a unit in it, and the parts of the depth: 128x128x8:2x2/1, or shares of all steps. The choices of a kernel have
// different names.
func (c Choice) String() string {
	t := c.Layout
	if c.Shares > 0 {
		return fmt.Sprintf("%dx%dx%d:%dx%d/shares", t.M, t.N, t.K, t.High, t.Wide)
	}
	return fmt.Sprintf("%dx%dx%d:%dx%d/%d", t.M, t.N, t.K, t.High, t.Wide, c.Splits)
}

// Row is the row of a choice in the table of tiles.
func (c Choice) Row() string {
	tile, unit := c.Layout, *c.Layout.Unit
	tile.Unit, unit.Methods = nil, tiles.UnitMethods{} // addresses differ from program to program
	return fmt.Sprint(tile, " ", unit)
}

// Choices lists the tiles that can compute a contraction, and the splits of each.
func Choices(c *build.Builder) (list [][]Choice) {
	x := product.New(c)
	if !c.Target.Traits().Concurrent || build.HasMatrices && isSkinny(x) || fewRows(x, maxRows) {
		return nil
	}
	for _, o := range tiles.Options(x) {
		list = append(list, resplit(x, o))
	}
	return list
}

// resplit returns an option, and the same with half and twice as many splits.
func resplit(x *product.Product, o product.Option[tiles.Tile]) []Choice {
	list := []Choice{{o}}
	if o.Shares > 0 {
		return list
	}
	steps := ir.CeilDiv(x.Depth, o.Layout.Depth())
	for _, n := range []int{o.Splits / 2, 2 * o.Splits} {
		if n < 1 || n > steps {
			continue
		}
		o.PerSplit = ir.CeilDiv(steps, n)
		o.Splits = ir.CeilDiv(steps, o.PerSplit)
		if !slices.ContainsFunc(list, func(c Choice) bool { return c.Splits == o.Splits }) {
			list = append(list, Choice{o})
		}
	}
	return list
}
