package main

import "strings"

// A neonReduction is a reduction of one instruction, and the one that combines the lanes
// of a pair of registers, by the kind of elements.
type neonReduction struct {
	reduction
	combine, pairs neonOperation
}

var neonReductions = []neonReduction{
	{reductions[0], neonOperation{operation{types: " Float64 " + words}, "FADD", "ADD", "ADD"}, neonOperation{float: "FADDP", signed: "ADDP", unsigned: "ADDP"}},
	{reductions[1], neonOperation{operation{types: floats + words4}, "FMAX", "SMAX", "UMAX"}, neonOperation{float: "FMAXP", signed: "SMAXP", unsigned: "UMAXP"}},
}

// reductions writes the routines Along and Across of simd.Reduction.
func (w *neon) reductions() {
	for _, r := range neonReductions {
		for _, k := range kinds {
			if !strings.Contains(r.combine.types, " "+k.ir+" ") {
				continue
			}
			n := neonReducer{neon: w, size: k.size, acc: k.size, combine: r.combine.instruction(k), pairs: r.pairs.instruction(k), identity: r.identity[k.ir].bits}
			n.row("reductions", "ir.%s, ir.%s, %s, %s", r.op, k.ir, n.along(strings.ToLower(r.op)+k.name), n.across(strings.ToLower(r.op)+k.name))
		}
	}
	n := neonReducer{neon: w, size: 4, acc: 8, combine: "FADD", pairs: "FADDP"}
	n.row("reductions", "ir.Sum, ir.Float32, %s, %s", n.along("sumF32"), n.across("sumF32"))
}

// A neonReducer writes the routines of a reduction. If acc, the size of accumulators, is
// not that of elements, the elements are float32 and their sums are added up in float64.
type neonReducer struct {
	*neon
	size, acc      int
	combine, pairs string
	identity       uint64
}

// The registers of the parameters, and others.
const (
	rAcc, rX, rRowCount, rCount = 0, 1, 2, 3

	rLeft, rBlock, rFrom, rPitch = 4, 5, 6, 7
)

// Along adds up in V0 to V3, and float32 in V16 and V17 besides.
const (
	vLoaded = 4
	vTotal  = 16
)

func (w neonReducer) along(name string) string {
	name += "AlongNEON"
	w.begin(name, "acc x", "rows n")
	row, end := w.label("row"), w.label("end")
	w.mark(row)
	w.do("SUBS $1, R%d, R%d", rRowCount, rRowCount)
	w.do("BLT %s", end)
	w.do("MOVD R%d, R%d", rCount, rLeft)
	w.do("MOVD $0x%x, R%d", w.identity, rBlock)
	for i := range group {
		w.do("VDUP R%d, V%d.%s%d", rBlock, i, letters[w.size], 16/w.size)
	}
	if w.wide() {
		w.clear(vTotal, 2)
		w.do("MOVD $%d, R%d", longest, rBlock)
	}
	w.loop(rLeft, strips[0].elements(w.size), func() {
		w.load(strips[0], w.size, rX, vLoaded)
		for i := range group {
			w.op(w.combine, w.size, i, i, vLoaded+i)
		}
		if w.wide() {
			same := w.label("same")
			w.do("SUBS $1, R%d, R%d", rBlock, rBlock)
			w.do("BNE %s", same)
			w.fold()
			w.flush()
			w.clear(0, group)
			w.do("MOVD $%d, R%d", longest, rBlock)
			w.mark(same)
		}
	})
	w.fold()
	w.loop(rLeft, strips[1].elements(w.size), func() {
		w.load(strips[1], w.size, rX, vLoaded)
		w.op(w.combine, w.size, 0, 0, vLoaded)
	})
	w.loop(rLeft, 1, func() {
		if strings.HasSuffix(w.combine, "ADD") {
			w.load(strips[2], w.size, rX, vLoaded) // 0 in the other lanes
		} else {
			w.do("VLD1R.P %d(R%d), %s", w.size, rX, list(vLoaded, 1, w.size))
		}
		w.op(w.combine, w.size, 0, 0, vLoaded)
	})
	if w.wide() {
		w.flush()
		w.op("FADD", 8, 0, vTotal, vTotal+1)
	}
	for range map[int]int{4: 2, 8: 1}[w.acc] {
		w.op(w.pairs, w.acc, 0, 0, 0)
	}
	w.do("FMOV%s (R%d), F%d", letters[w.acc], rAcc, vLoaded)
	w.op(w.combine, w.acc, 0, 0, vLoaded)
	w.store(strips[2], w.acc, 0, rAcc)
	w.do("B %s", row)
	w.mark(end)
	w.do("RET")
	return name
}

func (w neonReducer) wide() bool { return w.acc != w.size }

func (w neonReducer) clear(first, count int) {
	for r := first; r < first+count; r++ {
		w.do("VEOR V%d.B16, V%d.B16, V%d.B16", r, r, r)
	}
}

// fold combines V0 to V3 into V0.
func (w neonReducer) fold() {
	for s := group / 2; s > 0; s /= 2 {
		for i := range s {
			w.op(w.combine, w.size, i, i, i+s)
		}
	}
}

// flush adds the float32 in V0 to the totals.
func (w neonReducer) flush() { w.widen(0, vLoaded, vTotal) }

// widen adds the float32 in a register to float64 in two. It uses the two from temp on.
func (w neonReducer) widen(x, temp, total int) {
	w.word(0x0e617800|uint32(x<<5|temp), "FCVTL V%d.2D, V%d.2S", temp, x)
	w.word(0x4e617800|uint32(x<<5|temp+1), "FCVTL2 V%d.2D, V%d.4S", temp+1, x)
	for i := range 2 {
		w.op("FADD", 8, total+i, total+i, temp+i)
	}
}

// across writes a loop over columns, each strip of which goes through all rows.
func (w neonReducer) across(name string) string {
	name += "AcrossNEON"
	w.begin(name, "acc x", "rows n")
	w.do("LSL $%d, R%d, R%d", map[int]int{4: 2, 8: 3}[w.size], rCount, rPitch)
	for _, s := range strips {
		sums := s // of accumulators
		if w.wide() && !s.element {
			sums.registers *= 2
		}
		if sums.registers > 4 { // a strip has one instruction for loads
			continue
		}
		w.loop(rCount, s.elements(w.size), func() {
			w.do("MOVD R%d, R%d", rX, rFrom)
			w.do("MOVD R%d, R%d", rRowCount, rLeft)
			w.load(sums, w.acc, rAcc, 0)
			w.do("SUB $%d, R%d", sums.bytes(w.acc), rAcc)
			w.loop(rLeft, 1, func() {
				w.loadRow(s)
				if w.wide() {
					w.widen(vLoaded, vTotal, 0)
					return
				}
				for i := range s.registers {
					w.op(w.combine, w.size, i, i, vLoaded+i)
				}
			})
			w.store(sums, w.acc, 0, rAcc)
			w.do("ADD $%d, R%d", s.bytes(w.size), rX)
		})
	}
	w.do("RET")
	return name
}

// loadRow loads a strip of a row, and sets the pointer to the next row.
func (w neonReducer) loadRow(s strip) {
	instruction := "VLD1.P"
	if s.element {
		instruction = "VLD1R.P"
	}
	w.do("%s (R%d)(R%d), %s", instruction, rFrom, rPitch, list(vLoaded, s.registers, w.size))
}
