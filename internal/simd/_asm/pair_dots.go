package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// pairSums is the number of registers of sums of a block: of eight rows and two columns, or of four and four.
const pairSums = 16

// A pairDots writes the routine of simd.DotTiles for pairs of bfloat16. A block has the first half of its rows and the
// last rows as the other half, which may be the same. Columns that are no block's are one each.
type pairDots struct {
	*target
	rows, columns        int               // of a block
	m, n, some           reg.GPVirtual     // the number of rows before the last, of columns left, of columns of a block
	lda, lda3, ldb, ldb3 reg.GPVirtual     // ldb is 0 where a block is one column
	stored               reg.OpmaskVirtual // columns of a block
}

func (f *file) pairDots() {
	w := &pairDots{target: f.bf16}
	p := w.begin("dotPairs", "func(c, a, b *byte, m, n, k, ldc, lda, ldb, add int)", "m", "n", "lda", "ldb")
	w.m, w.n, w.lda, w.ldb = p[0], p[1], p[2], p[3]
	w.SHLQ(operand.U8(2), w.lda)
	w.SHLQ(operand.U8(2), w.ldb)
	few, end := w.label("few"), w.label("end")
	w.CMPQ(w.m, operand.I32(pairSums/4))
	w.jump(w.JLE, few)
	w.body(8)
	w.jump(w.JMP, end)
	w.Label(few)
	w.body(4)
	w.Label(end)
	w.end()
	w.row("dotTiles", "ir.Int32, DotTile{8, dotPairsBF16}")
}

func (w *pairDots) param(name string) reg.GPVirtual {
	return w.Load(w.Param(name), w.GP64()).(reg.GPVirtual)
}

// body writes the product by blocks of some rows.
func (w *pairDots) body(rows int) {
	w.rows, w.columns = rows, pairSums/rows
	next, full, done, several := w.label("columns"), w.label("full"), w.label("done"), w.label("several")
	w.lda3, w.ldb3, w.some, w.stored = w.GP64(), w.GP64(), w.GP64(), w.K()
	bits := w.GP32()
	store := func(columns int) {
		w.MOVQ(operand.I32(int32(columns)), w.some)
		w.MOVL(operand.U32(1<<columns-1), bits)
		w.KMOVW(bits, w.stored)
	}
	w.SUBQ(operand.I32(int32(rows/2)), w.m)
	if rows == 4 {
		w.jump(w.JGE, several)
		w.XORQ(w.lda, w.lda) // of one row
		w.Label(several)
	}
	w.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, w.lda3)
	w.LEAQ(operand.Mem{Base: w.ldb, Index: w.ldb, Scale: 2}, w.ldb3)
	store(w.columns)
	w.Label(next)
	w.CMPQ(w.n, w.some)
	w.jump(w.JGE, full)
	w.TESTQ(w.n, w.n)
	w.jump(w.JLE, done)
	w.XORQ(w.ldb, w.ldb)
	w.XORQ(w.ldb3, w.ldb3)
	store(1)
	w.Label(full)
	w.store(w.multiply())
	w.SUBQ(w.some, w.n)
	w.jump(w.JMP, next)
	w.Label(done)
}

// column returns the number of the first column of a block.
func (w *pairDots) column() reg.GPVirtual {
	at := w.param("n")
	w.SUBQ(w.n, at)
	return at
}

// multiply returns the sums of a block in the lanes of a register, row by row.
func (w *pairDots) multiply() vec {
	sums := make([]vec, pairSums)
	for i := range sums {
		sums[i] = w.ZMM()
		w.clear(sums[i])
	}
	b := w.column()
	w.IMULQ(w.param("ldb"), b)
	w.SHLQ(operand.U8(2), b)
	w.ADDQ(w.param("b"), b)
	a, last, left, ahead := w.param("a"), w.GP64(), w.param("k"), w.GP64()
	w.MOVQ(w.m, last)
	w.IMULQ(w.lda, last)
	w.ADDQ(a, last)
	w.LEAQ(operand.Mem{Base: b, Index: w.ldb, Scale: 8}, ahead)
	bits, lanes := w.GP64(), w.K()
	w.MOVQ(operand.I32(-1), bits)
	w.KMOVW(bits.As32(), lanes)
	next, all, done := w.label("depth"), w.label("all"), w.label("end")
	w.Label(next)
	w.TESTQ(left, left)
	w.jump(w.JLE, done)
	w.CMPQ(left, operand.I32(16))
	w.jump(w.JGE, all)
	w.BZHIQ(left, bits, bits)
	w.KMOVW(bits.As32(), lanes)
	w.Label(all)
	load := func(m operand.Mem) vec { return w.v("VMOVUPS_Z", m, lanes) }
	var columns []vec
	for j := range w.columns {
		columns = append(columns, load(rowAt(b, w.ldb, w.ldb3, j, 0)))
		w.PREFETCHT1(rowAt(ahead, w.ldb, w.ldb3, j, 0))
	}
	for i := range w.rows {
		x := load(rowAt([]reg.GPVirtual{a, last}[i/(w.rows/2)], w.lda, w.lda3, i%(w.rows/2), 0))
		for j, y := range columns {
			vdpbf16ps(w.Context, y, x, sums[i*w.columns+j])
		}
	}
	for _, p := range []reg.GPVirtual{a, last, b, ahead} {
		w.ADDQ(operand.I32(64), p)
	}
	w.SUBQ(operand.I32(16), left)
	w.jump(w.JMP, next)
	w.Label(done)
	// Each step adds halves of the lanes of two registers, in the order in which the sums are.
	halve := func(add func(x, y vec) (low, high vec)) {
		for i := range len(sums) / 2 {
			low, high := add(sums[2*i], sums[2*i+1])
			sums[i] = w.v("VADDPS", high, low)
		}
		sums = sums[:len(sums)/2]
	}
	for _, size := range []string{"PS", "PD"} {
		halve(func(x, y vec) (low, high vec) { return w.v("VUNPCKL"+size, y, x), w.v("VUNPCKH"+size, y, x) })
	}
	for range 2 {
		halve(func(x, y vec) (low, high vec) { return w.v("VSHUFF32X4", 0x88, y, x), w.v("VSHUFF32X4", 0xdd, y, x) })
	}
	return sums[0]
}

// store stores sums, or adds them.
func (w *pairDots) store(sums vec) {
	all := w.AllocLocal(64)
	w.VMOVUPS(sums, all)
	at, ldc, last, ldc3 := w.column(), w.param("ldc"), w.GP64(), w.GP64()
	w.SHLQ(operand.U8(2), ldc)
	w.XORQ(last, last)
	w.TESTQ(w.m, w.m)
	w.CMOVQLT(last, ldc) // of one row
	w.MOVQ(w.m, last)
	w.IMULQ(ldc, last)
	w.LEAQ(operand.Mem{Base: ldc, Index: ldc, Scale: 2}, ldc3)
	c := w.param("c")
	w.LEAQ(operand.Mem{Base: c, Index: at, Scale: 4}, c)
	w.ADDQ(c, last)
	to := func(i int) operand.Mem {
		return rowAt([]reg.GPVirtual{c, last}[i/(w.rows/2)], ldc, ldc3, i%(w.rows/2), 0)
	}
	var rows []vec
	for i := range w.rows {
		rows = append(rows, w.vn(16, "VMOVUPS_Z", all.Offset(4*w.columns*i), w.stored))
	}
	store, add := w.label("store"), w.param("add")
	w.TESTQ(add, add)
	w.jump(w.JZ, store)
	for i, x := range rows { // all before the first is stored, for a row may be twice in the block
		w.VADDPS(w.vn(16, "VMOVUPS_Z", to(i), w.stored), x, x)
	}
	w.Label(store)
	for i, x := range rows {
		w.VMOVUPS(x, w.stored, to(i))
	}
}
