package simd

import (
	"math"
	"unsafe"
)

func negV[T number](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[T](x, n)
	for i := range d {
		d[i] = -a[i]
	}
}

func notV[T integer](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[T](x, n)
	for i := range d {
		d[i] = ^a[i]
	}
}

func notBool(dst, x unsafe.Pointer, n int) {
	d, a := vec[uint8](dst, n), vec[uint8](x, n)
	for i := range d {
		d[i] = a[i] ^ 1
	}
}

func sqrtV[T float](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[T](x, n)
	for i := range d {
		d[i] = T(math.Sqrt(float64(a[i])))
	}
}

func floorV[T float](dst, x unsafe.Pointer, n int) {
	d, a := vec[T](dst, n), vec[T](x, n)
	for i := range d {
		d[i] = T(math.Floor(float64(a[i])))
	}
}

// unary32 and unary64 apply functions too large to inline.
func unary32(f func(float32) float32) Unary {
	return func(dst, x unsafe.Pointer, n int) {
		d, a := vec[float32](dst, n), vec[float32](x, n)
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func unary64(f func(float64) float64) Unary {
	return func(dst, x unsafe.Pointer, n int) {
		d, a := vec[float64](dst, n), vec[float64](x, n)
		for i := range d {
			d[i] = f(a[i])
		}
	}
}

func binary32(f func(x, y float32) float32) Binary {
	return func(dst, x, y unsafe.Pointer, n int) {
		d, a, b := vec[float32](dst, n), vec[float32](x, n), vec[float32](y, n)
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

func binary64(f func(x, y float64) float64) Binary {
	return func(dst, x, y unsafe.Pointer, n int) {
		d, a, b := vec[float64](dst, n), vec[float64](x, n), vec[float64](y, n)
		for i := range d {
			d[i] = f(a[i], b[i])
		}
	}
}

// Where selects by a mask, because branches on irregular data are slow.

type word interface {
	uint8 | uint16 | uint32 | uint64
}

func whereVV[T word](dst, c, x, y unsafe.Pointer, n int) {
	d, m, a, b := vec[T](dst, n), vec[uint8](c, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = b[i] ^ (a[i]^b[i])&-T(m[i])
	}
}

func whereVS[T word](dst, c, x, y unsafe.Pointer, n int) {
	d, m, a, b := vec[T](dst, n), vec[uint8](c, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = b ^ (a[i]^b)&-T(m[i])
	}
}

func whereSV[T word](dst, c, x, y unsafe.Pointer, n int) {
	d, m, a, b := vec[T](dst, n), vec[uint8](c, n), at[T](x), vec[T](y, n)
	for i := range d {
		d[i] = b[i] ^ (a^b[i])&-T(m[i])
	}
}

func whereSS[T word](dst, c, x, y unsafe.Pointer, n int) {
	d, m, a, b := vec[T](dst, n), vec[uint8](c, n), at[T](x), at[T](y)
	for i := range d {
		d[i] = b ^ (a^b)&-T(m[i])
	}
}

// choicesBySize has the routines of Where by the size of elements in bytes.
var choicesBySize = [9]Choices{1: choices[uint8](), 2: choices[uint16](), 4: choices[uint32](), 8: choices[uint64]()}

func choices[T word]() Choices {
	return Choices{whereVV[T], whereVS[T], whereSV[T], whereSS[T]}
}

// Threefry computes [ThreefryWord].
var Threefry Quaternary = threefry

func threefry(dst, k0, k1, hi, lo unsafe.Pointer, n int) {
	d, p, q, h, l := vec[uint32](dst, n), vec[uint32](k0, n), vec[uint32](k1, n), vec[uint32](hi, n), vec[uint32](lo, n)
	for i := range d {
		d[i] = ThreefryWord(p[i], q[i], h[i], l[i])
	}
}

// ThreefryWord is Threefry-2x32 with 20 rounds, the xor of both words: the counter
// (hi, lo) encrypted with the key (a, b). See Salmon, Moraes, Dror and Shaw, "Parallel
// random numbers: as easy as 1, 2, 3", 2011.
func ThreefryWord(a, b, hi, lo uint32) uint32 {
	c := a ^ b ^ 0x1bd11bda
	x, y := mix4(hi+a, lo+b, 13, 15, 26, 6)
	x, y = mix4(x+b, y+c+1, 17, 29, 16, 24)
	x, y = mix4(x+c, y+a+2, 13, 15, 26, 6)
	x, y = mix4(x+a, y+b+3, 17, 29, 16, 24)
	x, y = mix4(x+b, y+c+4, 13, 15, 26, 6)
	return (x + c) ^ (y + a + 5)
}

// mix4 computes four rounds of Threefry.
func mix4(x, y uint32, r, s, t, u uint32) (uint32, uint32) {
	x += y
	y = (y<<r | y>>(32-r)) ^ x
	x += y
	y = (y<<s | y>>(32-s)) ^ x
	x += y
	y = (y<<t | y>>(32-t)) ^ x
	x += y
	y = (y<<u | y>>(32-u)) ^ x
	return x, y
}
