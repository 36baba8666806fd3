package simd

import "unsafe"

// Mover copies elements of one size: dst[i·d0+j·d1] = src[i·s0+j·s1] for i in [0, n0) and j
// in [0, n1). Strides are in elements, of any sign; strides of src may be 0.
type Mover func(dst, src unsafe.Pointer, n0, d0, s0, n1, d1, s1 int)

// Movers has a routine by the size of elements in bytes.
var Movers = [9]Mover{1: move[uint8], 2: move[uint16], 4: move[uint32], 8: move[uint64]}

func move[T any](dst, src unsafe.Pointer, n0, d0, s0, n1, d1, s1 int) {
	if n0 <= 0 || n1 <= 0 {
		return
	}
	size := int(unsafe.Sizeof(*new(T)))
	if d1 == 1 && s1 == 0 && n1 >= 4 {
		for i := range n0 {
			fills[size](unsafe.Add(dst, i*d0*size), unsafe.Add(src, i*s0*size), n1)
		}
		return
	}
	if d1 == 1 && s1 == 1 && size >= 4 {
		moveRows(dst, src, n0, n1*size, d0*size, s0*size)
		return
	}
	if d1 == 1 && s1 == 2 && size == 4 && everyOther != nil && n1 >= 4 {
		everyOther(dst, src, n0, n1, d0*size, s0*size)
		return
	}
	if s1 == 1 && d0 == 1 {
		n0, d0, s0, n1, d1, s1 = n1, d1, s1, n0, d0, s0
	}
	if s1 != 1 && s0 == 1 && n0 >= 8 && n1 >= 8 {
		transpose[T](dst, src, n0, d0, n1, d1, s1)
		return
	}
	// The inner loop reads contiguously; if neither does, it is the longer one.
	if s1 != 1 && (s0 == 1 || n1 < 4 && n0 > n1) {
		n0, d0, s0, n1, d1, s1 = n1, d1, s1, n0, d0, s0
	}
	for i := range n0 {
		to, from := unsafe.Add(dst, i*d0*size), unsafe.Add(src, i*s0*size)
		switch {
		case d1 == 1 && s1 == 1:
			copy(vec[T](to, n1), vec[T](from, n1))
		case d1 == 1:
			d := vec[T](to, n1)
			for j := range d {
				d[j] = *(*T)(unsafe.Add(from, j*s1*size))
			}
		default:
			for j := range n1 {
				*(*T)(unsafe.Add(to, j*d1*size)) = *(*T)(unsafe.Add(from, j*s1*size))
			}
		}
	}
}

// moveRows copies rows of bytes, multiples of 4 bytes, d and s bytes apart.
var moveRows = func(dst, src unsafe.Pointer, rows, bytes, d, s int) {
	for i := range rows {
		copy(vec[byte](unsafe.Add(dst, i*d), bytes), vec[byte](unsafe.Add(src, i*s), bytes))
	}
}

// everyOther copies rows of every other element of 4 bytes, d and s bytes apart, nil for none.
var everyOther func(dst, src unsafe.Pointer, rows, n, d, s int)

// transpose is move for s0 = 1 and d0 ≠ 1: dst[i·d0+j·d1] = src[i+j·s1].
func transpose[T any](dst, src unsafe.Pointer, n0, d0, n1, d1, s1 int) {
	size := int(unsafe.Sizeof(*new(T)))
	blocks := transposers[size]
	if blocks == nil || d1 != 1 {
		transposeSquares[T](dst, src, n0, d0, n1, d1, s1)
		return
	}
	m0, m1 := n0&^7, n1&^7
	// As many columns at a time as a cache line of the source has, so that few lines of the
	// destination are written at a time.
	for i, n := 0, 64/size; i < m0; i += n {
		blocks(unsafe.Add(dst, i*d0*size), unsafe.Add(src, i*size), min(n, m0-i), d0*size, m1, s1*size)
	}
	if m0 < n0 {
		transposeSquares[T](unsafe.Add(dst, m0*d0*size), unsafe.Add(src, m0*size), n0-m0, d0, m1, 1, s1)
	}
	if m1 < n1 {
		transposeSquares[T](unsafe.Add(dst, m1*size), unsafe.Add(src, m1*s1*size), n0, d0, n1-m1, 1, s1)
	}
}

// A transposer gives dst[i·d+j] = src[i+j·s] for i in [0, n0) and j in [0, n1), which are
// multiples of 8. d and s are in bytes.
type transposer func(dst, src unsafe.Pointer, n0, d, n1, s int)

// transposers has routines by the size of elements in bytes, nil for none.
var transposers [9]transposer

// transposeSquares works in square tiles, so that cache lines of both sides are used
// whole.
func transposeSquares[T any](dst, src unsafe.Pointer, n0, d0, n1, d1, s1 int) {
	const square = 16
	size := int(unsafe.Sizeof(*new(T)))
	for i0 := 0; i0 < n0; i0 += square {
		n := min(square, n0-i0)
		for j := range n1 {
			to := unsafe.Add(dst, (i0*d0+j*d1)*size)
			for i, v := range vec[T](unsafe.Add(src, (i0+j*s1)*size), n) {
				*(*T)(unsafe.Add(to, i*d0*size)) = v
			}
		}
	}
}

// fills has routines by the size of elements in bytes, which set n elements to the one at x.
var fills = [9]Unary{1: fill[uint8], 2: fill[uint16], 4: fill[uint32], 8: fill[uint64]}

func fill[T any](dst, x unsafe.Pointer, n int) {
	d, v := vec[T](dst, n), at[T](x)
	for i := range d {
		d[i] = v
	}
}

// Copies has routines that copy, by the size of elements in bytes.
var Copies = [9]Unary{1: copyV[uint8], 2: copyV[uint16], 4: copyV[uint32], 8: copyV[uint64]}

// Fill sets n elements of the given size to the one at x.
func Fill(dst, x unsafe.Pointer, size, n int) { Movers[size](dst, x, 1, 0, 0, n, 1, 0) }

// Iota sets n int32 to start, start+1 and so on.
func Iota(dst unsafe.Pointer, start, n int) {
	d := vec[int32](dst, n)
	for i := range d {
		d[i] = int32(start + i)
	}
}

// Gatherer copies elements of one size from indexed positions:
// dst[i·d] = src[at + i·s + idx[i·k]·stride] for i in [0, n). At the first
// index not in [0, limit) it stops and returns that i, otherwise n.
type Gatherer func(dst, src, idx unsafe.Pointer, n, d, at, s, k, stride, limit int) int

// Gatherers has a routine by the size of elements in bytes; indices are int64.
var Gatherers = [9]Gatherer{1: gather[uint8], 2: gather[uint16], 4: gather[uint32], 8: gather[uint64]}

func gather[T any](dst, src, idx unsafe.Pointer, n, d, at, s, k, stride, limit int) int {
	size := int(unsafe.Sizeof(*new(T)))
	for i := range n {
		v := *(*int64)(unsafe.Add(idx, i*k*8))
		if uint64(v) >= uint64(limit) {
			return i
		}
		*(*T)(unsafe.Add(dst, i*d*size)) = *(*T)(unsafe.Add(src, (at+i*s+int(v)*stride)*size))
	}
	return n
}

// Prefetch asks for at least one byte at p, and those that follow, to be read into the
// cache.
var Prefetch = func(p uintptr, bytes int) {}
