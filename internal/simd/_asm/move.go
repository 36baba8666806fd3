package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moves writes the routines that copy. Both levels transpose by AVX2.
func (f *file) moves() {
	for _, t := range f.targets {
		t.moveRows()
		t.tables.single(t.level, "moveRows", "moveRows"+t.level)
		t.tables.single(t.level, "transposers", "[9]transposer{4: transpose4AVX2, 8: transpose8AVX2}")
		t.tables.single(t.level, "prefetch", "prefetchLines")
	}
	c := f.targets[0].Context
	transpose4(c)
	transpose8(c)
	prefetch(c)
}

// moveRows writes a routine that copies rows of bytes, multiples of 4.
func (t *target) moveRows() {
	c := t.Context
	c.Function("moveRows" + t.level)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *byte, rows, bytes, d, s int)")
	param := func(name string) reg.GPVirtual {
		r := c.GP64()
		c.Load(c.Param(name), r)
		return r
	}
	dst, src, rows, n, d, s := param("dst"), param("src"), param("rows"), param("bytes"), param("d"), param("s")
	row, end := t.label("row"), t.label("end")
	c.SHRQ(operand.U8(2), n)
	c.Label(row)
	c.TESTQ(rows, rows)
	c.JLE(operand.LabelRef(end))
	left, ahead := c.GP64(), c.GP64()
	c.MOVQ(n, left)
	c.LEAQ(operand.Mem{Base: src, Index: s, Scale: 2}, ahead)
	t.newLoop(left, t.width/4).write(func(x step) {
		if !x.tail {
			// Rows may be far apart, where the processor does not foresee the next one.
			c.PREFETCHT0(x.mem(ahead, 4))
		}
		x.store(x.load(src, 4), dst, 4)
	})
	c.ADDQ(d, dst)
	c.ADDQ(s, src)
	c.DECQ(rows)
	c.JMP(operand.LabelRef(row))
	c.Label(end)
	c.VZEROUPPER()
	c.RET()
}

// A square is the block of a matrix that the body of a loop transposes: row i of
// the block is at from + i·s, and column i goes to to + i·d.
type square struct{ to, from, d, d3, to4, s, s3, from4 reg.GPVirtual }

// transposer writes a routine that transposes square blocks of side elements of size
// bytes, of a matrix whose sides are multiples of that.
func transposer(c *build.Context, name string, side, size int, body func(q square)) {
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(dst, src *byte, n0, d, n1, s int)")
	param := func(name string) reg.GPVirtual {
		r := c.GP64()
		c.Load(c.Param(name), r)
		return r
	}
	dst, src, n0, d, n1, s := param("dst"), param("src"), param("n0"), param("d"), param("n1"), param("s")
	q := square{to: c.GP64(), from: c.GP64(), d: d, d3: c.GP64(), to4: c.GP64(), s: s, s3: c.GP64(), from4: c.GP64()}
	c.LEAQ(operand.Mem{Base: d, Index: d, Scale: 2}, q.d3)
	c.LEAQ(operand.Mem{Base: s, Index: s, Scale: 2}, q.s3)
	// Columns of the source vary fastest, so that its cache lines are used whole.
	outer, inner := name+"Outer", name+"Inner"
	left := c.GP64()
	c.Label(outer)
	c.MOVQ(dst, q.to)
	c.MOVQ(src, q.from)
	c.MOVQ(n0, left)
	c.Label(inner)
	c.LEAQ(operand.Mem{Base: q.from, Index: s, Scale: 4}, q.from4)
	c.LEAQ(operand.Mem{Base: q.to, Index: d, Scale: 4}, q.to4)
	body(q)
	c.ADDQ(operand.I32(side*size), q.from)
	c.LEAQ(operand.Mem{Base: q.to, Index: d, Scale: 4}, q.to)
	if side == 8 {
		c.LEAQ(operand.Mem{Base: q.to, Index: d, Scale: 4}, q.to)
	}
	c.SUBQ(operand.I32(side), left)
	c.JG(operand.LabelRef(inner))
	c.ADDQ(operand.I32(side*size), dst)
	c.LEAQ(operand.Mem{Base: src, Index: s, Scale: 4}, src)
	if side == 8 {
		c.LEAQ(operand.Mem{Base: src, Index: s, Scale: 4}, src)
	}
	c.SUBQ(operand.I32(side), n1)
	c.JG(operand.LabelRef(outer))
	c.VZEROUPPER()
	c.RET()
}

// row is row i of the source, column that of the destination.
func (q *square) row(i, disp int) operand.Mem { return rowAt(q.from, q.from4, q.s, q.s3, i, disp) }
func (q *square) column(i int) operand.Mem    { return rowAt(q.to, q.to4, q.d, q.d3, i, 0) }

func rowAt(p, p4, s, s3 reg.GPVirtual, i, disp int) operand.Mem {
	m := operand.Mem{Base: p, Disp: disp}
	if i >= 4 {
		m.Base, i = p4, i-4
	}
	switch i {
	case 1, 2:
		m.Index, m.Scale = s, uint8(i)
	case 3:
		m.Index, m.Scale = s3, 1
	}
	return m
}

// transpose4 writes the routine for elements of 4 bytes, in blocks of 8 by 8.
func transpose4(c *build.Context) {
	transposer(c, "transpose4AVX2", 8, 4, func(q square) {
		// Register i has half of row i, and the same half of row i+4.
		var x, y [8]reg.VecVirtual
		for half := range 2 {
			for i := range 4 {
				v := c.YMM()
				c.VMOVUPS(q.row(i, 16*half), v.AsX())
				c.VINSERTF128(operand.U8(1), q.row(i+4, 16*half), v, v)
				x[4*half+i] = v
			}
		}
		for h := 0; h < 8; h += 4 {
			for i := 0; i < 4; i += 2 {
				lo, hi := c.YMM(), c.YMM()
				c.VUNPCKLPS(x[h+i+1], x[h+i], lo)
				c.VUNPCKHPS(x[h+i+1], x[h+i], hi)
				y[h+i], y[h+i+1] = lo, hi
			}
			for i := range 2 {
				lo, hi := c.YMM(), c.YMM()
				c.VUNPCKLPD(y[h+i+2], y[h+i], lo)
				c.VUNPCKHPD(y[h+i+2], y[h+i], hi)
				c.VMOVUPS(lo, q.column(h+2*i))
				c.VMOVUPS(hi, q.column(h+2*i+1))
			}
		}
	})
}

// transpose8 writes the routine for elements of 8 bytes, in blocks of 4 by 4.
func transpose8(c *build.Context) {
	transposer(c, "transpose8AVX2", 4, 8, func(q square) {
		// Register i has half of row i, and the same half of row i+2.
		for half := range 2 {
			var x [2]reg.VecVirtual
			for i := range 2 {
				v := c.YMM()
				c.VMOVUPD(q.row(i, 16*half), v.AsX())
				c.VINSERTF128(operand.U8(1), q.row(i+2, 16*half), v, v)
				x[i] = v
			}
			lo, hi := c.YMM(), c.YMM()
			c.VUNPCKLPD(x[1], x[0], lo)
			c.VUNPCKHPD(x[1], x[0], hi)
			c.VMOVUPD(lo, q.column(2*half))
			c.VMOVUPD(hi, q.column(2*half+1))
		}
	})
}

// prefetch writes a routine that reads a run of bytes into the second-level cache.
func prefetch(c *build.Context) {
	c.Function("prefetchLines")
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr("func(p uintptr, bytes int)")
	p, n := c.GP64(), c.GP64()
	c.Load(c.Param("p"), p)
	c.Load(c.Param("bytes"), n)
	c.Label("lines")
	c.PREFETCHT1(operand.Mem{Base: p})
	c.ADDQ(operand.I32(64), p)
	c.SUBQ(operand.I32(64), n)
	c.JG(operand.LabelRef("lines"))
	c.RET()
}
