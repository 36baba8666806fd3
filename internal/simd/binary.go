package simd

import (
	"math"
	"unsafe"
)

// Every loop is written out: the compiler inlines neither function values nor methods
// of type parameters.

// commute returns the modes of a commutative operation.
//
//go:noinline
func commute(vv, vs Binary) Modes {
	return Modes{vv, vs, func(dst, x, y unsafe.Pointer, n int) { vs(dst, y, x, n) }}
}

func addVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] + b[i]
	}
}

func addVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] + b
	}
}

func subVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] - b[i]
	}
}

func subVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] - b
	}
}

func subSV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), at[T](x), vec[T](y, n)
	for i := range d {
		d[i] = a - b[i]
	}
}

func mulVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] * b[i]
	}
}

func mulVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] * b
	}
}

func divVV[T float](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] / b[i]
	}
}

func divVS[T float](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] / b
	}
}

func divSV[T float](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), at[T](x), vec[T](y, n)
	for i := range d {
		d[i] = a / b[i]
	}
}

func quoVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		if b[i] == 0 {
			d[i] = 0
		} else {
			d[i] = a[i] / b[i]
		}
	}
}

func remVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		if b[i] == 0 {
			d[i] = 0
		} else {
			d[i] = a[i] % b[i]
		}
	}
}

func modVV[T float](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = T(math.Mod(float64(a[i]), float64(b[i])))
	}
}

// powVV computes xʸ, which wraps. For y < 0 it is the truncated 1/x⁻ʸ: 0 unless x is 1
// or -1.
func powVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = intPow(a[i], b[i])
	}
}

func intPow[T integer](x, y T) T {
	if y < 0 {
		switch {
		case x == 1:
			return 1
		case x+1 == 0 && y&1 == 0:
			return 1
		case x+1 == 0:
			return x
		}
		return 0
	}
	p := T(1)
	for ; y > 0; y >>= 1 {
		if y&1 == 1 {
			p *= x
		}
		x *= x
	}
	return p
}

func maxVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = max(a[i], b[i])
	}
}

func maxVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = max(a[i], b)
	}
}

func minVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = min(a[i], b[i])
	}
}

func minVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = min(a[i], b)
	}
}

func eqVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[bool](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] == b[i]
	}
}

func eqVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[bool](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] == b
	}
}

func ltVV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[bool](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] < b[i]
	}
}

func ltVS[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[bool](dst, n), vec[T](x, n), at[T](y)
	for i := range d {
		d[i] = a[i] < b
	}
}

func ltSV[T number](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[bool](dst, n), at[T](x), vec[T](y, n)
	for i := range d {
		d[i] = a < b[i]
	}
}

func andVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] & b[i]
	}
}

func orVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] | b[i]
	}
}

func xorVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] ^ b[i]
	}
}

// A negative shift count counts as one of more than the width.

func shlVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] << uint64(b[i])
	}
}

func shrVV[T integer](dst, x, y unsafe.Pointer, n int) {
	d, a, b := vec[T](dst, n), vec[T](x, n), vec[T](y, n)
	for i := range d {
		d[i] = a[i] >> uint64(b[i])
	}
}

// A Link is a step of a chain: a function of x, the result of the step before, and of the elements at Y and Z.
type Link struct {
	Op   LinkOp
	Y, Z unsafe.Pointer
}

// A LinkOp says what a Link computes. V is for a run at Y, S for one element.
type LinkOp int

const (
	AddV     LinkOp = iota // x + y
	AddS                   // x + y
	MulV                   // x·y
	MulS                   // x·y
	MaxS                   // the greater of x and y, as Binaries[ir.Max]
	LowS                   // z where x < y, else x
	HighS                  // z where y < x, else x
	Save                   // x, which MulSaved reads
	MulSaved               // x times the saved one, at first the element of src
)

// Chain computes count links, at least one, of n elements of float32 from src, in one pass, and stores the last
// result at dst. dst may be src or any Y. It is nil where there is no routine.
var Chain func(dst, src, links unsafe.Pointer, count, n int)
