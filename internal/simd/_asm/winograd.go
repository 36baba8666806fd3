package main

import (
	"fmt"
	"slices"

	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// winograd writes the routines of simd.Winograd.
func (f *file) winograd() {
	for _, t := range f.targets {
		w := &winogradWriter{target: t, lanes: t.singles()}
		w.write("Input", 4, func(s step) {
			w.tile(s, func(y, x int) vec {
				pair := [4][2]int{{0, 2}, {1, 2}, {2, 1}, {1, 3}}[y]
				a, b := w.element(s, pair[0], x), w.element(s, pair[1], x)
				if y == 1 {
					return w.lanes.add(a, b)
				}
				return w.lanes.sub(a, b)
			}, 4, func(t []vec) [4]vec {
				l := w.lanes
				return [4]vec{l.sub(t[0], t[2]), l.add(t[1], t[2]), l.sub(t[2], t[1]), l.sub(t[1], t[3])}
			})
		})
		w.write("Weights", 3, func(s step) {
			half := w.lanes.broadcast(w.lanes.num(0.5))
			spread := func(a, b, c vec) (sum, difference vec) {
				outer, inner := w.lanes.mul(w.lanes.add(a, c), half), w.lanes.mul(b, half)
				return w.lanes.add(outer, inner), w.lanes.sub(outer, inner)
			}
			w.tile(s, func(y, x int) vec {
				if y == 0 || y == 3 {
					return w.element(s, y*2/3, x)
				}
				sum, difference := spread(w.element(s, 0, x), w.element(s, 1, x), w.element(s, 2, x))
				if y == 1 {
					return sum
				}
				return difference
			}, 3, func(t []vec) [4]vec {
				sum, difference := spread(t[0], t[1], t[2])
				return [4]vec{t[0], sum, difference, t[2]}
			})
		})
		w.write("Output", 2, w.output)
		t.tables.single(t.level, "winograd", fmt.Sprintf("WinogradTransforms{winogradInput%[1]s, winogradWeights%[1]s, winogradOutput%[1]s}", t.level))
	}
}

// A winogradWriter writes a routine of simd.Winograd.
type winogradWriter struct {
	*target
	lanes         avx
	rows, quads   []reg.GPVirtual  // addresses of the step's elements in the rows of the small matrix, and of the tile
	column, plane [4]reg.GPVirtual // distances in bytes: of 1 and of 3
}

// write writes a routine whose small matrix has some rows.
func (w *winogradWriter) write(name string, rows int, body func(s step)) {
	p := w.begin("winograd"+name, "func(to, from *byte, n, plane, row, column int)", "to", "from", "plane", "row", "column", "n")
	plane, row, column := p[2], p[3], p[4]
	for _, x := range []reg.GPVirtual{plane, row, column} {
		w.SHLQ(operand.U8(2), x)
	}
	tile, small := p[0], p[1]
	if name == "Output" {
		tile, small = p[1], p[0]
		w.quads = w.addresses(tile, plane, 4, 4)
	} else {
		w.quads = []reg.GPVirtual{tile}
	}
	w.rows = w.addresses(small, row, rows, 1)
	for i, x := range []reg.GPVirtual{column, plane} {
		three := w.GP64()
		w.LEAQ(operand.Mem{Base: x, Index: x, Scale: 2}, three)
		*[]*[4]reg.GPVirtual{&w.column, &w.plane}[i] = [4]reg.GPVirtual{1: x, 3: three}
	}
	w.newLoop(p[5], w.width/4).write(func(s step) {
		body(s)
		for _, x := range slices.Concat(w.rows, w.quads) {
			w.ADDQ(operand.I32(w.width), x)
		}
	})
	w.end()
}

// addresses returns n addresses from p on, some distances apart.
func (w *winogradWriter) addresses(p, distance reg.GPVirtual, n int, distances uint8) []reg.GPVirtual {
	list := []reg.GPVirtual{p}
	for range n - 1 {
		next := w.GP64()
		w.LEAQ(operand.Mem{Base: list[len(list)-1], Index: distance, Scale: distances}, next)
		list = append(list, next)
	}
	return list
}

// element reads an element of the small matrix.
func (w *winogradWriter) element(s step, y, x int) vec {
	return s.readAt(rowAt(w.rows[y], w.column[1], w.column[3], x, 0), 4)
}

// tile writes a tile: of each row, transformed down the columns, the transform along the row.
func (w *winogradWriter) tile(s step, down func(y, x int) vec, columns int, along func(t []vec) [4]vec) {
	to := w.GP64()
	w.MOVQ(w.quads[0], to)
	for y := range 4 {
		var t []vec
		for x := range columns {
			t = append(t, down(y, x))
		}
		for x, v := range along(t) {
			s.writeAt(v, rowAt(to, w.plane[1], w.plane[3], x, 0), 4)
		}
		if y < 3 {
			w.LEAQ(operand.Mem{Base: to, Index: w.plane[1], Scale: 4}, to)
		}
	}
}

func (w *winogradWriter) output(s step) {
	l := w.lanes
	sums := func(a, b, c, d vec) (vec, vec) { return l.add(a, l.add(b, c)), l.sub(l.sub(b, c), d) }
	var t [2][4]vec
	for x := range 4 {
		var e [4]vec
		for y := range e {
			e[y] = s.readAt(rowAt(w.quads[y], w.plane[1], w.plane[3], x, 0), 4)
		}
		t[0][x], t[1][x] = sums(e[0], e[1], e[2], e[3])
	}
	for y, t := range t {
		first, second := sums(t[0], t[1], t[2], t[3])
		s.writeAt(first, rowAt(w.rows[y], w.column[1], w.column[3], 0, 0), 4)
		s.writeAt(second, rowAt(w.rows[y], w.column[1], w.column[3], 1, 0), 4)
	}
}
