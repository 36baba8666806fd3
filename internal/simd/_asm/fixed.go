package main

import (
	"maps"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// fixedFormats are the formats that have routines of simd.Blocks.Fixed.
var fixedFormats = []fixedFormat{
	{"Q4_0", 1, 18, "each", -8, (*fixedDot).q4},
	{"Q4_1", 1, 20, "each", 1, (*fixedDot).q4offset},
	{"Q5_0", 1, 22, "each", -16, (*fixedDot).q5},
	{"Q8_0", 1, 34, "each", -128, (*fixedDot).q8},
	{"Q4_K", 8, 144, "each", -1, (*fixedDot).q4k},
	{"Q5_K", 8, 176, "each", -1, (*fixedDot).q5k},
	{"Q6_K", 8, 210, "twos", -32, (*fixedDot).q6k},
	{"IQ4_NL", 1, 18, "each", -128, (*fixedDot).iq4},
}

// A fixedFormat is a format whose numbers are multiples of a scale after an offset is added, so that
// their multiples are bytes without a sign.
type fixedFormat struct {
	name        string
	runs, bytes int     // of a block
	lanes       string  // the table of the lanes that a run's scales have among eight
	factor      float64 // of the products of offsets, which body adds to others
	body        func(*fixedDot)
}

// A fixedDot multiplies blocks by the digits of simd.Fix. Others are the sums of products of offsets.
type fixedDot struct {
	decoder
	acc                  [2]vec
	others               [4]vec
	lane                 []vec         // by run, indices of the lanes of its scale
	digits, scales, sums reg.GPVirtual // of the first run of an iteration; sums are of 16 or of 32 numbers
	format               fixedFormat
	block                int // of the iteration
	scaled               vec // the scales of eight blocks of one run, times those of the digits; nil in the rest

	// put stores the bytes of run i of the block, unless it is nil: then they are multiplied. numbers stores the
	// scales and offsets of eight runs.
	put     func(i int, bytes vec)
	numbers func(numbers vec)
}

// at is the byte of the block at an offset.
func (w *fixedDot) at(offset int) operand.Mem {
	return w.decoder.at(offset + w.block*w.format.bytes)
}

// largestFixed is the largest absolute value of two digits: 127·256 + 127.
const largestFixed = 32639

// largest16 is the largest integer of 16 bits.
const largest16 = 32767

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
	table("firstBits", 0x3f3f3f3f, 0x0f0f0f0f, 0x3f3f3f3f, 0x0f0f0f0f)
	table("lastHigh", 0, 0, 0, 4)
	table("highBits", 0, 0x30303030, 0, 0x30303030)
	table("bothHalves", 0x01000100, 0x01000100, 0x01000100, 0x01000100, 0x03020302, 0x03020302, 0x03020302, 0x03020302)
	table("pairs", 0, 0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7)
	for _, name := range slices.Sorted(maps.Keys(laneTables)) {
		table(name, slices.Concat(laneTables[name]...)...)
	}
	table("levels", 0x3f2d1801, 0x766a5d4f, 0xa6998d81, 0xf1d9c5b5)
	t.fix()
	for _, x := range fixedFormats {
		t.row("fixed", "%q, dotFixed%sVNNI", x.name, x.name)
		w := &fixedDot{decoder: decoder{avx: t.singles(), data: data}, format: x}
		w.write(x)
	}
	t.fixRuns()
	t.runsProduct()
	for _, x := range fixedFormats {
		if x.lanes == "each" {
			t.row("codes", "%q, codes%sVNNI, %v", x.name, x.name, x.factor >= -1)
			w := &fixedDot{decoder: decoder{avx: t.singles(), data: data}, format: x}
			w.codes(x)
		}
	}
}

// laneTables are in the data segment.
var laneTables = map[string][][]uint32{"each": {}, "twos": {}}

func init() {
	for i := range uint32(8) {
		laneTables["each"] = append(laneTables["each"], slices.Repeat([]uint32{i}, 8))
	}
	for i := range uint32(4) {
		laneTables["twos"] = append(laneTables["twos"], slices.Concat(slices.Repeat([]uint32{2 * i}, 4), slices.Repeat([]uint32{2*i + 1}, 4)))
	}
}

func (w *fixedDot) write(x fixedFormat) {
	// Registers are few: parameters that a column reads once stay in memory.
	p := w.begin("dotFixed"+x.name, "func(c, a, b *byte, columns, n, ldb int)", "b")
	param := func(name string) reg.GPVirtual { return w.Load(w.Param(name), w.GP64()).(reg.GPVirtual) }
	for i := range laneTables[x.lanes] {
		w.lane = append(w.lane, w.vn(32, "VMOVDQU32", w.data[x.lanes].Offset(32*i)))
	}
	column, end := w.label("column"), w.label("end")
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
	for i := range w.others {
		w.others[i] = w.broadcast(f32(0))
	}
	for blocks := 8 / x.runs; blocks > 0; blocks /= 8 {
		next, rest := w.label("blocks"), w.label("rest")
		w.Label(next)
		w.SUBQ(operand.I32(blocks), n)
		w.jump(w.JLT, rest)
		for line := 0; line < blocks*x.bytes; line += 64 {
			w.PREFETCHT0(w.decoder.at(ahead + line))
		}
		if w.scaled = nil; blocks == 8 {
			scales := w.halves(0)
			w.VFMADD231PS(operand.Mem{Base: w.sums}, w.offsets(scales, w.halves), w.part(w.others[0], 32))
			w.scaled = w.vn(32, "VMULPS", operand.Mem{Base: w.scales}, scales)
		}
		for w.block = range blocks {
			x.body(w)
		}
		w.ADDQ(operand.I32(blocks*x.bytes), w.b)
		w.ADDQ(operand.I32(blocks*64*x.runs), w.digits)
		w.ADDQ(operand.I32(blocks*4*x.runs), w.scales)
		w.ADDQ(operand.I32(blocks*step), w.sums)
		w.jump(w.JMP, next)
		w.Label(rest)
		w.ADDQ(operand.I32(blocks), n)
	}
	others := w.mul(w.add(w.add(w.others[0], w.others[1]), w.add(w.others[2], w.others[3])), f32(x.factor))
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

// run multiplies run i of the block, as bytes, and adds the products times a scale.
func (w *fixedDot) run(i int, bytes, scale vec) {
	if w.put != nil {
		w.put(i, bytes)
		return
	}
	x, at := w.zero(), 64*(w.block*w.format.runs+i)
	vpdpbusd(w.Context, operand.Mem{Base: w.digits, Disp: at}, bytes, x)
	x = w.vn(32, "VPSLLD", 8, x)
	vpdpbusd(w.Context, operand.Mem{Base: w.digits, Disp: at + 32}, bytes, x)
	w.do("VFMADD231PS", scale, w.vn(32, "VCVTDQ2PS", x), w.acc[(w.block+i)%2])
}

// scale returns the scales of run i, of some in eight lanes.
func (w *fixedDot) scale(i int, all vec) vec {
	if w.put != nil {
		return nil
	}
	return w.vn(32, "VPERMPS", all, w.lane[i])
}

// one multiplies a block of one run, and adds the product of offsets.
func (w *fixedDot) one(bytes vec) {
	if w.put != nil {
		w.put(0, bytes)
		return
	}
	if w.scaled != nil {
		w.run(0, bytes, w.scale(w.block, w.scaled))
		return
	}
	d := w.number(0)
	// An instruction on one number clears the rest of a register, so its sum is not others[0].
	w.VFMADD231SS(operand.Mem{Base: w.sums}, w.part(w.offsets(d, w.number), 16), w.part(w.others[1], 16))
	w.run(0, bytes, w.vn(32, "VMULPS_BCST", operand.Mem{Base: w.scales, Disp: 4 * w.block}, d))
}

// offsets returns the factors of the sums of digits: the scales, or numbers of their own.
func (w *fixedDot) offsets(scales vec, load func(offset int) vec) vec {
	if w.format.factor == 1 {
		return load(2)
	}
	return scales
}

// halves returns the halves at an offset of eight blocks as float32.
func (w *fixedDot) halves(offset int) vec {
	x := w.vn(16, "VPBROADCASTW", w.decoder.at(offset))
	for i := 1; i < 8; i++ {
		x = w.vn(16, "VPINSRW", i, w.decoder.at(offset+i*w.format.bytes), x)
	}
	return w.vn(32, "VCVTPH2PS", x)
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

func (w *fixedDot) q8() { w.one(w.vn(32, "VPXORD", bytes4(128), w.load(2))) }
func (w *fixedDot) q4() { w.one(w.sixteen(2)) }

func (w *fixedDot) iq4() {
	w.one(w.vn(32, "VPSHUFB", w.sixteen(2), w.vn(32, "VBROADCASTI32X4", w.data["levels"])))
}

func (w *fixedDot) q4offset() { w.one(w.sixteen(4)) }

func (w *fixedDot) q5() {
	x, high := w.sixteen(6), w.K()
	w.KMOVD(w.at(2), high)
	w.VPADDB(w.eight(0x10101010), x, high, x)
	w.one(x)
}

// scaledK returns the scales of a block of Q4_K or Q5_K, times those of the digits, and adds
// the products of offsets. Scales and offsets have 6 bits, as in decoder.scalesK: of the first four in a
// byte, of the others in halves of bytes and in the highest bits of the first.
func (w *fixedDot) scaledK() vec {
	first := w.vn(16, "VPANDD", w.data["firstBits"], w.vn(16, "VPSRLVD", w.data["lastHigh"], w.vn(16, "VPSHUFD", 0xed, w.at(0))))
	high := w.vn(16, "VPANDD", w.data["highBits"], w.vn(16, "VPSRLD", 2, w.vn(16, "VPSHUFD", 0x95, w.at(0))))
	numbers := w.fromInt(w.v("VPMOVZXBD", w.vn(16, "VPORD", first, high)))
	both := w.v("VCVTPH2PS", w.vn(32, "VPSHUFB", w.data["bothHalves"], w.vn(32, "VBROADCASTI32X4", w.at(0))))
	numbers = w.mul(numbers, both)
	if w.numbers != nil {
		w.numbers(numbers)
		return nil
	}
	w.VFMADD231PS(operand.Mem{Base: w.sums}, w.vn(32, "VEXTRACTF64X4", 1, numbers), w.part(w.others[0], 32))
	return w.vn(32, "VMULPS", operand.Mem{Base: w.scales}, w.part(numbers, 32))
}

func (w *fixedDot) q4k() {
	scales := w.scaledK()
	for i := range 4 {
		x := w.load(16 + 32*i)
		w.run(2*i, w.low(x), w.scale(2*i, scales))
		w.run(2*i+1, w.low(w.right(4, x)), w.scale(2*i+1, scales))
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
		w.run(i, w.either(w.low(x), w.masked(fifth, 16)), w.scale(i, scales))
	}
}

func (w *fixedDot) q6k() {
	scales := w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(192))), w.half(208))
	w.VFMADD231PS(operand.Mem{Base: w.sums}, scales, w.others[0])
	digits := w.v("VPERMPS", w.part(w.vn(32, "VMOVUPS", operand.Mem{Base: w.scales}), 64), w.v("VMOVDQU32", w.data["pairs"]))
	scales = w.mul(scales, digits)
	half := [2]vec{w.part(scales, 32), w.vn(32, "VEXTRACTF64X4", 1, scales)}
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
			w.run(i, w.either(w.masked(bits, 0x30), w.low(x)), w.scale(part, half[h]))
		}
	}
}

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
	t.MOVQ(n, at)
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
