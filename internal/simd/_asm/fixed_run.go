package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// scaleProducts stores the products of scales, and adds the sums of runs times offsets.
func (w *fixedDot) scaleProducts() {
	for r := range w.rows {
		scales := w.vn(32, "VMOVUPS", w.of(w.scales, r, 0))
		bytes := 32
		if w.format.lanes != "" {
			scales, bytes = w.v("VPERMPS", w.part(scales, 64), w.v("VMOVDQU32", w.data["pairs"])), 64
		}
		for i, c := range w.column {
			product := w.vn(bytes, "VMULPS", scales, c.scales)
			if w.rows > 1 {
				w.VMOVUPS(product, w.slot(r, i))
			} else if w.product = []vec{w.part(product, 32)}; bytes == 64 {
				w.product = append(w.product, w.vn(32, "VEXTRACTF64X4", 1, product))
			}
			w.VFMADD231PS(w.of(w.sums, r, 0), c.offsets, w.part(w.others[r][i], bytes))
		}
	}
}

// sum is the sum of row r and column c that run i is added to. The sums of one row alone would wait for each other.
func (w *fixedDot) sum(r, c, i int) vec {
	sums := w.acc[r]
	return sums[c+w.cols*(i%(len(sums)/w.cols))]
}

// multiply multiplies run i of each column, as bytes, and adds the products times a scale.
func (w *fixedDot) multiply(i int, scale func(r, c int) any) {
	var codes []vec
	for _, c := range w.column {
		w.b = c.b
		codes = append(codes, w.unpack(i))
	}
	for r := range w.rows {
		var high, low operand.Op = w.of(w.digits, r, 64*i), w.of(w.digits, r, 64*i+32)
		if w.cols > 1 {
			high, low = w.vn(32, "VMOVDQU32", high), w.vn(32, "VMOVDQU32", low)
		}
		for c := range w.column {
			x := w.reg(32)
			w.clear(x)
			vpdpbusd(w.Context, high, codes[c], x)
			x = w.vn(32, "VPSLLD", 8, x)
			vpdpbusd(w.Context, low, codes[c], x)
			x = w.vn(32, "VCVTDQ2PS", x)
			switch s := scale(r, c).(type) {
			case operand.Mem:
				w.VFMADD231PS_BCST(s, x, w.sum(r, c, i))
			case vec:
				w.VFMADD231PS(s, x, w.sum(r, c, i))
			}
		}
	}
}

// clear sets a register to 0. Avo takes the method of the instruction for one that reads the register.
func (t *target) clear(x vec) {
	t.Instruction(&ir.Instruction{Opcode: "VPXORD", Operands: []operand.Op{x, x, x}, Outputs: []operand.Op{x}, ISA: []string{"AVX512F", "AVX512VL"}})
}

// rest multiplies the blocks of one run after the groups.
func (w *fixedDot) rest() {
	k, next, end := w.param("n"), w.label("block"), w.label("end")
	w.ANDQ(operand.I32(7), k)
	w.Label(next)
	w.DECQ(k)
	w.jump(w.JLT, end)
	var scales []vec
	for i, c := range w.column {
		w.b = c.b
		d := w.number(0)
		offsets := w.offsets(d, w.number)
		scales = append(scales, d)
		for r := range w.rows { // one number and zeros, because an instruction on one clears the rest of a sum
			sum := w.vn(16, "VMOVSS", w.of(w.sums, r, 0))
			w.VFMADD231PS(w.part(sum, 32), offsets, w.part(w.others[r][i], 32))
		}
	}
	w.multiply(0, func(r, c int) any { return w.vn(32, "VMULPS_BCST", w.of(w.scales, r, 0), scales[c]) })
	for _, c := range w.column {
		w.ADDQ(operand.I32(w.format.bytes), c.b)
	}
	w.advance(1)
	w.jump(w.JMP, next)
	w.Label(end)
}

// store adds up lanes and stores the sums.
func (w *fixedDot) store(left, out operand.Mem, outRow []operand.Mem) {
	to := []reg.GPVirtual{w.GP64()}
	w.MOVQ(out, to[0])
	if w.cols > 1 {
		to = append(to, w.GP64())
		w.LEAQ(operand.Mem{Base: to[0], Disp: 4}, to[1])
		w.CMPQ(left, operand.I32(1))
		w.CMOVQEQ(to[0], to[1])
	}
	for r := range w.rows {
		at := w.GP64()
		if r > 0 {
			w.MOVQ(outRow[r], at)
		}
		for i, p := range to {
			sum, others := w.acc[r][i], w.part(w.others[r][i], 32)
			for j := i + w.cols; j < len(w.acc[r]); j += w.cols {
				w.VADDPS(w.acc[r][j], sum, sum)
			}
			if w.format.sixteenths == "lanes" {
				sum = w.vn(32, "VMULPS", w.data["lanes"], sum)
			}
			if w.format.lanes != "" {
				others = w.vn(32, "VADDPS", w.vn(32, "VEXTRACTF64X4", 1, w.others[r][i]), others)
			}
			w.VFMADD231PS_BCST(w.target.data(f32(w.format.factor)), others, sum)
			sum = w.vn(16, "VADDPS", w.vn(16, "VEXTRACTF32X4", 1, sum), w.part(sum, 16))
			for _, lanes := range []int{0x4e, 0xb1} {
				sum = w.vn(16, "VADDPS", w.vn(16, "VPSHUFD", lanes, sum), sum)
			}
			m := operand.Mem{Base: p}
			if r > 0 {
				m.Index, m.Scale = at, 1
			}
			w.VMOVSS(sum, m)
		}
	}
	w.ADDQ(operand.I32(4*w.cols), out)
}
