package main

import (
	"math"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockFormats are the formats that have a routine of simd.DecoderOf: see package blocks for what
// their bytes are.
var blockFormats = []struct {
	name       string
	len, bytes int // of a block
	body       func(*decoder)
}{
	{"Q4_0", 32, 18, (*decoder).q4},
	{"Q8_0", 32, 34, (*decoder).q8},
	{"Q4_K", 256, 144, (*decoder).q4k},
	{"Q6_K", 256, 210, (*decoder).q6k},
}

// A decoder writes a routine that decodes blocks from b to y.
type decoder struct {
	avx
	y, b  reg.GPVirtual
	lanes int
	ramp  operand.Mem // numbers in steps of 1 from lowest on
}

// ahead is how far, in bytes, blocks are read into the cache ahead of their turn: processors by themselves
// do not look beyond the end of a page.
const ahead = 4096

// lowest is the least number of a table of levels.
const lowest = -8

// decoders writes the routines of simd.DecoderOf.
func (f *file) decoders() {
	ramp := f.targets[0].StaticGlobal("ramp")
	f.targets[0].DataAttributes(attr.RODATA | attr.NOPTR)
	for i := range 16 - lowest {
		f.targets[0].AppendDatum(operand.U32(math.Float32bits(float32(i + lowest))))
	}
	for _, t := range f.targets {
		for _, x := range blockFormats {
			name := "decode" + x.name
			p := t.begin(name, "func(y, b *byte, n int)", "y", "b", "n")
			w := &decoder{t.singles(), p[0], p[1], t.width / 4, ramp}
			next, end := t.label("block"), t.label("end")
			t.Label(next)
			t.DECQ(p[2])
			t.jump(t.JLT, end)
			for line := 0; line < x.bytes; line += 64 {
				t.PREFETCHT0(w.at(ahead + line))
			}
			x.body(w)
			t.ADDQ(operand.I32(4*x.len), w.y)
			t.ADDQ(operand.I32(x.bytes), w.b)
			t.jump(t.JMP, next)
			t.Label(end)
			t.end()
			t.row("decoders", "%q, %s", x.name, name+t.level)
		}
	}
}

// at is the byte of the block at an offset.
func (w *decoder) at(offset int) operand.Mem { return operand.Mem{Base: w.b, Disp: offset} }

// half returns the half at an offset as float32, in all lanes.
func (w *decoder) half(offset int) vec {
	return w.v("VCVTPH2PS", w.vn(w.width/2, "VPBROADCASTW", w.at(offset)))
}

// codes returns bytes as integers, one in each lane.
func (w *decoder) codes(m operand.Mem) vec { return w.v("VPMOVZXBD", m) }

// put stores a vector of numbers from number i of the block on.
func (w *decoder) put(x vec, i int) { w.VMOVUPS(x, operand.Mem{Base: w.y, Disp: 4 * i}) }

// nibbles stores the numbers of codes in n bytes from an offset on: from number i on those of the low
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
