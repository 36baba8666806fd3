package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// Routines are those of a level that replace others in the tables.
type routines struct {
	unaries  []unaryRow
	binaries []binaryRow
	wheres   []whereRow
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
