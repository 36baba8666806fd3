package main

import (
	"fmt"
	"maps"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A fixedDot multiplies rows of digits of simd.Fix by columns of blocks, some of each at a time: the codes of a run
// are unpacked once for all rows, and digits are loaded once for all columns. A group is eight runs, of one block or
// of eight.
type fixedDot struct {
	unpacker
	rows, cols int
	column     []*fixedColumn
	acc        [][]vec // by row and column, sums in lanes
	others     [][]vec // sums of products of offsets
	lane       []vec   // by run of a group or of a half, indices of the lanes of its scales
	product    []vec   // of one row, products of scales

	digits, scales, sums reg.GPVirtual   // of the first row; sums are of 16 or of 32 numbers
	row                  []reg.GPVirtual // the distance of each row from the first, which has none
	slots                reg.GPVirtual   // memory for products of scales
}

// A fixedColumn has the blocks at b. With several rows the scales and offsets belong to the next group: all products
// wait for them, so they are decoded a group ahead.
type fixedColumn struct {
	b               reg.GPVirtual
	scales, offsets vec
}

// fixed writes simd.Fix and the routines of simd.Blocks.Fixed.
func (f *file) fixed() {
	t := f.vnni
	data := map[string]operand.Mem{}
	for _, name := range slices.Sorted(maps.Keys(fixedTables)) {
		data[name] = t.StaticGlobal(name)
		t.DataAttributes(attr.RODATA | attr.NOPTR)
		for _, x := range fixedTables[name] {
			t.AppendDatum(operand.U32(x))
		}
	}
	t.fix()
	for _, x := range fixedFormats {
		t.row("fixed", "%q, fixedDots{dotFixed1%[1]sVNNI, dotFixed4%[1]sVNNI}", x.name)
		for _, n := range [][2]int{{1, 1}, {4, 2}} { // one column is read as fast as memory is
			w := &fixedDot{unpacker: unpacker{decoder: decoder{avx: t.singles(), data: data}, format: x}, rows: n[0], cols: n[1]}
			w.write()
		}
	}
	t.fixRuns()
	t.runsProduct()
	for _, x := range fixedFormats {
		if x.lanes == "" {
			t.row("codes", "%q, codes%sVNNI, %v", x.name, x.name, x.factor >= -1)
			w := &unpacker{decoder: decoder{avx: t.singles(), data: data}, format: x}
			w.codes()
		}
	}
}

// write writes a routine of fixedDots.
func (w *fixedDot) write() {
	x := w.format
	p := w.begin(fmt.Sprint("dotFixed", w.rows, x.name), "func(c, a, b *byte, rows, columns, n, ldc, lda, ldb int)", "b")
	base, left, out := w.AllocLocal(8), w.AllocLocal(8), w.AllocLocal(8)
	w.MOVQ(p[0], base)
	outRow := w.prepare(left, out)
	column, rest, end := w.label("column"), w.label("rest"), w.label("end")
	w.CMPQ(left, operand.I32(0))
	w.jump(w.JLE, end)
	w.begins(base, left)
	if w.rows > 1 {
		w.jumpIfNone(w.countGroups(), column)
		for _, c := range w.column {
			w.decode(c, c.b)
		}
	}
	w.Label(column)
	w.enter()
	groups := w.countGroups()
	w.jumpIfNone(groups, rest)
	w.groups(groups, base, left)
	w.Label(rest)
	if x.runs == 1 {
		w.rest()
	}
	w.store(left, out, outRow)
	ldb := w.param("ldb")
	w.IMUL3Q(operand.I32(w.cols), ldb, ldb)
	w.ADDQ(ldb, base)
	w.SUBQ(operand.I32(len(w.column)), left)
	w.begins(base, left)
	w.CMPQ(left, operand.I32(0))
	w.jump(w.JG, column)
	w.Label(end)
	w.end()
}

// countGroups returns the number of groups of a column.
func (w *fixedDot) countGroups() reg.GPVirtual {
	n := w.param("n")
	if w.format.runs == 1 {
		w.SHRQ(operand.U8(3), n)
	}
	return n
}

func (w *fixedDot) jumpIfNone(n reg.GPVirtual, label string) {
	w.TESTQ(n, n)
	w.jump(w.JZ, label)
}

func (w *fixedDot) param(name string) reg.GPVirtual {
	return w.Load(w.Param(name), w.GP64()).(reg.GPVirtual)
}

// prepare sets up registers that all columns share, the columns that are left, and the results. It returns
// the distances of the rows of results.
func (w *fixedDot) prepare(left, out operand.Mem) (outRow []operand.Mem) {
	w.MOVQ(w.param("columns"), left)
	w.MOVQ(w.param("c"), out)
	w.pairs, w.masks = map[reg.Register]vec{}, map[uint8]vec{}
	if w.rows == 1 {
		for _, m := range []uint8{0x0f, 0xf0} {
			w.masks[m] = w.vn(32, "VPBROADCASTD", w.target.data(bytes4(m)))
		}
	}
	w.row, outRow = []reg.GPVirtual{nil}, []operand.Mem{{}}
	if w.rows > 1 { // rows beyond the last are the last
		last := w.param("rows")
		w.DECQ(last)
		for i := 1; i < w.rows; i++ {
			r, at := w.GP64(), w.AllocLocal(8)
			w.MOVQ(operand.I32(i), r)
			w.CMPQ(last, r)
			w.CMOVQLT(last, r)
			o := w.param("ldc")
			w.IMULQ(r, o)
			w.MOVQ(o, at)
			w.IMULQ(w.param("lda"), r)
			w.row, outRow = append(w.row, r), append(outRow, at)
		}
	}
	size := 32
	if w.format.lanes != "" {
		size = 64
		for i := range 4 {
			w.lane = append(w.lane, w.vn(32, "VMOVDQU32", w.data[w.format.lanes].Offset(32*i)))
		}
	} else if w.rows == 1 {
		for i := range 8 {
			w.lane = append(w.lane, w.vn(32, "VMOVDQU32", w.data["each"].Offset(32*i)))
		}
	}
	if w.rows > 1 {
		w.slots = w.GP64()
		w.LEAQ(w.AllocLocal(size*w.rows*w.cols+64), w.slots)
		w.ADDQ(operand.I32(63), w.slots)
		w.ANDQ(operand.I32(-64), w.slots)
	}
	w.digits, w.scales, w.sums = w.GP64(), w.GP64(), w.GP64()
	for range w.cols {
		c := &fixedColumn{b: w.GP64(), scales: w.reg(size)}
		if c.offsets = w.reg(32); w.format.lanes != "" || w.format.runs == 1 && w.format.factor != 1 {
			c.offsets = c.scales
		}
		w.column = append(w.column, c)
	}
	w.acc, w.others = make([][]vec, w.rows), make([][]vec, w.rows)
	for r := range w.rows {
		for range w.cols {
			w.others[r] = append(w.others[r], w.reg(64))
		}
		for range max(w.cols, 4/w.rows) {
			w.acc[r] = append(w.acc[r], w.reg(32))
		}
	}
	return outRow
}

// begins sets the first blocks of the next columns. Beyond the last column is the last.
func (w *fixedDot) begins(base, left operand.Mem) {
	w.MOVQ(base, w.column[0].b)
	if w.cols > 1 {
		w.MOVQ(base, w.column[1].b)
		w.ADDQ(w.param("ldb"), w.column[1].b)
		w.CMPQ(left, operand.I32(1))
		w.CMOVQEQ(base, w.column[1].b)
	}
}

// enter sets the row to its begin and sums to 0.
func (w *fixedDot) enter() {
	runs4 := w.param("n")
	w.IMUL3Q(operand.I32(4*w.format.runs), runs4, runs4)
	w.MOVQ(w.param("a"), w.digits)
	w.MOVQ(runs4, w.scales)
	w.SHLQ(operand.U8(4), w.scales)
	w.ADDQ(w.digits, w.scales)
	w.LEAQ(operand.Mem{Base: w.scales, Index: runs4, Scale: 1}, w.sums)
	if w.format.lanes != "" {
		w.ADDQ(runs4, w.sums)
	}
	for r := range w.rows {
		for _, x := range slices.Concat(w.acc[r], w.others[r]) {
			w.clear(x)
		}
	}
}

// of is the operand at p, an address in the first row, moved to row r.
func (w *fixedDot) of(p reg.Register, r, offset int) operand.Mem {
	if r == 0 {
		return operand.Mem{Base: p, Disp: offset}
	}
	return operand.Mem{Base: p, Index: w.row[r], Scale: 1, Disp: offset}
}

// decode decodes the scales and offsets of a group of a column.
func (w *fixedDot) decode(c *fixedColumn, group reg.GPVirtual) {
	w.b = group
	scales, offsets := w.numbers()
	w.VMOVAPS(scales, c.scales)
	if c.offsets != c.scales {
		w.VMOVAPS(offsets, c.offsets)
	}
}

// nextGroups returns the next group of each column when k are left. After the last group it is the first group of the
// next columns, or any group if there are no more columns.
func (w *fixedDot) nextGroups(k reg.GPVirtual, base, left operand.Mem) (next []reg.GPVirtual) {
	have := w.label("have")
	for _, c := range w.column {
		p := w.GP64()
		w.LEAQ(operand.Mem{Base: c.b, Disp: w.format.groupBytes()}, p)
		next = append(next, p)
	}
	w.TESTQ(k, k)
	w.jump(w.JNE, have)
	ldb := w.param("ldb")
	w.MOVQ(base, next[0])
	w.LEAQ(operand.Mem{Base: next[0], Index: ldb, Scale: uint8(w.cols)}, next[0])
	w.CMPQ(left, operand.I32(w.cols+1))
	w.CMOVQLT(base, next[0])
	if w.cols > 1 {
		w.ADDQ(next[0], ldb)
		w.MOVQ(next[0], next[1])
		w.CMPQ(left, operand.I32(4))
		w.CMOVQGE(ldb, next[1])
	}
	w.Label(have)
	return next
}

// groups multiplies k groups of the columns.
func (w *fixedDot) groups(k reg.GPVirtual, base, left operand.Mem) {
	x := w.format
	next := w.label("groups")
	w.Label(next)
	for _, c := range w.column {
		if w.b = c.b; w.rows == 1 {
			w.decode(c, c.b)
		}
		for line := 0; line < x.groupBytes(); line += 64 {
			w.PREFETCHT0(w.decoder.at(ahead + line))
		}
	}
	w.scaleProducts()
	w.DECQ(k)
	if w.rows > 1 {
		for i, group := range w.nextGroups(k, base, left) {
			w.decode(w.column[i], group)
		}
	}
	for i := range 8 {
		w.multiply(i, func(r, c int) any {
			if w.rows == 1 {
				return w.vn(32, "VPERMPS", w.product[i*len(w.product)/8], w.lane[i%len(w.lane)])
			}
			slot := w.slot(r, c)
			if x.lanes == "" {
				slot.Disp += 4 * i
				return slot
			}
			slot.Disp += 32 * (i / 4)
			return w.vn(32, "VPERMPS", slot, w.lane[i%4])
		})
	}
	for _, c := range w.column {
		w.ADDQ(operand.I32(x.groupBytes()), c.b)
	}
	w.advance(8)
	w.TESTQ(k, k)
	w.jump(w.JNE, next)
}

// advance moves the row by some runs.
func (w *fixedDot) advance(runs int) {
	w.ADDQ(operand.I32(64*runs), w.digits)
	w.ADDQ(operand.I32(4*runs), w.scales)
	if w.format.lanes != "" {
		runs *= 2
	}
	w.ADDQ(operand.I32(4*runs), w.sums)
}

// slot is the memory for the products of the scales of row r and of a group of column c.
func (w *fixedDot) slot(r, c int) operand.Mem {
	size := 32
	if w.format.lanes != "" {
		size = 64
	}
	return operand.Mem{Base: w.slots, Disp: size * (r*w.cols + c)}
}
