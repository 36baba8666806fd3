package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A weight is a type of the elements of b in simd.DotTiles.
type weight struct {
	name, typ string
	size      int // of an element in memory
	lane      int // of an element of a and c
}

var weights = []weight{
	{"F32", "Float32", 4, 4},
	{"F64", "Float64", 8, 8},
	{"F16", "Float16", 2, 4},
	{"BF16", "BFloat16", 2, 4},
}

// dotTiles writes the routines of simd.DotTiles.
func (f *file) dotTiles() {
	for _, t := range f.targets {
		for _, x := range weights {
			w := &dotsWriter{target: t, weight: x, lanes: t.floats(x.lane)}
			t.row("dotTiles", "ir.%s, DotTile{%d, %s}", x.typ, dotRows[t.width], w.write("dots"+x.name))
		}
	}
	f.pairDots()
}

// dotRows is the greatest number of rows by the width of a register, and dotColumns the number of
// columns by width and rows: registers hold a vector of partial sums for each element of c, one of
// each column and one of a row.
var dotRows = map[int]int{32: 4, 64: 8}

func dotColumns(width, rows int) int {
	if rows > width/16 {
		return 2
	}
	return 4
}

// A dotsWriter writes a routine of simd.DotTiles.
type dotsWriter struct {
	*target
	weight
	lanes                avx
	c, a, b, k, lda, ldb reg.GPVirtual
}

func (w *dotsWriter) write(name string) string {
	p := w.begin(name, "func(c, a, b *byte, m, n, k, ldc, lda, ldb, add int)", "c", "a", "b", "k", "lda", "ldb", "m", "n")
	m, n := p[6], p[7]
	w.c, w.a, w.b, w.k, w.lda, w.ldb = p[0], p[1], p[2], p[3], p[4], p[5]
	w.IMUL3Q(operand.I32(w.lane), w.lda, w.lda)
	w.IMUL3Q(operand.I32(w.size), w.ldb, w.ldb)
	w.byRows(m, dotRows[w.width], func(rows int) {
		for _, cols := range []int{dotColumns(w.width, rows), 1} {
			next, rest := w.label("columns"), w.label("rest")
			w.Label(next)
			w.SUBQ(operand.I32(cols), n)
			w.jump(w.JLT, rest)
			w.block(rows, cols)
			w.jump(w.JMP, next)
			w.Label(rest)
			w.ADDQ(operand.I32(cols), n)
		}
	})
	return name + w.level
}

// block writes the product of rows rows by cols columns, and moves on by the columns.
func (w *dotsWriter) block(rows, cols int) {
	acc := make([][]vec, rows)
	for i := range acc {
		for range cols {
			acc[i] = append(acc[i], w.broadcast(w.lanes.num(0)))
		}
	}
	a, b, left := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(w.a, a)
	w.MOVQ(w.b, b)
	w.MOVQ(w.k, left)
	lda3, ldb3, a4 := w.GP64(), w.GP64(), a
	w.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, lda3)
	w.LEAQ(operand.Mem{Base: w.ldb, Index: w.ldb, Scale: 2}, ldb3)
	if rows > 4 {
		a4 = w.GP64()
		w.LEAQ(operand.Mem{Base: a, Index: w.lda, Scale: 4}, a4)
	}
	ahead := w.GP64()
	w.LEAQ(operand.Mem{Base: b, Index: w.ldb, Scale: 8}, ahead)
	row := func(p, ld, ld3 reg.GPVirtual, i int) operand.Mem {
		switch i {
		case 0:
			return operand.Mem{Base: p}
		case 3:
			return operand.Mem{Base: p, Index: ld3, Scale: 1}
		}
		return operand.Mem{Base: p, Index: ld, Scale: uint8(i)}
	}
	// step adds the products of a vector of each row and each column.
	step := func(loadA, loadB func(m operand.Mem) vec) {
		y := make([]vec, cols)
		for j := range y {
			y[j] = loadB(row(b, w.ldb, ldb3, j))
		}
		for i := range rows {
			x := loadA(row([]reg.GPVirtual{a, a4}[i/4], w.lda, lda3, i%4))
			for j := range y {
				w.do("VFMADD231"+w.lanes.s, y[j], x, acc[i][j])
			}
		}
	}
	move := func(steps int) {
		w.ADDQ(operand.I32(steps*w.lane), a)
		w.ADDQ(operand.I32(steps*w.size), b)
		if rows > 4 {
			w.ADDQ(operand.I32(steps*w.lane), a4)
		}
	}
	plain := func(m operand.Mem) vec { return w.v("VMOVUPS", m) }
	lanes := w.width / w.lane
	next, tail, done := w.label("depth"), w.label("tail"), w.label("done")
	w.Label(next)
	w.SUBQ(operand.I32(lanes), left)
	w.jump(w.JLT, tail)
	if cols > 1 { // columns far enough ahead
		for j := range cols {
			w.PREFETCHT1(row(ahead, w.ldb, ldb3, j))
		}
		w.ADDQ(operand.I32(lanes*w.size), ahead)
	}
	step(plain, w.widened)
	move(lanes)
	w.jump(w.JMP, next)
	w.Label(tail)
	w.ADDQ(operand.I32(lanes), left)
	w.jump(w.JEQ, done)
	if w.avx512() {
		first := w.firstLanes(left)
		masked := func(m operand.Mem) vec { return w.v(maskMoves[w.lane]+"_Z", m, first) }
		if w.size == w.lane {
			step(masked, masked)
		} else {
			short := func(m operand.Mem) vec { return w.widenVector(w.vn(32, "VMOVDQU16_Z", m, first)) }
			step(masked, short)
		}
	} else if w.size == w.lane {
		first := w.vectorMask(left, w.size)
		masked := func(m operand.Mem) vec { return w.v(maskMoves[10*w.size], m, first) }
		step(masked, masked)
	} else {
		// One element after the other: AVX2 has no masked loads of halves.
		each := w.label("element")
		w.Label(each)
		step(func(m operand.Mem) vec { return w.part(w.vn(16, "VMOVSS", m), w.width) }, func(m operand.Mem) vec {
			bits := w.GP32()
			w.MOVWLZX(m, bits)
			return w.widenVector(w.vn(16, "VMOVD", bits))
		})
		move(1)
		w.DECQ(left)
		w.jump(w.JNE, each)
	}
	w.Label(done)

	c, ldc, add := w.GP64(), w.Load(w.Param("ldc"), w.GP64()).(reg.GPVirtual), w.Load(w.Param("add"), w.GP64())
	w.IMUL3Q(operand.I32(w.lane), ldc, ldc)
	w.MOVQ(w.c, c)
	for i := range rows {
		store, bytes := w.label("store"), min(cols*w.lane, 16)
		sums := w.sums(acc[i])
		w.TESTQ(add, add)
		w.jump(w.JZ, store)
		for j, sum := range sums {
			w.do("VADD"+w.lanes.s, w.vn(16, moves[bytes], operand.Mem{Base: c, Disp: j * 16}), sum, sum)
		}
		w.Label(store)
		for j, sum := range sums {
			w.do(moves[bytes], sum, operand.Mem{Base: c, Disp: j * 16})
		}
		w.ADDQ(ldc, c)
	}
	w.ADDQ(operand.I32(cols*w.lane), w.c)
	w.LEAQ(operand.Mem{Base: w.b, Index: w.ldb, Scale: uint8(cols)}, w.b)
}

// sums returns the sums of the lanes of some registers, next to each other in registers of 16 bytes.
// Each is added up in the same order, however many there are.
func (w *dotsWriter) sums(list []vec) []vec {
	for i, v := range list {
		for bytes := w.width / 2; bytes >= 16; bytes /= 2 {
			upper := map[int]string{16: "VEXTRACTF32X4", 32: "VEXTRACTF64X4"}[bytes]
			if !w.avx512() {
				upper = "VEXTRACTF128"
			}
			v = w.vn(bytes, "VADD"+w.lanes.s, w.vn(bytes, upper, 1, v), w.part(v, bytes))
		}
		list[i] = v
	}
	even, odd := map[int]int{4: 0x88, 8: 0}[w.lane], map[int]int{4: 0xdd, 8: 3}[w.lane]
	for n := 16 / w.lane; n > 1; n /= 2 {
		var pairs []vec // AVX-512 has no horizontal sums
		for i := 0; i < len(list); i += 2 {
			x, y, shuffle := list[i], list[min(i+1, len(list)-1)], "VSHUF"+w.lanes.s
			pairs = append(pairs, w.vn(16, "VADD"+w.lanes.s, w.vn(16, shuffle, odd, y, x), w.vn(16, shuffle, even, y, x)))
		}
		list = pairs
	}
	return list
}

// widened loads a vector of b.
func (w *dotsWriter) widened(m operand.Mem) vec {
	if w.size == w.lane {
		return w.v("VMOVUPS", m)
	}
	return w.widenVector(m)
}

// widenVector converts a vector of halves, in memory or in a register, to float32.
func (w *dotsWriter) widenVector(x any) vec {
	if w.typ == "Float16" {
		return w.v("VCVTPH2PS", x)
	}
	return w.v("VPSLLD", 16, w.v("VPMOVZXWD", x))
}
