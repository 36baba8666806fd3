package main

import "strings"

// math writes the functions.
func (w *neon) math() {
	for _, set := range functions {
		for _, fn := range set.rows {
			field, row := set.row(fn, func(mode string) string {
				r := neonRoutine{neonCode: newNEONCode(), functionSet: set, function: fn, mode: mode, name: set.routine(fn) + mode + "NEON"}
				if mode == "" {
					r.mode = "V"
				}
				r.record()
				r.write(w)
				return r.name
			})
			w.row(field, "%s", row)
		}
	}
}

// A neonRoutine is a routine of a function, whose operands are runs or single elements by the
// letters of mode: V or S.
type neonRoutine struct {
	*neonCode
	functionSet
	function
	mode, name string
	x          []vec // the operands

	s    strip  // whose iteration is written
	stop string // the label at which it stops for rare operands
}

// The registers of a neonRoutine: dst, the operands, and others. The number of elements is in
// the one after the operands.
const (
	rDst     = 0
	rTable   = 7 // the address of the constants
	rScratch = 8
)

// record adds the instructions of an iteration.
func (r *neonRoutine) record() {
	var wide []vec
	for i, m := range r.mode {
		var v vec
		if m == 'S' {
			v = r.virtual.XMM()
			r.fixed = append(r.fixed, v)
		} else {
			v = r.instruction(func(w *neon, d int, _ []int) { r.load(w, 1+i, d) })
		}
		r.x = append(r.x, v)
		if r.wider() {
			v = r.instruction(func(w *neon, d int, x []int) { w.word(0x0e617800|uint32(x[0]<<5|d), "FCVTL V%d.2D, V%d.2S", d, x[0]) }, v)
		}
		wide = append(wide, v)
	}
	l := neonLanes{r.neonCode, r.lanes}
	if r.rare != nil {
		r.instruction(func(w *neon, d int, x []int) {
			w.word(0x6eb0a800|uint32(x[0]<<5|d), "UMAXV S%d, V%d.4S", d, x[0])
			w.do("FMOVS F%d, R%d", d, rScratch)
			w.do("CBNZW R%d, %s", rScratch, r.stop)
		}, r.rare(l, wide))
	}
	v := r.body(l, wide)
	if r.wider() {
		v = r.instruction(func(w *neon, d int, x []int) { w.word(0x0e616800|uint32(x[0]<<5|d), "FCVTN V%d.2S, V%d.2D", d, x[0]) }, v)
	}
	r.instruction(func(w *neon, _ int, x []int) { r.store(w, x[0]) }, v)
}

// write writes the routine.
func (r *neonRoutine) write(w *neon) {
	of, resident, body := r.assign()
	n, result := 1+r.arity, ""
	if r.rare != nil {
		result = "done"
	}
	w.beginResult(r.name, result, strings.Join([]string{"dst", "x", "y"}[:n], " "), "n")
	w.do("MOVD $%s<>(SB), R%d", r.name, rTable)
	for i, k := range r.constants[:resident] {
		w.loadConstant(i, of[k.vec])
	}
	for i, m := range r.mode {
		if m == 'S' {
			w.splat(r.functionSet.size, 1+i, of[r.x[i]])
		}
	}
	stops := []string{w.label("stop"), w.label("stop")}
	for i, s := range strips[1:] {
		r.s, r.stop = s, stops[i]
		w.loop(n, s.elements(r.lanes), func() { body(w) })
	}
	if r.rare != nil {
		end := w.label("end")
		for i, s := range strips[1:] {
			w.do("B %s", end)
			w.mark(stops[i])
			w.do("ADD $%d, R%d, R%d", s.elements(r.lanes), n, n)
		}
		w.mark(end)
		w.do("MOVD n+%d(FP), R%d", 8*n, rScratch)
		w.do("SUB R%d, R%d, R%d", n, rScratch, rScratch)
		w.do("MOVD R%d, done+%d(FP)", rScratch, 8*n+8)
	}
	w.do("RET")
	w.data(r.name, r.constants)
}

// wider reports whether elements are float32 and computed in float64.
func (r *neonRoutine) wider() bool { return r.lanes > r.functionSet.size }

// load and store move as many elements as the strip has lanes.

func (r *neonRoutine) load(w *neon, p, d int) {
	if r.wider() && !r.s.element {
		w.do("FMOVD.P 8(R%d), F%d", p, d)
		return
	}
	w.load(r.s, r.functionSet.size, p, d)
}

func (r *neonRoutine) store(w *neon, x int) {
	if r.wider() && !r.s.element {
		w.do("FMOVD.P F%d, 8(R%d)", x, rDst)
		return
	}
	w.store(r.s, r.functionSet.size, x, rDst)
}
