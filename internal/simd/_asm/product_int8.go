package main

import (
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// byteProducts writes the routines of simd.Product for int8, whose elements are the groups of
// simd.Packing.
func (f *file) byteProducts() {
	for _, t := range append(f.targets, f.vnni) {
		w := &productWriter{target: t, element: groups(t), correct: t == f.vnni}
		rows := map[*target]int{f.targets[0]: 5, f.targets[1]: 14, f.vnni: 14}[t]
		w.write(rows)
		cols, name := vectors*t.width/4, "product"+w.name+t.level
		if t == f.vnni {
			t.row("products", "ir.Int8, Product{%d, %d, 64, %s, nil, fours(%[2]d, %[3]s, %s)}", rows, cols, name, t.write(interleaveFour))
		} else {
			t.row("products", "ir.Int8, Product{%d, %d, %d, %s, nil, pairs(%s, %s)}", rows, cols, t.width/2, name, t.write(widen), t.write(interleavePair))
		}
	}
}

// groups are elements of two numbers of 16 bits, or of four of 8 bits with VNNI.
func groups(t *target) element {
	e := element{
		name: "I8", size: 4,
		move: (*build.Context).VMOVUPS, movez: vmovupsz, masked: (*build.Context).VMASKMOVPS,
		zero: (*build.Context).VXORPS, add: (*build.Context).VPADDD, broadcast: (*build.Context).VBROADCASTSS,
	}
	e.fma = func(c *build.Context, ops ...operand.Op) {
		x := t.vn(t.width, "VPMADDWD", ops[0], ops[1])
		c.VPADDD(x, ops[2], ops[2])
	}
	if t.level == "VNNI" {
		e.fma = vpdpbusd
	}
	return e
}

// vpdpbusd adds to each lane of 4 bytes of the third operand the products of four signed bytes
// of the first by four unsigned ones of the second. Avo does not have the instruction.
func vpdpbusd(c *build.Context, ops ...operand.Op) {
	c.Instruction(&ir.Instruction{Opcode: "VPDPBUSD", Operands: ops, Inputs: ops, Outputs: ops[2:], ISA: []string{"AVX512VNNI"}})
}

// The routines of simd.Packing.
var (
	widen = routine{name: "widenI8", sizes: []int{1}, out: 2, body: func(t *target, x []vec) reg.Register {
		return t.v("VPMOVSXBW", x[0])
	}}
	interleavePair = routine{name: "interleavePair", sizes: []int{1, 1}, out: 4, body: func(t *target, x []vec) reg.Register {
		l := t.singles()
		return l.or(l.and(t.v("VPMOVSXBD", x[0]), i32(0xffff)), t.v("VPSLLD", 16, t.v("VPMOVSXBD", x[1])))
	}}
	interleaveFour = routine{name: "interleaveFour", sizes: []int{1, 1, 1, 1}, out: 4, body: func(t *target, x []vec) reg.Register {
		v := t.v("VPMOVZXBD", x[0])
		for i := 1; i < 4; i++ {
			v = t.singles().or(v, t.v("VPSLLD", 8*i, t.v("VPMOVZXBD", x[i])))
		}
		return v
	}}
)
