package main

import (
	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// An element is a type of the elements that products read, with its instructions. fma adds to
// its last operand the product of the first two.
type element struct {
	name, typ                       string
	size                            int
	move, zero, add, fma, broadcast func(*build.Context, ...operand.Op)
	movez, masked                   func(*build.Context, operand.Op, operand.Op, operand.Op)
}

var elements = []element{
	{
		name: "F32", typ: "Float32", size: 4,
		move: (*build.Context).VMOVUPS, movez: vmovupsz, masked: (*build.Context).VMASKMOVPS,
		zero: (*build.Context).VXORPS, add: (*build.Context).VADDPS, fma: (*build.Context).VFMADD231PS, broadcast: (*build.Context).VBROADCASTSS,
	}, {
		name: "F64", typ: "Float64", size: 8,
		move: (*build.Context).VMOVUPD, movez: vmovupdz, masked: (*build.Context).VMASKMOVPD,
		zero: (*build.Context).VXORPD, add: (*build.Context).VADDPD, fma: (*build.Context).VFMADD231PD, broadcast: (*build.Context).VBROADCASTSD,
	},
}

func vmovupsz(c *build.Context, m, k, v operand.Op) { c.VMOVUPS_Z(m, k, v) }
func vmovupdz(c *build.Context, m, k, v operand.Op) { c.VMOVUPD_Z(m, k, v) }

// products writes the routines of simd.Product.
func (f *file) products() {
	for _, t := range f.targets {
		for _, e := range elements {
			rows, cols := tileRows[t.width], vectors*t.width/e.size
			for _, indexed := range []bool{false, true} {
				w := &productWriter{target: t, element: e, indexed: indexed, reads: true}
				w.write(rows)
			}
			name := "product" + e.name + t.level
			t.row("products", "ir.%s, Product{%d, %d, %d, %s, %s, nil}", e.typ, rows, cols, 64/e.size, name, indexedName(name))
		}
	}
	f.byteProducts()
	f.pairProducts()
}

// indexedName is the name of the routine that reads a at indices.
func indexedName(name string) string { return name + "Indexed" }

// A productWriter writes one routine. Its registers hold a tile of c, of up to rows
// rows and vectors vectors. For each depth it reads a row of b, and multiplies it by
// each element of a column of a.
type productWriter struct {
	*target
	element
	indexed                                           bool // columns of a are at positions that at lists, not at a stride sa
	reads                                             bool // ahead; products of packed factors do not
	correct                                           bool // b has one more row, which is added to each row of the product
	c, a, a7, b, k, ldc, lda, lda3, lda5, sa, at, ldb reg.GPVirtual
	last                                              reg.Register // mask of the last vector of a row
}

// vectors is the number of registers for a row of c, and tileRows the number of rows by the width of
// a register. All registers but 4 hold the tile: 14 × 32 of float32. A row of b serves 14 rows, so
// that its loads do not limit the multiplications, whether panels are packed or not.
const vectors = 2

var tileRows = map[int]int{32: 6, 64: 14}

func (w *productWriter) write(rows int) {
	c := w.Context
	name, signature := "product"+w.name+w.level, "func(c, a, b *byte, m, n, k, ldc, lda, sa, ldb int, add *byte, addStep, ahead, step int)"
	if w.indexed {
		name, signature = indexedName(name), "func(c, a, b *byte, m, n, k, ldc, lda int, at *byte, ldb int, add *byte, addStep, ahead, step int)"
	}
	c.Function(name)
	c.Attributes(attr.NOSPLIT)
	c.Pragma("noescape")
	c.SignatureExpr(signature)
	stride := func(name string) reg.GPVirtual {
		r := w.param(name)
		c.SHLQ(operand.U8(map[int]int{4: 2, 8: 3}[w.size]), r)
		return r
	}
	w.c, w.a, w.b, w.k = w.param("c"), w.param("a"), w.param("b"), w.param("k")
	w.ldc, w.lda, w.ldb = stride("ldc"), stride("lda"), stride("ldb")
	if w.indexed {
		w.at = w.param("at")
	} else {
		w.sa = stride("sa")
	}
	// Row i of a is at a + i·lda, which the addressing modes reach from a or a7.
	w.lda3, w.lda5, w.a7 = c.GP64(), c.GP64(), c.GP64()
	c.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 2}, w.lda3)
	c.LEAQ(operand.Mem{Base: w.lda, Index: w.lda, Scale: 4}, w.lda5)
	c.LEAQ(operand.Mem{Base: w.a, Index: w.lda5, Scale: 1}, w.a7)
	c.LEAQ(operand.Mem{Base: w.a7, Index: w.lda, Scale: 2}, w.a7)

	m, n := w.param("m"), w.param("n")
	lanes := w.width / w.size
	one, end := w.label("one"), w.label("end")
	if w.width == 32 {
		edge := w.label("edge")
		c.CMPQ(n, operand.I32(vectors*lanes))
		c.JLT(operand.LabelRef(edge))
		w.bodies(m, rows, vectors, end)
		c.Label(edge)
	}
	c.CMPQ(n, operand.I32(lanes))
	c.JLE(operand.LabelRef(one))
	c.SUBQ(operand.I32(lanes), n)
	w.last = w.firstOf(n)
	w.bodies(m, rows, vectors, end)
	c.Label(one)
	w.last = w.firstOf(n)
	w.bodies(m, rows, 1, end)
	c.Label(end)
	c.VZEROUPPER()
	c.RET()
}

// param reads a parameter.
func (w *productWriter) param(name string) reg.GPVirtual {
	r := w.GP64()
	w.Load(w.Param(name), r)
	return r
}

// bodies writes a body for each number of rows, and jumps to m's.
func (w *productWriter) bodies(m reg.GPVirtual, rows, vectors int, end string) {
	c := w.Context
	for i := rows; i > 0; i-- {
		next := w.label("rows")
		if i > 1 {
			c.CMPQ(m, operand.I32(i))
			c.JNE(operand.LabelRef(next))
		}
		w.body(i, vectors)
		c.JMP(operand.LabelRef(end))
		c.Label(next)
	}
}

func (w *productWriter) body(rows, vectors int) {
	c := w.Context
	var acc [16][2]reg.VecVirtual
	for i := range rows {
		for v := range vectors {
			acc[i][v] = w.reg(w.width)
			w.zero(c, acc[i][v], acc[i][v], acc[i][v])
		}
	}
	// The rows of c come from the second-level cache while the loop runs.
	for i, p := 0, w.c; i < rows; i++ {
		for v := range vectors {
			c.PREFETCHT0(operand.Mem{Base: p, Disp: v * w.width})
		}
		if i == 0 && rows > 1 {
			p = c.GP64()
			c.MOVQ(w.c, p)
		}
		if i < rows-1 {
			c.ADDQ(w.ldc, p)
		}
	}
	var b [2]reg.VecVirtual
	for v := range vectors {
		b[v] = w.reg(w.width)
	}
	var ahead, step reg.GPVirtual
	if w.reads {
		ahead, step = w.param("ahead"), w.param("step")
	}
	loop, done := w.label("depth"), w.label("done")
	c.TESTQ(w.k, w.k)
	c.JZ(operand.LabelRef(done))
	c.Label(loop)
	for v := range vectors {
		w.loadRow(w.b, v, vectors, b[v])
	}
	if w.reads {
		c.PREFETCHT1(operand.Mem{Base: ahead})
		c.ADDQ(step, ahead)
	}
	a, a7 := w.a, w.a7
	if w.indexed {
		a, a7 = c.GP64(), c.GP64()
		c.MOVQ(operand.Mem{Base: w.at}, a)
		c.ADDQ(operand.I32(8), w.at)
		if rows > 7 {
			c.LEAQ(operand.Mem{Base: w.a7, Index: a, Scale: uint8(w.size)}, a7)
		}
		c.LEAQ(operand.Mem{Base: w.a, Index: a, Scale: uint8(w.size)}, a)
	}
	for i := range rows {
		x := w.reg(w.width)
		w.element.broadcast(c, w.row(a, a7, i), x)
		for v := range vectors {
			w.fma(c, b[v], x, acc[i][v])
		}
	}
	if !w.indexed {
		c.ADDQ(w.sa, w.a)
		if rows > 7 {
			c.ADDQ(w.sa, w.a7)
		}
	}
	c.ADDQ(w.ldb, w.b)
	c.DECQ(w.k)
	c.JNZ(operand.LabelRef(loop))

	for v := range vectors {
		if w.correct {
			w.loadRow(w.b, v, vectors, b[v])
			for i := range rows {
				w.element.add(c, b[v], acc[i][v], acc[i][v])
			}
		}
	}
	c.Label(done)
	store := w.label("store")
	add := w.param("add")
	c.TESTQ(add, add)
	c.JZ(operand.LabelRef(store))
	addStep := w.param("addStep")
	for i := range rows {
		for v := range vectors {
			x := w.reg(w.width)
			w.loadRow(add, v, vectors, x)
			w.element.add(c, x, acc[i][v], acc[i][v])
		}
		if i < rows-1 {
			c.ADDQ(addStep, add)
		}
	}
	c.Label(store)
	for i := range rows {
		for v := range vectors {
			w.storeRow(acc[i][v], w.c, v, vectors)
		}
		if i < rows-1 {
			c.ADDQ(w.ldc, w.c)
		}
	}
}

// firstOf returns the mask of the first n lanes.
func (w *productWriter) firstOf(n reg.Register) reg.Register {
	if w.avx512() {
		return w.firstLanes(n)
	}
	return w.vectorMask(n, w.size)
}

// row is the element of row i of a column of a, whose rows 0 and 7 are at a and a7.
func (w *productWriter) row(a, a7 reg.Register, i int) operand.Mem {
	m := operand.Mem{Base: a}
	if i >= 7 {
		m.Base, i = a7, i-7
	}
	switch i {
	case 1, 2, 4:
		m.Index, m.Scale = w.lda, uint8(i)
	case 3, 6:
		m.Index, m.Scale = w.lda3, uint8(i/3)
	case 5:
		m.Index, m.Scale = w.lda5, 1
	}
	return m
}

// loadRow reads vector v of a row of b or c.
func (w *productWriter) loadRow(p reg.Register, v, vectors int, to reg.VecVirtual) {
	c, m := w.Context, operand.Mem{Base: p, Disp: v * w.width}
	switch {
	case w.last == nil || v < vectors-1:
		w.move(c, m, to)
	case w.width == 64:
		w.movez(c, m, w.last, to)
	default:
		w.element.masked(c, m, w.last, to)
	}
}

func (w *productWriter) storeRow(from reg.VecVirtual, p reg.Register, v, vectors int) {
	c, m := w.Context, operand.Mem{Base: p, Disp: v * w.width}
	switch {
	case w.last == nil || v < vectors-1:
		w.move(c, from, m)
	case w.width == 64:
		w.move(c, from, w.last, m)
	default:
		w.element.masked(c, from, w.last, m)
	}
}
