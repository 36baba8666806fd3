package main

import (
	"maps"
	"slices"

	"github.com/mmcloughlin/avo/attr"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A fixedDot multiplies a row of digits of simd.Fix by columns of blocks, two runs at a time. A group is eight runs, of one
// block or of eight.
type fixedDot struct {
	unpacker
	acc    []vec // sums in lanes, of which one alone would wait for itself
	rest   vec   // sums of runs after the groups
	others vec   // sums of products of offsets
	lane   []vec // by pair of a group, indices of the lanes of its scales

	digits, scales, sums reg.GPVirtual // sums are of 16 or of 32 numbers
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
		t.row("fixed", "%q, fixedDots{dotFixed%[1]sVNNI, panel%[1]sVNNI, %[2]d, %[3]d, %[4]d}", x.name, x.runs, x.bytes, x.parts())
		(&panelWriter{unpacker: unpacker{decoder: decoder{avx: t.singles(), data: data}, format: x}}).panel()
		(&fixedDot{unpacker: unpacker{decoder: decoder{avx: t.singles(), data: data}, format: x}}).write()
	}
	for parts := 1; parts <= 2; parts++ {
		t.row("panelDots", "%d, dotPanel%[1]dVNNI", parts)
		(&panelDot{target: t, parts: parts}).write()
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

// write writes a format's routine.
func (w *fixedDot) write() {
	x := w.format
	p := w.begin("dotFixed"+x.name, "func(c, a, b *byte, columns, n, ldb int)", "c", "a", "b", "columns", "ldb")
	c, a, base, left, ldb := p[0], p[1], p[2], p[3], p[4]
	w.prepare()
	column, rest, end := w.label("column"), w.label("rest"), w.label("end")
	w.Label(column)
	w.DECQ(left)
	w.jump(w.JLT, end)
	w.b = w.GP64()
	w.MOVQ(base, w.b)
	w.enter(a)
	groups := w.param("n")
	if x.runs == 1 {
		w.SHRQ(operand.U8(3), groups)
	}
	w.TESTQ(groups, groups)
	w.jump(w.JZ, rest)
	w.groups(groups)
	w.Label(rest)
	if x.runs == 1 {
		w.lastBlocks()
	}
	w.store(c)
	w.ADDQ(operand.I32(4), c)
	w.ADDQ(ldb, base)
	w.jump(w.JMP, column)
	w.Label(end)
	w.end()
}

func (w *fixedDot) param(name string) reg.GPVirtual {
	return w.Load(w.Param(name), w.GP64()).(reg.GPVirtual)
}

// prepare sets up registers that all columns share.
func (w *fixedDot) prepare() {
	table := "each"
	if w.format.lanes != "" {
		table = w.format.lanes
	}
	for i := range 4 {
		w.lane = append(w.lane, w.v("VMOVDQU32", w.data[table].Offset(64*i)))
	}
	w.digits, w.scales, w.sums = w.GP64(), w.GP64(), w.GP64()
	w.acc, w.rest, w.others = []vec{w.ZMM(), w.ZMM()}, w.YMM(), w.ZMM()
}

// enter sets the row to its begin and sums to 0.
func (w *fixedDot) enter(a reg.GPVirtual) {
	runs := w.param("n")
	w.IMUL3Q(operand.I32(w.format.runs), runs, runs)
	w.MOVQ(a, w.digits)
	w.LEAQ(operand.Mem{Base: runs, Disp: 1}, w.scales)
	w.ANDQ(operand.I32(-2), w.scales)
	w.SHLQ(operand.U8(6), w.scales)
	w.ADDQ(a, w.scales)
	w.LEAQ(operand.Mem{Base: w.scales, Index: runs, Scale: uint8(4 * w.format.parts())}, w.sums)
	for _, x := range []vec{w.acc[0], w.acc[1], w.rest, w.others} {
		w.clear(x)
	}
}

// groups multiplies k groups of the column.
func (w *fixedDot) groups(k reg.GPVirtual) {
	x := w.format
	next := w.label("groups")
	w.Label(next)
	scales, offsets := w.numbers()
	row, bytes := w.vn(32, "VMOVUPS", operand.Mem{Base: w.scales}), 32*x.parts()
	if x.lanes != "" {
		row = w.v("VPERMPS", w.part(row, 64), w.v("VMOVDQU32", w.data["pairs"]))
	}
	product := w.part(w.vn(bytes, "VMULPS", scales, row), 64)
	w.VFMADD231PS(operand.Mem{Base: w.sums}, offsets, w.part(w.others, bytes))
	for i := range 4 {
		w.multiply(operand.Mem{Base: w.digits, Disp: 128 * i}, w.pair(i), w.v("VPERMPS", product, w.lane[i]), w.acc[i%2])
	}
	w.ADDQ(operand.I32(x.groupBytes()), w.b)
	w.ADDQ(operand.I32(512), w.digits)
	w.ADDQ(operand.I32(32), w.scales)
	w.ADDQ(operand.I32(32*x.parts()), w.sums)
	w.DECQ(k)
	w.jump(w.JNE, next)
}
