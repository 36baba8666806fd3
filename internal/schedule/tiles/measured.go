package tiles

import (
	"slices"

	"github.com/tensorken/tensorken/internal/schedule/build"
	"github.com/tensorken/tensorken/internal/schedule/product"
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A Table has tiles, the fastest first, and the constants of their estimated times.
type Table struct {
	tiles   []Tile              // by threads
	Floats  []Tile              // of float32, on a target with matrices
	Rounded []Tile              // of float32 in TF32 there
	halves  map[ir.DType][]Tile // of halves there
	// More of halves that can be copied, on a target with matrices, but without products in shared memory.
	CopiedHalves map[ir.DType][]Tile
	// More of each on a target with products in shared memory.
	SharedFloats, SharedRounded []Tile
	SharedHalves                map[ir.DType][]Tile
	bytes                       map[ir.DType][]Tile // of integers of 8 bits, on a target with matrices
	wide                        []Tile              // of numbers of 64 bits, by threads
	threadCost, matrixCost      product.Cost        // of tiles by threads, and on a target with matrices
	wideCost                    product.Cost        // of wide
}

// MeasuredH200 has the tiles and costs of NVIDIA's compute capability 9; docs/bench has the measurements.
var MeasuredH200 = Table{
	tiles: []Tile{
		{128, 128, 8, 2, 2, 1, 2, &ByThreads},
		{64, 128, 8, 2, 2, 0.83, 4, &ByThreads},
		{64, 64, 8, 1, 2, 0.85, 5, &ByThreads},
		{64, 64, 16, 1, 1, 0.76, 4, &ByThreads},
		{32, 64, 16, 1, 1, 0.68, 8, &ByThreads},
		{32, 32, 16, 1, 1, 0.6, 10, &ByThreads},
		{8, 128, 16, 1, 1, 0.45, 10, &ByThreads},
	},
	Floats: []Tile{
		{128, 128, 32, 4, 2, 1.5, 1, WholeFloats},
		{128, 64, 32, 4, 2, 1.46, 2, WholeFloats},
		{64, 64, 32, 2, 2, 1.1, 3, WholeFloats},
		{32, 32, 16, 2, 2, 0.6, 10, WholeFloats},
		{8, 128, 16, 1, 1, 0.45, 10, &ByThreads},
	},
	Rounded: []Tile{
		{128, 128, 16, 4, 4, 4, 2, RoundedFloats},
		{64, 64, 16, 2, 2, 2.5, 4, RoundedFloats},
		{32, 32, 16, 2, 2, 1.2, 10, RoundedFloats},
	},
	SharedFloats: []Tile{
		{128, 128, 32, 1, 8, 2.6, 1, floatsByGroups(true, 4)},
		{64, 128, 32, 1, 8, 2.25, 2, floatsByGroups(true, 3)},
		{128, 64, 32, 1, 4, 1.7, 1, floatsByGroups(true, 4)},
		{64, 64, 32, 1, 4, 2.05, 3, floatsByGroups(true, 3)},
	},
	SharedRounded: []Tile{
		{128, 256, 32, 1, 16, 6, 1, floatsByGroups(false, 4)},
		{128, 128, 32, 1, 8, 5.5, 2, floatsByGroups(false, 4)},
		{64, 128, 32, 1, 8, 5, 3, floatsByGroups(false, 3)},
		{64, 64, 32, 1, 4, 3.5, 4, floatsByGroups(false, 3)},
	},
	halves:       map[ir.DType][]Tile{ir.Float16: tilesOfHalves(HalfPairs[ir.Float16]), ir.BFloat16: tilesOfHalves(HalfPairs[ir.BFloat16])},
	CopiedHalves: map[ir.DType][]Tile{ir.Float16: tilesOfCopiedHalves(shader.F16Pairs), ir.BFloat16: tilesOfCopiedHalves(shader.BF16Pairs)},
	SharedHalves: map[ir.DType][]Tile{ir.Float16: tilesOfSharedHalves(shader.F16Pairs), ir.BFloat16: tilesOfSharedHalves(shader.BF16Pairs)},
	bytes:        map[ir.DType][]Tile{ir.Int8: tilesOfBytes(int8Quads), ir.Uint8: tilesOfBytes(uint8Quads)},
	wide: []Tile{
		{128, 128, 8, 2, 2, 0.5, 1, &ByThreads},
		{64, 128, 8, 2, 2, 0.47, 2, &ByThreads},
		{64, 64, 16, 1, 1, 0.32, 2, &ByThreads},
		{32, 32, 16, 1, 1, 0.25, 10, &ByThreads},
		{8, 128, 8, 1, 1, 0.15, 8, &ByThreads},
	},
	threadCost: product.Cost{Step: 0.3e-6, Block: 0.3e-6, Pass: 3.6e-6, Moves: 1.5},
	matrixCost: product.Cost{Step: 0.3e-6, Block: 1.1e-6, Pass: 2.4e-6, Part: 0.1e-6, Moves: 0.8},
	wideCost:   product.Cost{Step: 0.3e-6, Pass: 2.4e-6, Moves: 1.6},
}

// tilesOfSharedHalves are the tiles of units that multiply halves in shared memory.
func tilesOfSharedHalves(elem shader.Matrix) []Tile {
	return []Tile{
		{128, 256, 32, 1, 16, 14.7, 1, ByGroups(elem, 4)},
		{128, 192, 32, 1, 12, 14, 1, ByGroups(elem, 4)},
		{128, 128, 32, 1, 8, 11.6, 2, ByGroups(elem, 3)},
		{64, 256, 32, 1, 16, 11, 1, ByGroups(elem, 5)},
		{128, 64, 32, 1, 4, 7, 2, ByGroups(elem, 4)},
	}
}

// tilesOfCopiedHalves are the tiles of warps that multiply halves in shared memory, where they are copied.
func tilesOfCopiedHalves(elem shader.Matrix) []Tile {
	return []Tile{
		{128, 256, 32, 4, 4, 8.95, 1, byCopies(elem, 3)},
		{128, 128, 32, 4, 4, 8.7, 2, byCopies(elem, 2)},
		{64, 128, 32, 2, 4, 7.4, 3, byCopies(elem, 2)},
		{64, 64, 32, 2, 2, 6.2, 4, byCopies(elem, 3)},
	}
}

// tilesOfHalves are the tiles of a unit of warps that multiplies halves.
func tilesOfHalves(u *Unit) []Tile {
	return []Tile{
		{128, 128, 16, 4, 4, 5.6, 2, u},
		{64, 64, 16, 2, 2, 3.5, 4, u},
		{32, 32, 16, 2, 2, 1.5, 10, u},
	}
}

// tilesOfBytes are the tiles of a unit of warps that multiplies integers of 8 bits.
func tilesOfBytes(u *Unit) []Tile {
	return []Tile{
		{128, 128, 16, 4, 4, 8, 2, u},
		{64, 64, 16, 2, 2, 5, 4, u},
		{32, 32, 16, 2, 2, 2, 10, u},
	}
}

// tilesOfFloats are the tiles of float32 on a target with matrices.
func (p *Table) tilesOfFloats(t build.Target) []Tile {
	list, more := p.Floats, p.SharedFloats
	if t.TF32 {
		list, more = p.Rounded, p.SharedRounded
	}
	if t.SharedMatrices {
		return slices.Concat(more, list)
	}
	return list
}
