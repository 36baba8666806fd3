package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// filterVectors is the number of registers of sums of a simd.Filter by the width of a register: as
// many as hide the time of a multiplication.
var filterVectors = map[int]int{32: 12, 64: 16}

// filters writes the routines of simd.Filters.
func (f *file) filters() {
	for _, t := range f.targets {
		for _, e := range elements {
			w := &filterWriter{target: t, element: e}
			across := "nil"
			if e.size == 4 {
				across = w.across("across" + e.name)
			}
			t.row("filters", "ir.%s, Filter{Cols: %d, Tile: %s, Lanes: %d, Places: %d, Across: %s}", e.typ, filterVectors[t.width]*t.width/e.size, w.write("filter"+e.name), t.width/e.size, acrossPositions[t.width], across)
		}
	}
}

// A filterWriter writes a routine of simd.Filters, with a body for each number of registers.
type filterWriter struct {
	*target
	element
	c, a, w, at, k, add reg.GPVirtual
	last                reg.Register // mask of the last register
}

func (w *filterWriter) write(name string) string {
	p := w.begin(name, "func(c, a, w, at *byte, n, k, add int)", "c", "a", "w", "at", "k", "add", "n")
	w.c, w.a, w.w, w.at, w.k, w.add = p[0], p[1], p[2], p[3], p[4], p[5]
	n, lanes, end := p[6], w.width/w.size, w.label("end")
	for vectors := filterVectors[w.width]; vectors > 0; vectors-- {
		fewer := w.label("fewer")
		w.CMPQ(n, operand.I32((vectors-1)*lanes))
		w.jump(w.JLE, fewer)
		w.SUBQ(operand.I32((vectors-1)*lanes), n)
		if w.avx512() {
			w.last = w.firstLanes(n)
		} else {
			w.last = w.vectorMask(n, w.size)
		}
		w.body(vectors)
		w.jump(w.JMP, end)
		w.Label(fewer)
	}
	w.Label(end)
	w.end()
	return name + w.level
}

// body writes the sums of some registers.
func (w *filterWriter) body(vectors int) {
	c := w.Context
	var acc []vec
	for range vectors {
		acc = append(acc, w.reg(w.width))
	}
	sums, next, done := w.label("sums"), w.label("next"), w.label("done")
	for _, v := range acc {
		w.zero(c, v, v, v)
	}
	w.TESTQ(w.add, w.add)
	w.jump(w.JZ, sums)
	for v := range acc {
		m := operand.Mem{Base: w.c, Disp: v * w.width}
		if v < vectors-1 {
			w.move(c, m, acc[v])
		} else if w.avx512() {
			w.movez(c, m, w.last, acc[v])
		} else {
			w.element.masked(c, m, w.last, acc[v])
		}
	}
	w.Label(sums)
	w.TESTQ(w.k, w.k)
	w.jump(w.JZ, done)
	i, at, x := w.GP64(), w.GP64(), w.reg(w.width)
	w.XORQ(i, i)
	w.Label(next)
	w.MOVQ(operand.Mem{Base: w.at, Index: i, Scale: 8}, at)
	w.element.broadcast(c, operand.Mem{Base: w.w, Index: i, Scale: uint8(w.size)}, x)
	for v := range acc {
		m := operand.Mem{Base: w.a, Index: at, Scale: uint8(w.size), Disp: v * w.width}
		switch {
		case v < vectors-1:
			w.fma(c, m, x, acc[v])
		case w.avx512():
			w.do(w.floats(w.size).fused(), m, x, w.last, acc[v])
		default:
			y := w.reg(w.width)
			w.element.masked(c, m, w.last, y)
			w.fma(c, y, x, acc[v])
		}
	}
	w.INCQ(i)
	w.CMPQ(i, w.k)
	w.jump(w.JNE, next)
	w.Label(done)
	for v := range acc {
		m := operand.Mem{Base: w.c, Disp: v * w.width}
		switch {
		case v < vectors-1:
			w.move(c, acc[v], m)
		case w.avx512():
			w.move(c, acc[v], w.last, m)
		default:
			w.element.masked(c, acc[v], w.last, m)
		}
	}
}

// acrossPositions is the number of registers of sums of a simd.Filter across planes: as many as hide the time of
// a multiplication.
var acrossPositions = map[int]int{32: 12, 64: 14}

// across writes a routine that sums the windows of a register of planes, with a body for each number of positions.
func (w *filterWriter) across(name string) string {
	p := w.begin(name, "func(c, a, w, at *byte, n, k, step, apart int)", "c", "a", "w", "at", "k", "step", "n", "apart")
	w.c, w.a, w.w, w.at, w.k = p[0], p[1], p[2], p[3], p[4]
	step, n, apart, end := p[5], p[6], p[7], w.label("end")
	step3, weights := w.GP64(), w.GP64()
	w.LEAQ(operand.Mem{Base: step, Index: step, Scale: 2}, step3)
	for positions := acrossPositions[w.width]; positions > 0; positions-- {
		c, fewer, next := w.Context, w.label("fewer"), w.label("next")
		w.CMPQ(n, operand.I32(positions))
		w.jump(w.JNE, fewer)
		var acc []vec
		for range positions {
			v := w.reg(w.width)
			w.zero(c, v, v, v)
			acc = append(acc, v)
		}
		i := w.GP64()
		w.XORQ(i, i)
		w.MOVQ(w.w, weights)
		w.Label(next)
		x, from := w.reg(w.width), []reg.GPVirtual{w.GP64()}
		w.MOVQ(operand.Mem{Base: w.at, Index: i, Scale: 8}, from[0])
		w.LEAQ(operand.Mem{Base: w.a, Index: from[0], Scale: uint8(w.size)}, from[0])
		for v := 4; v < positions; v += 4 {
			next := w.GP64()
			w.LEAQ(operand.Mem{Base: from[v/4-1], Index: step, Scale: 4}, next)
			from = append(from, next)
		}
		w.move(c, operand.Mem{Base: weights}, x)
		for v := range acc {
			w.fma(c, rowAt(from[v/4], step, step3, v%4, 0), x, acc[v])
		}
		w.ADDQ(operand.I32(w.width), weights)
		w.INCQ(i)
		w.CMPQ(i, w.k)
		w.jump(w.JNE, next)
		for v := range acc {
			w.move(c, acc[v], operand.Mem{Base: w.c})
			if v < positions-1 {
				w.ADDQ(apart, w.c)
			}
		}
		w.jump(w.JMP, end)
		w.Label(fewer)
	}
	w.Label(end)
	w.end()
	return name + w.level
}

// fused is the instruction that adds a product to its last operand.
func (l avx) fused() string { return "VFMADD231" + l.s }
