package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// moves writes the routines that copy.
func (f *file) moves() {
	for _, t := range f.targets {
		t.moveRows()
		t.everyOther()
		t.transpose4()
		t.tables.single(t.level, "moveRows", "moveRows"+t.level)
		t.tables.single(t.level, "everyOther", "everyOther"+t.level)
		t.tables.single(t.level, "transposers", "[9]transposer{4: transpose4"+t.level+", 8: transpose8AVX2}")
		t.tables.single(t.level, "prefetch", "prefetchLines")
	}
	c := f.targets[0].Context
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

// everyOther writes a routine that copies every other element, of 4 bytes, of rows.
func (t *target) everyOther() {
	p := t.begin("everyOther", "func(dst, src *byte, rows, n, d, s int)", "dst", "src", "rows", "n", "d", "s")
	dst, src, rows, n, d, s := p[0], p[1], p[2], p[3], p[4], p[5]
	row, end, left := t.label("row"), t.label("end"), t.GP64()
	var most reg.Register // of a register's elements: the last pair's second one may lie outside
	if t.avx512() {
		t.MOVQ(operand.U32(15), left)
		most = t.firstLanes(left)
	}
	t.Label(row)
	t.TESTQ(rows, rows)
	t.jump(t.JLE, end)
	t.MOVQ(n, left)
	l := t.newLoop(left, 8)
	pairs := func(half int) operand.Mem { return operand.Mem{Base: src, Index: l.i, Scale: 8, Disp: 32 * half} }
	l.write(func(x step) {
		switch {
		case t.avx512() && x.tail:
			odd := t.GP64()
			t.LEAQ(operand.Mem{Base: left, Index: left, Scale: 1, Disp: -1}, odd)
			x.store(t.vn(32, "VPMOVQD", t.v("VMOVUPS_Z", pairs(0), t.firstLanes(odd))), dst, 4)
		case t.avx512():
			x.store(t.vn(32, "VPMOVQD", t.v("VMOVUPS_Z", pairs(0), most)), dst, 4)
		case x.tail:
			each, e := t.label("element"), t.GP32()
			t.Label(each)
			t.MOVL(pairs(0), e)
			t.MOVL(e, operand.Mem{Base: dst, Index: l.i, Scale: 4})
			t.INCQ(l.i)
			t.DECQ(left)
			t.jump(t.JNE, each)
		default:
			low := t.v("VMOVUPS", pairs(0))
			high := t.v("VMOVUPS", pairs(1).Offset(-4))
			x.store(t.v("VPERMQ", 0xd8, t.v("VSHUFPS", 0xd8, high, low)), dst, 4)
		}
	})
	t.ADDQ(d, dst)
	t.ADDQ(s, src)
	t.DECQ(rows)
	t.jump(t.JMP, row)
	t.Label(end)
	t.end()
}

// A block is the part of a matrix that the body of a loop transposes: row i of the block is
// at from + i·s, and column i goes to to + i·d.
type block struct {
	to, d, d3, s, s3 reg.GPVirtual
	from             [4]reg.GPVirtual // rows 0, 4, 8 and 12
	to4              reg.GPVirtual
}

// A transposition transposes blocks of some rows and columns.
type transposition struct {
	rows, columns int
	body          func(b *block)
}

// transposer writes a routine that transposes a matrix of elements of size bytes, whose sides
// are multiples of 8: by the first transposition as many rows as it can, then by the next.
func transposer(c *build.Context, name string, size int, ts ...transposition) {
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
	b := &block{to: c.GP64(), d: d, d3: c.GP64(), to4: c.GP64(), s: s, s3: c.GP64()}
	c.LEAQ(operand.Mem{Base: d, Index: d, Scale: 2}, b.d3)
	c.LEAQ(operand.Mem{Base: s, Index: s, Scale: 2}, b.s3)
	left := c.GP64()
	for i, t := range ts {
		// Columns of the source vary fastest, so that its cache lines are used whole.
		label := func(part string) string { return fmt.Sprint(name, part, i) }
		for k := range t.rows / 4 {
			b.from[k] = c.GP64()
		}
		c.Label(label("Outer"))
		c.CMPQ(n1, operand.I32(t.rows))
		c.JLT(operand.LabelRef(label("Done")))
		c.MOVQ(dst, b.to)
		c.MOVQ(src, b.from[0])
		c.MOVQ(n0, left)
		c.Label(label("Inner"))
		for k := 1; k < t.rows/4; k++ {
			c.LEAQ(operand.Mem{Base: b.from[k-1], Index: s, Scale: 4}, b.from[k])
		}
		c.LEAQ(operand.Mem{Base: b.to, Index: d, Scale: 4}, b.to4)
		t.body(b)
		c.ADDQ(operand.I32(t.columns*size), b.from[0])
		for range t.columns / 4 {
			c.LEAQ(operand.Mem{Base: b.to, Index: d, Scale: 4}, b.to)
		}
		c.SUBQ(operand.I32(t.columns), left)
		c.JG(operand.LabelRef(label("Inner")))
		c.ADDQ(operand.I32(t.rows*size), dst)
		for range t.rows / 4 {
			c.LEAQ(operand.Mem{Base: src, Index: s, Scale: 4}, src)
		}
		c.SUBQ(operand.I32(t.rows), n1)
		c.JMP(operand.LabelRef(label("Outer")))
		c.Label(label("Done"))
	}
	c.VZEROUPPER()
	c.RET()
}

// row is row i of the source, column that of the destination.
func (b *block) row(i, disp int) operand.Mem {
	return rowAt(b.from[i/4], b.s, b.s3, i%4, disp)
}

func (b *block) column(i int) operand.Mem {
	return rowAt([]reg.GPVirtual{b.to, b.to4}[i/4], b.d, b.d3, i%4, 0)
}

func rowAt(p, s, s3 reg.GPVirtual, i, disp int) operand.Mem {
	m := operand.Mem{Base: p, Disp: disp}
	switch i {
	case 1, 2:
		m.Index, m.Scale = s, uint8(i)
	case 3:
		m.Index, m.Scale = s3, 1
	}
	return m
}

// transpose4 writes the routine for elements of 4 bytes. A column of 16 rows is a whole cache
// line, which the processor stores without reading it first.
func (t *target) transpose4() {
	narrow := transposition{8, 8, func(b *block) { t.transposeSquares(b, 32) }}
	if t.avx512() {
		transposer(t.Context, "transpose4"+t.level, 4, transposition{16, 8, func(b *block) { t.transposeSquares(b, 64) }}, narrow)
	} else {
		transposer(t.Context, "transpose4"+t.level, 4, narrow)
	}
}

// transposeSquares transposes as many rows of 8 elements as a register of some bytes holds, in
// squares of 4 by 4. Register i of half the columns has part k of row i+4k.
func (t *target) transposeSquares(b *block, width int) {
	c := t.Context
	for first := 0; first < 8; first += 4 {
		var x, y [4]vec
		for i := range x {
			v := t.reg(width)
			c.VMOVUPS(b.row(i, 4*first), v.AsX())
			for k := 1; k < width/16; k++ {
				if t.avx512() {
					c.VINSERTF32X4(operand.U8(k), b.row(i+4*k, 4*first), v, v)
				} else {
					c.VINSERTF128(operand.U8(k), b.row(i+4*k, 4*first), v, v)
				}
			}
			x[i] = v
		}
		for i := 0; i < 4; i += 2 {
			y[i], y[i+1] = t.reg(width), t.reg(width)
			c.VUNPCKLPS(x[i+1], x[i], y[i])
			c.VUNPCKHPS(x[i+1], x[i], y[i+1])
		}
		for i := range 2 {
			lo, hi := t.reg(width), t.reg(width)
			c.VUNPCKLPD(y[i+2], y[i], lo)
			c.VUNPCKHPD(y[i+2], y[i], hi)
			c.VMOVUPS(lo, b.column(first+2*i))
			c.VMOVUPS(hi, b.column(first+2*i+1))
		}
	}
}

// transpose8 writes the routine for elements of 8 bytes, in blocks of 4 by 4.
func transpose8(c *build.Context) {
	transposer(c, "transpose8AVX2", 8, transposition{4, 4, func(b *block) {
		// Register i has half of row i, and the same half of row i+2.
		for half := range 2 {
			var x [2]reg.VecVirtual
			for i := range 2 {
				v := c.YMM()
				c.VMOVUPD(b.row(i, 16*half), v.AsX())
				c.VINSERTF128(operand.U8(1), b.row(i+2, 16*half), v, v)
				x[i] = v
			}
			lo, hi := c.YMM(), c.YMM()
			c.VUNPCKLPD(x[1], x[0], lo)
			c.VUNPCKHPD(x[1], x[0], hi)
			c.VMOVUPD(lo, b.column(2*half))
			c.VMOVUPD(hi, b.column(2*half+1))
		}
	}})
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
