package schedule

import (
	"slices"

	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// A table has tiles, the fastest first, and what else their times depend on.
type table struct {
	tiles   []tile              // by threads
	floats  []tile              // of float32, on a target with matrices
	rounded []tile              // of float32 in TF32 there
	halves  map[ir.DType][]tile // of halves there
	// More of halves that can be copied, on a target with matrices, but without products in shared memory.
	copiedHalves map[ir.DType][]tile
	// More of each on a target with products in shared memory.
	sharedFloats, sharedRounded []tile
	sharedHalves                map[ir.DType][]tile
	bytes                       map[ir.DType][]tile // of integers of 8 bits, on a target with matrices
	wide                        []tile              // of numbers of 64 bits, by threads
	threadCost, matrixCost      productCost         // of tiles by threads, and on a target with matrices
	wideCost                    productCost         // of wide
}

// measuredH200 has the layouts and costs measured on an NVIDIA H200. Tiles of 64×64×16 and 32×64×16, and those
// of numbers of 64 bits, as float64, were measured on an H100.
var measuredH200 = table{
	tiles: []tile{
		{128, 128, 8, 2, 2, 1, 2, &byThreads},
		{64, 128, 8, 2, 2, 0.83, 4, &byThreads},
		{64, 64, 8, 1, 2, 0.85, 5, &byThreads},
		{64, 64, 16, 1, 1, 0.76, 4, &byThreads},
		{32, 64, 16, 1, 1, 0.68, 8, &byThreads},
		{32, 32, 16, 1, 1, 0.6, 10, &byThreads},
		{8, 128, 16, 1, 1, 0.45, 10, &byThreads},
	},
	floats: []tile{
		{128, 128, 32, 4, 2, 1.5, 1, wholeFloats},
		{128, 64, 32, 4, 2, 1.46, 2, wholeFloats},
		{64, 64, 32, 2, 2, 1.1, 3, wholeFloats},
		{32, 32, 16, 2, 2, 0.6, 10, wholeFloats},
		{8, 128, 16, 1, 1, 0.45, 10, &byThreads},
	},
	rounded: []tile{
		{128, 128, 16, 4, 4, 4, 2, roundedFloats},
		{64, 64, 16, 2, 2, 2.5, 4, roundedFloats},
		{32, 32, 16, 2, 2, 1.2, 10, roundedFloats},
	},
	sharedFloats: []tile{
		{128, 128, 32, 1, 8, 2.6, 1, floatsByGroups(true, 4)},
		{64, 128, 32, 1, 8, 2.25, 2, floatsByGroups(true, 3)},
		{128, 64, 32, 1, 4, 1.7, 1, floatsByGroups(true, 4)},
		{64, 64, 32, 1, 4, 2.05, 3, floatsByGroups(true, 3)},
	},
	sharedRounded: []tile{
		{128, 256, 32, 1, 16, 6, 1, floatsByGroups(false, 4)},
		{128, 128, 32, 1, 8, 5.5, 2, floatsByGroups(false, 4)},
		{64, 128, 32, 1, 8, 5, 3, floatsByGroups(false, 3)},
		{64, 64, 32, 1, 4, 3.5, 4, floatsByGroups(false, 3)},
	},
	halves:       map[ir.DType][]tile{ir.Float16: tilesOfHalves(float16Pairs), ir.BFloat16: tilesOfHalves(bfloat16Pairs)},
	copiedHalves: map[ir.DType][]tile{ir.Float16: tilesOfCopiedHalves(shader.F16Pairs), ir.BFloat16: tilesOfCopiedHalves(shader.BF16Pairs)},
	sharedHalves: map[ir.DType][]tile{ir.Float16: tilesOfSharedHalves(shader.F16Pairs), ir.BFloat16: tilesOfSharedHalves(shader.BF16Pairs)},
	bytes:        map[ir.DType][]tile{ir.Int8: tilesOfBytes(int8Quads), ir.Uint8: tilesOfBytes(uint8Quads)},
	wide: []tile{
		{128, 128, 8, 2, 2, 0.5, 1, &byThreads},
		{64, 128, 8, 2, 2, 0.47, 2, &byThreads},
		{64, 64, 16, 1, 1, 0.32, 2, &byThreads},
		{32, 32, 16, 1, 1, 0.25, 10, &byThreads},
		{8, 128, 8, 1, 1, 0.15, 8, &byThreads},
	},
	threadCost: productCost{step: 0.3e-6, pass: 3.6e-6, moves: 1.5},
	matrixCost: productCost{step: 0.3e-6, pass: 2.4e-6, moves: 0.8},
	wideCost:   productCost{step: 0.3e-6, pass: 2.4e-6, moves: 1.6},
}

// tilesOfSharedHalves are the tiles of units that multiply halves in shared memory.
func tilesOfSharedHalves(elem shader.Matrix) []tile {
	return []tile{
		{128, 256, 32, 1, 16, 14.7, 1, byGroups(elem, 4)},
		{128, 128, 32, 1, 8, 11.6, 2, byGroups(elem, 3)},
		{64, 256, 32, 1, 16, 11, 1, byGroups(elem, 5)},
		{128, 64, 32, 1, 4, 7, 2, byGroups(elem, 4)},
	}
}

// tilesOfCopiedHalves are the tiles of warps that multiply halves in shared memory, where they are copied.
func tilesOfCopiedHalves(elem shader.Matrix) []tile {
	return []tile{
		{128, 256, 32, 4, 4, 8.95, 1, byCopies(elem, 3)},
		{128, 128, 32, 4, 4, 8.7, 2, byCopies(elem, 2)},
		{64, 128, 32, 2, 4, 7.4, 3, byCopies(elem, 2)},
		{64, 64, 32, 2, 2, 6.2, 4, byCopies(elem, 3)},
	}
}

// tilesOfHalves are the tiles of a unit of warps that multiplies halves.
func tilesOfHalves(u *unit) []tile {
	return []tile{
		{128, 128, 16, 4, 4, 5.6, 2, u},
		{64, 64, 16, 2, 2, 3.5, 4, u},
		{32, 32, 16, 2, 2, 1.5, 10, u},
	}
}

// tilesOfBytes are the tiles of a unit of warps that multiplies integers of 8 bits.
func tilesOfBytes(u *unit) []tile {
	return []tile{
		{128, 128, 16, 4, 4, 8, 2, u},
		{64, 64, 16, 2, 2, 5, 4, u},
		{32, 32, 16, 2, 2, 2, 10, u},
	}
}

// tilesOfFloats are the tiles of float32 on a target with matrices.
func (p *table) tilesOfFloats(t Target) []tile {
	list, more := p.floats, p.sharedFloats
	if t.TF32 {
		list, more = p.rounded, p.sharedRounded
	}
	if t.SharedMatrices {
		return slices.Concat(more, list)
	}
	return list
}
