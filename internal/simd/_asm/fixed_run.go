package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// multiply adds to sum the products of the digits of some runs by codes, times a scale.
func (w *fixedDot) multiply(digits operand.Mem, codes, scale, sum vec) {
	bytes := int(codes.Size())
	x := w.target.reg(bytes)
	w.clear(x)
	vpdpbusd(w.Context, digits, codes, x)
	x = w.vn(bytes, "VPSLLD", 8, x)
	vpdpbusd(w.Context, digits.Offset(64), codes, x)
	w.VFMADD231PS(scale, w.vn(bytes, "VCVTDQ2PS", x), sum)
}

// clear sets a register to 0. Avo takes the method of the instruction for one that reads the register.
func (t *target) clear(x vec) {
	t.Instruction(&ir.Instruction{Opcode: "VPXORD", Operands: []operand.Op{x, x, x}, Outputs: []operand.Op{x}, ISA: []string{"AVX512F", "AVX512VL"}})
}

// lastBlocks multiplies the blocks of one run after the groups, fewer than eight.
func (w *fixedDot) lastBlocks() {
	k, next, end := w.param("n"), w.label("block"), w.label("end")
	step := w.GP64() // from a run to the next, in pairs
	w.MOVQ(operand.I32(32), step)
	w.ANDQ(operand.I32(7), k)
	w.Label(next)
	w.DECQ(k)
	w.jump(w.JLT, end)
	scale := w.number(0)
	offsets := w.offsets(scale, w.number)
	// One number and zeros, because an instruction on one clears the rest of a sum.
	w.VFMADD231PS(w.part(w.vn(16, "VMOVSS", operand.Mem{Base: w.sums}), 32), offsets, w.part(w.others, 32))
	w.multiply(operand.Mem{Base: w.digits}, w.unpack(0), w.vn(32, "VMULPS_BCST", operand.Mem{Base: w.scales}, scale), w.rest)
	w.ADDQ(operand.I32(w.format.bytes), w.b)
	w.nextRun(w.digits, step)
	w.ADDQ(operand.I32(4), w.scales)
	w.ADDQ(operand.I32(4), w.sums)
	w.jump(w.JMP, next)
	w.Label(end)
}

// nextRun moves digits by step, the distance from a run to the next, which is 32 bytes in a pair and 96 after it.
func (t *target) nextRun(digits, step reg.GPVirtual) {
	t.ADDQ(step, digits)
	t.XORQ(operand.I32(32^96), step)
}

// store adds up lanes and stores the sum.
func (w *fixedDot) store(c reg.GPVirtual) {
	fold := func(x vec) vec { return w.vn(32, "VADDPS", w.vn(32, "VEXTRACTF64X4", 1, x), w.part(x, 32)) }
	sum, others := w.vn(32, "VADDPS", w.rest, fold(w.v("VADDPS", w.acc[0], w.acc[1]))), w.part(w.others, 32)
	if w.format.sixteenths == "lanes" {
		sum = w.vn(32, "VMULPS", w.data["lanes"], sum)
	}
	if w.format.lanes != "" {
		others = fold(w.others)
	}
	w.VFMADD231PS_BCST(w.target.data(f32(w.format.factor)), others, sum)
	sum = w.vn(16, "VADDPS", w.vn(16, "VEXTRACTF32X4", 1, sum), w.part(sum, 16))
	for _, lanes := range []int{0x4e, 0xb1} {
		sum = w.vn(16, "VADDPS", w.vn(16, "VPSHUFD", lanes, sum), sum)
	}
	w.VMOVSS(sum, operand.Mem{Base: c})
}
