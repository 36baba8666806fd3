package main

import (
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chainVectors is the number of registers that a link of a simd.Chain goes over, by the width of a register.
var chainVectors = map[int]int{32: 4, 64: 8}

// linkBytes is the size of a simd.Link: a code and two addresses.
const linkBytes = 24

// chains writes simd.Chain.
func (f *file) chains() {
	for _, t := range f.targets {
		t.chain()
		t.tables.single(t.level, "chain", "chain"+t.level)
	}
}

func (t *target) chain() {
	p := t.begin("chain", "func(dst, src, links *byte, count, n int)", "dst", "src", "links", "count", "n")
	w := &chainWriter{target: t, dst: p[0], src: p[1], links: p[2], count: p[3], n: p[4], i: t.GP64()}
	t.XORQ(w.i, w.i)
	lanes, one, end := t.width/4, t.label("one"), t.label("end")
	for _, vectors := range []int{chainVectors[t.width], 1} {
		next, done := t.label("next"), t.label("done")
		t.Label(next)
		t.CMPQ(w.n, operand.I32(vectors*lanes))
		t.jump(t.JLT, done)
		w.block(vectors, nil)
		t.ADDQ(operand.I32(vectors*lanes), w.i)
		t.SUBQ(operand.I32(vectors*lanes), w.n)
		t.jump(t.JMP, next)
		t.Label(done)
	}
	t.Label(one)
	t.TESTQ(w.n, w.n)
	t.jump(t.JLE, end)
	if t.avx512() {
		w.block(1, t.firstLanes(w.n))
	} else {
		w.block(1, t.vectorMask(w.n, 4))
	}
	t.Label(end)
	t.end()
}

// A chainWriter writes the blocks of a chain: some registers, or one of which a mask selects lanes.
type chainWriter struct {
	*target
	dst, src, links, count, n, i reg.GPVirtual
}

func (w *chainWriter) at(p reg.Register, v int) operand.Mem {
	return operand.Mem{Base: p, Index: w.i, Scale: 4, Disp: v * w.width}
}

func (w *chainWriter) load(m operand.Mem, mask reg.Register, to vec) {
	switch {
	case mask == nil:
		w.VMOVUPS(m, to)
	case w.avx512():
		w.VMOVUPS_Z(m, mask, to)
	default:
		w.VMASKMOVPS(m, mask, to)
	}
}

// block writes the links of a block, of which a loop jumps to each one's code.
func (w *chainWriter) block(vectors int, mask reg.Register) {
	l := w.singles()
	acc, saved := make([]vec, vectors), make([]vec, vectors)
	for v := range acc {
		acc[v], saved[v] = w.reg(w.width), w.reg(w.width)
		w.load(w.at(w.src, v), mask, acc[v])
		w.VMOVAPS(acc[v], saved[v])
	}
	link, left, code, y, z := w.GP64(), w.GP64(), w.GP64(), w.GP64(), w.GP64()
	w.MOVQ(w.links, link)
	w.MOVQ(w.count, left)
	next, done := w.label("link"), w.label("linked")
	w.Label(next)
	w.MOVQ(operand.Mem{Base: link}, code)
	w.MOVQ(operand.Mem{Base: link, Disp: 8}, y)
	w.MOVQ(operand.Mem{Base: link, Disp: 16}, z)
	w.ADDQ(operand.I32(linkBytes), link)
	set := func(v int, x reg.Register) { w.VMOVAPS(x, acc[v]) }
	runs := func(instruction string) {
		for v := range acc {
			x := w.reg(w.width)
			w.load(w.at(y, v), mask, x)
			w.do(instruction, x, acc[v], acc[v])
		}
	}
	one := func(instruction string) {
		x := w.splat(y, 4)
		for v := range acc {
			w.do(instruction, x, acc[v], acc[v])
		}
	}
	clamp := func(greater bool) {
		limit, other := w.splat(y, 4), w.splat(z, 4)
		for v := range acc {
			a, b := acc[v], limit
			if greater {
				a, b = b, a
			}
			m := l.compare(less, a, b)
			if w.avx512() {
				w.VMOVAPS(other, m, acc[v])
			} else {
				w.VBLENDVPS(m, other, acc[v], acc[v])
			}
		}
	}
	bodies := []func(){ // in the order of simd's codes
		func() { runs("VADDPS") },
		func() { one("VADDPS") },
		func() { runs("VMULPS") },
		func() { one("VMULPS") },
		func() {
			x := w.splat(y, 4)
			rest := l.choose(l.compare(less, l.broadcast(l.num(0)), l.abs(x)), l.broadcast(l.bits(1<<63)), x)
			for v := range acc {
				set(v, l.largestBeside(acc[v], x, rest))
			}
		},
		func() { clamp(false) },
		func() { clamp(true) },
		func() {
			for v := range acc {
				w.VMOVAPS(acc[v], saved[v])
			}
		},
		func() {
			for v := range acc {
				w.VMULPS(saved[v], acc[v], acc[v])
			}
		},
	}
	after := w.label("after")
	for i, body := range bodies {
		other := w.label("other")
		if i < len(bodies)-1 {
			w.CMPQ(code, operand.I32(i))
			w.jump(w.JNE, other)
		}
		body()
		w.jump(w.JMP, after)
		w.Label(other)
	}
	w.Label(after)
	w.DECQ(left)
	w.jump(w.JNE, next)
	w.Label(done)
	for v := range acc {
		switch m := w.at(w.dst, v); {
		case mask == nil:
			w.VMOVUPS(acc[v], m)
		case w.avx512():
			w.VMOVUPS(acc[v], mask, m)
		default:
			w.VMASKMOVPS(acc[v], mask, m)
		}
	}
}
