package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// dotRows is the greatest number of rows of a simd.Product of dots.
const dotRows = 4

// A dotsWriter writes the Dots of simd.Product. For some columns at a time its registers hold
// a vector of partial sums for each element of c.
type dotsWriter struct {
	*target
	lanes                          avx
	size                           int
	c, a, b, k, ldc, lda, ldb, add reg.GPVirtual
}

func (w *dotsWriter) write(name string) string {
	p := w.begin(name, "func(c, a, b *byte, m, n, k, ldc, lda, sa, ldb, add int)", "c", "a", "b", "m", "n", "k", "ldc", "lda", "ldb", "add")
	m, n := p[3], p[4]
	w.c, w.a, w.b, w.k, w.ldc, w.lda, w.ldb, w.add = p[0], p[1], p[2], p[5], p[6], p[7], p[8], p[9]
	for _, stride := range []reg.GPVirtual{w.ldc, w.lda, w.ldb} {
		w.IMUL3Q(operand.I32(w.size), stride, stride)
	}
	several := map[int]int{32: 2, 64: 4}[w.width]
	end := w.label("end")
	for rows := dotRows; rows > 0; rows-- {
		other := w.label("rows")
		if rows > 1 {
			w.CMPQ(m, operand.I32(rows))
			w.jump(w.JNE, other)
		}
		for _, cols := range []int{several, 1} {
			next, rest := w.label("columns"), w.label("rest")
			w.Label(next)
			w.SUBQ(operand.I32(cols), n)
			w.jump(w.JLT, rest)
			w.block(rows, cols)
			w.jump(w.JMP, next)
			w.Label(rest)
			w.ADDQ(operand.I32(cols), n)
		}
		w.jump(w.JMP, end)
		w.Label(other)
	}
	w.Label(end)
	w.end()
	return name + w.level
}

// block writes the product of rows rows by cols columns, and moves on by the columns.
func (w *dotsWriter) block(rows, cols int) {
	var acc [dotRows][4]vec
	for i := range rows {
		for j := range cols {
			acc[i][j] = w.broadcast(w.lanes.num(0))
		}
	}
	a, b, left := w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(w.a, a)
	w.MOVQ(w.b, b)
	w.MOVQ(w.k, left)
	lda3, ldb3 := w.GP64(), w.GP64()
	w.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, lda3)
	w.LEAQ(operand.Mem{Base: w.ldb, Index: w.ldb, Scale: 2}, ldb3)
	row := func(p, ld, ld3 reg.GPVirtual, i int) operand.Mem {
		switch i {
		case 0:
			return operand.Mem{Base: p}
		case 3:
			return operand.Mem{Base: p, Index: ld3, Scale: 1}
		}
		return operand.Mem{Base: p, Index: ld, Scale: uint8(i)}
	}
	// step adds the products of a vector from each row and each column.
	step := func(load func(m operand.Mem) vec) {
		var x [dotRows]vec
		for i := range rows {
			x[i] = load(row(a, w.lda, lda3, i))
		}
		for j := range cols {
			y := load(row(b, w.ldb, ldb3, j))
			for i := range rows {
				w.do("VFMADD231"+w.lanes.s, y, x[i], acc[i][j])
			}
		}
	}
	next, tail, done := w.label("depth"), w.label("tail"), w.label("done")
	w.Label(next)
	w.SUBQ(operand.I32(w.width/w.size), left)
	w.jump(w.JLT, tail)
	step(func(m operand.Mem) vec { return w.v("VMOVUPS", m) })
	w.ADDQ(operand.I32(w.width), a)
	w.ADDQ(operand.I32(w.width), b)
	w.jump(w.JMP, next)
	w.Label(tail)
	w.ADDQ(operand.I32(w.width/w.size), left)
	w.jump(w.JEQ, done)
	if w.avx512() {
		first := w.firstLanes(left)
		step(func(m operand.Mem) vec { return w.v(maskMoves[w.size]+"_Z", m, first) })
	} else {
		first := w.vectorMask(left, w.size)
		step(func(m operand.Mem) vec { return w.v(maskMoves[10*w.size], m, first) })
	}
	w.Label(done)

	c := w.GP64()
	w.MOVQ(w.c, c)
	for i := range rows {
		for j := range cols {
			m, store := operand.Mem{Base: c, Disp: j * w.size}, w.label("store")
			sum := w.horizontal(acc[i][j], w.size, func(x, y vec) vec { return w.lanes.add(x, y) })
			w.TESTQ(w.add, w.add)
			w.jump(w.JZ, store)
			w.do("VADDS"+w.lanes.s[1:], m, sum.AsX(), sum.AsX())
			w.Label(store)
			w.do(moves[w.size], sum.AsX(), m)
		}
		w.ADDQ(w.ldc, c)
	}
	w.ADDQ(operand.I32(cols*w.size), w.c)
	w.LEAQ(operand.Mem{Base: w.b, Index: w.ldb, Scale: uint8(cols)}, w.b)
}
