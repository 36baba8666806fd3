package main

// neonDotRows is the greatest number of rows of a simd.DotTile, and of columns in one pass.
const neonDotRows = 4

// The general registers of a routine of simd.DotTiles, parameters in the order of the signature.
const (
	rDotC, rDotA, rDotB, rDotM, rDotN, rDotK, rDotLdc, rDotLda, rDotLdb, rDotAdd = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9

	rDotRow    = 10 // pointers to rows, to R13
	rDotColumn = 14 // pointers to columns, to R17
	rDotLeft   = 19
	rDotTemp   = 20
)

// The registers of vectors: partial sums are V0 to V15.
const vDotRow, vDotColumn = 16, 20

// A neonDots writes a routine of simd.DotTiles.
type neonDots struct {
	*neon
	weight
}

// dotTiles writes the routines of simd.DotTiles.
func (w *neon) dotTiles() {
	for _, x := range weights {
		w.row("dotTiles", "ir.%s, DotTile{%d, %s}", x.typ, neonDotRows, neonDots{w, x}.write("dots"+x.name+"NEON"))
	}
}

func (w neonDots) write(name string) string {
	w.begin(name, "c a b", "m n k ldc lda ldb add")
	for _, r := range []struct{ stride, size int }{{rDotLdc, w.lane}, {rDotLda, w.lane}, {rDotLdb, w.size}} {
		w.do("LSL $%d, R%d, R%d", map[int]int{2: 1, 4: 2, 8: 3}[r.size], r.stride, r.stride)
	}
	for rows := neonDotRows; rows > 0; rows-- {
		other := w.label("rows")
		if rows > 1 {
			w.do("CMP $%d, R%d", rows, rDotM)
			w.do("BNE %s", other)
		}
		for _, cols := range []int{neonDotRows, 1} {
			w.loop(rDotN, cols, func() { w.block(rows, cols) })
		}
		w.do("RET")
		if rows > 1 {
			w.mark(other)
		}
	}
	return name
}

// block writes the product of rows rows by cols columns, and moves on by the columns.
func (w neonDots) block(rows, cols int) {
	acc := func(i, j int) int { return i*cols + j }
	pointers := func(first, count, base, stride int) {
		w.do("MOVD R%d, R%d", base, first)
		for i := 1; i < count; i++ {
			w.do("ADD R%d, R%d, R%d", stride, first+i-1, first+i)
		}
	}
	for i := range rows * cols {
		w.do("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	pointers(rDotRow, rows, rDotA, rDotLda)
	pointers(rDotColumn, cols, rDotB, rDotLdb)
	w.do("MOVD R%d, R%d", rDotK, rDotLeft)
	lanes := 16 / w.lane
	for _, s := range []strip{{1, false}, {1, true}} {
		n := 1
		if !s.element {
			n = lanes
		}
		w.loop(rDotLeft, n, func() {
			for j := range cols {
				w.column(s, rDotColumn+j, vDotColumn+j)
			}
			for i := range rows {
				w.load(s, w.lane, rDotRow+i, vDotRow+i)
				for j := range cols {
					w.op("FMLA", w.lane, acc(i, j), vDotRow+i, vDotColumn+j)
				}
			}
		})
	}
	for i := range rows {
		w.do("MOVD R%d, R%d", rDotC, rDotTemp)
		for range i {
			w.do("ADD R%d, R%d", rDotLdc, rDotTemp)
		}
		for j := range cols {
			store := w.label("store")
			for n := lanes; n > 1; n /= 2 {
				w.op("FADDP", w.lane, acc(i, j), acc(i, j), acc(i, j))
			}
			w.do("CBZ R%d, %s", rDotAdd, store)
			w.do("FMOV%s (R%d), F%d", letters[w.lane], rDotTemp, vDotRow)
			w.op("FADD", w.lane, acc(i, j), acc(i, j), vDotRow)
			w.mark(store)
			w.do("FMOV%s.P F%d, %d(R%d)", letters[w.lane], acc(i, j), w.lane, rDotTemp)
		}
	}
	w.do("ADD $%d, R%d", cols*w.lane, rDotC)
	for range cols {
		w.do("ADD R%d, R%d", rDotLdb, rDotB)
	}
}

// column loads elements of a column, or one, as they are multiplied.
func (w neonDots) column(s strip, p, d int) {
	switch {
	case w.size == w.lane:
		w.load(s, w.lane, p, d)
		return
	case s.element:
		w.do("MOVHU.P 2(R%d), R%d", p, rDotTemp)
		w.do("FMOVS R%d, F%d", rDotTemp, d)
	default:
		w.do("FMOVD.P 8(R%d), F%d", p, d)
	}
	if w.typ == "Float16" {
		w.word(0x0e217800|uint32(d<<5|d), "FCVTL V%d.4S, V%d.4H", d, d)
	} else {
		w.word(0x2e613800|uint32(d<<5|d), "SHLL V%d.4S, V%d.4H, #16", d, d)
	}
}
