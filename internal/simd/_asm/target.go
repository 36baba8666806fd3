package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A target is a set of instructions that routines are written for.
type target struct {
	suffix string // of routines
	width  int    // of a register, in bytes
	c      *build.Context
	mask   operand.Mem // AVX2: width bytes of ones, then as many zeros
	labels int
}

var targets = []*target{
	{suffix: "AVX2", width: 32},
	{suffix: "AVX512", width: 64},
}

// begin sets the file that the next routines are written to.
func (t *target) begin(c *build.Context) {
	t.c = c
	if t.width == 32 {
		t.mask = c.StaticGlobal("tail")
		c.DataAttributes(attr.RODATA | attr.NOPTR)
		for i := range 2 * t.width / 8 {
			ones := ^uint64(0)
			if i >= t.width/8 {
				ones = 0
			}
			c.AppendDatum(operand.U64(ones))
		}
	}
}

// vector returns a new register.
func (t *target) vector() reg.VecVirtual {
	if t.width == 64 {
		return t.c.ZMM()
	}
	return t.c.YMM()
}

// label returns a label that no other has.
func (t *target) label(name string) string {
	t.labels++
	return fmt.Sprint(name, t.labels)
}

// A step is one iteration of a loop over runs of elements: the registers' worth of
// elements at an offset from each run's address, or fewer in the last one.
type step struct {
	t      *target
	offset int
	mask   reg.Register // nil for all elements: a k register, or a vector with AVX2
}

// unroll is the number of registers that an iteration takes from each run.
const unroll = 4

// each writes a loop over n elements of 4 or 8 bytes. The body is written for
// several registers, for one, and for the elements that do not fill one. The addresses
// of runs pass on.
func (t *target) each(n reg.Register, size int, runs []reg.Register, body func(s step)) {
	c, lanes := t.c, t.width/size
	several, one, tail, end := t.label("several"), t.label("one"), t.label("tail"), t.label("end")
	advance := func(registers int) {
		for _, r := range runs {
			c.ADDQ(operand.I32(registers*t.width), r)
		}
	}
	c.Label(several)
	c.CMPQ(n, operand.I32(unroll*lanes))
	c.JLT(operand.LabelRef(one))
	for i := range unroll {
		body(step{t: t, offset: i * t.width})
	}
	advance(unroll)
	c.SUBQ(operand.I32(unroll*lanes), n)
	c.JMP(operand.LabelRef(several))

	c.Label(one)
	c.CMPQ(n, operand.I32(lanes))
	c.JLT(operand.LabelRef(tail))
	body(step{t: t})
	advance(1)
	c.SUBQ(operand.I32(lanes), n)
	c.JMP(operand.LabelRef(one))

	c.Label(tail)
	c.TESTQ(n, n)
	c.JLE(operand.LabelRef(end))
	body(step{t: t, mask: t.tail(n, size)})
	c.Label(end)
}

// tail returns a mask of the first n lanes, for n less than all.
func (t *target) tail(n reg.Register, size int) reg.Register {
	c := t.c
	if t.width == 64 {
		bits, k := c.GP64(), c.K()
		c.MOVQ(operand.I32(-1), bits)
		c.BZHIQ(n, bits, bits)
		c.KMOVQ(bits, k)
		return k
	}
	// The table's middle is where zeros begin.
	table, v := c.GP64(), c.YMM()
	c.LEAQ(t.mask.Offset(t.width), table)
	c.NEGQ(n)
	c.VMOVDQU(operand.Mem{Base: table, Index: n, Scale: uint8(size)}, v)
	return v
}

// load reads the elements of a run of 4-byte elements.
func (s step) load4(p reg.Register) reg.Register {
	c, v, m := s.t.c, s.t.vector(), operand.Mem{Base: p, Disp: s.offset}
	switch {
	case s.mask == nil:
		c.VMOVUPS(m, v)
	case s.t.width == 64:
		c.VMOVUPS_Z(m, s.mask, v)
	default:
		c.VMASKMOVPS(m, s.mask, v)
	}
	return v
}

// store4 writes the elements of a run of 4-byte elements.
func (s step) store4(v, p reg.Register) {
	c, m := s.t.c, operand.Mem{Base: p, Disp: s.offset}
	switch {
	case s.mask == nil:
		c.VMOVUPS(v, m)
	case s.t.width == 64:
		c.VMOVUPS(v, s.mask, m)
	default:
		c.VMASKMOVPS(v, s.mask, m)
	}
}
