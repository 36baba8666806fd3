package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A routine computes each element of a run from the elements at the same position of
// other runs.
type routine struct {
	name   string
	sizes  []int  // of the operands' elements, in bytes
	single []bool // operands that are one element; nil for none
	out    int    // the size of the result's elements
	wide   int    // the size of the elements that the body computes with; 0 for the greatest of the others
	bools  bool   // the body returns a mask, to be stored as bools
	body   func(t *target, x []vec) reg.Register
	// made makes a last operand of the body from the operands that are one element.
	made func(t *target, fixed []vec) vec
	// rare returns where the body's result is wrong. The routine stops there and
	// returns the number of elements before.
	rare func(t *target, x []vec) mask
}

var operandNames = []string{"x", "y", "z", "w"}

// same is the body of a copy.
func same(_ *target, x []vec) reg.Register { return x[0] }

// write writes a routine for a level, unless it has, and returns its name.
func (t *target) write(r routine) string {
	name := r.name + t.level
	if t.written[name] {
		return name
	}
	t.written[name] = true
	t.Function(name)
	t.Attributes(attr.NOSPLIT)
	t.Pragma("noescape")
	signature := "func(dst"
	for i := range r.sizes {
		signature += ", " + operandNames[i]
	}
	signature += " *byte, n int)"
	if r.rare != nil {
		signature += " (done int)"
	}
	t.SignatureExpr(signature)

	wide := max(r.out, r.wide)
	for _, s := range r.sizes {
		wide = max(wide, s)
	}
	dst := t.Load(t.Param("dst"), t.GP64())
	from := make([]reg.Register, len(r.sizes))
	fixed := make([]vec, len(r.sizes))
	for i, size := range r.sizes {
		from[i] = t.Load(t.Param(operandNames[i]), t.GP64())
		if r.single != nil && r.single[i] {
			fixed[i] = t.splat(from[i], size)
		}
	}
	var made []vec
	if r.made != nil {
		made = []vec{r.made(t, fixed)}
	}
	n := t.Load(t.Param("n"), t.GP64())
	stop := t.label("stop")
	l := t.newLoop(n, t.width/wide)
	l.write(func(s step) {
		x := make([]vec, len(r.sizes))
		for i, size := range r.sizes {
			if x[i] = fixed[i]; x[i] == nil {
				x[i] = s.load(from[i], size)
			}
		}
		if r.rare != nil {
			t.test(r.rare(t, x))
			t.jump(t.JNE, stop)
		}
		v := r.body(t, append(x, made...))
		if r.bools {
			v = t.bools(v, s.lanes)
		}
		s.store(v, dst, r.out)
	})
	if r.rare != nil {
		t.ADDQ(n, l.i) // the rest, which the last iteration computed
		t.Label(stop)
		t.Store(l.i, t.Return("done"))
	}
	t.VZEROUPPER()
	t.RET()
	return name
}

// splat returns a register whose lanes are all the element at p.
func (t *target) splat(p reg.Register, size int) vec {
	return t.v(map[int]string{1: "VPBROADCASTB", 2: "VPBROADCASTW", 4: "VBROADCASTSS", 8: "VBROADCASTSD"}[size], operand.Mem{Base: p})
}

// A loop goes through n positions, lanes of them at a time. i is the position.
type loop struct {
	*target
	n, i  reg.GPVirtual
	lanes int
}

func (t *target) newLoop(n reg.Register, lanes int) loop {
	i := t.GP64()
	t.XORQ(i, i)
	return loop{t, n.(reg.GPVirtual), i, lanes}
}

// A step is an iteration, which computes one register of results. The last one has fewer
// elements: n, which are selected by a mask.
type step struct {
	loop
	tail bool
	k    reg.Register // AVX-512: the mask
}

// write writes the loop. n is the number of elements of the last step in the end. Several
// registers in one iteration would be no faster: the processor runs iterations ahead.
func (l loop) write(body func(s step)) {
	next, done := l.label("next"), l.label("done")
	l.SUBQ(operand.I32(l.lanes), l.n)
	l.jump(l.JLT, done)
	l.Label(next)
	body(step{loop: l})
	l.ADDQ(operand.I32(l.lanes), l.i)
	l.SUBQ(operand.I32(l.lanes), l.n)
	l.jump(l.JGE, next)
	l.Label(done)
	l.ADDQ(operand.I32(l.lanes), l.n)
	end := l.label("end")
	l.jump(l.JEQ, end)
	s := step{loop: l, tail: true}
	if l.avx512() {
		s.k = l.firstLanes(l.n)
	}
	body(s)
	l.Label(end)
}

// firstLanes returns the mask of n lanes, with AVX-512.
func (t *target) firstLanes(n reg.Register) reg.Register {
	bits, k := t.GP64(), t.K()
	t.MOVQ(operand.I32(-1), bits)
	t.BZHIQ(n, bits, bits)
	t.KMOVQ(bits, k)
	return k
}

// vectorMask returns the mask of n lanes of 4 or 8 bytes, with AVX2. Ones end in the
// middle of the table.
func (t *target) vectorMask(n reg.Register, size int) vec {
	table, back, v := t.GP64(), t.GP64(), t.YMM()
	t.LEAQ(t.mask.Offset(32), table)
	t.XORQ(back, back)
	t.SUBQ(n, back)
	t.VMOVDQU(operand.Mem{Base: table, Index: back, Scale: uint8(size)}, v)
	return v
}

func (s step) mem(p reg.Register, size int) operand.Mem {
	return operand.Mem{Base: p, Index: s.i, Scale: uint8(size)}
}

// load reads the step's elements of a run, into a register as long as they are.
func (s step) load(p reg.Register, size int) vec { return s.readAt(s.mem(p, size), size) }

// readAt reads the step's elements at m.
func (s step) readAt(m operand.Mem, size int) vec {
	bytes := s.lanes * size
	d := s.reg(bytes)
	switch {
	case !s.tail:
		s.do(moves[bytes], m, d)
	case s.avx512():
		s.do(maskMoves[size]+"_Z", m, s.k, d)
	case size >= 4:
		s.do(maskMoves[size*10], m, s.part(s.vectorMask(s.n, size), bytes), d)
	default:
		local := s.AllocLocal(32)
		s.copyBytes(local, m, size)
		s.do(moves[bytes], local, d)
	}
	return d
}

// store writes the step's elements of a run.
func (s step) store(v reg.Register, p reg.Register, size int) { s.writeAt(v, s.mem(p, size), size) }

// writeAt writes the step's elements at m.
func (s step) writeAt(v reg.Register, m operand.Mem, size int) {
	bytes := s.lanes * size
	v = s.part(v.(vec), bytes)
	switch {
	case !s.tail:
		s.do(moves[bytes], v, m)
	case s.avx512():
		s.do(maskMoves[size], v, s.k, m)
	case size >= 4:
		s.do(maskMoves[size*10], v, s.part(s.vectorMask(s.n, size), bytes), m)
	default:
		local := s.AllocLocal(32)
		s.do(moves[bytes], v, local)
		s.copyBytes(m, local, size)
	}
}

// Instructions by the number of bytes, and under mask by the size of elements; ten times
// that for AVX2.
var (
	moves     = map[int]string{64: "VMOVUPS", 32: "VMOVUPS", 16: "VMOVUPS", 8: "VMOVQ", 4: "VMOVD"}
	maskMoves = map[int]string{1: "VMOVDQU8", 2: "VMOVDQU16", 4: "VMOVUPS", 8: "VMOVUPD", 40: "VMASKMOVPS", 80: "VMASKMOVPD"}
)

// part returns the low bytes of a register.
func (t *target) part(v reg.Register, bytes int) vec {
	switch x := v.(reg.Vec); bytes {
	case 64:
		return x.AsZ().(vec)
	case 32:
		return x.AsY().(vec)
	default:
		return x.AsX().(vec)
	}
}

// copyBytes copies the last step's elements one by one.
func (s step) copyBytes(to, from operand.Mem, size int) {
	k, b, next := s.GP64(), s.GP64(), s.label("byte")
	at := func(m operand.Mem) operand.Mem {
		if m.Index == nil {
			return operand.Mem{Symbol: m.Symbol, Base: m.Base, Disp: m.Disp - size, Index: k, Scale: uint8(size)}
		}
		p := s.GP64()
		s.LEAQ(m, p)
		return operand.Mem{Base: p, Disp: -size, Index: k, Scale: uint8(size)}
	}
	to, from = at(to), at(from)
	s.MOVQ(s.n, k)
	s.Label(next)
	if size == 1 {
		s.MOVB(from, b.As8())
		s.MOVB(b.As8(), to)
	} else {
		s.MOVW(from, b.As16())
		s.MOVW(b.As16(), to)
	}
	s.DECQ(k)
	s.jump(s.JNE, next)
}

// test sets the flags to whether a mask has a lane.
func (t *target) test(m mask) {
	if t.avx512() {
		t.KORTESTW(m, m)
		return
	}
	bits := t.GP32()
	t.VMOVMSKPS(m, bits)
	t.TESTL(bits, bits)
}

// bools turns a mask of some lanes into bytes, 0 or 1.
func (t *target) bools(m mask, lanes int) vec {
	if t.avx512() {
		ones, d := t.broadcast(bytes4(1)), t.reg(lanes)
		t.do("VMOVDQU8_Z", t.part(ones, max(lanes, 16)), m, d)
		return d
	}
	v := m.(vec)
	if lanes < 32 {
		v = t.narrow(v, 32/lanes, 1, "SS")
	}
	return t.vn(max(lanes, 16), "VPAND", t.part(t.broadcast(bytes4(1)), max(lanes, 16)), v)
}

// narrow packs the lanes of a register together, with AVX2. Numbers of 4 bytes and less
// saturate: SS to signed, US to unsigned ones.
func (t *target) narrow(v vec, from, to int, saturate string) vec {
	names := map[int]string{8: "VSHUFPS", 4: "VPACK" + saturate + "DW", 2: "VPACK" + saturate + "WB"}
	low, high := v.AsX().(vec), t.vn(16, "VEXTRACTI128", 1, v)
	for ; from > to; from /= 2 {
		if from == 8 {
			low = t.vn(16, names[from], 0x88, high, low)
		} else {
			low = t.vn(16, names[from], high, low)
		}
		high = low
	}
	return low
}
