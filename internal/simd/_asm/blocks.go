package main

import (
	"maps"
	"math"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockFormats are the formats that have routines of simd.BlocksOf: see package blocks for what their
// bytes are.
var blockFormats = []blockFormat{
	{"Q4_0", 32, 18, (*decoder).q4},
	{"Q4_1", 32, 20, (*decoder).q4offset},
	{"Q5_0", 32, 22, (*decoder).q5},
	{"Q8_0", 32, 34, (*decoder).q8},
	{"Q4_K", 256, 144, (*decoder).q4k},
	{"Q5_K", 256, 176, (*decoder).q5k},
	{"Q6_K", 256, 210, (*decoder).q6k},
	{"IQ4_NL", 32, 18, (*decoder).iq4},
	{"IQ4_XS", 256, 136, (*decoder).iq4xs},
	{"MXFP4", 32, 17, (*decoder).mxfp4},
}

type blockFormat struct {
	name       string
	len, bytes int // of a block
	body       func(*decoder)
}

// A decoder writes the decoding of a block at b.
type decoder struct {
	avx
	b     reg.GPVirtual
	lanes int
	data  map[string]operand.Mem // tables
	put   func(x vec, i int)     // takes a vector of numbers, of which the first is number i of the block
}

// ahead is how far, in bytes, blocks are read into the cache ahead of their turn: processors by themselves
// do not look beyond the end of a page.
const ahead = 4096

// decoderTables are numbers of 4 bytes.
var decoderTables = map[string][]uint32{
	"signed":    bitsOf(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7),
	"unsigned":  bitsOf(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
	"nonLinear": bitsOf(-127, -104, -83, -65, -49, -35, -22, -10, 1, 13, 25, 38, 53, 69, 89, 113),
	"e2m1":      bitsOf(0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12),
	"lanes":     {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31},
	"even":      {0, 2, 4, 6, 8, 10, 12, 14},
	"fourth":    {0, 4, 8, 12, 16, 20, 24, 28},
}

func bitsOf(numbers ...float32) (bits []uint32) {
	for _, x := range numbers {
		bits = append(bits, math.Float32bits(x))
	}
	return bits
}

// blocks writes the routines of simd.BlocksOf.
func (f *file) blocks() {
	data := map[string]operand.Mem{}
	for _, name := range slices.Sorted(maps.Keys(decoderTables)) {
		data[name] = f.targets[0].StaticGlobal(name)
		f.targets[0].DataAttributes(attr.RODATA | attr.NOPTR)
		for _, x := range decoderTables[name] {
			f.targets[0].AppendDatum(operand.U32(x))
		}
	}
	for _, t := range f.targets {
		for _, x := range blockFormats {
			w := &decoder{avx: t.singles(), lanes: t.width / 4, data: data}
			t.row("blocks", "%q, Blocks{Decode: decode%[1]s%[2]s, Dot: dotBlocks%[1]s%[2]s}", x.name, t.level)

			p := t.begin("decode"+x.name, "func(y, b *byte, n int)", "y", "b", "n")
			w.b, w.put = p[1], func(x vec, i int) { t.VMOVUPS(x, operand.Mem{Base: p[0], Disp: 4 * i}) }
			w.loop(x, p[0], p[2])
			t.end()

			p = t.begin("dotBlocks"+x.name, "func(c, a, b *byte, columns, n, ldb, add int)", "c", "a", "b", "columns", "n", "ldb", "add")
			column, store, end := t.label("column"), t.label("store"), t.label("end")
			t.Label(column)
			t.DECQ(p[3])
			t.jump(t.JLT, end)
			a, n := t.GP64(), t.GP64()
			w.b = t.GP64()
			t.MOVQ(p[1], a)
			t.MOVQ(p[2], w.b)
			t.MOVQ(p[4], n)
			var sums [4]vec
			for i := range sums {
				sums[i] = t.broadcast(f32(0))
			}
			w.put = func(x vec, i int) {
				t.do("VFMADD231PS", operand.Mem{Base: a, Disp: 4 * i}, x, sums[i/w.lanes%len(sums)])
			}
			w.loop(x, a, n)
			sum := w.add(w.add(sums[0], sums[1]), w.add(sums[2], sums[3]))
			sum = (&dotsWriter{target: t, weight: weight{lane: 4}, lanes: w.avx}).sums([]vec{sum})[0]
			t.TESTQ(p[6], p[6])
			t.jump(t.JZ, store)
			t.VADDSS(operand.Mem{Base: p[0]}, sum, sum)
			t.Label(store)
			t.VMOVSS(sum, operand.Mem{Base: p[0]})
			t.ADDQ(operand.I32(4), p[0])
			t.ADDQ(p[5], p[2])
			t.jump(t.JMP, column)
			t.Label(end)
			t.end()
		}
	}
}

// loop decodes n blocks, and moves y by their numbers.
func (w *decoder) loop(x blockFormat, y, n reg.GPVirtual) {
	next, end := w.label("block"), w.label("end")
	w.Label(next)
	w.DECQ(n)
	w.jump(w.JLT, end)
	for line := 0; line < x.bytes; line += 64 {
		w.PREFETCHT0(w.at(ahead + line))
	}
	x.body(w)
	w.ADDQ(operand.I32(4*x.len), y)
	w.ADDQ(operand.I32(x.bytes), w.b)
	w.jump(w.JMP, next)
	w.Label(end)
}

// at is the byte of the block at an offset.
func (w *decoder) at(offset int) operand.Mem { return operand.Mem{Base: w.b, Disp: offset} }

// half returns the half at an offset as float32, in all lanes.
func (w *decoder) half(offset int) vec {
	return w.v("VCVTPH2PS", w.vn(w.width/2, "VPBROADCASTW", w.at(offset)))
}

// codes returns bytes as integers, one in each lane.
func (w *decoder) codes(m operand.Mem) vec { return w.v("VPMOVZXBD", m) }

// nibbles decodes n bytes from an offset on: their low halves into the numbers from i on, their high
// halves into the numbers after these.
func (w *decoder) nibbles(offset, n, i int, low, high func(codes vec) vec) {
	for k := 0; k < n; k += w.lanes {
		q := w.codes(w.at(offset + k))
		w.put(low(q), i+k)
		w.put(high(w.shr(4, q)), i+n+k)
	}
}

// levels returns a function that looks up the lowest four bits of codes in f of 16 numbers.
func (w *decoder) levels(table string, f func(numbers operand.Mem) vec) func(codes vec) vec {
	low := f(w.data[table])
	if w.avx512() {
		return func(codes vec) vec { return w.v("VPERMPS", low, codes) }
	}
	high := f(w.data[table].Offset(32))
	return func(codes vec) vec {
		return w.v("VBLENDVPS", w.shl(28, codes), w.v("VPERMPS", high, codes), w.v("VPERMPS", low, codes))
	}
}

// scaled is levels of numbers times d.
func (w *decoder) scaled(table string, d vec) func(codes vec) vec {
	return w.levels(table, func(numbers operand.Mem) vec { return w.mul(d, numbers) })
}

func (w *decoder) q8() {
	d := w.half(0)
	for i := 0; i < 32; i += w.lanes {
		w.put(w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(2+i))), d), i)
	}
}

func (w *decoder) q4() {
	level := w.scaled("signed", w.half(0))
	w.nibbles(2, 16, 0, level, level)
}

func (w *decoder) iq4() {
	level := w.scaled("nonLinear", w.half(0))
	w.nibbles(2, 16, 0, level, level)
}

func (w *decoder) q4offset() {
	d, m := w.half(0), w.half(2)
	level := w.levels("unsigned", func(numbers operand.Mem) vec { return w.add(w.mul(d, numbers), m) })
	w.nibbles(4, 16, 0, level, level)
}

func (w *decoder) mxfp4() {
	// The scale is a power of two, given by its exponent. The least two are subnormal.
	e, d, small := w.GP32(), w.GP32(), w.GP32()
	w.MOVBLZX(w.at(0), e)
	w.MOVL(operand.U32(0x00200000), small)
	w.SHLXL(e, small, small)
	w.LEAL(operand.Mem{Base: e.As64(), Disp: -1}, d)
	w.SHLL(operand.U8(23), d)
	w.CMPL(e, operand.U8(2))
	w.CMOVLLT(small, d)
	level := w.scaled("e2m1", w.v("VBROADCASTSS", w.vn(16, "VMOVD", d)))
	w.nibbles(1, 16, 0, level, level)
}

func (w *decoder) iq4xs() {
	// Eight scales of 6 bits: the low four are in words of 4 bits, the high two in words of 2.
	field := func(load string, offset int, shifts string, mask uint32) vec {
		return w.vn(32, w.logic("VPAND"), w.vn(32, "VPSRLVD", w.data[shifts], w.vn(32, load, w.at(offset))), w.eight(mask))
	}
	high := w.vn(32, "VPSLLD", 4, field("VPBROADCASTW", 2, "even", 3))
	scale := w.vn(32, w.logic("VPOR"), field("VPBROADCASTD", 4, "fourth", 15), high)
	scale = w.vn(32, "VCVTDQ2PS", w.vn(32, "VPSUBD", w.eight(32), scale))
	scales := w.AllocLocal(32)
	w.VMOVUPS(w.vn(32, "VMULPS", w.part(w.half(0), 32), scale), scales)
	for i := range 8 {
		level := w.scaled("nonLinear", w.v("VBROADCASTSS", scales.Offset(4*i)))
		w.nibbles(8+16*i, 16, 32*i, level, level)
	}
}

// logic returns the name of an instruction on all bits, which has an ending with AVX-512.
func (w *decoder) logic(name string) string {
	if w.avx512() {
		return name + "D"
	}
	return name
}

// eight returns eight lanes of x.
func (w *decoder) eight(x uint32) vec { return w.vn(32, "VMOVUPS", w.target.data(i32(x))) }

func (w *decoder) q5() {
	d := w.half(0)
	bits := w.v("VPBROADCASTD", w.at(2))
	level := func(codes vec, i int) vec {
		high := w.and(w.shl(4, w.v("VPSRLVD", w.data["lanes"].Offset(4*i), bits)), i32(16))
		return w.mul(w.fromInt(w.subInt(w.or(w.and(codes, i32(15)), high), i32(16))), d)
	}
	for k := 0; k < 16; k += w.lanes {
		q := w.codes(w.at(6 + k))
		w.put(level(q, k), k)
		w.put(level(w.shr(4, q), 16+k), 16+k)
	}
}

// scalesK stores the eight scales and offsets of Q4_K and Q5_K and returns where.
func (w *decoder) scalesK() (scales, offsets operand.Mem) {
	// Scales and offsets of 6 bits: the first four of each in a byte, the others in halves of bytes and
	// in the highest bits of the first.
	var word [3]reg.GPVirtual
	for i := range word {
		word[i] = w.GP64()
		w.MOVL(w.at(4+4*i), word[i].As32())
	}
	eight := func(first, low reg.GPVirtual, offset int) vec {
		x, high := w.GP64(), w.GP64()
		w.MOVQ(first, x)
		w.MOVQ(first, high)
		w.ANDL(operand.U32(0x3f3f3f3f), x.As32())
		w.SHRL(operand.U8(2), high.As32())
		w.ANDL(operand.U32(0x30303030), high.As32())
		w.ANDL(operand.U32(0x0f0f0f0f), low.As32())
		w.ORQ(low, high)
		w.SHLQ(operand.U8(32), high)
		w.ORQ(high, x)
		numbers := w.vn(32, "VCVTDQ2PS", w.vn(32, "VPMOVZXBD", w.vn(16, "VMOVQ", x)))
		return w.vn(32, "VMULPS", w.part(w.half(offset), 32), numbers)
	}
	low := w.GP64()
	w.MOVQ(word[2], low)
	scales, offsets = w.AllocLocal(32), w.AllocLocal(32)
	w.VMOVUPS(eight(word[0], low, 0), scales)
	w.SHRL(operand.U8(4), word[2].As32())
	w.VMOVUPS(eight(word[1], word[2], 2), offsets)
	return scales, offsets
}

func (w *decoder) q4k() {
	scales, offsets := w.scalesK()
	level := func(i int) func(vec) vec {
		d, m := w.v("VBROADCASTSS", scales.Offset(4*i)), w.v("VBROADCASTSS", offsets.Offset(4*i))
		return w.levels("unsigned", func(numbers operand.Mem) vec { return w.sub(w.mul(d, numbers), m) })
	}
	for i := range 4 {
		w.nibbles(16+32*i, 32, 64*i, level(2*i), level(2*i+1))
	}
}

func (w *decoder) q5k() {
	scales, offsets := w.scalesK()
	for i := range 8 {
		d, m := w.v("VBROADCASTSS", scales.Offset(4*i)), w.v("VBROADCASTSS", offsets.Offset(4*i))
		for k := 0; k < 32; k += w.lanes {
			q, high := w.codes(w.at(48+i/2*32+k)), w.codes(w.at(16+k))
			if i%2 == 1 {
				q = w.shr(4, q)
			}
			if i < 4 {
				high = w.shl(4-i, high)
			} else {
				high = w.shr(i-4, high)
			}
			q = w.or(w.and(q, i32(15)), w.and(high, i32(16)))
			w.put(w.sub(w.mul(w.fromInt(q), d), m), 32*i+k)
		}
	}
}

func (w *decoder) q6k() {
	d, scales, codes := w.half(208), w.AllocLocal(64), w.AllocLocal(32)
	for i := 0; i < 16; i += w.lanes {
		w.VMOVUPS(w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(192+i))), d), scales.Offset(4*i))
	}
	and, or := w.logic("VPAND"), w.logic("VPOR")
	for h := range 2 { // of 128 numbers: 64 bytes of low and 32 bytes of high bits
		high := w.vn(32, "VMOVUPS", w.at(128+32*h))
		for part := range 4 {
			low := w.vn(32, "VMOVUPS", w.at(64*h+32*(part%2)))
			if part > 1 {
				low = w.vn(32, "VPSRLW", 4, low)
			}
			x := high
			switch part {
			case 0, 1:
				x = w.vn(32, "VPSLLW", 4-2*part, high)
			case 3:
				x = w.vn(32, "VPSRLW", 2, high)
			}
			code := w.vn(32, or, w.vn(32, and, bytes4(0x30), x), w.vn(32, and, bytes4(0x0f), low))
			w.VMOVUPS(w.vn(32, "VPSUBB", w.eight(0x20202020), code), codes)
			for k := 0; k < 32; k += w.lanes {
				run := 8*h + 2*part + k/16
				scale := w.v("VBROADCASTSS", scales.Offset(4*run))
				w.put(w.mul(w.fromInt(w.v("VPMOVSXBD", codes.Offset(k))), scale), 128*h+32*part+k)
			}
		}
	}
}
