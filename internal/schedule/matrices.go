//go:build !js

package schedule

import (
	"github.com/tensorken/tensorken/internal/shader"
	"github.com/tensorken/tensorken/ir"
)

// withMatrices adds the tiles of matrix instructions, as measured on an NVIDIA H200.
func withMatrices(p products) products {
	p.floats = []tile{
		{128, 128, 32, 4, 2, 1.5, 1, wholeFloats},
		{128, 64, 32, 4, 2, 1.46, 2, wholeFloats},
		{64, 64, 32, 2, 2, 1.1, 3, wholeFloats},
		{32, 32, 16, 2, 2, 0.6, 10, wholeFloats},
		{8, 128, 16, 1, 1, 0.45, 10, &byThreads},
	}
	p.rounded = []tile{
		{128, 128, 16, 4, 4, 4, 2, roundedFloats},
		{64, 64, 16, 2, 2, 2.5, 4, roundedFloats},
		{32, 32, 16, 2, 2, 1.2, 10, roundedFloats},
	}
	p.sharedFloats = []tile{
		{128, 128, 32, 1, 8, 2.6, 1, floatsByGroups(true, 4)},
		{64, 128, 32, 1, 8, 2.25, 2, floatsByGroups(true, 3)},
		{128, 64, 32, 1, 4, 1.7, 1, floatsByGroups(true, 4)},
		{64, 64, 32, 1, 4, 2.05, 3, floatsByGroups(true, 3)},
	}
	p.sharedRounded = []tile{
		{128, 256, 32, 1, 16, 6, 1, floatsByGroups(false, 4)},
		{128, 128, 32, 1, 8, 5.5, 2, floatsByGroups(false, 4)},
		{64, 128, 32, 1, 8, 5, 3, floatsByGroups(false, 3)},
		{64, 64, 32, 1, 4, 3.5, 4, floatsByGroups(false, 3)},
	}
	p.halves = map[ir.DType][]tile{ir.Float16: tilesOfHalves(float16Pairs), ir.BFloat16: tilesOfHalves(bfloat16Pairs)}
	p.copiedHalves = map[ir.DType][]tile{ir.Float16: tilesOfCopiedHalves(shader.F16Pairs), ir.BFloat16: tilesOfCopiedHalves(shader.BF16Pairs)}
	p.sharedHalves = map[ir.DType][]tile{ir.Float16: tilesOfSharedHalves(shader.F16Pairs), ir.BFloat16: tilesOfSharedHalves(shader.BF16Pairs)}
	p.bytes = map[ir.DType][]tile{ir.Int8: tilesOfBytes(int8Quads), ir.Uint8: tilesOfBytes(uint8Quads)}
	return p
}

// attentionUnits lists the units of attention, the fastest first.
func attentionUnits(a *attention) []attentionUnit {
	return []attentionUnit{&attentionGroups{attention: a}, &attentionWarps{a}, &attentionThreads{attention: a}}
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
