// Package contraction chooses how to compute a product. On a GPU workgroups do it by tiles; where one side is one
// vector or a few, it is a GEMV. On a CPU each thread computes a small block alone.
package contraction

import (
	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/schedule/tiles"
)

// Compile adds the passes of a contraction.
func Compile(c *build.Builder) {
	x := product.New(c)
	switch {
	case !c.Target.Traits().Concurrent:
		addNaive(x)
	case build.HasMatrices && isSkinny(x):
		addSkinny([]*product.Product{x}, skinnyOptions([]*product.Product{x})[0])
	case fewRows(x, maxRows):
		if list := gemvOptions(x); len(list) > 0 {
			addGemv(x, list[0])
		} else {
			addNaive(x)
		}
	default:
		if list := tiles.Options(x); len(list) > 0 {
			decode(x)
			tiles.Compile(x, list[0])
		} else {
			addNaive(x)
		}
	}
	c.Report()
}

// CompileBy is Compile by a choice.
func CompileBy(c *build.Builder, choice Choice) {
	x := product.New(c)
	decode(x)
	tiles.Compile(x, choice.Option)
	c.Report()
}

// decode decodes factors in block formats once, not in each tile: it takes about the time of a copy.
func decode(x *product.Product) {
	for _, i := range x.Nest.Loads(x.Rows.Factor, x.Cols.Factor) {
		x.Decode(i)
	}
}
