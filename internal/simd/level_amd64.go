//go:build !noasm

package simd

import (
	"golang.org/x/sys/cpu"

	"github.com/tensorken/tensorken/ir"
)

//go:generate go -C _asm run .

// levels are the sets of instructions, the best one first. Each has those after it.
var levels = []level{
	{"avx512", hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL, installAVX512},
	{"avx2", hasAVX2, installAVX2},
}

var hasAVX2 = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2

func installAVX512() {
	Binaries[ir.Mul][ir.Float32].VV = mulF32AVX512
}

func installAVX2() {
	Binaries[ir.Mul][ir.Float32].VV = mulF32AVX2
}
