package main

import (
	"strings"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A reduction is one that accumulates in the type of its elements, or a sum of float32 in
// float64.
type reduction struct {
	op, types string
	combine   body
	identity  map[string]constant
}

var reductions = []reduction{
	{"Sum", words + " Float64 ", instruction("ADD"), map[string]constant{"Int32": i32(0), "Uint32": i32(0), "Int64": i64(0), "Float64": i64(0)}},
	{"ReduceMax", words + floats, extreme("MAX", avx.largest), map[string]constant{
		"Int32": i32(1 << 31), "Uint32": i32(0), "Int64": i64(1 << 63), "Float32": i32(0xff800000), "Float64": i64(0xfff << 52),
	}},
}

// reductions writes the routines Along and Across of simd.Reduction.
func (f *file) reductions() {
	for _, t := range f.targets {
		for _, r := range reductions {
			for _, k := range kinds {
				if !strings.Contains(r.types, " "+k.ir+" ") || !t.supports(operation{op: strings.TrimPrefix(r.op, "Reduce")}, k) {
					continue
				}
				w := &reducer{target: t, size: k.size, acc: k.size, identity: r.identity[k.ir]}
				w.combine = func(x, y vec) vec { return r.combine(t, k, []vec{x, y}).(vec) }
				t.row("reductions", "ir.%s, ir.%s, %s, %s", r.op, k.ir, w.along(strings.ToLower(r.op)+k.name), w.across(strings.ToLower(r.op)+k.name))
			}
		}
		w := &reducer{target: t, size: 4, acc: 8, identity: i32(0)}
		w.combine = func(x, y vec) vec { return t.vn(int(x.Size()), "VADDPS", y, x) }
		t.row("reductions", "ir.Sum, ir.Float32, %s, %s", w.along("sumF32"), w.across("sumF32"))
		for _, s := range []struct{ ir, name, extend, shift string }{
			{"Int32", "wideSumI32", "VPMOVSXDQ", "VPSRAD"},
			{"Uint32", "wideSumU32", "VPMOVZXDQ", "VPSRLD"},
		} {
			w := &reducer{target: t, size: 4, acc: 8, extend: s.extend, identity: i32(0)}
			w.combine = func(x, y vec) vec { return t.vn(int(x.Size()), "VPADDQ", y, x) }
			t.row("wideSums", "ir.Sum, ir.%s, %s, %s", s.ir, w.extendedAlong(s.name, s.shift), w.across(s.name))
		}
		t.row("finds", "ir.Float32, %s, %s", t.find("findF32", equal), t.find("findNaNF32", unordered))
	}
}

// A reducer writes the routines of a reduction. If acc, the size of accumulators, is not
// that of elements, the elements are float32 and their sums are added up in float64.
type reducer struct {
	*target
	size, acc int
	combine   func(x, y vec) vec
	identity  constant
	dot       bool   // of the products of two operands, which is a sum
	extend    string // the instruction that makes 8 bytes of elements of 4 before they are added
}

// begin starts a routine and returns its parameters.
func (t *target) begin(name, signature string, parameters ...string) []reg.GPVirtual {
	t.Function(name + t.level)
	t.Attributes(attr.NOSPLIT)
	t.Pragma("noescape")
	t.SignatureExpr(signature)
	var regs []reg.GPVirtual
	for _, p := range parameters {
		regs = append(regs, t.Load(t.Param(p), t.GP64()).(reg.GPVirtual))
	}
	return regs
}

func (t *target) end() {
	t.VZEROUPPER()
	t.RET()
}

// group is the number of accumulators of a row.
const group = 4

// longest is the number of float32 that a lane adds up before their sum is added to a
// float64: see sumBlock.
const longest = 16

// inDoubles reports whether elements are float32 whose sums are added up in float64.
func (w *reducer) inDoubles() bool { return w.acc != w.size && w.extend == "" }

func (w *reducer) along(name string) string {
	name += "Along"
	signature, names := "func(acc, x *byte, rows, n int)", []string{"acc", "x", "rows", "n"}
	if w.dot {
		signature, names = "func(acc, x, y *byte, rows, n, ldy int)", append(names, "y", "ldy")
	}
	p := w.begin(name, signature, names...)
	acc, x, rows, n := p[0], p[1], p[2], p[3]
	var y, nextY, ldy reg.GPVirtual
	if w.dot {
		y, nextY, ldy = w.GP64(), p[4], p[5]
		w.IMUL3Q(operand.I32(w.size), ldy, ldy)
	}
	lanes := w.width / w.size
	row, end := w.label("row"), w.label("end")
	left := w.GP64()
	w.Label(row)
	w.DECQ(rows)
	w.jump(w.JLT, end)
	w.MOVQ(n, left)
	if w.dot {
		w.MOVQ(nextY, y)
		w.ADDQ(ldy, nextY)
	}
	var total [2]vec
	if w.inDoubles() {
		total = [2]vec{w.broadcast(i64(0)), w.broadcast(i64(0))}
	}
	a := make([]vec, group)
	for i := range a {
		a[i] = w.broadcast(w.identity)
	}
	fold := func() {
		for s := group / 2; s > 0; s /= 2 {
			for i := range s {
				w.do("VMOVAPS", w.combine(a[i], a[i+s]), a[i])
			}
		}
	}
	flush := func() {
		if w.inDoubles() {
			w.do("VADDPD", w.v("VCVTPS2PD", w.part(a[0], w.width/2)), total[0], total[0])
			high := w.vn(w.width/2, map[int]string{32: "VEXTRACTF128", 64: "VEXTRACTF64X4"}[w.width], 1, a[0])
			w.do("VADDPD", w.v("VCVTPS2PD", high), total[1], total[1])
		}
	}

	several, block, done, rest := w.label("several"), w.label("block"), w.label("done"), w.label("rest")
	count := w.GP64()
	w.Label(block)
	w.MOVQ(operand.I32(longest), count)
	w.Label(several)
	w.SUBQ(operand.I32(group*lanes), left)
	w.jump(w.JLT, done)
	for i := range a {
		w.add(a[i], x, y, i)
	}
	w.advance(x, y, group)
	if w.inDoubles() {
		w.DECQ(count)
		w.jump(w.JNE, several)
		fold()
		flush()
		for i := range a {
			w.do("VXORPS", a[i], a[i], a[i])
		}
		w.jump(w.JMP, block)
	} else {
		w.jump(w.JMP, several)
	}
	w.Label(done)
	w.ADDQ(operand.I32(group*lanes), left)
	fold()

	one, tail := w.label("one"), w.label("tail")
	w.Label(one)
	w.SUBQ(operand.I32(lanes), left)
	w.jump(w.JLT, tail)
	w.add(a[0], x, y, 0)
	w.advance(x, y, 1)
	w.jump(w.JMP, one)
	w.Label(tail)
	w.ADDQ(operand.I32(lanes), left)
	w.jump(w.JEQ, rest)
	if v := w.padded(x, left); w.dot {
		w.do(w.fma(), v, w.padded(y, left), a[0])
	} else {
		w.do("VMOVAPS", w.combine(a[0], v), a[0])
	}
	w.LEAQ(operand.Mem{Base: x, Index: left, Scale: uint8(w.size)}, x)
	w.Label(rest)
	flush()

	if w.inDoubles() {
		l := w.doubles()
		sum := w.horizontal(l.add(total[0], total[1]), 8, func(x, y vec) vec { return l.add(x, y) })
		sum = l.add(sum, w.splat(acc, 8))
		w.VMOVQ(sum.AsX(), operand.Mem{Base: acc})
	} else {
		sum := w.combine(w.horizontal(a[0], w.size, w.combine), w.splat(acc, w.size))
		w.do(moves[w.size], sum.AsX(), operand.Mem{Base: acc})
	}
	w.ADDQ(operand.I32(w.acc), acc)
	w.jump(w.JMP, row)
	w.Label(end)
	w.end()
	return name + w.level
}

// load reads the elements of a step, extended if they are to be.
func (w *reducer) load(s step, from reg.Register) vec {
	v := s.load(from, w.size)
	if w.extend != "" {
		v = w.v(w.extend, v)
	}
	return v
}

// fma is the instruction that adds a product of elements.
func (w *reducer) fma() string { return map[int]string{4: "VFMADD231PS", 8: "VFMADD231PD"}[w.size] }

// add adds vector i at x, or its product with that at y.
func (w *reducer) add(a vec, x, y reg.Register, i int) {
	v := w.reg(w.width)
	w.VMOVUPS(operand.Mem{Base: x, Disp: i * w.width}, v)
	if w.dot {
		w.do(w.fma(), operand.Mem{Base: y, Disp: i * w.width}, v, a)
	} else {
		w.do("VMOVAPS", w.combine(a, v), a)
	}
}

// advance moves on by some vectors.
func (w *reducer) advance(x, y reg.Register, vectors int) {
	w.ADDQ(operand.I32(vectors*w.width), x)
	if w.dot {
		w.ADDQ(operand.I32(vectors*w.width), y)
	}
}

// padded returns the n elements at x, fewer than a register has, and identities.
func (w *reducer) padded(x, n reg.Register) vec {
	d := w.broadcast(w.identity)
	if w.avx512() {
		w.do(maskMoves[w.size], operand.Mem{Base: x}, w.firstLanes(n), d)
		return d
	}
	m := w.vectorMask(n, w.size)
	return w.v(map[int]string{4: "VBLENDVPS", 8: "VBLENDVPD"}[w.size], m, w.v(maskMoves[10*w.size], operand.Mem{Base: x}, m), d)
}

// horizontal combines the lanes of a register into the first.
func (t *target) horizontal(v vec, size int, combine func(x, y vec) vec) vec {
	upper := "VEXTRACTF128"
	if t.avx512() {
		upper = "VEXTRACTF32X4"
		v = combine(v, t.part(t.vn(32, "VEXTRACTF64X4", 1, v), t.width))
	}
	v = combine(v, t.part(t.vn(16, upper, 1, v.AsY()), t.width))
	v = combine(v, t.v("VPERMILPD", 1, v))
	if size == 4 {
		v = combine(v, t.v("VPERMILPS", 1, v))
	}
	return v
}

// rowsAtOnce is the number of rows that are combined before the accumulator is.
const rowsAtOnce = 8

func (w *reducer) across(name string) string {
	name += "Across"
	p := w.begin(name, "func(acc, x *byte, rows, n int)", "acc", "x", "rows", "n")
	acc, x, rows, n := p[0], p[1], p[2], p[3]
	pitch := w.GP64()
	w.IMUL3Q(operand.I32(w.size), n, pitch)
	l := w.newLoop(n, w.width/w.acc)
	l.write(func(s step) {
		from, left := w.GP64(), w.GP64()
		w.MOVQ(x, from)
		w.MOVQ(rows, left)
		a := s.load(acc, w.acc)
		several, one, end := w.label("rows"), w.label("one"), w.label("end")
		add := func(v vec) {
			if w.inDoubles() {
				w.do("VADDPD", w.v("VCVTPS2PD", v), a, a)
			} else {
				w.do("VMOVAPS", w.combine(a, v), a)
			}
		}
		w.Label(several)
		w.SUBQ(operand.I32(rowsAtOnce), left)
		w.jump(w.JLT, one)
		v := make([]vec, rowsAtOnce)
		for i := range v {
			v[i] = w.load(s, from)
			w.ADDQ(pitch, from)
		}
		for k := 1; k < rowsAtOnce; k *= 2 {
			for i := 0; i < rowsAtOnce; i += 2 * k {
				v[i] = w.combine(v[i], v[i+k])
			}
		}
		add(v[0])
		w.jump(w.JMP, several)
		w.Label(one)
		w.ADDQ(operand.I32(rowsAtOnce), left)
		each := w.label("row")
		w.Label(each)
		w.DECQ(left)
		w.jump(w.JLT, end)
		add(w.load(s, from))
		w.ADDQ(pitch, from)
		w.jump(w.JMP, each)
		w.Label(end)
		s.store(a, acc, w.acc)
	})
	w.end()
	return name + w.level
}

// find writes a routine that returns the position of the first of n float32 that equals
// the one at y, or that is NaN; n if there is none.
func (t *target) find(name string, predicate int) string {
	p := t.begin(name, "func(x, y *byte, n int) (at int)", "x", "y", "n")
	x, n := p[0], p[2]
	y := t.splat(p[1], 4)
	found := t.label("found")
	bits := t.GP32()
	f := t.singles()
	l := t.newLoop(n, t.width/4)
	l.write(func(s step) {
		v := s.load(x, 4)
		other := y
		if predicate == unordered {
			other = v
		}
		m := f.compare(predicate, v, other)
		if t.avx512() {
			t.KMOVW(m, bits)
		} else {
			t.VMOVMSKPS(m, bits)
		}
		t.TESTL(bits, bits)
		t.jump(t.JNE, found)
	})
	none := t.label("none")
	t.ADDQ(n, l.i)
	t.jump(t.JMP, none)
	t.Label(found)
	t.TZCNTL(bits, bits)
	t.ADDQ(bits.As64(), l.i)
	t.Label(none)
	t.Store(l.i, t.Return("at"))
	t.end()
	return name + t.level
}
