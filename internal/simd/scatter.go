package simd

import (
	"unsafe"

	"github.com/tensorken/tensorken/ir"
)

// A Scatterer combines elements at indexed positions with x: for i in [0, n), in
// order, dst[at + i·s + idx[i·k]·stride] becomes its combination with x[i]. At
// the first index not in [0, limit) it stops and returns that i, otherwise n.
// Indices are int64; x is float32 where dst has a 16-bit type.
type Scatterer func(dst, x, idx unsafe.Pointer, n, at, s, k, stride, limit int) int

// combiners has the functions that combine an element and an update.
func combiners[T number]() map[ir.Op]func(a, b T) T {
	return map[ir.Op]func(a, b T) T{
		ir.Add: func(a, b T) T { return a + b },
		ir.Mul: func(a, b T) T { return a * b },
		ir.Max: func(a, b T) T { return max(a, b) },
		ir.Min: func(a, b T) T { return min(a, b) },

		ir.Copy: func(_, b T) T { return b },
	}
}

// rounded has the functions that combine a number of a 16-bit type with a float32,
// and round the result to that type.
func rounded[H any](by map[ir.Op]func(a, b float32) float32, widen func(H) float32, narrow func(float32) H) map[ir.Op]func(a H, b float32) H {
	m := map[ir.Op]func(a H, b float32) H{}
	for op, f := range by {
		m[op] = func(a H, b float32) H { return narrow(f(widen(a), b)) }
	}
	return m
}

func scatterers[T, X any](by map[ir.Op]func(a T, b X) T) map[ir.Op]Scatterer {
	m := map[ir.Op]Scatterer{}
	for op, f := range by {
		m[op] = scatter(f)
	}
	return m
}

func scatter[T, X any](combine func(a T, b X) T) Scatterer {
	size := int(unsafe.Sizeof(*new(T)))
	return func(dst, x, idx unsafe.Pointer, n, at, s, k, stride, limit int) int {
		for i, e := range vec[X](x, n) {
			v := *(*int64)(unsafe.Add(idx, i*k*8))
			if uint64(v) >= uint64(limit) {
				return i
			}
			p := (*T)(unsafe.Add(dst, (at+i*s+int(v)*stride)*size))
			*p = combine(*p, e)
		}
		return n
	}
}
