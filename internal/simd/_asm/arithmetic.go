package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// arithmetic writes the routines of operations that are one instruction.
func arithmetic(c *build.Context) {
	for _, t := range targets {
		t.begin(c)
		t.binary4("mulF32", c.VMULPS)
	}
}

// binary4 writes a routine of two runs of 4-byte elements.
func (t *target) binary4(name string, instruction func(...operand.Op)) {
	c := t.c
	c.Function(name + t.suffix)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, x, y *byte, n int)")
	dst, x, y := c.Load(c.Param("dst"), c.GP64()), c.Load(c.Param("x"), c.GP64()), c.Load(c.Param("y"), c.GP64())
	n := c.Load(c.Param("n"), c.GP64())
	t.each(n, 4, []reg.Register{dst, x, y}, func(s step) {
		a, b := s.load4(x), s.load4(y)
		instruction(b, a, a)
		s.store4(a, dst)
	})
	c.VZEROUPPER()
	c.RET()
}
