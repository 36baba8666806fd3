package simd

import (
	"math"
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Routines are those of a level that replace others in the tables.
type routines struct {
	unaries    []unaryRow
	binaries   []binaryRow
	wheres     []whereRow
	casts      []castRow
	reductions []reductionRow
	finds      []findRow
	fills      []fillRow
	threefry   Quaternary
	transpose  func(dst, src unsafe.Pointer, n0, d0, n1, s1 int)
}

type unaryRow struct {
	op  ir.Op
	typ ir.DType
	f   Unary
}

type binaryRow struct {
	op  ir.Op
	typ ir.DType
	f   Modes
}

type whereRow struct {
	size int
	f    Choices
}

type castRow struct {
	from, to ir.DType
	f        Unary
}

type reductionRow struct {
	op            ir.Op
	typ           ir.DType
	along, across func(acc, x unsafe.Pointer, rows, n int)
}

// A find returns the position of the first element of x that equals the one at y, n if
// there is none; of a NaN for that the second routine.
type findRow struct {
	typ        ir.DType
	value, nan func(x, y unsafe.Pointer, n int) int
}

// A fill sets n elements to the one at x.
type fillRow struct {
	size int
	f    Unary
}

func (r routines) install() {
	for _, row := range r.unaries {
		Unaries[row.op][row.typ] = row.f
	}
	for _, row := range r.binaries {
		Binaries[row.op][row.typ] = row.f
	}
	for _, row := range r.wheres {
		for d := range Wheres {
			if Wheres[d].VV != nil && ir.DType(d).Size() == row.size {
				Wheres[d] = row.f
			}
		}
	}
	for _, row := range r.casts {
		Casts[row.from][row.to] = row.f
	}
	for _, row := range r.reductions {
		f := &Reductions[row.op][row.typ]
		f.Along, f.Across = row.along, row.across
	}
	for _, row := range r.finds {
		ArgMaxes[row.typ].Along = argMaxBy(Reductions[ir.ReduceMax][row.typ].Along, row.value, row.nan)
	}
	Threefry = r.threefry
	for _, row := range r.fills {
		Movers[row.size] = fillBy(row.f, row.size, Movers[row.size])
	}
	Movers[4] = moveBy(r.transpose, Movers[4])
}

// argMaxBy returns ArgMax.Along of float32: it computes the greatest element of a row and
// then looks for it, or for the NaN.
func argMaxBy(greatest func(acc, x unsafe.Pointer, rows, n int), value, nan func(x, y unsafe.Pointer, n int) int) func(val, pos, x unsafe.Pointer, rows, n, first int) {
	return func(val, pos, x unsafe.Pointer, rows, n, first int) {
		if n == 0 {
			return
		}
		v, p := vec[float32](val, rows), vec[int32](pos, rows)
		for r := range v {
			row := unsafe.Add(x, r*n*4)
			best := float32(math.Inf(-1))
			greatest(unsafe.Pointer(&best), row, 1, n)
			if p[r] >= 0 && !beats(best, v[r]) {
				continue
			}
			find := value
			if best != best {
				find = nan
			}
			v[r], p[r] = best, int32(first+find(row, unsafe.Pointer(&best), n))
		}
	}
}

// patched returns a routine that calls f, and twin for the elements that f leaves out: f
// returns the number of elements that it computed.
func patched(f func(dst, x unsafe.Pointer, n int) int, twin Unary) Unary {
	const size, group = 4, 16 // of float32
	return func(dst, x unsafe.Pointer, n int) {
		for {
			done := f(dst, x, n)
			if done == n {
				return
			}
			dst, x, n = unsafe.Add(dst, done*size), unsafe.Add(x, done*size), n-done
			m := min(n, group)
			twin(dst, x, m)
			dst, x, n = unsafe.Add(dst, m*size), unsafe.Add(x, m*size), n-m
		}
	}
}

// fillBy returns a mover that repeats one element by f.
func fillBy(f Unary, size int, other Mover) Mover {
	return func(dst, src unsafe.Pointer, n0, d0, s0, n1, d1, s1 int) {
		if d1 != 1 || s1 != 0 || n1 < 4 {
			other(dst, src, n0, d0, s0, n1, d1, s1)
			return
		}
		for i := range n0 {
			f(unsafe.Add(dst, i*d0*size), unsafe.Add(src, i*s0*size), n1)
		}
	}
}

// moveBy returns a mover of 4 bytes that transposes by f, which needs n0 to be a multiple of
// 16 and n1 of 8.
func moveBy(f func(dst, src unsafe.Pointer, n0, d0, n1, s1 int), other Mover) Mover {
	const size = 4
	return func(dst, src unsafe.Pointer, n0, d0, s0, n1, d1, s1 int) {
		m0, m1 := n0&^15, n1&^7
		if s1 == 1 && s0 != 1 && d0 == 1 { // the other way round
			n0, d0, s0, n1, d1, s1 = n1, d1, s1, n0, d0, s0
			m0, m1 = n0&^15, n1&^7
		}
		if s0 != 1 || s1 == 1 || d1 != 1 || m0 <= 0 || m1 <= 0 {
			other(dst, src, n0, d0, s0, n1, d1, s1)
			return
		}
		f(dst, src, m0, d0, m1, s1)
		other(unsafe.Add(dst, m0*d0*size), unsafe.Add(src, m0*size), n0-m0, d0, 1, n1, 1, s1)
		other(unsafe.Add(dst, m1*size), unsafe.Add(src, m1*s1*size), m0, d0, 1, n1-m1, 1, s1)
	}
}
