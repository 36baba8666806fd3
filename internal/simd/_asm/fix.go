package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// largestFixed is the largest absolute value of two digits: 127·256 + 127.
const largestFixed = 32639

// largest16 is the largest integer of 16 bits.
const largest16 = 32767

// scaleOfRun returns the 32 numbers at a, the scale that makes them integers of at most an absolute value, and
// its inverse.
func (t *target) scaleOfRun(a reg.GPVirtual, largest float64) (x [2]vec, scale, inverse vec) {
	l := t.singles()
	x = [2]vec{t.v("VMOVUPS", operand.Mem{Base: a}), t.v("VMOVUPS", operand.Mem{Base: a, Disp: 64})}
	// Among bits of absolute values NaN and infinity are the greatest: they make the scale not finite.
	top := t.v("VPMAXUD", l.abs(x[0]), l.abs(x[1]))
	top = t.vn(32, "VPMAXUD", t.vn(32, "VEXTRACTI64X4", 1, top), l.part(top, 32))
	top = t.vn(16, "VPMAXUD", t.vn(16, "VEXTRACTI32X4", 1, top), l.part(top, 16))
	for _, lanes := range []int{0x4e, 0xb1} {
		top = t.vn(16, "VPMAXUD", t.vn(16, "VPSHUFD", lanes, top), top)
	}
	top = t.vn(16, "VPMAXUD", f32(0x1p-100), top) // so that its inverse is finite
	scale = t.vn(16, "VMULPS", f32(1/largest), top)
	inverse = t.v("VBROADCASTSS", t.vn(16, "VDIVPS", top, t.vn(16, "VBROADCASTSS", t.data(f32(largest)))))
	return x, scale, inverse
}

// fix writes simd.Fix.
func (t *target) fix() {
	t.tables.single(t.level, "fix", "fixVNNI")
	p := t.begin("fix", "func(y, a *byte, n int)", "y", "a", "n")
	y, a, n, at := p[0], p[1], p[2], t.GP64()
	scales, sums, halves := t.GP64(), t.GP64(), t.GP64()
	l := t.singles()
	step := t.GP64()
	t.MOVQ(operand.I32(32), step)
	t.LEAQ(operand.Mem{Base: n, Disp: 1}, at)
	t.ANDQ(operand.I32(-2), at)
	t.SHLQ(operand.U8(6), at)
	t.LEAQ(operand.Mem{Base: y, Index: at, Scale: 1}, scales)
	t.LEAQ(operand.Mem{Base: scales, Index: n, Scale: 4}, sums)
	t.LEAQ(operand.Mem{Base: sums, Index: n, Scale: 4}, halves)
	next, end := t.label("run"), t.label("end")
	t.Label(next)
	t.DECQ(n)
	t.jump(t.JLT, end)
	x, scale, inverse := t.scaleOfRun(a, largestFixed)
	var numbers []vec
	for i := range x {
		q := l.toInt(l.mul(x[i], inverse))
		t.VPMOVDB(l.sar(8, l.addInt(q, i32(128))), operand.Mem{Base: y, Disp: 16 * i})
		t.VPMOVDB(q, operand.Mem{Base: y, Disp: 64 + 16*i})
		numbers = append(numbers, l.fromInt(q))
	}
	both := (&dotsWriter{target: t, weight: weight{lane: 4}, lanes: l}).sums(numbers)[0]
	both = t.vn(16, "VMULPS", both, scale)
	t.VMOVSS(scale, operand.Mem{Base: scales})
	t.VMOVSD(both, operand.Mem{Base: halves})
	t.VMOVSS(t.vn(16, "VADDPS", t.vn(16, "VPSHUFD", 0xb1, both), both), operand.Mem{Base: sums})
	for _, q := range []struct {
		p     reg.GPVirtual
		bytes int
	}{{a, 128}, {scales, 4}, {sums, 4}, {halves, 8}} {
		t.ADDQ(operand.I32(q.bytes), q.p)
	}
	t.nextRun(y, step)
	t.jump(t.JMP, next)
	t.Label(end)
	t.end()
}
