package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockFormats are the formats that have routines of simd.BlocksOf: see package blocks for what their
// bytes are.
var blockFormats = []blockFormat{
	{"Q4_0", 32, 18, (*decoder).q4},
	{"Q8_0", 32, 34, (*decoder).q8},
	{"Q4_K", 256, 144, (*decoder).q4k},
	{"Q6_K", 256, 210, (*decoder).q6k},
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
	ramp  operand.Mem        // numbers in steps of 1 from lowest on
	put   func(x vec, i int) // takes a vector of numbers, of which the first is number i of the block
}

// ahead is how far, in bytes, blocks are read into the cache ahead of their turn: processors by themselves
// do not look beyond the end of a page.
const ahead = 4096

// lowest is the least number of a table of levels.
const lowest = -8

// blocks writes the routines of simd.BlocksOf.
func (f *file) blocks() {
	ramp := f.targets[0].StaticGlobal("ramp")
	f.targets[0].DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 - lowest {
		f.targets[0].AppendDatum(operand.U32(math.Float32bits(float32(i + lowest))))
	}
	for _, t := range f.targets {
		for _, x := range blockFormats {
			w := &decoder{avx: t.singles(), lanes: t.width / 4, ramp: ramp}
			t.row("blocks", "%q, Blocks{decode%[1]s%[2]s, dotBlocks%[1]s%[2]s}", x.name, t.level)

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

// nibbles puts the numbers of codes in n bytes from an offset on: from number i on those of the low
// halves, after them those of the high ones.
func (w *decoder) nibbles(offset, n, i int, low, high func(codes vec) vec) {
	for k := 0; k < n; k += w.lanes {
		q := w.codes(w.at(offset + k))
		w.put(low(q), i+k)
		w.put(high(w.shr(4, q)), i+n+k)
	}
}

// levels returns a function that adds first to the lowest four bits of codes and applies f, which
// computes a table of all levels with AVX-512.
func (w *decoder) levels(first int, f func(code any) vec) func(codes vec) vec {
	if w.avx512() {
		table := f(w.ramp.Offset(4 * (first - lowest)))
		return func(codes vec) vec { return w.v("VPERMPS", table, codes) }
	}
	return func(codes vec) vec { return f(w.fromInt(w.addInt(w.and(codes, i32(15)), i32(uint32(first))))) }
}

func (w *decoder) q8() {
	d := w.half(0)
	for i := 0; i < 32; i += w.lanes {
		w.put(w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(2+i))), d), i)
	}
}

func (w *decoder) q4() {
	d := w.half(0)
	level := w.levels(-8, func(code any) vec { return w.mul(d, code) })
	w.nibbles(2, 16, 0, level, level)
}

func (w *decoder) q4k() {
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
	scales, offsets := w.AllocLocal(32), w.AllocLocal(32)
	w.VMOVUPS(eight(word[0], low, 0), scales)
	w.SHRL(operand.U8(4), word[2].As32())
	w.VMOVUPS(eight(word[1], word[2], 2), offsets)
	level := func(i int) func(vec) vec {
		d, m := w.v("VBROADCASTSS", scales.Offset(4*i)), w.v("VBROADCASTSS", offsets.Offset(4*i))
		return w.levels(0, func(code any) vec { return w.sub(w.mul(d, code), m) })
	}
	for i := range 4 {
		w.nibbles(16+32*i, 32, 64*i, level(2*i), level(2*i+1))
	}
}

func (w *decoder) q6k() {
	d, scales, codes := w.half(208), w.AllocLocal(64), w.AllocLocal(32)
	for i := 0; i < 16; i += w.lanes {
		w.VMOVUPS(w.mul(w.fromInt(w.v("VPMOVSXBD", w.at(192+i))), d), scales.Offset(4*i))
	}
	and, or := "VPAND", "VPOR"
	if w.avx512() {
		and, or = "VPANDD", "VPORD"
	}
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
			w.VMOVUPS(w.vn(32, or, w.vn(32, and, bytes4(0x30), x), w.vn(32, and, bytes4(0x0f), low)), codes)
			for k := 0; k < 32; k += w.lanes {
				run := 8*h + 2*part + k/16
				scale := w.v("VBROADCASTSS", scales.Offset(4*run))
				w.put(w.mul(w.sub(w.fromInt(w.codes(codes.Offset(k))), f32(32)), scale), 128*h+32*part+k)
			}
		}
	}
}
