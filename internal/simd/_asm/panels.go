package main

import (
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A panel of simd.Blocks.Panel has the codes of 16 columns by parts of the depth that have one scale: a run, or a half of
// one. A part has vectors of four codes of each column, the columns' scales, and the factors of a row's sum.
const panelColumns = 16

// parts are the parts of a run.
func (x fixedFormat) parts() int {
	if x.lanes != "" {
		return 2
	}
	return 1
}

// partBytes are the bytes of a part of a run that has some.
func partBytes(parts int) int { return 64 * (8/parts + 2) }

// A panelWriter writes a routine of simd.Blocks.Panel.
type panelWriter struct {
	unpacker
	y, ldb, ldb3 reg.GPVirtual
	column       [4]reg.GPVirtual     // every fourth
	lane         [4]reg.OpmaskVirtual // of a vector, its lanes of 16 bytes
}

// panel writes the routine of a format.
func (w *panelWriter) panel() {
	x := w.format
	p := w.begin("panel"+x.name, "func(y, b *byte, n, ldb int)", "y", "b", "n", "ldb")
	n := p[2]
	w.y, w.ldb, w.ldb3 = p[0], p[3], w.GP64()
	w.LEAQ(operand.Mem{Base: w.ldb, Index: w.ldb, Scale: 2}, w.ldb3)
	bits := w.GP32()
	for i := range w.column {
		if w.column[i] = p[1]; i > 0 {
			w.column[i], w.lane[i] = w.GP64(), w.K()
			w.LEAQ(operand.Mem{Base: w.column[i-1], Index: w.ldb, Scale: 4}, w.column[i])
			w.MOVL(operand.U32(uint32(15<<(4*i))), bits)
			w.KMOVW(bits, w.lane[i])
		}
	}
	next, end := w.label("block"), w.label("end")
	w.Label(next)
	w.DECQ(n)
	w.jump(w.JLT, end)
	if x.runs > 1 {
		w.panelNumbers()
	} else {
		scales := w.panelHalves(0)
		offsets := scales
		if x.factor == 1 {
			offsets = w.panelHalves(2)
		}
		w.putNumbers(0, scales, offsets)
	}
	x.panel(w)
	w.ADDQ(operand.I32(x.runs*x.parts()*partBytes(x.parts())), w.y)
	for _, c := range w.column {
		w.ADDQ(operand.I32(x.bytes), c)
	}
	w.jump(w.JMP, next)
	w.Label(end)
	w.end()
}

// of is the byte at an offset of the block of a column.
func (w *panelWriter) of(column, offset int) operand.Mem {
	return rowAt(w.column[column/4], w.ldb, w.ldb3, column%4, offset)
}

// transposed returns the four elements of 4 bytes that begin at an address, of all columns.
func (w *panelWriter) transposed(at func(column int) operand.Mem) []vec {
	var x [4]vec
	for i := range x {
		x[i] = w.ZMM()
		m := at(i)
		w.Instruction(&ir.Instruction{Opcode: "VMOVDQU32", Operands: []operand.Op{m, x[i].AsX()}, Inputs: []operand.Op{m}, Outputs: []operand.Op{x[i]}, ISA: []string{"AVX512F", "AVX512VL"}})
		for lane := 1; lane < 4; lane++ {
			w.VBROADCASTI32X4(at(4*lane+i), w.lane[lane], x[i])
		}
	}
	var pairs [4]vec
	for i := range 2 {
		pairs[2*i], pairs[2*i+1] = w.v("VPUNPCKLDQ", x[2*i+1], x[2*i]), w.v("VPUNPCKHDQ", x[2*i+1], x[2*i])
	}
	return []vec{
		w.v("VPUNPCKLQDQ", pairs[2], pairs[0]), w.v("VPUNPCKHQDQ", pairs[2], pairs[0]),
		w.v("VPUNPCKLQDQ", pairs[3], pairs[1]), w.v("VPUNPCKHQDQ", pairs[3], pairs[1]),
	}
}

// sixteen returns the 16 bytes at an offset of all columns.
func (w *panelWriter) sixteen(offset int) []vec {
	return w.transposed(func(column int) operand.Mem { return w.of(column, offset) })
}

// put stores the codes of a half of a run.
func (w *panelWriter) put(run, half int, codes []vec) {
	parts := w.format.parts()
	at := run*partBytes(1) + half*256
	if parts == 2 {
		at = (2*run + half) * partBytes(2)
	}
	for i, c := range codes {
		w.VMOVDQU32(c, operand.Mem{Base: w.y, Disp: at + 64*i})
	}
}

// putNumbers stores the scales and offsets of a part.
func (w *panelWriter) putNumbers(part int, scales, offsets vec) {
	size := partBytes(w.format.parts())
	at := operand.Mem{Base: w.y, Disp: part*size + size - 128}
	w.VMOVUPS(scales, at)
	if w.format.factor != 1 {
		offsets = w.mul(offsets, f32(w.format.factor))
	}
	w.VMOVUPS(offsets, at.Offset(64))
}

// panelHalves returns the halves at an offset of all columns as float32.
func (w *panelWriter) panelHalves(offset int) vec {
	var halves []vec
	for i := 0; i < panelColumns; i += 8 {
		x := w.vn(16, "VPBROADCASTW", w.of(i, offset))
		for j := 1; j < 8; j++ {
			x = w.vn(16, "VPINSRW", j, w.of(i+j, offset), x)
		}
		halves = append(halves, x)
	}
	return w.v("VCVTPH2PS", w.vn(32, "VINSERTI128", 1, halves[1], w.part(halves[0], 32)))
}

// panelNumbers stores the numbers of a block of eight runs. They are transposed in memory that codes take later.
func (w *panelWriter) panelNumbers() {
	for i := range panelColumns {
		w.b = w.GP64()
		w.LEAQ(w.of(i, 0), w.b)
		row := operand.Mem{Base: w.y, Disp: 64 * i}
		scales, offsets := w.numbers()
		w.VMOVUPS(scales, row)
		if w.format.parts() == 1 {
			w.VMOVUPS(offsets, row.Offset(32))
		}
	}
	var numbers []vec
	for i := range 4 {
		numbers = append(numbers, w.transposed(func(column int) operand.Mem { return operand.Mem{Base: w.y, Disp: 64*column + 16*i} })...)
	}
	for i := range 8 * w.format.parts() {
		offsets := numbers[i]
		if w.format.parts() == 1 {
			offsets = numbers[8+i]
		}
		w.putNumbers(i, numbers[i], offsets)
	}
}

func (w *panelWriter) each(x []vec, f func(x vec) vec) (y []vec) {
	for _, v := range x {
		y = append(y, f(v))
	}
	return y
}

// bits returns the bits of bytes in a mask.
func (w *panelWriter) bits(x vec, mask uint8) vec { return w.v("VPANDD", bytes4(mask), x) }

func (w *panelWriter) lows(x []vec) []vec {
	return w.each(x, func(x vec) vec { return w.bits(x, 15) })
}

func (w *panelWriter) highs(x []vec) []vec {
	return w.lows(w.each(x, func(x vec) vec { return w.v("VPSRLW", 4, x) }))
}

// shifted returns words shifted to the left, or to the right.
func (w *panelWriter) shifted(n int, x vec) vec {
	switch {
	case n > 0:
		return w.v("VPSLLW", n, x)
	case n < 0:
		return w.v("VPSRLW", -n, x)
	}
	return x
}

func (w *panelWriter) q8() {
	for half := range 2 {
		w.put(0, half, w.each(w.sixteen(2+16*half), func(x vec) vec { return w.v("VPXORD", bytes4(128), x) }))
	}
}

func (w *panelWriter) q4() { w.nibbles(w.format.bytes-16, func(half int, x []vec) []vec { return x }) }

func (w *panelWriter) iq4() {
	levels := w.v("VBROADCASTI32X4", w.data["levels"])
	w.nibbles(2, func(_ int, x []vec) []vec {
		return w.each(x, func(x vec) vec { return w.v("VPSHUFB", x, levels) })
	})
}

func (w *panelWriter) q5() {
	var quarters []vec
	for i := 0; i < panelColumns; i += 4 {
		x := w.vn(16, "VMOVD", w.of(i, 2))
		for j := 1; j < 4; j++ {
			x = w.vn(16, "VPINSRD", j, w.of(i+j, 2), x)
		}
		quarters = append(quarters, x)
	}
	fifth := w.part(quarters[0], 64)
	for i := 1; i < 4; i++ {
		fifth = w.v("VINSERTI32X4", i, quarters[i], fifth)
	}
	// Four bits of each column become its bytes.
	first, of, sixteen := w.v("VBROADCASTI32X4", w.data["firstBytes"]), w.v("VPBROADCASTD", w.data["bitOfByte"]), w.v("VPBROADCASTD", w.target.data(bytes4(16)))
	w.nibbles(6, func(half int, x []vec) []vec {
		for i, v := range x {
			four := fifth
			if n := 4 * (4*half + i); n > 0 {
				four = w.v("VPSRLD", n, fifth)
			}
			k := w.K()
			w.VPTESTMB(of, w.v("VPSHUFB", first, four), k)
			w.VPADDB(sixteen, v, k, v)
		}
		return x
	})
}

// nibbles puts the low halves of 16 bytes, and then their high halves, as a function changes them.
func (w *panelWriter) nibbles(offset int, f func(half int, x []vec) []vec) {
	x := w.sixteen(offset)
	w.put(0, 0, f(0, w.lows(x)))
	w.put(0, 1, f(1, w.highs(x)))
}

func (w *panelWriter) q4k() {
	for i := range 8 {
		x := w.sixteen(16 + 16*i)
		w.put(i/2*2, i%2, w.lows(x))
		w.put(i/2*2+1, i%2, w.each(x, func(x vec) vec { return w.bits(x, 0xf0) })) // scales of odd runs are a sixteenth
	}
}

func (w *panelWriter) q5k() {
	for half := range 2 {
		fifth := w.sixteen(16 + 16*half)
		for i := range 4 {
			x := w.sixteen(48 + 32*i + 16*half)
			for run := 2 * i; run < 2*i+2; run++ {
				w.put(run, half, w.joined(x, fifth, run%2, 4-run, 16))
			}
		}
	}
}

func (w *panelWriter) q6k() {
	for i := range 4 { // halves of runs of halves of the block
		h, half := i/2, i%2
		x := [][]vec{w.sixteen(64*h + 16*half), w.sixteen(64*h + 32 + 16*half)}
		bits := w.sixteen(128 + 32*h + 16*half)
		for part := range 4 {
			w.put(4*h+part, half, w.joined(x[part%2], bits, part/2, 4-2*part, 0x30))
		}
	}
}

// joined returns the low or the high halves of bytes of x, and beside them the bits of high in a mask after a shift to the left.
func (w *panelWriter) joined(x, high []vec, upper, shift int, mask uint8) (y []vec) {
	for i, v := range x {
		code := w.bits(w.shifted(-4*upper, v), 15)
		y = append(y, w.v("VPORD", code, w.bits(w.shifted(shift, high[i]), mask)))
	}
	return y
}
