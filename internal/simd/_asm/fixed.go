package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fixedFormats are the formats that have routines of simd.Blocks.Fixed.
var fixedFormats = []fixedFormat{
	{"Q4_0", 1, 18, -8, (*fixedDot).q4},
	{"Q4_1", 1, 20, 1, (*fixedDot).q4offset},
	{"Q5_0", 1, 22, -16, (*fixedDot).q5},
	{"Q8_0", 1, 34, -128, (*fixedDot).q8},
	{"Q4_K", 8, 144, -1, (*fixedDot).q4k},
	{"Q5_K", 8, 176, -1, (*fixedDot).q5k},
	{"Q6_K", 8, 210, -32, (*fixedDot).q6k},
	{"IQ4_NL", 1, 18, -128, (*fixedDot).iq4},
}

// A fixedFormat is a format whose numbers are multiples of a scale after an offset is added, so that
// their multiples are bytes without a sign.
type fixedFormat struct {
	name        string
	runs, bytes int     // of a block
	factor      float64 // of the products of offsets, which body adds to others
	body        func(*fixedDot)
}

// A fixedDot multiplies blocks by the digits of simd.Fix. Others are the sums of products of offsets.
type fixedDot struct {
	decoder
	acc                  [2]vec
	others               vec
	digits, scales, sums reg.GPVirtual // of the first run of the block; sums are of 16 or of 32 numbers
}

// largestFixed is the largest absolute value of two digits: 127·256 + 127.
const largestFixed = 32639

// fixed writes simd.Fix and the routines of simd.Blocks.Fixed.
func (f *file) fixed() {
	t := f.vnni
	data := map[string]operand.Mem{}
	table := func(name string, words ...uint32) {
		data[name] = t.StaticGlobal(name)
		t.DataAttributes(attr.RODATA | attr.NOPTR)
		for _, x := range words {
			t.AppendDatum(operand.U32(x))
		}
	}
	table("high", 0, 0, 0, 0, 4, 4, 4, 4)
	table("halves", 0, 0, 0, 0, 1, 1, 1, 1)
	table("levels", 0x3f2d1801, 0x766a5d4f, 0xa6998d81, 0xf1d9c5b5)
	t.fix()
	for _, x := range fixedFormats {
		t.row("fixed", "%q, dotFixed%sVNNI", x.name, x.name)
		w := &fixedDot{decoder: decoder{avx: t.singles(), data: data}}
		w.write(x)
	}
}

func (w *fixedDot) write(x fixedFormat) {
	// Registers are few: parameters that a column reads once stay in memory.
	p := w.begin("dotFixed"+x.name, "func(c, a, b *byte, columns, n, ldb int)", "b")
	param := func(name string) reg.GPVirtual { return w.Load(w.Param(name), w.GP64()).(reg.GPVirtual) }
	column, next, done, end := w.label("column"), w.label("block"), w.label("done"), w.label("end")
	at := w.GP64() // the column
	w.XORQ(at, at)
	w.Label(column)
	w.CMPQ(at, param("columns"))
	w.jump(w.JGE, end)
	n, runs4 := param("n"), w.GP64() // runs4 is 4 bytes for each run
	w.IMUL3Q(operand.I32(4*x.runs), n, runs4)
	w.b, w.digits, w.scales, w.sums = w.GP64(), param("a"), w.GP64(), w.GP64()
	w.MOVQ(p[0], w.b)
	w.MOVQ(runs4, w.scales)
	w.SHLQ(operand.U8(4), w.scales)
	w.ADDQ(w.digits, w.scales)
	w.LEAQ(operand.Mem{Base: w.scales, Index: runs4, Scale: 1}, w.sums)
	step := 4 * x.runs
	if x.name == "Q6_K" {
		w.ADDQ(runs4, w.sums)
		step *= 2
	}
	w.acc = [2]vec{w.zero(), w.zero()}
	w.others = w.broadcast(f32(0))
	w.Label(next)
	w.DECQ(n)
	w.jump(w.JLT, done)
	for line := 0; line < x.bytes; line += 64 {
		w.PREFETCHT0(w.at(ahead + line))
	}
	x.body(w)
	w.ADDQ(operand.I32(x.bytes), w.b)
	w.ADDQ(operand.I32(64*x.runs), w.digits)
	w.ADDQ(operand.I32(4*x.runs), w.scales)
	w.ADDQ(operand.I32(step), w.sums)
	w.jump(w.JMP, next)
	w.Label(done)
	others := w.mul(w.others, f32(x.factor))
	upper := w.vn(32, "VADDPS", w.vn(32, "VEXTRACTF64X4", 1, others), w.part(others, 32))
	sum := w.vn(32, "VADDPS", upper, w.vn(32, "VADDPS", w.acc[0], w.acc[1]))
	sum = w.vn(16, "VADDPS", w.vn(16, "VEXTRACTF32X4", 1, sum), w.part(sum, 16))
	for _, lanes := range []int{0x4e, 0xb1} {
		sum = w.vn(16, "VADDPS", w.vn(16, "VPSHUFD", lanes, sum), sum)
	}
	w.VMOVSS(sum, operand.Mem{Base: param("c"), Index: at, Scale: 4})
	w.ADDQ(param("ldb"), p[0])
	w.INCQ(at)
	w.jump(w.JMP, column)
	w.Label(end)
	w.end()
}

func (w *fixedDot) zero() vec {
	x := w.reg(32)
	w.VPXORD(x, x, x)
	return x
}

// run multiplies run i of the block, as bytes, and adds the products times a scale, of that run, which
// may be in memory.
func (w *fixedDot) run(i int, bytes vec, scale any) {
	x := w.zero()
	vpdpbusd(w.Context, operand.Mem{Base: w.digits, Disp: 64 * i}, bytes, x)
	x = w.vn(32, "VPSLLD", 8, x)
	vpdpbusd(w.Context, operand.Mem{Base: w.digits, Disp: 64*i + 32}, bytes, x)
	x = w.vn(32, "VCVTDQ2PS", x)
	if m, ok := scale.(operand.Mem); ok {
		w.VFMADD231PS_BCST(m, x, w.acc[i%2])
	} else {
		w.do("VFMADD231PS", scale, x, w.acc[i%2])
	}
}

// one multiplies a block of one run with a scale at an offset, and adds the product of offsets.
func (w *fixedDot) one(bytes vec, scale int) {
	d := w.number(scale)
	w.VFMADD231SS(operand.Mem{Base: w.sums}, w.part(d, 16), w.part(w.others, 16))
	w.multiply(bytes, d)
}

// multiply multiplies a block of one run with a scale.
func (w *fixedDot) multiply(bytes, d vec) {
	w.run(0, bytes, w.vn(32, "VMULPS_BCST", operand.Mem{Base: w.scales}, d))
	w.acc[0], w.acc[1] = w.acc[1], w.acc[0]
}

// number returns the half at an offset as float32, in eight lanes.
func (w *fixedDot) number(offset int) vec {
	return w.vn(32, "VCVTPH2PS", w.vn(16, "VPBROADCASTW", w.at(offset)))
}

func (w *fixedDot) load(offset int) vec          { return w.vn(32, "VMOVDQU32", w.at(offset)) }
func (w *fixedDot) masked(x vec, mask uint8) vec { return w.vn(32, "VPANDD", bytes4(mask), x) }
func (w *fixedDot) left(n int, x vec) vec        { return w.vn(32, "VPSLLW", n, x) }
func (w *fixedDot) right(n int, x vec) vec       { return w.vn(32, "VPSRLW", n, x) }
func (w *fixedDot) either(x, y vec) vec          { return w.vn(32, "VPORD", x, y) }
func (w *fixedDot) low(x vec) vec                { return w.masked(x, 15) }

// sixteen returns the low halves of 16 bytes from an offset on, and then their high halves.
func (w *fixedDot) sixteen(offset int) vec {
	return w.low(w.vn(32, "VPSRLVD", w.data["high"], w.vn(32, "VBROADCASTI32X4", w.at(offset))))
}

func (w *fixedDot) q8() { w.one(w.vn(32, "VPXORD", bytes4(128), w.load(2)), 0) }
func (w *fixedDot) q4() { w.one(w.sixteen(2), 0) }

func (w *fixedDot) iq4() {
	w.one(w.vn(32, "VPSHUFB", w.sixteen(2), w.vn(32, "VBROADCASTI32X4", w.data["levels"])), 0)
}

func (w *fixedDot) q4offset() {
	w.VFMADD231SS(operand.Mem{Base: w.sums}, w.part(w.number(2), 16), w.part(w.others, 16))
	w.multiply(w.sixteen(4), w.number(0))
}

func (w *fixedDot) q5() {
	x, high := w.sixteen(6), w.K()
	w.KMOVD(w.at(2), high)
	w.VPADDB(w.eight(0x10101010), x, high, x)
	w.one(x, 0)
}

// scaledK returns where the scales of a block of Q4_K or Q5_K are, times those of the digits, and adds
// the products of offsets.
func (w *fixedDot) scaledK() operand.Mem {
	scales, offsets := w.scalesK()
	w.VFMADD231PS(operand.Mem{Base: w.sums}, w.vn(32, "VMOVUPS", offsets), w.part(w.others, 32))
	w.VMOVUPS(w.vn(32, "VMULPS", operand.Mem{Base: w.scales}, w.vn(32, "VMOVUPS", scales)), scales)
	return scales
}

func (w *fixedDot) q4k() {
	scales := w.scaledK()
	for i := range 4 {
		x := w.load(16 + 32*i)
		w.run(2*i, w.low(x), scales.Offset(8*i))
		w.run(2*i+1, w.low(w.right(4, x)), scales.Offset(8*i+4))
	}
}

func (w *fixedDot) q5k() {
	scales := w.scaledK()
	high := w.load(16)
	for i := range 8 {
		x, fifth := w.load(48+i/2*32), high
		if i%2 == 1 {
			x = w.right(4, x)
		}
		if i < 4 {
			fifth = w.left(4-i, high)
		} else if i > 4 {
			fifth = w.right(i-4, high)
		}
		w.run(i, w.either(w.low(x), w.masked(fifth, 16)), scales.Offset(4*i))
	}
}

func (w *fixedDot) q6k() {
	local := w.AllocLocal(96)
	scales := w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(192))), w.half(208))
	w.VMOVUPS(scales, local)
	w.VFMADD231PS(operand.Mem{Base: w.sums}, scales, w.others)
	halves := w.vn(32, "VMOVDQU32", w.data["halves"])
	for h := range 2 {
		high := w.load(128 + 32*h)
		for part := range 4 {
			x, bits := w.load(64*h+32*(part%2)), high
			if part > 1 {
				x = w.right(4, x)
			}
			switch part {
			case 0, 1:
				bits = w.left(4-2*part, high)
			case 3:
				bits = w.right(2, high)
			}
			i := 4*h + part
			scale := w.vn(32, "VPERMPS", local.Offset(8*i), halves)
			w.run(i, w.either(w.masked(bits, 0x30), w.low(x)), w.vn(32, "VMULPS_BCST", operand.Mem{Base: w.scales, Disp: 4 * i}, scale))
		}
	}
}

// fix writes simd.Fix.
func (t *target) fix() {
	t.tables.single(t.level, "fix", "fixVNNI")
	p := t.begin("fix", "func(y, a *byte, n int)", "y", "a", "n")
	y, a, n, at := p[0], p[1], p[2], t.GP64()
	scales, sums, halves := t.GP64(), t.GP64(), t.GP64()
	l := t.singles()
	t.MOVQ(n, at)
	t.SHLQ(operand.U8(6), at)
	t.LEAQ(operand.Mem{Base: y, Index: at, Scale: 1}, scales)
	t.LEAQ(operand.Mem{Base: scales, Index: n, Scale: 4}, sums)
	t.LEAQ(operand.Mem{Base: sums, Index: n, Scale: 4}, halves)
	next, end := t.label("run"), t.label("end")
	t.Label(next)
	t.DECQ(n)
	t.jump(t.JLT, end)
	x := [2]vec{t.v("VMOVUPS", operand.Mem{Base: a}), t.v("VMOVUPS", operand.Mem{Base: a, Disp: 64})}
	// Among bits of absolute values NaN and infinity are the greatest: they make the scale not finite.
	top := t.v("VPMAXUD", l.abs(x[0]), l.abs(x[1]))
	top = t.vn(32, "VPMAXUD", t.vn(32, "VEXTRACTI64X4", 1, top), l.part(top, 32))
	top = t.vn(16, "VPMAXUD", t.vn(16, "VEXTRACTI32X4", 1, top), l.part(top, 16))
	for _, lanes := range []int{0x4e, 0xb1} {
		top = t.vn(16, "VPMAXUD", t.vn(16, "VPSHUFD", lanes, top), top)
	}
	top = t.vn(16, "VPMAXUD", f32(0x1p-100), top) // so that its inverse is finite
	scale := t.vn(16, "VMULPS", f32(float64(float32(1)/largestFixed)), top)
	inverse := t.v("VBROADCASTSS", t.vn(16, "VDIVPS", top, t.vn(16, "VBROADCASTSS", t.data(f32(largestFixed)))))
	var numbers []vec
	for i := range x {
		q := l.toInt(l.mul(x[i], inverse))
		t.VPMOVDB(l.sar(8, l.addInt(q, i32(128))), operand.Mem{Base: y, Disp: 16 * i})
		t.VPMOVDB(q, operand.Mem{Base: y, Disp: 32 + 16*i})
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
	}{{y, 64}, {a, 128}, {scales, 4}, {sums, 4}, {halves, 8}} {
		t.ADDQ(operand.I32(q.bytes), q.p)
	}
	t.jump(t.JMP, next)
	t.Label(end)
	t.end()
}
