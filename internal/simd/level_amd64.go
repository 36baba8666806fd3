//go:build !noasm

package simd

import "golang.org/x/sys/cpu"

//go:generate go -C _asm run .

// levels are the sets of instructions, the best one first. Each has those after it.
var levels = []level{
	{"avx512bf16", hasVNNI && cpu.X86.HasAVX512BF16, routinesBF16.install},
	{"avx512vnni", hasVNNI, routinesVNNI.install},
	{"avx512", hasAVX512, routinesAVX512.install},
	{"avx2", hasAVX2, routinesAVX2.install},
}

var (
	hasAVX2   = cpu.X86.HasAVX2 && cpu.X86.HasFMA && cpu.X86.HasBMI2
	hasAVX512 = hasAVX2 && cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ && cpu.X86.HasAVX512VL
	hasVNNI   = hasAVX512 && cpu.X86.HasAVX512VNNI
)
