package main

import "github.com/mmcloughlin/avo/operand"

// dots writes the routines of simd.Dot.
func (f *file) dots() {
	for _, t := range f.targets {
		for _, e := range elements {
			l := t.floats(e.size)
			w := &reducer{target: t, size: e.size, acc: 8, identity: l.num(0), dot: true}
			w.combine = func(x, y vec) vec { return t.vn(int(x.Size()), "VADD"+l.s, y, x) }
			t.row("dots", "ir.%s, Dot{%s, %s}", e.typ, w.along("dot"+e.name), w.dotAcross("dot"+e.name))
		}
	}
}

// dotAcross writes Across. Accumulators are float64: a step has half a register of float32.
func (w *reducer) dotAcross(name string) string {
	name += "Across"
	p := w.begin(name, "func(acc, x, y *byte, rows, n int)", "acc", "x", "y", "rows", "n")
	acc, x, y, rows, n := p[0], p[1], p[2], p[3], p[4]
	pitch := w.GP64()
	w.IMUL3Q(operand.I32(w.size), n, pitch)
	l := w.newLoop(n, w.width/w.acc)
	l.write(func(s step) {
		from, number, left := w.GP64(), w.GP64(), w.GP64()
		w.MOVQ(x, from)
		w.MOVQ(y, number)
		w.MOVQ(rows, left)
		a := s.load(acc, w.acc)
		// multiply adds row i to v, or begins with it.
		multiply := func(v vec, i int) vec {
			row := s.load(from, w.size)
			w.ADDQ(pitch, from)
			number := w.vn(int(row.Size()), map[int]string{4: "VBROADCASTSS", 8: "VBROADCASTSD"}[w.size], operand.Mem{Base: number, Disp: i * w.size})
			if v == nil {
				return w.vn(int(row.Size()), map[int]string{4: "VMULPS", 8: "VMULPD"}[w.size], number, row)
			}
			w.do(w.fma(), number, row, v)
			return v
		}
		add := func(v vec, rows int) {
			if w.size == 4 {
				v = w.v("VCVTPS2PD", v)
			}
			w.do("VADDPD", v, a, a)
			w.ADDQ(operand.I32(rows*w.size), number)
		}
		several, one, end := w.label("rows"), w.label("one"), w.label("end")
		w.Label(several)
		w.SUBQ(operand.I32(rowsAtOnce), left)
		w.jump(w.JLT, one)
		var v [2]vec
		for i := range rowsAtOnce {
			v[i%2] = multiply(v[i%2], i)
		}
		add(w.combine(v[0], v[1]), rowsAtOnce)
		w.jump(w.JMP, several)
		w.Label(one)
		w.ADDQ(operand.I32(rowsAtOnce), left)
		each := w.label("row")
		w.Label(each)
		w.DECQ(left)
		w.jump(w.JLT, end)
		add(multiply(nil, 0), 1)
		w.jump(w.JMP, each)
		w.Label(end)
		s.store(a, acc, w.acc)
	})
	w.end()
	return name + w.level
}
