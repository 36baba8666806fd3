package shape

import (
	"fmt"
	"math"
	"math/bits"
)

// Broadcast returns the shape that a and b have together by NumPy's rules:
// aligned at the last axis, a missing axis or one of length 1 is repeated. It
// reports false if two lengths differ otherwise. The result may be a or b.
func Broadcast(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	extra := len(a) - len(b)
	var out []int // a copy of a, once it has to differ from a
	for i, n := range b {
		m := a[extra+i]
		switch {
		case n == m || n == 1:
		case m == 1:
			if out == nil {
				out = append([]int(nil), a...)
			}
			out[extra+i] = n
		default:
			return nil, false
		}
	}
	if out == nil {
		return a, true
	}
	return out, true
}

// BroadcastsTo reports whether a tensor of shape from can be repeated until
// it has shape to.
func BroadcastsTo(from, to []int) bool {
	extra := len(to) - len(from)
	if extra < 0 {
		return false
	}
	for i, n := range from {
		if n != 1 && n != to[extra+i] {
			return false
		}
	}
	return true
}

// MaxLen is the most elements a shape may have, so that their bytes can be
// counted.
const MaxLen = math.MaxInt / 16

// Check returns an error if shape has a negative length or more than MaxLen
// elements.
func Check(shape []int) error {
	n := uint(1)
	large := false
	for _, d := range shape {
		if d < 0 {
			return fmt.Errorf("a length of %d", d)
		}
		hi, lo := bits.Mul(n, uint(d))
		n = lo
		if d == 0 {
			return checkSigns(shape)
		}
		large = large || hi != 0 || lo > MaxLen
		if large {
			n = 1
		}
	}
	if large {
		return fmt.Errorf("more than %d elements", MaxLen)
	}
	return nil
}

func checkSigns(shape []int) error {
	for _, d := range shape {
		if d < 0 {
			return fmt.Errorf("a length of %d", d)
		}
	}
	return nil
}
