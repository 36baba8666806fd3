package main

import "fmt"

// neonRows and neonVectors are the tile of a product: 24 of the 32 registers hold it.
const neonRows, neonVectors = 8, 3

// products writes the routines of simd.Product.
func (w *neon) products() {
	for _, e := range elements {
		lanes := 16 / e.size
		name := "product" + e.name + "NEON"
		(&neonProduct{w, e.size, false}).write(name)
		(&neonProduct{w, e.size, true}).write(indexedName(name))
		w.row("products", "ir.%s, Product{%d, %d, %d, %s, %s, nil}", e.typ, neonRows, neonVectors*lanes, 2*lanes, name, indexedName(name))
	}
}

// A neonProduct writes one routine. For each depth it reads a row of b, and multiplies
// it by each element of a column of a. At the edges registers overlap: a tile of 5 rows
// computes the last one four times, and a row of 7 float32 has a register with columns
// 0 to 3 and two with columns 3 to 6. Overlapping elements have the same sums.
type neonProduct struct {
	*neon
	size    int
	indexed bool // columns of a are at positions that a table lists, not at a stride
}

// The general registers. Parameters are in the order of the signature.
const (
	rC, rA, rB, rM, rN, rK, rLdc, rLda, rSa, rLdb, rAdd = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10

	rAt      = rSa // the table of an indexed routine
	rAddStep = rK  // after the sums
	rRows    = 11  // the offsets of rows 1 to 7 of a, to R17
	rB1      = 19  // pointers to the second and third register of a row of b
	rC1      = 21  // and of c
	rTemp    = 23
	rCol     = 24 // pointer to a column of a
)

// The registers of vectors: the tile is V0 to V23.
const (
	vB = 24
	vA = 27 // to V31
)

func (w *neonProduct) write(name string) {
	strides := []int{rLdc, rLda, rLdb}
	if w.indexed {
		w.begin(name, "c a b", "m n k ldc lda", "at", "ldb", "add", "addStep ahead step")
	} else {
		w.begin(name, "c a b", "m n k ldc lda sa ldb", "add", "addStep ahead step")
		strides = append(strides, rSa)
	}
	shift := map[int]int{4: 2, 8: 3}[w.size]
	for _, r := range strides {
		w.do("LSL $%d, R%d, R%d", shift, r, r)
	}
	for i := 1; i < neonRows; i++ {
		w.rowStep(i, rLda)
		if i == 1 {
			w.do("MOVD R%d, R%d", rTemp, rRows)
		} else {
			w.do("ADD R%d, R%d, R%d", rTemp, rRows+i-2, rRows+i-1)
		}
	}
	lanes := 16 / w.size
	narrow := w.label("narrow")
	w.do("CMP $%d, R%d", lanes, rN)
	w.do("BLT %s", narrow)
	for v := neonVectors; v > 0; v-- {
		next := w.label("vectors")
		if v > 1 {
			w.do("CMP $%d, R%d", (v-1)*lanes, rN)
			w.do("BLE %s", next)
		}
		w.bodies(v, false)
		if v > 1 {
			w.mark(next)
		}
	}
	w.mark(narrow)
	w.bodies(lanes-1, true)
}

// rowStep sets rTemp to stride if the tile has row i, and else to 0.
func (w *neonProduct) rowStep(i, stride int) {
	w.do("CMP $%d, R%d", i, rM)
	w.do("CSEL GT, R%d, ZR, R%d", stride, rTemp)
}

// bodies writes bodies for several numbers of rows, and jumps to one of at least m.
func (w *neonProduct) bodies(vectors int, single bool) {
	for _, rows := range []int{1, 4, neonRows} {
		next := w.label("rows")
		if rows < neonRows {
			w.do("CMP $%d, R%d", rows, rM)
			w.do("BGT %s", next)
		}
		w.body(rows, vectors, single)
		w.do("RET")
		if rows < neonRows {
			w.mark(next)
		}
	}
}

// body writes a product of rows rows and vectors registers in a row, which hold single
// elements for short rows.
func (w *neonProduct) body(rows, vectors int, single bool) {
	acc := func(i, v int) int { return i*vectors + v }
	lanes := 16 / w.size
	if single {
		lanes = 1
	}
	// The start of register v in a row is v·lanes, or n-lanes if that is less.
	for v := 1; v < vectors; v++ {
		w.do("SUB $%d, R%d, R%d", lanes, rN, rTemp)
		w.do("MOVD $%d, R%d", v*lanes, rC1+v-1)
		w.do("CMP R%d, R%d", rC1+v-1, rTemp)
		w.do("CSEL LT, R%d, R%d, R%d", rTemp, rC1+v-1, rTemp)
		shift := map[int]int{4: 2, 8: 3}[w.size]
		w.do("ADD R%d<<%d, R%d, R%d", rTemp, shift, rB, rB1+v-1)
		w.do("ADD R%d<<%d, R%d, R%d", rTemp, shift, rC, rC1+v-1)
	}
	for i := range rows * vectors {
		w.do("VEOR V%d.B16, V%d.B16, V%d.B16", i, i, i)
	}
	loop, done, store := w.label("depth"), w.label("done"), w.label("store")
	w.do("CBZ R%d, %s", rK, done)
	w.mark(loop)
	for v := range vectors {
		w.loadStep(pointer(rB, rB1, v), rLdb, vB+v, single)
	}
	column := rA
	if w.indexed {
		column = rCol
		w.do("MOVD.P 8(R%d), R%d", rAt, rCol)
		w.do("ADD R%d<<%d, R%d, R%d", rCol, map[int]int{4: 2, 8: 3}[w.size], rA, rCol)
	}
	for i := range rows {
		a := vA + i%5
		address := fmt.Sprintf("(R%d)", column)
		if i > 0 {
			address += fmt.Sprintf("(R%d)", rRows+i-1)
		}
		w.do("FMOV%s %s, F%d", letters[w.size], address, a)
		for v := range vectors {
			w.fmla(w.size, acc(i, v), vB+v, a)
		}
	}
	if !w.indexed {
		w.do("ADD R%d, R%d", rSa, rA)
	}
	w.do("SUBS $1, R%d, R%d", rK, rK)
	w.do("BNE %s", loop)

	w.mark(done)
	w.do("CBZ R%d, %s", rAdd, store)
	// All of add, which may be c, is read before c is written, because registers overlap.
	w.do("MOVD addStep+88(FP), R%d", rAddStep)
	for v := range vectors {
		w.do("SUB R%d, R%d, R%d", rC, pointer(rC, rC1, v), rTemp)
		w.do("ADD R%d, R%d, R%d", rTemp, rAdd, pointer(rB, rB1, v))
	}
	for i := range rows {
		w.rowStep(i+1, rAddStep)
		for v := range vectors {
			w.loadStep(pointer(rB, rB1, v), rTemp, vA, single)
			w.op("FADD", w.size, acc(i, v), vA, acc(i, v))
		}
	}
	w.mark(store)
	for i := range rows {
		w.rowStep(i+1, rLdc)
		for v := range vectors {
			p := pointer(rC, rC1, v)
			if single {
				w.do("FMOV%s F%d, (R%d)", letters[w.size], acc(i, v), p)
				w.do("ADD R%d, R%d", rTemp, p)
			} else {
				w.do("VST1.P %s, (R%d)(R%d)", list(acc(i, v), 1, w.size), p, rTemp)
			}
		}
	}
}

// pointer is the register with the address of register v of a row.
func pointer(first, others, v int) int {
	if v == 0 {
		return first
	}
	return others + v - 1
}

// loadStep loads a register of elements or one element in all lanes, and adds a stride
// to the pointer.
func (w *neonProduct) loadStep(p, stride, d int, single bool) {
	instruction := "VLD1.P"
	if single {
		instruction = "VLD1R.P"
	}
	w.do("%s (R%d)(R%d), %s", instruction, p, stride, list(d, 1, w.size))
}
