package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A panelDot multiplies rows of digits of simd.Fix by a panel.
type panelDot struct {
	*target
	parts              int // of a run
	a, s, u, a4        reg.GPVirtual
	s4, u4             reg.GPVirtual
	p, k, lda, lda3    reg.GPVirtual
	ahead, step, lines reg.GPVirtual
	run                reg.GPVirtual // the distance to the next run's digits
}

// panelRows is the greatest number of rows.
const panelRows = 8

// write writes the routine for parts of some length.
func (w *panelDot) write() {
	t := w.target
	p := t.begin(fmt.Sprint("dotPanel", w.parts), "func(c, a, s, u, p *byte, ahead uintptr, m, n, k, ldc, lda, step, add int)", "a", "s", "u", "p", "ahead", "k", "lda", "step", "m")
	w.a, w.s, w.u, w.p, w.ahead, w.k, w.lda, w.step = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7]
	t.byRows(p[8], panelRows, w.body)
}

// row is the operand at an offset of a row; p4 is row 4.
func (w *panelDot) row(p, p4 reg.GPVirtual, i, offset int) operand.Mem {
	return rowAt([]reg.GPVirtual{p, p4}[i/4], w.lda, w.lda3, i%4, offset)
}

func (w *panelDot) body(rows int) {
	t := w.target
	if rows > 3 {
		w.lda3 = t.GP64()
		t.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, w.lda3)
	}
	from := [][2]*reg.GPVirtual{{&w.a, &w.a4}, {&w.s, &w.s4}, {&w.u, &w.u4}}
	for _, p := range from {
		if rows > 4 {
			*p[1] = t.GP64()
			t.LEAQ(operand.Mem{Base: *p[0], Index: w.lda, Scale: 4}, *p[1])
		}
	}
	acc := make([]vec, rows)
	for r := range acc {
		acc[r] = t.ZMM()
		t.clear(acc[r])
	}
	next, line, done := t.label("run"), t.label("line"), t.label("done")
	w.lines, w.run = t.GP64(), t.GP64()
	t.MOVQ(operand.I32(32), w.run)
	t.Label(next)
	t.DECQ(w.k)
	t.jump(t.JLT, done)
	t.XORQ(w.lines, w.lines)
	t.Label(line)
	t.PREFETCHT1(operand.Mem{Base: w.ahead, Index: w.lines, Scale: 1})
	t.ADDQ(operand.I32(64), w.lines)
	t.CMPQ(w.lines, w.step)
	t.jump(t.JLT, line)
	t.ADDQ(w.step, w.ahead)
	for part := range w.parts {
		w.part(part, acc)
	}
	t.ADDQ(operand.I32(w.parts*partBytes(w.parts)), w.p)
	for i, p := range from[1:] {
		for j, q := range p {
			if j == 0 || rows > 4 {
				t.ADDQ(operand.I32([]int{4, 4 * w.parts}[i]), *q)
			}
		}
	}
	if rows > 4 {
		t.ADDQ(w.run, w.a4)
	}
	t.nextRun(w.a, w.run)
	t.jump(t.JMP, next)
	t.Label(done)
	w.store(acc)
}

// part adds the products of a part of a run.
func (w *panelDot) part(part int, acc []vec) {
	t, l, n, rows := w.target, w.target.singles(), 8/w.parts, len(acc)
	at := part * partBytes(w.parts)
	from := func(i int) operand.Mem { return operand.Mem{Base: w.p, Disp: at + 64*i} }
	var codes []vec
	for i := range n {
		codes = append(codes, t.v("VMOVDQU32", from(i)))
	}
	high, low := make([]vec, rows), make([]vec, rows)
	for r := range rows {
		high[r] = t.ZMM()
		t.clear(high[r])
		if low[r] = high[r]; rows <= 4 { // few sums would wait for each other
			low[r] = t.ZMM()
			t.clear(low[r])
		}
	}
	digits := func(sums []vec, offset int) {
		for i := range n {
			for r := range rows {
				vpdpbusdBroadcast(t.Context, w.row(w.a, w.a4, r, offset+4*(part*n+i)), codes[i], sums[r])
			}
		}
	}
	digits(high, 0)
	if rows <= 4 {
		digits(low, 64)
	}
	for r := range rows {
		t.VPSLLD(operand.U8(8), high[r], high[r])
		if rows <= 4 {
			t.VPADDD(low[r], high[r], high[r])
		}
	}
	if rows > 4 {
		digits(high, 64)
	}
	scales, offsets := t.v("VMOVUPS", from(n)), t.v("VMOVUPS", from(n+1))
	for r := range rows {
		scale := t.v("VMULPS_BCST", w.row(w.s, w.s4, r, 0), scales)
		t.VFMADD231PS_BCST(w.row(w.u, w.u4, r, 4*part), offsets, acc[r])
		t.VFMADD231PS(scale, l.fromInt(high[r]), acc[r])
	}
}

// store stores the sums of n columns, or adds them.
func (w *panelDot) store(acc []vec) {
	t := w.target
	param := func(name string) reg.GPVirtual { return t.Load(t.Param(name), t.GP64()).(reg.GPVirtual) }
	bits, columns := t.GP64(), t.K()
	t.MOVQ(operand.I32(-1), bits)
	t.BZHIQ(param("n"), bits, bits)
	t.KMOVW(bits.As32(), columns)
	c, ldc, add, skip := param("c"), param("ldc"), param("add"), t.label("store")
	t.TESTQ(add, add)
	t.jump(t.JZ, skip)
	at := t.GP64()
	t.MOVQ(c, at)
	for _, x := range acc {
		t.VADDPS(t.v("VMOVUPS_Z", operand.Mem{Base: at}, columns), x, x)
		t.ADDQ(ldc, at)
	}
	t.Label(skip)
	for _, x := range acc {
		t.VMOVUPS(x, columns, operand.Mem{Base: c})
		t.ADDQ(ldc, c)
	}
}

// vpdpbusdBroadcast is vpdpbusd by the four bytes at an address.
func vpdpbusdBroadcast(c *build.Context, m operand.Mem, x, sum vec) {
	c.Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Suffixes: []string{"BCST"}, Operands: []operand.Op{m, x, sum}, Inputs: []operand.Op{m, x, sum}, Outputs: []operand.Op{sum}, ISA: []string{"AVX512VNNI"}})
}
