package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moves writes the routines that copy. Both levels have those of AVX2.
func (f *file) moves() { f.targets[0].transpose() }

// transpose writes a routine for elements of 4 bytes: dst[i·d0+j] = src[i+j·s1] for i in
// [0, n0), a multiple of 16, and j in [0, n1), a multiple of 8. It reads whole cache
// lines: in a matrix of 1024 columns the same column's lines of all rows belong in the
// same few places of the cache.
func (t *target) transpose() {
	p := t.begin("transpose4", "func(dst, src *byte, n0, d0, n1, s1 int)", "dst", "src", "n0", "d0", "n1", "s1")
	dst, src, n0, d0, n1, s1 := p[0], p[1], p[2], p[3], p[4], p[5]
	t.SHLQ(operand.Imm(2), d0)
	t.SHLQ(operand.Imm(2), s1)
	rows, columns, end := t.label("rows"), t.label("columns"), t.label("end")
	to, from, left := t.GP64(), t.GP64(), t.GP64()
	t.Label(rows)
	t.SUBQ(operand.I32(16), n0)
	t.jump(t.JLT, end)
	t.MOVQ(dst, to)
	t.MOVQ(src, from)
	t.MOVQ(n1, left)
	t.Label(columns)
	for half := range 2 {
		t.square(to, from, d0, s1, half)
	}
	t.LEAQ(operand.Mem{Base: from, Index: s1, Scale: 8}, from)
	t.ADDQ(operand.I32(32), to)
	t.SUBQ(operand.I32(8), left)
	t.jump(t.JNE, columns)
	t.ADDQ(operand.I32(64), src)
	t.SHLQ(operand.Imm(4), d0)
	t.ADDQ(d0, dst)
	t.SHRQ(operand.Imm(4), d0)
	t.jump(t.JMP, rows)
	t.Label(end)
	t.end()
}

// square transposes 8 by 8 elements: the first or the second half of 16 columns.
func (t *target) square(to, from, d0, s1 reg.Register, half int) {
	row := t.GP64()
	t.LEAQ(operand.Mem{Base: from, Disp: 32 * half}, row)
	v := make([]vec, 8)
	for i := range v {
		v[i] = t.YMM()
		t.VMOVUPS(operand.Mem{Base: row}, v[i])
		t.ADDQ(s1, row)
	}
	// Pairs of rows, then fours, then halves of registers.
	w := make([]vec, 8)
	for i := 0; i < 8; i += 2 {
		w[i], w[i+1] = t.v("VUNPCKLPS", v[i+1], v[i]), t.v("VUNPCKHPS", v[i+1], v[i])
	}
	for i := 0; i < 8; i += 4 {
		v[i], v[i+1] = t.v("VUNPCKLPD", w[i+2], w[i]), t.v("VUNPCKHPD", w[i+2], w[i])
		v[i+2], v[i+3] = t.v("VUNPCKLPD", w[i+3], w[i+1]), t.v("VUNPCKHPD", w[i+3], w[i+1])
	}
	t.MOVQ(to, row)
	if half == 1 {
		t.LEAQ(operand.Mem{Base: row, Index: d0, Scale: 8}, row)
	}
	for i := range 4 {
		w[i], w[i+4] = t.v("VPERM2F128", 0x20, v[i+4], v[i]), t.v("VPERM2F128", 0x31, v[i+4], v[i])
	}
	for _, x := range w {
		t.VMOVUPS(x, operand.Mem{Base: row})
		t.ADDQ(d0, row)
	}
}
