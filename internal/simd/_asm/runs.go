package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A run of simd.FixedProduct is 32 integers of 16 bits, its scale and its sum or offset.
const (
	runScale = 64
	runSum   = 68
	runBytes = 72
)

// vpdpwssd adds to each lane of 4 bytes of the third operand the products of two integers of 16 bits of the
// first by two of the second. Avo does not have the instruction.
func vpdpwssd(c *build.Context, ops ...operand.Op) {
	c.Instruction(&ir.Instruction{Opcode: "VPDPWSSD", Operands: ops, Inputs: ops, Outputs: ops[2:], ISA: []string{"AVX512VNNI"}})
}

// codes writes a routine of simd.Blocks.Codes.
func (w *unpacker) codes() {
	x := w.format
	w.exact = true
	p := w.begin("codes"+x.name, "func(y, b *byte, n int)", "y", "b", "n")
	y, n := p[0], p[2]
	w.b = p[1]
	var offset vec
	if x.factor < -1 { // a multiple of the scale: codes have signs
		offset = w.v("VPBROADCASTD", w.target.data(i32(uint32(uint16(int16(x.factor)))*0x10001)))
	}
	next, end := w.label("block"), w.label("end")
	w.Label(next)
	w.DECQ(n)
	w.jump(w.JLT, end)
	run := func(i, offset int) operand.Mem { return operand.Mem{Base: y, Disp: i*runBytes + offset} }
	for i := range x.runs {
		codes := w.v("VPMOVZXBW", w.unpack(i))
		if offset != nil {
			codes = w.v("VPADDW", offset, codes)
		}
		w.VMOVDQU32(codes, run(i, 0))
	}
	switch {
	case x.runs > 1:
		all, numbers := w.AllocLocal(64), w.numbersK()
		w.VMOVUPS(w.part(numbers, 32), all)
		w.VMOVUPS(w.vn(32, "VXORPS", i32(1<<31), w.vn(32, "VEXTRACTF64X4", 1, numbers)), all.Offset(32))
		for i := range x.runs {
			w.VMOVSS(w.vn(16, "VMOVSS", all.Offset(4*i)), run(i, runScale))
			w.VMOVSS(w.vn(16, "VMOVSS", all.Offset(32+4*i)), run(i, runSum))
		}
	case x.factor == 1:
		w.VMOVSS(w.part(w.number(0), 16), run(0, runScale))
		w.VMOVSS(w.part(w.number(2), 16), run(0, runSum))
	default:
		w.VMOVSS(w.part(w.number(0), 16), run(0, runScale))
		w.MOVL(operand.U32(0), run(0, runSum))
	}
	w.ADDQ(operand.I32(x.runs*runBytes), y)
	w.ADDQ(operand.I32(x.bytes), w.b)
	w.jump(w.JMP, next)
	w.Label(end)
	w.end()
}

// fixRuns writes the routine that converts rows to runs.
func (t *target) fixRuns() {
	t.tables.single(t.level, "fixRuns", "fixRunsVNNI")
	p := t.begin("fixRuns", "func(y, a *byte, n int)", "y", "a", "n")
	y, a, n := p[0], p[1], p[2]
	l := t.singles()
	next, end := t.label("run"), t.label("end")
	t.Label(next)
	t.DECQ(n)
	t.jump(t.JLT, end)
	x, scale, inverse := t.scaleOfRun(a, largest16)
	var numbers []vec
	for i := range x {
		q := l.toInt(l.mul(x[i], inverse))
		t.VPMOVDW(q, operand.Mem{Base: y, Disp: 32 * i})
		numbers = append(numbers, q)
	}
	sum := (&dotsWriter{target: t, weight: weight{lane: 4}, lanes: l}).sums([]vec{l.fromInt(l.addInt(numbers[0], numbers[1]))})[0]
	t.VMOVSS(scale, operand.Mem{Base: y, Disp: runScale})
	t.VMOVSS(t.vn(16, "VMULPS", sum, scale), operand.Mem{Base: y, Disp: runSum})
	t.ADDQ(operand.I32(runBytes), y)
	t.ADDQ(operand.I32(128), a)
	t.jump(t.JMP, next)
	t.Label(end)
	t.end()
}

// runsRows is the number of rows of a tile of two registers' columns: for each there is a register of
// integers, the sums of a run, and one of float32.
const runsRows = 6

// A runsWriter writes the tile of simd.FixedProduct.
type runsWriter struct {
	productWriter
	masks [2]reg.OpmaskVirtual
	add   reg.GPVirtual
}

// runsProduct writes the tile of simd.FixedProduct.
func (t *target) runsProduct() {
	t.tables.single(t.level, "runsProduct", "productRunsVNNI")
	w := &runsWriter{productWriter: productWriter{target: t, element: elements[0]}}
	p := t.begin("productRuns", "func(c, a, b *byte, m, n, k, ldc, lda, sa, ldb int, add *byte, addStep, ahead, step int)", "c", "a", "b", "m", "n", "k", "ldc", "lda", "add", "ldb")
	m, n := p[3], p[4]
	w.c, w.a, w.b, w.k, w.ldc, w.lda, w.add, w.ldb = p[0], p[1], p[2], p[5], p[6], p[7], p[8], p[9]
	t.SHLQ(operand.U8(2), w.ldc)
	t.SHLQ(operand.U8(2), w.lda)
	w.lda3, w.lda5 = t.GP64(), t.GP64()
	t.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, w.lda3)
	t.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 4}, w.lda5)
	bits := t.GP64()
	t.MOVQ(operand.I32(-1), bits)
	t.BZHIQ(n, bits, bits)
	for v := range w.masks {
		w.masks[v] = t.K()
		t.KMOVW(bits.As32(), w.masks[v])
		t.SHRQ(operand.U8(16), bits)
	}
	t.byRows(m, runsRows, w.runsBody)
}

// byRows ends a routine with a body for each number of rows m up to the most.
func (t *target) byRows(m reg.GPVirtual, most int, body func(rows int)) {
	end := t.label("end")
	for rows := most; rows > 0; rows-- {
		next := t.label("rows")
		if rows > 1 {
			t.CMPQ(m, operand.I32(rows))
			t.jump(t.JNE, next)
		}
		body(rows)
		t.jump(t.JMP, end)
		t.Label(next)
	}
	t.Label(end)
	t.end()
}

func (w *runsWriter) runsBody(rows int) {
	l, t := w.singles(), w.target
	var sums, ints [runsRows][vectors]vec
	zero := func(x vec) { t.VPXORD(x, x, x) }
	for i := range rows {
		for v := range vectors {
			sums[i][v], ints[i][v] = t.ZMM(), t.ZMM()
			zero(sums[i][v])
			zero(ints[i][v])
		}
	}
	row := func(p reg.Register, v int) operand.Mem { return operand.Mem{Base: p, Disp: 64 * v} }
	at := func(i, disp int) operand.Mem {
		m := w.row(w.a, w.a, i)
		m.Disp += disp
		return m
	}
	run, pair, next, done := t.label("run"), t.label("pair"), t.label("next"), t.label("done")
	left := t.GP64()
	t.Label(run)
	t.SUBQ(operand.I32(runBytes/4), w.k)
	t.jump(t.JLT, done)
	t.MOVQ(operand.I32(8), left)
	t.Label(pair)
	for u := range 2 {
		var b [vectors]vec
		for v := range vectors {
			b[v] = t.v("VMOVDQU32", row(w.b, 2*u+v))
		}
		for i := range rows {
			x := t.v("VPBROADCASTD", at(i, 4*u))
			for v := range vectors {
				vpdpwssd(t.Context, b[v], x, ints[i][v])
			}
		}
	}
	t.ADDQ(operand.I32(256), w.b)
	t.ADDQ(operand.I32(8), w.a)
	t.DECQ(left)
	t.jump(t.JNE, pair)
	for part := range 2 { // scales, then sums by offsets
		if part == 1 {
			t.TESTQ(w.ldb, w.ldb)
			t.jump(t.JZ, next)
		}
		var b [vectors]vec
		for v := range vectors {
			b[v] = t.v("VMOVUPS", row(w.b, 2*part+v))
		}
		for i := range rows {
			x := t.v("VBROADCASTSS", at(i, 4*part))
			for v := range vectors {
				if part == 1 {
					t.VFMADD231PS(x, b[v], sums[i][v])
					continue
				}
				t.VFMADD231PS(l.mul(x, b[v]), l.fromInt(ints[i][v]), sums[i][v])
				zero(ints[i][v])
			}
		}
	}
	t.Label(next)
	t.ADDQ(operand.I32(256), w.b)
	t.ADDQ(operand.I32(8), w.a)
	t.jump(t.JMP, run)
	t.Label(done)
	store := t.label("store")
	t.TESTQ(w.add, w.add)
	t.jump(t.JZ, store)
	addStep := w.param("addStep")
	for i := range rows {
		for v := range vectors {
			x := t.ZMM()
			t.VMOVUPS_Z(row(w.add, v), w.masks[v], x)
			t.VADDPS(x, sums[i][v], sums[i][v])
		}
		t.ADDQ(addStep, w.add)
	}
	t.Label(store)
	for i := range rows {
		for v := range vectors {
			t.VMOVUPS(sums[i][v], w.masks[v], row(w.c, v))
		}
		t.ADDQ(w.ldc, w.c)
	}
}
