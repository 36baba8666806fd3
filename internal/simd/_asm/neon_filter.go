package main

// The general registers of a routine of simd.Filters, parameters in the order of the signature.
const (
	rFilterC, rFilterA, rFilterW, rFilterAt, rFilterN, rFilterK, rFilterAdd = 0, 1, 2, 3, 4, 5, 6

	rFilterLeft, rFilterRow, rFilterWeight, rFilterNext = 7, 8, 9, 10
)

// neonFilters are the iterations of a simd.Filter: sums are V0 to V15, and elements of a V16 to V19.
var neonFilters = []strip{{16, false}, {4, false}, {1, false}, {1, true}}

const vFilterRow, vFilterWeight = 16, 20

// filters writes the routines of simd.Filters.
func (w *neon) filters() {
	for _, e := range elements {
		name := "filter" + e.name + "NEON"
		w.begin(name, "c a w at", "n k add")
		for _, s := range neonFilters {
			w.loop(rFilterN, s.elements(e.size), func() { w.filter(s, e.size) })
		}
		w.do("RET")
		w.row("filters", "ir.%s, Filter{Cols: %d, Tile: %s}", e.typ, neonFilters[0].elements(e.size), name)
	}
}

// filter writes the sums of a strip, and moves on by it.
func (w *neon) filter(s strip, size int) {
	shift := map[int]int{4: 2, 8: 3}[size]
	each := func(body func(part strip, first int)) {
		for first := 0; first < s.registers; first += 4 {
			body(strip{min(4, s.registers-first), s.element}, first)
		}
	}
	sums, next, done := w.label("sums"), w.label("next"), w.label("done")
	for v := range s.registers {
		w.do("VEOR V%d.B16, V%d.B16, V%d.B16", v, v, v)
	}
	w.do("CBZ R%d, %s", rFilterAdd, sums)
	w.do("MOVD R%d, R%d", rFilterC, rFilterRow)
	each(func(part strip, first int) { w.load(part, size, rFilterRow, first) })
	w.mark(sums)
	w.do("MOVD R%d, R%d", rFilterAt, rFilterNext)
	w.do("MOVD R%d, R%d", rFilterW, rFilterWeight)
	w.do("MOVD R%d, R%d", rFilterK, rFilterLeft)
	w.do("CBZ R%d, %s", rFilterLeft, done)
	w.mark(next)
	w.do("MOVD.P 8(R%d), R%d", rFilterNext, rFilterRow)
	w.do("ADD R%d<<%d, R%d, R%d", rFilterRow, shift, rFilterA, rFilterRow)
	w.do("FMOV%s.P %d(R%d), F%d", letters[size], size, rFilterWeight, vFilterWeight)
	each(func(part strip, first int) {
		w.load(part, size, rFilterRow, vFilterRow)
		for v := range part.registers {
			w.fmla(size, first+v, vFilterRow+v, vFilterWeight)
		}
	})
	w.do("SUBS $1, R%d, R%d", rFilterLeft, rFilterLeft)
	w.do("BNE %s", next)
	w.mark(done)
	each(func(part strip, first int) { w.store(part, size, first, rFilterC) })
	w.do("ADD $%d, R%d", s.bytes(size), rFilterA)
}
