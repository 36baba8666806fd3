package main

import "fmt"

// moves writes the routines that copy.
func (w *neon) moves() {
	w.transposer(4)
	w.transposer(8)
	w.tables.single("NEON", "transposers", "[9]transposer{4: transpose4NEON, 8: transpose8NEON}")
}

// transposer writes a routine that transposes square blocks as long as a register, of a matrix
// whose sides are multiples of that.
func (w *neon) transposer(size int) {
	w.begin(fmt.Sprintf("transpose%dNEON", size), "dst src", "n0 d n1 s")
	const dst, src, n0, d, n1, s, from, to, row, left = 0, 1, 2, 3, 4, 5, 6, 7, 8, 9
	side, letter := 16/size, letters[size]
	zip := func(half, x, y, to int) {
		w.do("VZIP%d V%d.%s%d, V%d.%s%d, V%d.%s%d", half, y, letter, side, x, letter, side, to, letter, side)
	}
	w.loop(n0, side, func() {
		w.do("MOVD R%d, R%d", src, from)
		w.do("MOVD R%d, R%d", dst, to)
		w.do("MOVD R%d, R%d", n1, left)
		w.loop(left, side, func() {
			for i := range side {
				w.do("VLD1.P (R%d)(R%d), %s", from, s, list(i, 1, size))
			}
			first := 0
			if side == 4 { // pairs of rows 0 and 2 and of 1 and 3
				for i := range 2 {
					zip(1, i, i+2, 4+i)
					zip(2, i, i+2, 6+i)
				}
				first = 4
			}
			w.do("MOVD R%d, R%d", to, row)
			for i := 0; i < side; i += 2 {
				for half := 1; half <= 2; half++ {
					zip(half, first+i, first+i+1, 16)
					w.do("VST1.P %s, (R%d)(R%d)", list(16, 1, size), row, d)
				}
			}
			w.do("ADD $16, R%d, R%d", to, to)
		})
		w.do("ADD $16, R%d, R%d", src, src)
		w.do("ADD R%d<<%d, R%d, R%d", d, map[int]int{4: 2, 8: 1}[size], dst, dst)
	})
	w.do("RET")
}
